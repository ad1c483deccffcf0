//! What a decoder reports: statements that ended, and why it cannot go on.

/// The number of a statement's text in the catalogue of the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct StatementId(pub(super) u32);

impl StatementId {
    /// The number of all statements without a known text.
    pub(crate) const UNSEEN: Self = Self(0);

    /// Returns the position in the catalogue.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A statement that the database completed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Completed {
    /// The statement.
    pub(crate) statement: StatementId,
    /// Whether it is a call of its own, and not a further part of an earlier one's result.
    pub(crate) is_call: bool,
    /// The nanoseconds from when the server could begin with it to the last byte of its response.
    pub(crate) time: u64,
    /// The rows of its result, or those that it changed.
    pub(crate) rows: u64,
    /// Whether the database refused it.
    pub(crate) failed: bool,
}

/// Why a decoder cannot go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fault {
    /// Request and responses do not match, or bytes are missing: decoding may begin again elsewhere.
    Lost,
    /// The connection is encrypted.
    Encrypted,
    /// The connection is compressed.
    Compressed,
    /// The connection is used in a way in which responses do not belong to requests.
    Foreign,
}
