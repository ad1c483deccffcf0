//! Heads as HTTP/2 packs them (HPACK, RFC 7541).

mod decode;
mod encode;
mod huffman;
mod statics;
mod table;

pub use decode::Decoder;
pub use encode::{Encoder, Seeding};

use thiserror::Error;

/// The size that both sides' tables have from the start.
pub const TABLE: usize = 4096;
/// The most that one head may have, counted as its fields count in a table.
pub const MOST: usize = 64 * 1024;
/// What a field counts beside its bytes.
const OVERHEAD: usize = 32;

/// What is wrong with a packed head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HpackError {
    /// It ends within a field.
    #[error("a packed head is cut off")]
    Truncated,
    /// A number is too large to mean anything.
    #[error("a packed head has too large a number")]
    Number,
    /// An index that has no field.
    #[error("a packed head has an index without a field")]
    Index,
    /// Not as the Huffman code has it.
    #[error("a packed head has an invalid Huffman code")]
    Huffman,
    /// The table becomes larger than it may, or not at the beginning of a head.
    #[error("a packed head resizes the table as it must not")]
    Resize,
    /// More than anybody should send.
    #[error("a head of more than 64 KiB")]
    TooLarge,
}
