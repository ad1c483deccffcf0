//! Codes of close frames (RFC 6455, section 7.4.1).

/// The purpose of the connection has been fulfilled.
pub const NORMAL: u16 = 1000;
/// One side goes away.
pub const GOING_AWAY: u16 = 1001;
/// The other side violates the protocol.
pub const PROTOCOL_ERROR: u16 = 1002;
/// There was no code in the close frame; not sent itself.
pub const NONE: u16 = 1005;
/// There was no close frame; not sent itself.
pub const ABNORMAL: u16 = 1006;
/// A text is not UTF-8, or a compressed message is malformed.
pub const INVALID_PAYLOAD: u16 = 1007;
/// The other side does something that is not wanted.
pub const POLICY: u16 = 1008;
/// A message is too large.
pub const TOO_LARGE: u16 = 1009;
