//! Places: what in a service takes the resource that limits it.

pub mod contended;
pub mod cpu;
pub mod holder;
pub mod lock;
pub mod pool;
pub mod round;
pub mod tree;
pub mod types;
pub mod wait;

pub use types::{Holder, Place};
