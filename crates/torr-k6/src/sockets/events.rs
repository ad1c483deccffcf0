//! Event streams of scripts (`k6/x/sse`): requests whose responses are handed over event by event.

mod event;
mod exchange;
mod reader;

pub use event::StreamEvent;
pub use exchange::{EventRequest, StreamHandle};
pub use reader::ServerEvent;

pub(super) use exchange::Carried;
