//! HTTP/1.1 messages on byte buffers, in both roles, without any I/O (RFC 9110, RFC 9112).
//!
//! A server parses requests with [`request::parse`] and writes answers with [`encode`]; a client writes requests with
//! [`encode::request`] and reads answers with [`response::ResponseReader`]. Both read bodies with [`body::BodyReader`].
//! Nothing here allocates on the common path, where a whole message stands in the caller's buffer.
//!
//! A server must be strict, since what two parsers read differently can be used to smuggle requests; a client that
//! measures must read what servers really send. Each role's module says where it is strict and where lenient.
#![forbid(unsafe_code)]

pub mod authority;
pub mod body;
pub mod encode;
mod error;
mod fields;
pub mod request;
pub mod response;

pub use error::WireError;
pub use httparse::Header;
