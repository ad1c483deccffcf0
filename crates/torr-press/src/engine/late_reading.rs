//! Whether responses may be read some time after they have arrived.

/// The bytes that one receive may return where responses are slept through: far below a receive buffer, which would hold
/// up the server if it filled.
const SMALL: usize = 32 * 1024;

/// Whether responses can be read late in this run.
#[derive(Debug)]
pub(super) struct LateReading(bool);

impl LateReading {
    /// `possible` tells that each response has a time stamp and nothing but its slot waits for it.
    pub fn new(possible: bool) -> Self {
        Self(possible)
    }

    pub fn is_possible(&self) -> bool {
        self.0
    }

    /// Ends late reading for good if more was received at once than fits well in a receive buffer.
    #[inline]
    pub fn received(&mut self, bytes: usize) {
        self.0 &= bytes <= SMALL;
    }
}
