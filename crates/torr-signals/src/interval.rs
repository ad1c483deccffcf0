//! The signals of an interval of time, by what they are of: the machine, its network, listeners, clients, processes, peers.

use crate::role::Role;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The signals of an interval of time. Rates are per second, shares are 0 to 1, and means are over samples that are taken
/// about twenty times a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Signals {
    /// The length of the interval in seconds.
    pub seconds: f64,
    /// The machine as a whole.
    pub machine: Option<MachineUse>,
    /// The kernel's TCP in the server's network namespace.
    pub network: Option<NetworkUse>,
    /// The listeners at the target's address.
    pub listeners: Vec<ListenerUse>,
    /// The connections that the server has accepted.
    pub clients: Option<ClientsUse>,
    /// The server's processes, the busiest first.
    pub processes: Vec<ProcessUse>,
    /// The peers that the server's processes are connected to, those with the most traffic first.
    pub peers: Vec<PeerUse>,
    /// The eight busiest programs that take no part in the run and used at least a hundredth of a CPU, the busiest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<ProgramUse>,
    /// The mean number of lookups of host names in flight, where there were any: UDP sockets that the server's processes have connected
    /// to port 53.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lookups: Option<f64>,
    /// The server's UDP sockets, where it has some, as servers of HTTP/3 have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub datagram_sockets: Option<DatagramSocketsUse>,
    /// Whether the server is in another network namespace of its machine than the watcher; addresses of peers are those of that namespace.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub other_namespace: bool,
}

/// The processes of one name that take no part in the run.
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
    /// The number of CPUs.
    pub cores: usize,
    /// The used share of all CPUs' time.
    pub cpu_share: f64,
    /// The stolen share of all CPUs' time.
    pub steal_share: Option<f64>,
    /// The share of the time in which a thread was runnable without a CPU (PSI, `some` of `/proc/pressure/cpu`).
    pub cpu_pressure: Option<f64>,
}

/// The kernel's TCP counters of a network namespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NetworkUse {
    /// Connections opened (`ActiveOpens`).
    pub active_opens: Option<u64>,
    /// Connections accepted (`PassiveOpens`).
    pub passive_opens: Option<u64>,
    /// Connections that found an accept queue full (`ListenOverflows`).
    pub listen_overflows: Option<u64>,
    /// Connections that a listener dropped for any reason (`ListenDrops`).
    pub listen_drops: Option<u64>,
    /// Connections that were dropped because the SYN queue was full (`TCPReqQFullDrop`).
    pub half_open_drops: Option<u64>,
    /// SYN packets retransmitted (`TCPSynRetrans`).
    pub syn_retransmits: Option<u64>,
    /// Segments retransmitted (`RetransSegs`).
    pub retransmits: Option<u64>,
    /// Segments sent (`OutSegs`).
    pub segments_sent: Option<u64>,
    /// Delayed acknowledgements (`DelayedACKs`).
    pub delayed_acks: Option<u64>,
    /// Sockets in TIME_WAIT at the end of the interval.
    pub time_wait: Option<u64>,
    /// Local ports for outgoing connections, per source and destination address (`net.ipv4.ip_local_port_range`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_ports: Option<u64>,
}

/// One listening socket, or several that share an address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListenerUse {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// The number of sockets with this address (SO_REUSEPORT).
    pub sockets: usize,
    /// The backlog of one socket: the capacity of its accept queue.
    pub backlog: Option<u32>,
    /// The mean length of the accept queues, summed over sockets.
    pub queued_mean: Option<f64>,
    /// The maximum length of one socket's accept queue.
    pub queued_max: Option<u32>,
}

/// The UDP sockets at the target's address that are not connected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DatagramSocketsUse {
    /// The number of sockets at the end of the interval.
    pub sockets: usize,
    /// The number of datagrams that the kernel dropped before the server read them.
    pub dropped: u64,
}

