//! Where subjects are: everything that is started for one is ended with it, however that comes about.

mod bed;
pub mod databases;
pub mod hosts;
mod place;
mod ports;
mod process;
pub mod programs;
pub mod proxies;
mod quota;

pub use bed::Bed;
pub use process::Process;
