//! WebSocket (RFC 6455) in the client's role, on byte buffers: the opening handshake, and messages in frames.
//!
//! The one extension is `permessage-deflate` (RFC 7692), which handshakes can agree on; without it a frame's reserved bits are
//! errors. A reader holds the header of one incomplete frame and the payload of one control frame, whatever a server sends; payload
//! of messages passes by, compressed as it is.

pub mod code;
mod deflate;
mod frame;
mod handshake;
mod mask;

pub use deflate::{Agreement, Offer};
pub use frame::{
    FrameError, FrameEvent, FrameReader, Kind, LARGEST_CONTROL, LEAST_ROOM, close, finish_compressed_message,
    finish_message, ping, pong,
};
pub use handshake::{FIELDS, Handshake, HandshakeError, Key};
pub use mask::mask;
