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
mod destination;
mod either_tls;
mod engine;
mod failed_response;
mod failures;
#[doc(hidden)]
pub mod fuzzing;
mod host_meter;
mod http1;
mod http2;
mod inspect;
mod keeper;
mod kept;
pub mod learnt;
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
mod servers;
mod source;
mod sources;
mod start;
mod steered;
pub mod steering;
mod target;
mod threads;
mod tls;
mod url_parts;
pub mod users;

pub use closed_loop::{ClosedLoop, Ramp};
pub use destination::Destination;
pub use failed_response::FailedResponseBuffer;
pub use http1::Http1;
pub use http2::Http2;
pub use inspect::{Inspect, Inspection, Inspector};
pub use kept::KeptResponse;
pub use open_loop::{Arrivals, OpenLoop};
pub use outgoing::{Keep, RequestInfo, RequestParts};
pub use pacer::{Due, Pacer};
pub use plan::Share;
pub use plan::{Pace, Plan, ProtocolConfig, ThinkTime, Timestamps};
pub use protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
pub use request::{RequestError, Requests};
pub use run::{Observed, RunEnd, RunError, SoFar, observe, run, run_watched};
pub use schedule::{Schedule, ScheduleError, Stretch};
pub use source::Source;
pub use steering::{Steerable, Steering, SteeringState};
pub use target::{Target, TargetError};

/// The code of the README is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
