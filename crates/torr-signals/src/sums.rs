//! Sums and texts that are derived from signals.

use super::{PeerUse, ProcessUse, ProgramUse, QuotaUse, Signals, ThreadUse};
use std::collections::BTreeSet;

/// The upper bound of the steal factor, beyond which an extrapolation is not credible.
const MAX_STEAL_FACTOR: f64 = 2.0;

impl Signals {
    /// Returns the threads of all of the server's processes.
    pub fn threads(&self) -> impl Iterator<Item = &ThreadUse> {
        self.processes.iter().flat_map(|process| &process.threads)
    }

    /// Returns the server's CPU time in cores; 0 also if its processes are not visible.
    pub fn server_cores(&self) -> f64 {
        cores(&self.processes)
    }

    /// Returns the CPU time in cores of the server's peers, and of those behind them, as far as they are visible.
    pub fn peer_cores(&self) -> f64 {
        let mut counted = BTreeSet::new();
        let peers = self.peers.iter().flat_map(|peer| std::iter::once(peer).chain(&peer.peers));
        // A service may be a peer at several addresses, and of several others.
        let others = peers.flat_map(|peer| &peer.processes).filter(|process| counted.insert(process.pid));
        others.map(|process| process.cores).sum()
    }

    /// Returns the busiest programs, three at most, that take no part in the run and used at least `least_cores`.
    pub fn busiest_others(&self, least_cores: f64) -> impl Iterator<Item = &ProgramUse> {
        self.others.iter().filter(move |program| program.cores >= least_cores).take(3)
    }

    /// Returns the share of the machine's CPU that neither the server, its peers nor the generator used, 0 to 1, stolen time included.
    /// `generator_cores` is the CPU of the generator on this machine. `None` if the machine is not visible.
    pub fn others_share(&self, generator_cores: f64) -> Option<f64> {
        let machine = self.machine?;
        let known = self.server_cores() + self.peer_cores() + generator_cores;
        Some((machine.cpu_share - known / machine.cores.max(1) as f64).max(0.0))
    }

    /// Returns the share of the machine's CPU that the programs used which are named in `others`, 0 to 1. `None` if the machine is not
    /// visible.
    pub fn named_others_share(&self) -> Option<f64> {
        let used: f64 = self.others.iter().map(|program| program.cores).sum();
        Some((used / self.machine?.cores.max(1) as f64).min(1.0))
    }

    /// Returns the stolen share of the machine's CPU time; 0 also if the kernel does not report it.
    pub fn stolen_share(&self) -> f64 {
        self.machine.and_then(|machine| machine.steal_share).unwrap_or(0.0)
    }

    /// Returns the number of connections that found the accept queue full. `None` if the kernel does not report it.
    pub fn listen_overflows(&self) -> Option<u64> {
        self.network?.listen_overflows
    }

    /// Returns the number of datagrams that the kernel dropped before the server read them. `None` for a server without UDP sockets, or
    /// if the kernel does not report it.
    pub fn datagrams_dropped(&self) -> Option<u64> {
        Some(self.datagram_sockets?.dropped)
    }

    /// Returns the ratio of the CPU time that running threads demanded to the CPU time that they got: stolen time is taken from
    /// threads that run. 1 without steal, or if the kernel does not report it.
    pub fn steal_factor(&self) -> f64 {
        let Some(machine) = &self.machine else { return 1.0 };
        let got = machine.cpu_share - self.stolen_share();
        if got > 0.0 { (machine.cpu_share / got).clamp(1.0, MAX_STEAL_FACTOR) } else { 1.0 }
    }

    /// Returns the signals with the CPU times that processes and threads demanded (see [`Signals::steal_factor`]).
    pub fn without_steal(mut self) -> Self {
        let factor = self.steal_factor();
        let peers = self.peers.iter_mut().flat_map(|peer| {
            peer.processes.iter_mut().chain(peer.peers.iter_mut().flat_map(|behind| &mut behind.processes))
        });
        for process in self.processes.iter_mut().chain(peers) {
            process.cores *= factor;
            for thread in &mut process.threads {
                thread.cores = (thread.cores * factor).min(1.0);
            }
        }
        self
    }

    /// Returns the quota of the server's processes that was throttled most.
    pub fn quota(&self) -> Option<&QuotaUse> {
        let quotas = self.processes.iter().filter_map(|process| process.quota.as_ref());
        quotas.max_by(|a, b| a.throttled_share().total_cmp(&b.throttled_share()))
    }

    /// Returns the mean number of requests in service: connections without unread bytes, given a request in flight on each.
    /// `None` if connections are not visible.
    pub fn in_service(&self) -> Option<f64> {
        let clients = self.clients?;
        Some((clients.established - clients.unread).max(0.0))
    }
}

impl ThreadUse {
    /// Returns the thread's demand in cores: CPU time plus the time runnable without a CPU, if the kernel reports it.
    pub fn demand(&self) -> f64 {
        self.cores + self.queued.unwrap_or(0.0)
    }
}

impl PeerUse {
    /// Returns a text with the peer's name and address.
    pub fn label(&self) -> String {
        let name = self.processes.first().map(|process| format!("{} at ", process.name));
        name.unwrap_or_default() + &self.address
    }

    /// Returns the CPU time of the peer's processes in cores; 0 also if they are not visible.
    pub fn cores(&self) -> f64 {
        cores(&self.processes)
    }

    /// Returns the mean number of connections in the peer's accept queue; `None` where its listener is not visible.
    pub fn queued(&self) -> Option<f64> {
        self.listener.as_ref()?.queued_mean
    }
}

fn cores(processes: &[ProcessUse]) -> f64 {
    processes.iter().map(|process| process.cores).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MachineUse;

    /// Signals of two CPUs with a server of two threads, and a stolen share.
    fn signals(server: f64, steal_share: Option<f64>) -> Signals {
        let cpu_share = server / 2.0 + steal_share.unwrap_or(0.0);
        let threads = vec![ThreadUse { cores: server / 2.0, ..ThreadUse::default() }; 2];
        Signals {
            machine: Some(MachineUse { cores: 2, cpu_share, steal_share, cpu_pressure: None }),
            processes: vec![ProcessUse { cores: server, threads, ..ProcessUse::default() }],
            ..Signals::default()
        }
    }

    #[test]
    fn stolen_time_counts_as_demand_of_running_threads() {
        let wanted = signals(0.6, Some(0.2)).without_steal();
        assert!((wanted.server_cores() - 1.0).abs() < 1e-9, "{}", wanted.server_cores());
        assert!(wanted.threads().all(|thread| (thread.cores - 0.5).abs() < 1e-9));
    }

    #[test]
    fn without_steal_nothing_changes_and_no_thread_exceeds_a_cpu() {
        for steal in [None, Some(0.0)] {
            assert_eq!(signals(1.2, steal).without_steal(), signals(1.2, steal));
        }
        let wanted = signals(1.4, Some(0.3)).without_steal();
        assert!((wanted.server_cores() - 2.0).abs() < 1e-9 && wanted.threads().all(|thread| thread.cores == 1.0));
        assert_eq!(signals(0.01, Some(0.5)).steal_factor(), 2.0, "the factor is bounded");
    }
}
