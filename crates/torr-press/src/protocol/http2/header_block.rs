//! A header block that arrives in several frames: HEADERS and CONTINUATION.

use super::frame::Head;

/// The fragments of a header block that have arrived.
#[derive(Debug)]
pub struct HeaderBlock {
    /// The header of the first frame.
    pub head: Head,
    pub bytes: Vec<u8>,
    pub frames: usize,
}
