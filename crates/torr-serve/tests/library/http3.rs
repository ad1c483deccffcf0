//! HTTP/3: controllers and a router, streams in both directions, limits and ends, hostile clients.

mod ends;
mod hostile;
mod quic;
mod requests;
mod scene;
