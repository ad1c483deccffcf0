//! The environment of a subject: processes, ports, namespaces, quotas, databases and proxies, all of which end with the subject.

mod behind;
mod compiled;
pub mod databases;
mod disturbances;
pub mod hosts;
mod placement;
mod ports;
mod process;
pub mod programs;
pub mod proxies;
mod quota;
mod resources;
pub mod shops;
mod socket;

pub use behind::Fpm;
pub use process::Process;
pub use resources::Environment;
