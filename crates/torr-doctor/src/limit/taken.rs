//! The CPU that other programs and the hypervisor took during a step.

use serde::Serialize;
use torr_gauge::RunResult;
use torr_gauge::host::OTHERS_DISTURB;

/// The share of the machine's CPU from which the hypervisor may make a step fail: it takes whole CPUs for milliseconds.
const STOLEN: f64 = 0.03;

/// The CPU that others used during a step, as shares of the machine's, 0 to 1. Known only if the service is on this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Taken {
    /// The share of programs other than the service, its peers and the generator.
    pub others: f64,
    /// The share of other virtual machines.
    pub stolen: f64,
}

impl Taken {
    /// Returns the CPU that others used during a run. `None` if the machine is not visible.
    pub(super) fn during(run: &RunResult) -> Option<Self> {
        let stolen = run.host.as_ref()?.steal_share.unwrap_or(0.0);
        Some(Self { others: run.others_share()?, stolen })
    }

    /// Returns whether that may make a step fail that the service could keep.
    pub(super) fn disturbs(self) -> bool {
        self.others >= OTHERS_DISTURB || self.stolen >= STOLEN
    }
}
