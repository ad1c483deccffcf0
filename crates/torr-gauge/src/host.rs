//! The utilisation of the server's machine, and the server's part of it.

use crate::generator::round3;
use serde::{Deserialize, Serialize};
use torr_signals::Signals;

/// The share of the machine's CPU from which the use of other programs disturbs a run.
pub const OTHERS_DISTURB: f64 = 0.1;

/// The use of the server machine's CPU time during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// The number of CPUs of the machine.
    pub cores: usize,
    /// The used share of the machine's CPU time, 0 to 1.
    pub cpu_share: f64,
    /// The stolen share of the machine's CPU time, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub steal_share: Option<f64>,
    /// CPU time of the server in cores: 1.5 is one and a half CPUs.
    pub server_cores: f64,
    /// The server's processes, the busiest first.
    pub server: Vec<ServerProcess>,
    /// The busy share of each of the server's threads that used at least a hundredth of a CPU, 0 to 1, the busiest first.
    pub server_threads: Vec<f64>,
}

/// One process of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ServerProcess {
    /// The process id.
    pub pid: i32,
    /// The process's name.
    pub name: String,
    /// The number of threads at the end of the run.
    pub threads: usize,
    /// The CPU time in cores.
    pub cores: f64,
}

impl Host {
    /// Returns the summary of signals, `None` if the machine or the server's processes are not visible.
    pub fn of(signals: &Signals) -> Option<Self> {
        let machine = signals.machine.filter(|_| !signals.processes.is_empty())?;
        let server = signals.processes.iter().map(|process| ServerProcess {
            pid: process.pid,
            name: process.name.clone(),
            threads: process.thread_count,
            cores: round3(process.cores),
        });
        let mut server_threads: Vec<_> =
            signals.threads().map(|thread| round3(thread.cores)).filter(|&share| share >= 0.01).collect();
        server_threads.sort_by(|a, b| b.total_cmp(a));
        Some(Self {
            cores: machine.cores,
            cpu_share: round3(machine.cpu_share),
            steal_share: machine.steal_share.map(round3),
            server_cores: round3(signals.server_cores()),
            server: server.collect(),
            server_threads,
        })
    }
}
