//! The disturbance of the experiments: what programs without a part in them, and the hypervisor, used of the machine that the server
//! shares with them. A constant disturbance slows all experiments alike; one that changes makes them incomparable.

use crate::observation::Observation;
use crate::thresholds::{CPU_IS_SHORT, OTHERS_COUNT, SHORTEST_SEEN_S, WEATHER_CHANGED};
use serde::Serialize;
use torr_gauge::verdict::{ExperimentId as Id, Fact};
use torr_signals::Signals;

/// The disturbance of the experiments that rules compare with each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Weather {
    /// The least share of the machine's CPU that others used in an experiment, 0 to 1.
    pub least_share: f64,
    /// The greatest share of the machine's CPU that others used in an experiment, 0 to 1.
    pub most_share: f64,
    /// Whether CPU was short in an experiment that others disturbed.
    pub is_short: bool,
}

impl Weather {
    /// Returns the disturbance of a diagnosis so far. `None` if the server's machine is not visible.
    pub fn over(observations: &[Observation], same_machine: bool) -> Option<Self> {
        let seen = observations.iter().filter(|seen| is_compared(seen));
        let shares: Vec<_> = seen.filter_map(|seen| disturbance(seen, same_machine)).collect();
        let share = |disturbed: &Disturbance| disturbed.others_share;
        let least_share = shares.iter().map(share).reduce(f64::min)?;
        let most_share = shares.iter().map(share).reduce(f64::max)?;
        Some(Self { least_share, most_share, is_short: shares.iter().any(Disturbance::is_short) })
    }

    /// Returns whether the disturbance changed so much that experiments before and after are not comparable.
    pub fn has_changed(&self) -> bool {
        self.is_short && self.most_share - self.least_share >= WEATHER_CHANGED
    }

    /// Returns the change as evidence.
    pub fn fact(&self) -> Fact {
        Fact::OthersChanged { least_share: self.least_share, most_share: self.most_share }
    }
}

/// The disturbance of one experiment.
#[derive(Debug, Clone, Copy)]
pub struct Disturbance {
    /// The share of the machine's CPU that neither the server, its peers nor the generator used, 0 to 1. Includes stolen time.
    pub others_share: f64,
    /// The share of the machine's CPU that was used.
    machine_share: f64,
}

impl Disturbance {
    /// Returns whether others used so much that the server, its peers and the generator may have waited for a CPU.
    fn is_short(&self) -> bool {
        self.others_share >= OTHERS_COUNT && self.machine_share >= CPU_IS_SHORT
    }
}

/// Returns the disturbance of an experiment. `None` if the server's machine, or the generator's part of it, is not visible.
pub fn disturbance(seen: &Observation, same_machine: bool) -> Option<Disturbance> {
    let signals = seen.signals.as_ref()?;
    let machine = signals.machine?;
    let generator = if same_machine { seen.run.generator_cores()? } else { 0.0 };
    Some(Disturbance { others_share: signals.others_share(generator)?, machine_share: machine.cpu_share })
}

/// Returns whether rules compare an experiment with others, and it was long enough for the kernel's counters, whose unit is 10 ms. A
/// service that does nothing is a program of its own, and so no disturbance.
fn is_compared(seen: &Observation) -> bool {
    let is_target = matches!(
        seen.id,
        Id::Alone
            | Id::AloneLonger
            | Id::AloneUndisturbed
            | Id::AloneAcked
            | Id::AloneAckedLonger
            | Id::Rung(_)
            | Id::Full
            | Id::FullUndisturbed
            | Id::FullSpread
            | Id::Double
            | Id::DoubleConnected
            | Id::Beside(_)
    );
    is_target && seen.signals.as_ref().is_some_and(|signals: &Signals| signals.seconds >= SHORTEST_SEEN_S)
}
