//! Goroutines of a Go program, read from its memory.

mod goroutines;
mod layout;
mod semaphores;
mod waits;

pub use goroutines::{Goroutines, RawGoroutine};
