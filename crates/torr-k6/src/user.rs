//! A virtual user: its stack, its script engine, its event loop.

pub mod vu;
pub mod wait;

pub use vu::{Phase, Vu};
pub use wait::{Wanted, Woken, wait};
