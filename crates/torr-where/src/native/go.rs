//! Goroutines of a Go program, read from its memory, and the names of its code.

mod goroutines;
mod layout;
mod line_table;
mod semaphores;
mod waits;

pub use goroutines::{Goroutines, RawGoroutine};
pub use line_table::{LineTable, Position};
