//! What the server's machine tells of a service while it is pressed, and of the programs that the service talks to.
//!
//! What cannot be seen, for want of a permission or because the platform has no such thing, is absent, never zero.

mod between;
mod cgroup;
mod clients;
pub(crate) mod holders;
mod levels;
mod machine;
mod netlink;
mod others;
mod peers;
mod processes;
mod reading;
mod role;
mod rounds;
mod scope;
mod sums;
mod task;
mod tcp;
#[cfg(test)]
mod tests;
mod unix;
mod watcher;

pub use levels::Levels;
pub use reading::{
    ClientCounts, ListenerCounts, MachineCounts, NetworkCounts, PeerCounts, ProcessCounts, ProgramCounts, QuotaCounts,
    Reading, SCHEMA as READING_SCHEMA, ThreadCounts,
};
pub use watcher::Watcher;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of [`Signals`].
pub const SCHEMA: &str = "torr.signals/1";

/// What was seen in a stretch of time. Rates are per second of it, shares are 0 to 1, and what is called a mean is that of
/// samples taken some twenty times a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// How long it was, in seconds.
    pub seconds: f64,
    /// The machine as a whole.
    pub machine: Option<MachineUse>,
    /// The kernel's TCP, of the network namespace that the server is in.
    pub network: Option<NetworkUse>,
    /// The listening sockets that the target's address leads to.
    pub listeners: Vec<ListenerUse>,
    /// The connections that were accepted there.
    pub clients: Option<ClientsUse>,
    /// The server's processes, the busiest first.
    pub processes: Vec<ProcessUse>,
    /// Whom the server's processes talk to, those with the most traffic first.
    pub peers: Vec<PeerUse>,
    /// Programs that have no part in the run and used at least a hundredth of a CPU, the busiest first; the eight busiest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ProgramUse>,
}

/// All processes of one name that have no part in the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramUse {
    /// The name.
    pub name: String,
    /// CPU time in cores: 1.5 is one and a half CPUs.
    pub cores: f64,
}

/// The machine as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineUse {
    /// CPUs.
    pub cores: usize,
    /// The share of all CPUs' time that was used, by anybody.
    pub cpu_share: f64,
    /// The share that the hypervisor gave to others.
    pub steal_share: Option<f64>,
    /// The share of the time in which something was ready to run but had no CPU (PSI, `some` of `/proc/pressure/cpu`).
    pub cpu_pressure: Option<f64>,
}

/// The kernel's TCP, as far as it counts for a whole network namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkUse {
    /// Connections that were opened from here (`ActiveOpens`).
    pub active_opens: Option<u64>,
    /// Connections that were accepted here (`PassiveOpens`).
    pub passive_opens: Option<u64>,
    /// Connections that found an accept queue full (`ListenOverflows`).
    pub listen_overflows: Option<u64>,
    /// Connections that were dropped by a listener for any reason (`ListenDrops`).
    pub listen_drops: Option<u64>,
    /// The same, since the queue of half-open connections was full (`TCPReqQFullDrop`).
    pub half_open_drops: Option<u64>,
    /// SYN packets that were sent again (`TCPSynRetrans`).
    pub syn_retransmits: Option<u64>,
    /// Segments that were sent again (`RetransSegs`).
    pub retransmits: Option<u64>,
    /// Segments that were sent (`OutSegs`).
    pub segments_sent: Option<u64>,
    /// Acknowledgements that were held back (`DelayedACKs`).
    pub delayed_acks: Option<u64>,
    /// Sockets in TIME_WAIT at the end.
    pub time_wait: Option<u64>,
}

/// One listening socket, or several that share an address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListenerUse {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// How many sockets there are with this address (`SO_REUSEPORT`).
    pub sockets: usize,
    /// How many connections may wait to be accepted, of one socket.
    pub backlog: Option<u32>,
    /// How many waited, over all sockets, as a mean.
    pub queued_mean: Option<f64>,
    /// The most that were seen to wait at one socket.
    pub queued_max: Option<u32>,
}

