//! HPACK (RFC 7541) of the load side, open to the fuzzer; no part of the interface.

use crate::protocol::http2::hpack::{self, Decoder, Encoder, HpackError, Seeding};
use http::Request;

/// The largest header section that a [`FieldDecoder`] decodes, counted as its fields count in a dynamic table.
pub const LARGEST_SECTION: usize = hpack::MOST;
/// The maximum size of a dynamic table, in bytes.
pub const TABLE: usize = hpack::TABLE;

/// A field's name and value.
pub type Field = (Vec<u8>, Vec<u8>);

/// Why a field block cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The block is not HPACK.
    Malformed,
    /// The block resizes the dynamic table beyond [`TABLE`], or behind its first field.
    Resize,
    /// The block is beyond a limit of this implementation: an integer of more than 4 bytes, or [`LARGEST_SECTION`].
    Limit,
}

/// The decoding of one connection's field blocks.
#[derive(Debug, Default)]
pub struct FieldDecoder(Decoder);

impl FieldDecoder {
    /// Returns the names and values of the next block, in their order.
    ///
    /// # Errors
    /// [`Fault`]; the decoder is of no use after it.
    pub fn decode(&mut self, block: &[u8]) -> Result<Vec<Field>, Fault> {
        let mut fields = Vec::new();
        let decoded = self.0.decode(block, |name, value| fields.push((name.to_vec(), value.to_vec())));
        decoded.map(|()| fields).map_err(|error| match error {
            HpackError::Truncated | HpackError::Index | HpackError::Huffman => Fault::Malformed,
            HpackError::Resize => Fault::Resize,
            HpackError::Number | HpackError::TooLarge => Fault::Limit,
        })
    }

    /// Returns the bytes of memory that the decoder holds for names and values.
    pub fn held(&self) -> usize {
        self.0.held()
    }
}

/// The encoding of one connection's field blocks.
#[derive(Debug, Default)]
pub struct FieldEncoder {
    encoder: Encoder,
    seeding: Seeding,
}

impl FieldEncoder {
    /// Tells the encoder the server's SETTINGS_HEADER_TABLE_SIZE, in bytes.
    pub fn limit(&mut self, most: u32) {
        self.seeding.limit(most);
    }

    /// Appends a request's block to `out`.
    pub fn encode(&mut self, head: &Request<()>, out: &mut Vec<u8>) {
        self.encoder.encode(head, self.seeding, out);
        self.seeding = self.seeding.next();
    }
}
