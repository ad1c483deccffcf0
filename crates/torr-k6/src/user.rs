//! A virtual user as host functions see it: its state, its events, what it waits for.

pub mod events;
pub mod exchange;
mod expectation;
pub(crate) mod fiber;
pub mod interrupt;
pub mod sockets;
mod task;
pub mod timers;
pub mod vu;
pub mod wait;
mod wanted;

pub use expectation::Expectation;
pub use task::{Exports, Files, IterationTask, Task, TaskEnd};
pub use vu::{Phase, Vu};
pub use wait::wait;
pub use wanted::{Wanted, Woken};
