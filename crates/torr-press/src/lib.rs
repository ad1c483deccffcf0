#![doc = include_str!("../README.md")]
//!
//! # How it is made
//!
//! A plan (what), a pacer (when), a protocol (how) and one event loop for all of them.
//! Each thread owns its connections and what it records; threads meet only at the start, at each sample and at the
//! end. The hot path is `engine`, which reads from top to bottom.
#![forbid(unsafe_code)]

mod engine;
mod failures;
#[doc(hidden)]
pub mod fuzzing;
mod pace;
mod plan;
mod protocol;
pub mod request;
mod response;
mod run;
mod servers;
pub mod steering;
mod work;

pub use pace::Pace;
pub use pace::fed::{DueTimes, Feed, NextDue};
pub use pace::logged::LogTimes;
pub use pace::open::Arrivals;
pub use pace::schedule::{Schedule, ScheduleError, Stretch};
pub use plan::Share;
pub use plan::{Plan, ProtocolConfig, ThinkTime, Timestamps};
pub use protocol::http1::Http1;
pub use protocol::http2::{ERROR_NAMES as HTTP2_ERROR_NAMES, Http2};
pub use protocol::websocket::{MessageCodecs, MessageCompression, WebSocket};
pub use protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
pub use request::outgoing::{Keep, RequestInfo, RequestParts};
pub use request::{RequestError, Requests};
pub use response::checks;
pub use response::events::{EventArrival, EventPlan, EventRule, EventRuleError, StreamEvent};
pub use response::events::{TokenArrival, TokenRule, TokenRuleError, UsageArrival};
pub use response::failed::FailedResponseBuffer;
pub use response::grpc::GrpcMethod;
pub use response::inspect::{Inspect, Inspection, Inspector};
pub use response::kept::KeptResponse;
pub use run::{Observed, RunEnd, RunError, SoFar, observe, run, run_watched};
pub use servers::destination::Destination;
pub use servers::learnt;
pub use servers::target::{Target, TargetError};
pub use steering::{Steerable, Steering, SteeringState};
pub use work::Work;
pub use work::source::Source;
pub use work::users;
