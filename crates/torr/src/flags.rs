//! What a command line's flags need, read, hide, and leave without effect.

pub mod needs;
pub mod reads;
pub mod secret;
pub mod unused;
