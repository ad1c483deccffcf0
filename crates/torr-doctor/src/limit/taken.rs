//! What others took of the machine's CPU during a step: other programs, and the hypervisor.

use serde::{Deserialize, Serialize};
use torr_gauge::{RunResult, Signals};

/// The share of the machine's CPU from which other programs may make a step fail.
const OTHERS: f64 = 0.1;
/// The share of the machine's CPU from which the hypervisor may: it takes whole CPUs away for milliseconds at a time.
const STOLEN: f64 = 0.03;

/// The CPU that others used during a step, as shares of the machine's, 0 to 1. Only seen where the service's machine is this one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Taken {
    /// By programs that are neither the service, nor what the service asks, nor the generator.
    pub others: f64,
    /// By other virtual machines.
    pub stolen: f64,
}

impl Taken {
    /// What was seen during a run. `None` if the machine cannot be seen.
    pub(super) fn during(run: &RunResult) -> Option<Self> {
        let host = run.host.as_ref()?;
        let generator = run.generator.cpu_share * run.plan.threads as f64;
        let behind = run.signals.as_ref().map_or(0.0, Signals::peer_cores);
        let ours = (host.server_cores + generator + behind) / host.cores.max(1) as f64;
        Some(Self { others: (host.cpu_share - ours).max(0.0), stolen: host.steal_share.unwrap_or(0.0) })
    }

    /// Whether it is enough to make a step fail that the service could keep.
    pub(super) fn disturbs(self) -> bool {
        self.others >= OTHERS || self.stolen >= STOLEN
    }
}