/// The connections that the server has accepted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientsUse {
    /// The mean number of connections, without those in the accept queue.
    pub established: f64,
    /// The mean number of connections with bytes that the server has not read: requests with queue delay in the kernel.
    pub unread: f64,
    /// The mean number of connections with bytes unsent or unacknowledged: responses that wait for the network.
    pub unsent: f64,
    /// The mean of the smoothed round-trip times in microseconds, measured on the server's side.
    pub rtt_us: Option<f64>,
    /// The minimum round-trip time in microseconds.
    pub min_rtt_us: Option<f64>,
    /// The share of the time with data to send in which the client's window or the send buffer limited sending.
    pub window_limited: Option<f64>,
}

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessUse {
    /// The process id.
    pub pid: i32,
    /// The name.
    pub name: String,
    /// CPU time in cores: 1.5 is one and a half CPUs.
    pub cores: f64,
    /// The number of CPUs that the affinity allows.
    pub allowed_cores: Option<usize>,
    /// The hundred busiest threads at the end of the interval, the busiest first.
    pub threads: Vec<ThreadUse>,
    /// The number of threads at the end of the interval.
    pub thread_count: usize,
    /// The number of open files at the end of the interval.
    pub open_files: Option<u64>,
    /// The limit of open files.
    pub file_limit: Option<u64>,
    /// The tightest CPU quota of the process's cgroups; `None` without a quota.
    pub quota: Option<QuotaUse>,
}

/// One thread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadUse {
    /// The thread id.
    pub tid: i32,
    /// The name.
    pub name: String,
    /// CPU time in cores, 0 to 1.
    pub cores: f64,
    /// The share of the time in which the thread was runnable without a CPU.
    pub queued: Option<f64>,
    /// The number of voluntary context switches per second.
    pub waits_per_s: Option<f64>,
    /// The share of samples in which the thread was running or runnable.
    pub running: Option<f64>,
    /// The share of samples in which the thread waited in each kernel function, such as `futex_wait_queue` or `ep_poll`.
    pub waiting: BTreeMap<String, f64>,
}

/// A quota of CPU time (cgroup v1 or v2).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotaUse {
    /// The cgroup's path.
    pub cgroup: String,
    /// The quota in cores.
    pub cores: f64,
    /// The use in cores, `None` if the kernel does not report it.
    pub used_cores: Option<f64>,
    /// The number of periods in which the cgroup was runnable.
    pub periods: u64,
    /// The number of periods in which the cgroup was throttled.
    pub throttled_periods: u64,
}

impl QuotaUse {
    /// Returns the throttled share of the periods, 0 to 1.
    pub fn throttled_share(&self) -> f64 {
        self.throttled_periods as f64 / self.periods.max(1) as f64
    }
}

/// A peer: a service that the server's processes are connected to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerUse {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// The role of the peer.
    pub role: Role,
    /// The mean number of connections to the peer.
    pub connections: f64,
    /// The maximum number of concurrent connections in a sample.
    pub connections_max: usize,
    /// The share of a sample's connections that still exist in the next sample: near 1 with connection reuse, near 0 with a
    /// connection per exchange.
    pub kept: Option<f64>,
    /// The mean number of connections with a request in flight; `None` where the kernel does not report the times of the
    /// last segments.
    pub waiting: Option<f64>,
    /// The rate of data segments sent per second, on connections in at least two samples.
    pub sends_per_s: Option<f64>,
    /// The rate of bytes received per second, on connections in at least two samples.
    pub bytes_per_s: Option<f64>,
    /// The mean of the smoothed round-trip times in microseconds.
    pub rtt_us: Option<f64>,
    /// The peer's processes, if they are visible on this machine.
    pub processes: Vec<ProcessUse>,
    /// The peer's accept queue, over TCP or a Unix socket, if its listener is on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listener: Option<ListenerUse>,
    /// The mean number of connections that the peer has accepted, of all clients; `None` where its listener is not visible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<f64>,
    /// The mean number of accepted connections with bytes that the peer has not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<f64>,
    /// The services that the peer's processes are connected to, if the peer is on this machine and may forward requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<Self>,
}
