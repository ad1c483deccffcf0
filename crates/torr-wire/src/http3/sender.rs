//! Who sends a stream that is read.

/// The sender of a stream that is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sender {
    /// A client, whose requests this side receives.
    Client,
    /// A server, whose responses this side receives.
    #[default]
    Server,
}
