//! The load engine: a plan (what), a pacer (when), a session (the protocol) and one loop that serves them all.
//!
//! Each thread owns its connections and what it records; threads meet only at the start, at each sample and at the
//! end. The hot path is `engine`, which reads from top to bottom.
#![forbid(unsafe_code)]

mod engine;
mod failures;
mod open_loop;
mod pacer;
mod plan;
pub mod request;
mod run;
mod schedule;
mod session;
mod sources;

pub use open_loop::{Arrivals, OpenLoop};
pub use pacer::{ClosedLoop, Due, Pacer};
pub use plan::{Plan, PlanError, Target};
pub use request::{RequestError, Requests};
pub use run::{RunError, run};
pub use schedule::{Schedule, ScheduleError};
pub use session::{Answer, Http1, Session};
