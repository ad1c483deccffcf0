//! What follows from signals for all that read them.

use super::{PeerUse, ProcessUse, QuotaUse, Signals, ThreadUse};

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

    /// Of the quotas that the server's processes are under the one that was throttled most.
    pub fn quota(&self) -> Option<&QuotaUse> {
        let quotas = self.processes.iter().filter_map(|process| process.quota.as_ref());
        quotas.max_by(|a, b| a.throttled_share().total_cmp(&b.throttled_share()))
    }

    /// How many connections had nothing that the server had still to read, as a mean: with a request under way on each, these
    /// are the requests in its hands. `None` if the kernel does not tell.
    pub fn in_hands(&self) -> Option<f64> {
        let clients = self.clients?;
        Some((clients.established - clients.unread).max(0.0))
    }
}

impl PeerUse {
    /// CPU time in cores of its processes; 0 as well if they cannot be seen.
    pub fn cores(&self) -> f64 {
        cores(&self.processes)
    }
}

fn cores(processes: &[ProcessUse]) -> f64 {
    processes.iter().map(|process| process.cores).sum()
}
