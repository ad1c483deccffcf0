//! Sockets of scripts: WebSockets (RFC 6455), connections of gRPC and event streams. One thread of the run carries all of them beside the load threads,
//! whose users get mail: what opens, arrives and ends.

mod carrier;
mod events;
pub mod grpc;
mod handle;
mod known;
mod mail;
mod opening;
mod outlet;
mod reach;
mod response;
mod session;
mod signal;
mod wire;

pub use carrier::Carrier;
pub use events::{EventRequest, ServerEvent, StreamEvent, StreamHandle};
pub use handle::{SocketHandle, TooMuch};
pub use known::Ways;
pub use mail::{Close, Event, Mail, SocketEvent};
pub use opening::Opening;
pub use outlet::Outlet;
pub use response::Response;
pub use signal::Signal;
