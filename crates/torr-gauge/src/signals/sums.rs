//! What follows from signals for all that read them.

use super::{PeerUse, ProcessUse, QuotaUse, Signals, ThreadUse};

/// More than this of what was wanted is not made up.
const MOST_STRETCH: f64 = 2.0;

impl Signals {
    /// The threads of all of the server's processes.
    pub fn threads(&self) -> impl Iterator<Item = &ThreadUse> {
        self.processes.iter().flat_map(|process| &process.threads)
    }

    /// The server's CPU time in cores; 0 as well if its processes cannot be seen.
    pub fn server_cores(&self) -> f64 {
        cores(&self.processes)
    }

    /// CPU time in cores of what the server talks to, as far as it can be seen.
    pub fn peer_cores(&self) -> f64 {
        self.peers.iter().map(PeerUse::cores).sum()
    }

    /// The programs that have no part in the run and used at least so much CPU in cores, for people: the three busiest. `None` if
    /// there are none or they cannot be seen.
    pub fn busiest_others(&self, least_cores: f64) -> Option<String> {
        let busy = self.others.iter().filter(|program| program.cores >= least_cores).take(3);
        let told: Vec<_> = busy
            .zip(0..)
            .map(|(program, n)| format!("{} {:.2}{}", program.name, program.cores, if n == 0 { " CPUs" } else { "" }))
            .collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    /// The share of the machine's CPU that the hypervisor gave to others; 0 as well if it does not tell.
    pub fn stolen_share(&self) -> f64 {
        self.machine.and_then(|machine| machine.steal_share).unwrap_or(0.0)
    }

    /// Connections that the kernel counted as having found the accept queue full. `None` if it is not told.
    pub fn listen_overflows(&self) -> Option<u64> {
        self.network?.listen_overflows
    }

    /// An accept queue that was seen full, for people. `None` if none was, or if the kernel does not tell.
    pub fn full_accept_queue(&self) -> Option<String> {
        self.listeners.iter().find_map(|listener| {
            let (room, most) = (listener.backlog?, listener.queued_max?);
            (most > 0 && most >= room).then(|| format!("its accept queue has room for {room}, and {most} waited in it"))
        })
    }

    /// How many times as much CPU those that ran had wanted than they got: what the hypervisor gives to others, it takes from who
    /// runs. 1 where it took nothing or does not tell.
    pub fn steal_factor(&self) -> f64 {
        let Some(machine) = &self.machine else { return 1.0 };
        let got = machine.cpu_share - self.stolen_share();
        if got > 0.0 { (machine.cpu_share / got).clamp(1.0, MOST_STRETCH) } else { 1.0 }
    }

    /// The same with the CPU time that processes and threads had wanted, in place of what they got (see [`Signals::steal_factor`]).
    pub fn without_steal(mut self) -> Self {
        let stretch = self.steal_factor();
        let peers = self.peers.iter_mut().flat_map(|peer| &mut peer.processes);
        for process in self.processes.iter_mut().chain(peers) {
            process.cores *= stretch;
            for thread in &mut process.threads {
                thread.cores = (thread.cores * stretch).min(1.0);
            }
        }
        self
    }

    /// Of the quotas that the server's processes are under the one that was throttled most.
    pub fn quota(&self) -> Option<&QuotaUse> {
        let quotas = self.processes.iter().filter_map(|process| process.quota.as_ref());
        quotas.max_by(|a, b| a.throttled_share().total_cmp(&b.throttled_share()))
    }

    /// How many connections had nothing that the server had still to read, as a mean: with a request under way on each, these
    /// are the requests in its hands. `None` if the kernel does not tell.
    pub fn in_service(&self) -> Option<f64> {
        let clients = self.clients?;
        Some((clients.established - clients.unread).max(0.0))
    }
}

impl ThreadUse {
    /// CPU in cores that it used or was ready to use; only what it used where the kernel does not tell the other.
    pub fn demand(&self) -> f64 {
        self.cores + self.queued.unwrap_or(0.0)
    }
}

impl PeerUse {
    /// Its name and address, for people.
    pub fn label(&self) -> String {
        let name = self.processes.first().map(|process| format!("{} at ", process.name));
        name.unwrap_or_default() + &self.address
    }

    /// CPU time in cores of its processes; 0 as well if they cannot be seen.
    pub fn cores(&self) -> f64 {
        cores(&self.processes)
    }
}

fn cores(processes: &[ProcessUse]) -> f64 {
    processes.iter().map(|process| process.cores).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signals::MachineUse;

    /// Two CPUs of which the server has so much, in two threads, and the hypervisor so much.
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
    fn what_the_hypervisor_takes_was_wanted_by_those_that_ran() {
        let wanted = signals(0.6, Some(0.2)).without_steal();
        assert!((wanted.server_cores() - 1.0).abs() < 1e-9, "{}", wanted.server_cores());
        assert!(wanted.threads().all(|thread| (thread.cores - 0.5).abs() < 1e-9));
    }

    #[test]
    fn where_nothing_is_taken_or_told_all_stays_and_no_thread_has_more_than_a_cpu() {
        for told in [None, Some(0.0)] {
            assert_eq!(signals(1.2, told).without_steal(), signals(1.2, told));
        }
        let wanted = signals(1.4, Some(0.3)).without_steal();
        assert!((wanted.server_cores() - 2.0).abs() < 1e-9 && wanted.threads().all(|thread| thread.cores == 1.0));
        assert_eq!(signals(0.01, Some(0.5)).steal_factor(), 2.0, "that much was not the server's to lose");
    }
}
