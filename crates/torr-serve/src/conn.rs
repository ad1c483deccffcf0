//! Connections: the event loop that serves them, HTTP/1.1, and the hand-over to hyper.

pub(crate) mod engine;
pub(crate) mod handover;
pub(crate) mod http1;
pub(crate) mod mailbox;
pub(crate) mod seats;
pub(crate) mod stamp;
