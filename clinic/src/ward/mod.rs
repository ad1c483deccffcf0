//! Where subjects are: everything that is started for one is ended with it, however that comes about.

mod bed;
mod place;
mod ports;
mod process;
pub mod programs;
pub mod proxies;

pub use bed::Bed;
pub use process::Process;
