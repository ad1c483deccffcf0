//! Executors: at which time which virtual user begins or stops an iteration.
//!
//! The [`Conductor`] is one state machine for all load threads, driven by their clock: a thread reports that an iteration has
//! ended, and asks for orders when the time has come that the conductor has named. All decisions are made under one lock, which
//! an iteration takes once or twice, so counts and schedules are exact whatever the number of threads.
//!
//! An arrival rate needs no meeting of threads at due times: a virtual user that becomes idle takes the next iteration that is
//! not due yet as its own, which is the iteration that it would get as the last in the queue of idle users. Its own thread
//! begins the iteration on time. Iterations that became due while no user was idle were dropped; they are found by counting.

mod arrival;
mod conductor;
mod needs;
mod order;
mod plan;
mod progress;
mod ramp;
mod ramping;
mod scenario_state;
mod schedule;
mod state;
mod timers;
mod vu_state;

#[cfg(test)]
mod simulation;
#[cfg(test)]
mod tests;

pub use conductor::Conductor;
pub use order::{Ending, Order, Start};
pub use plan::{ExecutionPlan, VuCounts};
pub use progress::{Counts, Progress, Status};
