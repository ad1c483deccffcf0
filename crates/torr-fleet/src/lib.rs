//! One plan on several machines, and one result of all of them.
//!
//! Agents and the coordinator exchange messages over NATS (`PROTOCOL.md`). The coordinator gives each agent a
//! share of the plan and a time to begin, and merges the samples that agents send each second by the collector that
//! merges the threads of one machine.
#![forbid(unsafe_code)]

pub mod agent;
pub mod allow;
mod clock;
pub mod coordinator;
mod error;
pub mod fleet;
mod heartbeat;
mod limits;
mod load;
mod members;
mod merge;
pub mod message;
pub mod nats;
mod role;
mod shares;
mod subject;
mod threads;

pub use agent::AgentSettings;
pub use allow::AllowList;
pub use coordinator::{RunEvent, RunSettings, Watch};
pub use error::FleetError;
pub use limits::CEILINGS;
pub use load::LoadAndFiles;
pub use members::Members;
pub use nats::Nats;
pub use role::Agent;
pub use subject::{FleetName, NameError};
