//! A virtual user: its stack, its script engine, its event loop.

pub mod events;
pub mod exchange;
mod fiber;
mod instance;
pub mod interrupt;
mod machine;
mod task;
#[cfg(test)]
mod tests;
mod thrown;
pub mod vu;
pub mod wait;

pub use machine::{Machine, Pending};
pub use task::{Exports, Files, IterationTask, Task, TaskEnd};
pub use thrown::{script_error, text_of};
pub use vu::{Phase, Vu};
pub use wait::{Wanted, Woken, wait};
