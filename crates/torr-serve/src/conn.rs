//! Connections: the event loop that serves them, their transports, HTTP/1.1, and the hand-over to hyper.

pub(crate) mod admission;
pub(crate) mod common_headers;
pub(crate) mod context;
pub(crate) mod engine;
pub(crate) mod handover;
pub(crate) mod http1;
pub(crate) mod http2_streams;
#[cfg(feature = "http3")]
pub(crate) mod http3;
pub(crate) mod lingering;
pub(crate) mod next;
pub(crate) mod siblings;
pub(crate) mod transport;
pub(crate) mod visit;
pub(crate) mod wakeups;
pub(crate) mod watched;
