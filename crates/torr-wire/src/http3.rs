//! HTTP/3 as far as it is bytes: frames, settings, streams and field sections (RFC 9114, RFC 9204).
//!
//! The streams are those of QUIC, which delivers the bytes of each in order. [`ControlStream`] reads the peer's control
//! stream, [`MessageStream`] a request or a response, [`qpack`] the field sections in it. All lengths are bounded where they are read, but
//! those of content, which is handed on in pieces.

mod control;
mod error;
mod frame;
mod message;
mod peer_streams;
pub mod qpack;
mod request;
mod sender;
mod settings;
mod stream;
mod stream_type;
pub mod varint;

pub use control::{ControlEvent, ControlStream};
pub use error::{ErrorCode, Http3Error};
pub use frame::{FrameReader, Piece, kind, write_header};
pub use message::{MessagePiece, MessageStream};
pub use peer_streams::{PeerStreams, Reading};
pub use request::{Malformed, RequestFields, TrailerFields, content_length};
pub use sender::Sender;
pub use settings::{Settings, write_control_stream, write_go_away};
pub use stream::{OtherStream, UnidirectionalStream};
pub use stream_type::StreamType;

/// The largest field section that is read, in bytes, counted as in a dynamic table: with 32 bytes for each field. The encoded
/// form has the same limit.
pub const LARGEST_SECTION: usize = 64 * 1024;
