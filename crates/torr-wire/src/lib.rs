//! HTTP/1.1 messages on byte buffers, in both roles, without any I/O (RFC 9110, RFC 9112); WebSocket's frames in the client's
//! role (RFC 6455); HTTP/3's frames and field sections (RFC 9114, RFC 9204).
//!
//! A server parses requests with [`request::parse`] and writes responses with [`encode`]; a client writes requests with
//! [`encode::request`] and reads responses with [`response::ResponseReader`]. Both decode bodies with [`body::BodyReader`].
//! A message that is complete in the caller's buffer is parsed without allocation.
//!
//! The server's parser is strict, since requests can be smuggled where two parsers disagree. The client's parser is
//! lenient, since a measurement has to cover the responses that servers really send. Each role's module lists the cases.
#![forbid(unsafe_code)]

pub mod authority;
pub mod body;
mod controls;
pub mod encode;
mod error;
pub mod event_stream;
mod fields;
pub mod http3;
pub mod huffman;
pub mod packed;
pub mod percent;
pub mod request;
pub mod response;
mod token;
pub mod websocket;

pub use error::WireError;
pub use httparse::Header;
pub use token::is_token;
