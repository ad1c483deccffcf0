//! Figures that are sent to other programs while a run goes on, and at its end.

mod endpoint;
mod influx;
mod pusher;
mod receiver;
mod remote_write;

pub use endpoint::{Endpoint, EndpointError, SendError};
pub use pusher::{Pushed, Pusher};
pub use receiver::{Receiver, ReceiverKind};
