//! Signals of the server's machine, its processes and their peers during a run.
//!
//! A [`Watcher`] samples sockets, threads, quotas and peers into counts that only grow, and a [`Reading`] is their state at one
//! time. [`Signals`] are the difference of two readings. A value that is not visible, for lack of a permission or of support in
//! the kernel, is absent, never zero.
#![forbid(unsafe_code)]

mod behind;
mod between;
mod cgroup;
mod clients;
mod holders;
mod interval;
mod levels;
mod lookups;
mod machine;
mod memory;
mod namespaces;
mod netlink;
mod others;
mod peers;
mod printable;
mod processes;
mod reading;
mod role;
mod rounds;
mod scope;
mod sides;
mod sums;
mod task;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;
mod unix;
mod watcher;

pub use cgroup::own_quota;
pub use interval::{
    ClientsUse, DatagramSocketsUse, ListenerUse, MachineUse, NetworkUse, PeerUse, ProcessUse, ProgramUse, QuotaUse,
    Signals, ThreadUse,
};
pub use levels::Levels;
pub use memory::available_memory;
pub use namespaces::leads_to_namespace;
pub use printable::printable;
pub use reading::{
    ClientCounts, DatagramSocketCounts, ListenerCounts, MachineCounts, NetworkCounts, PeerCounts, ProcessCounts,
    ProgramCounts, QuotaCounts, Reading, SCHEMA, ThreadCounts,
};
pub use role::Role;
pub use watcher::Watcher;

/// The code of the README is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