/// The connections that the server has accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientsUse {
    /// How many there were, as a mean; those that nobody has accepted yet are not among them.
    pub established: f64,
    /// Of those, how many had bytes that the server had not read, as a mean: requests that wait before the application.
    pub unread: f64,
    /// Of those, how many had bytes that were not sent or acknowledged, as a mean: answers that wait for the network.
    pub unsent: f64,
    /// The mean of their smoothed round trip times in microseconds, as the server's side sees it.
    pub rtt_us: Option<f64>,
    /// The least round trip time of any, in microseconds.
    pub min_rtt_us: Option<f64>,
    /// Of the time in which they had something to send, the share in which the client's window or their own send buffer held
    /// them back.
    pub window_limited: Option<f64>,
}

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessUse {
    /// Its number.
    pub pid: i32,
    /// Its name.
    pub name: String,
    /// CPU time in cores: 1.5 is one and a half CPUs.
    pub cores: f64,
    /// How many CPUs it may run on, by its affinity.
    pub allowed_cores: Option<usize>,
    /// Its threads at the end, the busiest first; the hundred busiest.
    pub threads: Vec<ThreadUse>,
    /// How many threads it had at the end.
    pub thread_count: usize,
    /// Open files at the end.
    pub open_files: Option<u64>,
    /// How many it may have.
    pub file_limit: Option<u64>,
    /// The CPU quota that it is under, if it is under one; the tightest, if there are several.
    pub quota: Option<QuotaUse>,
}

/// One thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadUse {
    /// Its number.
    pub tid: i32,
    /// Its name.
    pub name: String,
    /// CPU time in cores, 0 to 1.
    pub cores: f64,
    /// Ready to run, but without a CPU: share of the time.
    pub queued: Option<f64>,
    /// How often a second it gave the CPU up to wait for something.
    pub waits_per_s: Option<f64>,
    /// The share of samples in which it was running or ready to run.
    pub running: Option<f64>,
    /// The share of samples in which it waited for what, by the kernel's name, such as `futex_wait_queue` or `ep_poll`.
    pub waiting: BTreeMap<String, f64>,
}

/// A quota of CPU time (cgroup v1 or v2).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotaUse {
    /// The cgroup's path.
    pub cgroup: String,
    /// How much it may use, in cores.
    pub cores: f64,
    /// How much it used, in cores, if that is told.
    pub used_cores: Option<f64>,
    /// Periods that passed while it had something to run.
    pub periods: u64,
    /// Of those, in how many it was throttled.
    pub throttled_periods: u64,
}

impl QuotaUse {
    /// The share of its periods in which it was throttled, 0 to 1.
    pub fn throttled_share(&self) -> f64 {
        self.throttled_periods as f64 / self.periods.max(1) as f64
    }
}

/// Somebody that the server's processes have connections to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerUse {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// What it seems to be.
    pub role: Role,
    /// Connections to it, as a mean.
    pub connections: f64,
    /// The most connections that were seen at a time.
    pub connections_max: usize,
    /// Of those seen in one sample, the share that was still there in the next: near 1 where they are kept, near 0 where
    /// each carries one exchange.
    pub kept: Option<f64>,
    /// Of those, how many waited for something from it at a time, as a mean; only told where the kernel counts what was
    /// sent and received last.
    pub waiting: Option<f64>,
    /// Segments with data that were sent to it, per second, on connections that were seen twice.
    pub sends_per_s: Option<f64>,
    /// Bytes received from it, per second, on connections that were seen twice.
    pub bytes_per_s: Option<f64>,
    /// The mean of the smoothed round trip times in microseconds.
    pub rtt_us: Option<f64>,
    /// Its processes, where it runs on this machine and they can be seen.
    pub processes: Vec<ProcessUse>,
}

/// The CPU quota that this process is under, as counted up to now. `None` if there is none, or if it cannot be told.
pub fn own_quota() -> Option<QuotaCounts> {
    cgroup::Mounts::here().quota(std::process::id() as i32)
}

/// What a peer seems to be, by its processes' names or its port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// A database server.
    Database,
    /// A cache, such as Redis or memcached.
    Cache,
    /// Something else: another HTTP service, a queue.
    #[default]
    Other,
}
