//! The load engine: a plan (what), a pacer (when), a protocol (how) and one event loop for all of them.
//!
//! Each thread owns its connections and what it records; threads meet only at the start, at each sample and at the
//! end. The hot path is `engine`, which reads from top to bottom.
#![forbid(unsafe_code)]

mod any_pacer;
pub mod checks;
mod closed_loop;
mod coordinator;
mod decode;
mod engine;
mod failed_response;
mod failures;
#[doc(hidden)]
pub mod fuzzing;
mod http1;
mod http2;
mod inspect;
mod keeper;
mod kept;
mod limited;
mod open_loop;
mod outgoing;
mod pacer;
mod plan;
mod protocol;
mod redirect;
pub mod request;
mod run;
mod schedule;
mod source;
mod sources;
mod target;
mod threads;
mod tls;
mod url_parts;
pub mod users;

pub use closed_loop::{ClosedLoop, Ramp};
pub use failed_response::FailedResponseBuffer;
pub use http1::Http1;
pub use http2::Http2;
pub use inspect::{Inspect, Inspection, Inspector};
pub use kept::KeptResponse;
pub use open_loop::{Arrivals, OpenLoop};
pub use outgoing::{Keep, RequestInfo, RequestParts};
pub use pacer::{Due, Pacer};
pub use plan::{Pace, Plan, ProtocolConfig, ThinkTime};
pub use protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
pub use request::{RequestError, Requests};
pub use run::{RunError, run};
pub use schedule::{Schedule, ScheduleError};
pub use source::Source;
pub use target::{Target, TargetError};
