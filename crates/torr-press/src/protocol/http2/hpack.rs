//! Heads as HTTP/2 packs them (HPACK, RFC 7541).

mod decode;
mod encode;
mod statics;
mod table;

pub use decode::Decoder;
pub use encode::{Encoder, Seeding};
use torr_wire::packed::PackedError;

/// The size that both sides' tables have from the start.
pub const TABLE: usize = 4096;
/// The most that one head may have, counted as its fields count in a table.
pub const MOST: usize = 64 * 1024;
/// The size in bytes of a field in the dynamic table beside its name and value (RFC 7541, section 4.1).
const OVERHEAD: usize = 32;

/// The defect of a compressed header section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HpackError {
    /// The header section ends within a field.
    Truncated,
    /// A number is too large to mean anything.
    Number,
    /// An index that has no field.
    Index,
    /// Not as the Huffman code has it.
    Huffman,
    /// The table becomes larger than it may, or not at the beginning of a head.
    Resize,
    /// A header section above the limit.
    TooLarge,
}

impl HpackError {
    /// Returns the error as text.
    pub fn what(self) -> &'static str {
        match self {
            Self::Truncated => "HPACK: the header block is incomplete",
            Self::Number => "HPACK: integer too large",
            Self::Index => "HPACK: invalid table index",
            Self::Huffman => "HPACK: invalid Huffman code",
            Self::Resize => "HPACK: invalid table size update",
            Self::TooLarge => "the header section is larger than 64 KiB",
        }
    }
}

impl From<PackedError> for HpackError {
    fn from(error: PackedError) -> Self {
        match error {
            PackedError::Truncated => Self::Truncated,
            PackedError::Number => Self::Number,
            PackedError::Huffman => Self::Huffman,
        }
    }
}
