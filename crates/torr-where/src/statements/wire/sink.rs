//! What the decoders of all protocols share: where they put what they find, and their bounds.

use super::catalogue::Catalogue;
use super::event::Completed;

/// The most requests of a connection that wait for their responses. A client with more is not followed.
pub(super) const IN_FLIGHT: usize = 4096;

/// Where decoders put what they find.
#[derive(Debug)]
pub(crate) struct Sink<'s> {
    /// The texts.
    pub(crate) catalogue: &'s mut Catalogue,
    /// The statements that ended.
    pub(crate) completed: &'s mut Vec<Completed>,
}

/// Returns whether a segment is a record of TLS.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x14..=0x17, 3, 0..=4, high, _, ..] if *high <= 0x48)
}
