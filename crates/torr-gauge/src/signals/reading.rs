//! What a watcher has counted up to a moment. What happened between two moments is the difference.

use super::Role;
use super::levels::Levels;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The version of [`Reading`].
pub const SCHEMA: &str = "torr.reading/1";

/// All counts at a moment. They only ever rise, as long as the same watcher gives them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reading {
    /// [`SCHEMA`].
    pub schema: String,
    /// Tells watchers apart: the counts of two are not comparable. 0 where nothing is watched but the machine.
    pub watcher: u64,
    /// Microseconds since the watcher began, or without one since some moment.
    pub at_us: u64,
    /// The machine as a whole.
    pub machine: Option<MachineCounts>,
    /// The kernel's TCP.
    pub network: Option<NetworkCounts>,
    /// How often the kernel was asked for its sockets.
    pub socket_samples: u64,
    /// The target's listeners.
    pub listeners: Vec<ListenerCounts>,
    /// The connections that were accepted there.
    pub clients: Option<ClientCounts>,
    /// The server's processes.
    pub processes: Vec<ProcessCounts>,
    /// Whom they talk to.
    pub peers: Vec<PeerCounts>,
    /// The programs on the machine that have no part in the run, those that used most CPU time first.
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
    /// CPUs.
    pub cores: usize,
    /// Time of all CPUs in seconds.
    pub total_s: f64,
    /// Of that, unused.
    pub idle_s: f64,
    /// Of that, given to others by the hypervisor.
    pub steal_s: Option<f64>,
    /// Time in which something waited for a CPU, in seconds.
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
    /// Sockets in TIME_WAIT now: the one number here that also falls.
    pub time_wait: Option<u64>,
}

/// Listeners with one address.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ListenerCounts {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// How many there are now.
    pub sockets: usize,
    /// How many connections may wait at one of them.
    pub backlog: Option<u32>,
    /// How many waited, added up over samples and sockets.
    pub queued_sum: u64,
    /// How many waited at a socket, by sample.
    pub queued: Levels,
}

/// Accepted connections, added up over samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientCounts {
    /// How many there were.
    pub established_sum: u64,
    /// With bytes that the server had not read.
    pub unread_sum: u64,
    /// With bytes that were not acknowledged.
    pub unsent_sum: u64,
    /// Smoothed round trip times in microseconds.
    pub rtt_us_sum: u64,
    /// How many of those there were.
    pub rtt_count: u64,
    /// The least round trip time of each sample, in microseconds.
    pub min_rtt_us: Levels,
    /// How long connections had something to send, in microseconds; `None` if the kernel does not tell.
    pub busy_us: Option<u64>,
    /// Of that, held back by a window or a buffer.
    pub limited_us: u64,
}

/// One process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProcessCounts {
    /// Its number.
    pub pid: i32,
    /// When it started, in the kernel's ticks: two processes with the same number differ here.
    pub started: u64,
    /// Its name.
    pub name: String,
    /// From when on it is counted, as in [`Reading::at_us`]; 0 if that is from its start, or the watcher's.
    pub since_us: u64,
    /// CPU time since then, in microseconds.
    pub cpu_us: u64,
    /// On how many CPUs its threads may run.
    pub allowed_cores: Option<usize>,
    /// How many threads it has.
    pub thread_count: usize,
    /// Its threads; of very many, some.
    pub threads: Vec<ThreadCounts>,
    /// Open files now.
    pub open_files: Option<u64>,
    /// How many it may have.
    pub file_limit: Option<u64>,
    /// The tightest CPU quota that it is under.
    pub quota: Option<QuotaCounts>,
}

/// One thread, since its process has been watched.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadCounts {
    /// Its number.
    pub tid: i32,
    /// Its name.
    pub name: String,
    /// CPU time in nanoseconds.
    pub cpu_ns: u64,
    /// Time for which it was ready without a CPU, in nanoseconds.
    pub queued_ns: Option<u64>,
    /// How often it gave the CPU up.
    pub waits: Option<u64>,
    /// How often it was looked at.
    pub samples: u64,
    /// Of those, how often it was running or ready to run.
    pub running: u64,
    /// How often it waited for what.
    pub waiting: BTreeMap<String, u64>,
}

/// A quota of CPU time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QuotaCounts {
    /// The cgroup's path.
    pub cgroup: String,
    /// How much it may use, in cores.
    pub cores: f64,
    /// How much it has used, in microseconds.
    pub used_us: Option<u64>,
    /// Periods with something to run.
    pub periods: u64,
    /// Of those, throttled ones.
    pub throttled_periods: u64,
}

/// Somebody that the server has connections to, added up over samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PeerCounts {
    /// Address and port, or the path of a Unix socket.
    pub address: String,
    /// What it seems to be.
    pub role: Role,
    /// Connections.
    pub connections_sum: u64,
    /// Connections, by sample.
    pub connections: Levels,
    /// Connections that the next sample could have found again.
    pub candidates: u64,
    /// Of those, how many it found.
    pub kept: u64,
    /// Connections that waited for an answer; `None` if that cannot be told.
    pub waiting_sum: Option<u64>,
    /// Segments with data that were sent.
    pub sends: Option<u64>,
    /// Bytes received.
    pub bytes: Option<u64>,
    /// Smoothed round trip times in microseconds.
    pub rtt_us_sum: u64,
    /// How many of those there were.
    pub rtt_count: u64,
    /// Its processes.
    pub processes: Vec<ProcessCounts>,
}
