//! Connections of gRPC: HTTP/2 by the crate `h2`, over TCP and TLS, on the thread of the sockets.

mod binary;
mod call;
mod connection;
mod duplex;
mod exchange;
mod handle;
mod link;
mod metadata;
mod status;

pub use call::{Call, CallEnd, GrpcEvent, GrpcServer, GrpcTls, Metadata, Opening};
pub(super) use connection::Connect;
pub use handle::{CallHandle, GrpcConnection};
