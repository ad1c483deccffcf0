//! Cumulative counts of a watcher. The signals of an interval are the difference of two readings.

use super::levels::Levels;
use super::role::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of [`Reading`].
pub const SCHEMA: &str = "torr.reading/1";

/// The counts of a watcher at one time. Those of one watcher never decrease, unless a field says so.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// [`SCHEMA`].
    pub schema: String,
    /// The id of the watcher: counts of two watchers are not comparable. 0 where only the machine is watched.
    pub watcher: u64,
    /// The time in microseconds since the watcher began, or since boot without a watcher.
    pub at_us: u64,
    /// The machine as a whole.
    pub machine: Option<MachineCounts>,
    /// The kernel's TCP.
    pub network: Option<NetworkCounts>,
    /// The number of samples of the kernel's sockets.
    pub socket_samples: u64,
    /// The target's listeners.
    pub listeners: Vec<ListenerCounts>,
    /// The connections that the server has accepted.
    pub clients: Option<ClientCounts>,
    /// The server's processes.
    pub processes: Vec<ProcessCounts>,
    /// The server's peers.
    pub peers: Vec<PeerCounts>,
    /// The lookups of host names by the server's processes: their UDP sockets that are connected to port 53, summed over
    /// `lookup_samples`.
    pub lookups_sum: u64,
    /// The number of samples of UDP sockets.
    pub lookup_samples: u64,
    /// The server's UDP sockets, where it has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagram_sockets: Option<DatagramSocketCounts>,
    /// Whether the server is in another network namespace than the watcher, and its peers' addresses are that namespace's.
    pub other_namespace: bool,
    /// The programs that take no part in the run, those with the most CPU time first.
    pub others: Vec<ProgramCounts>,
}

/// All processes of one name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProgramCounts {
    /// The name.
    pub name: String,
    /// CPU time since the watcher began, in microseconds.
    pub cpu_us: u64,
}

/// The machine's CPUs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MachineCounts {
    /// The number of CPUs.
    pub cores: usize,
    /// The time of all CPUs in seconds.
    pub total_s: f64,
    /// The idle part of `total_s`.
    pub idle_s: f64,
    /// The stolen part of `total_s`.
    pub steal_s: Option<f64>,
    /// The time in seconds in which a thread was runnable without a CPU.
    pub pressure_s: Option<f64>,
}

/// The kernel's TCP, by the names of `/proc/net/snmp`, `netstat` and `sockstat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkCounts {
    /// `ActiveOpens`.
    pub active_opens: Option<u64>,
    /// `PassiveOpens`.
    pub passive_opens: Option<u64>,
    /// `ListenOverflows`.
    pub listen_overflows: Option<u64>,
    /// `ListenDrops`.
    pub listen_drops: Option<u64>,
    /// `TCPReqQFullDrop`.
    pub half_open_drops: Option<u64>,
    /// `TCPSynRetrans`.
    pub syn_retransmits: Option<u64>,
    /// `RetransSegs`.
    pub retransmits: Option<u64>,
    /// `OutSegs`.
    pub segments_sent: Option<u64>,
    /// `DelayedACKs`.
    pub delayed_acks: Option<u64>,
    /// The number of sockets in TIME_WAIT, which is not cumulative.
    pub time_wait: Option<u64>,
    /// The number of local ports for outgoing connections (`net.ipv4.ip_local_port_range`), which is not cumulative. `None` for a
    /// server in another network namespace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_ports: Option<u64>,
}

/// Listeners with one address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListenerCounts {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// The number of listeners, which is not cumulative.
    pub sockets: usize,
    /// The backlog of one listener.
    pub backlog: Option<u32>,
    /// The lengths of the accept queues, summed over samples and sockets.
    pub queued_sum: u64,
    /// The length of a socket's accept queue in each sample.
    pub queued: Levels,
}

/// UDP sockets at the target's address that are not connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatagramSocketCounts {
    /// The number of sockets, which is not cumulative.
    pub sockets: usize,
    /// The number of datagrams that the kernel dropped before the server read them.
    pub dropped: u64,
}

