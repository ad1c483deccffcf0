//! The life of a run: the first pass of the script, setup, virtual users, teardown, summary.

mod local_ips;
mod memory;
mod ready;
mod servers;
mod settings;
mod test;
mod unsupported;

pub use crate::control::{Control, StopCause};
pub use crate::network::{NetworkSettings, Proxies, Proxy};
pub use crate::shared::RunShared;
pub use ready::{ReadyTest, TestEnd};
pub use settings::{RunSettings, ScriptSource, SummarySettings};
pub use test::Test;
