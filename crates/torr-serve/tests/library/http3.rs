//! HTTP/3: controllers and a router, streams in both directions, limits and ends, hostile clients.

mod early_data;
mod ends;
mod flow;
mod hostile;
pub mod quic;
mod requests;
pub mod scene;