/// Accepted connections, summed over samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientCounts {
    /// The number of connections.
    pub established_sum: u64,
    /// The number of connections with bytes that the server has not read.
    pub unread_sum: u64,
    /// The number of connections with unacknowledged bytes.
    pub unsent_sum: u64,
    /// The smoothed round-trip times in microseconds, summed over connections and samples.
    pub rtt_us_sum: u64,
    /// The number of round-trip times in `rtt_us_sum`.
    pub rtt_count: u64,
    /// The minimum round-trip time of each sample in microseconds.
    pub min_rtt_us: Levels,
    /// The time with data to send in microseconds; `None` if the kernel does not report it.
    pub busy_us: Option<u64>,
    /// The part of `busy_us` in which a window or a buffer limited sending.
    pub limited_us: u64,
}

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessCounts {
    /// The process id.
    pub pid: i32,
    /// The start time in the kernel's ticks, which distinguishes processes with equal ids.
    pub started: u64,
    /// The name of the process.
    pub name: String,
    /// The time from which the process is counted, as in [`Reading::at_us`]; 0 if counted since the start of the process or of
    /// the watcher.
    pub since_us: u64,
    /// The CPU time since `since_us` in microseconds.
    pub cpu_us: u64,
    /// The number of CPUs that the affinity of the threads allows.
    pub allowed_cores: Option<usize>,
    /// The number of threads.
    pub thread_count: usize,
    /// The threads, up to a limit.
    pub threads: Vec<ThreadCounts>,
    /// The number of open files, which is not cumulative.
    pub open_files: Option<u64>,
    /// The limit of open files.
    pub file_limit: Option<u64>,
    /// The tightest CPU quota of the process's cgroups.
    pub quota: Option<QuotaCounts>,
}

/// One thread, since its process has been watched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadCounts {
    /// The thread id.
    pub tid: i32,
    /// The name of the thread.
    pub name: String,
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// The time in which the thread was runnable without a CPU, in nanoseconds.
    pub queued_ns: Option<u64>,
    /// The number of voluntary context switches.
    pub waits: Option<u64>,
    /// The number of samples.
    pub samples: u64,
    /// The number of samples in which the thread was running or runnable.
    pub running: u64,
    /// The number of samples in which the thread waited in each kernel function.
    pub waiting: BTreeMap<String, u64>,
}

/// A quota of CPU time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotaCounts {
    /// The cgroup's path.
    pub cgroup: String,
    /// The quota in cores.
    pub cores: f64,
    /// The CPU time used in microseconds.
    pub used_us: Option<u64>,
    /// The number of periods in which the cgroup was runnable.
    pub periods: u64,
    /// The number of throttled periods.
    pub throttled_periods: u64,
}

/// A peer that the server has connections to, summed over samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerCounts {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// The role of the peer.
    pub role: Role,
    /// The number of connections.
    pub connections_sum: u64,
    /// The number of connections in each sample.
    pub connections: Levels,
    /// The number of connections that the next sample could find again.
    pub candidates: u64,
    /// The number of connections that the next sample found again.
    pub kept: u64,
    /// The number of connections with a request in flight; `None` if the kernel does not report it.
    pub waiting_sum: Option<u64>,
    /// The number of data segments sent.
    pub sends: Option<u64>,
    /// The number of bytes received.
    pub bytes: Option<u64>,
    /// The smoothed round-trip times in microseconds, summed over connections and samples.
    pub rtt_us_sum: u64,
    /// The number of round-trip times in `rtt_us_sum`.
    pub rtt_count: u64,
    /// The processes of the peer, if they are on this machine.
    pub processes: Vec<ProcessCounts>,
    /// The accept queue of the peer, if its listener is on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener: Option<ListenerCounts>,
    /// The number of connections that the peer has accepted, of all clients; `None` if its listener is not visible.
    pub accepted_sum: Option<u64>,
    /// The number of accepted connections with bytes that the peer has not read.
    pub unread_sum: Option<u64>,
    /// The services that the peer's processes have connections to, without peers of their own.
    pub peers: Vec<Self>,
}
