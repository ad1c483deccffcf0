//! What a search looks for, and how far it goes.

use super::slo::Slo;
use std::time::Duration;
use torr_gauge::verdict::LoadUnit;

/// The settings of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The load whose limit is looked for.
    pub unit: LoadUnit,
    /// The objectives.
    pub slo: Slo,
    /// Whether streams are to keep the gaps of one stream alone, in default of an objective about gaps.
    pub keeps_gaps: bool,
    /// The budget.
    pub budget: Duration,
    /// Never more requests per second than this; of streams, never more that begin.
    pub max_rate: Option<f64>,
    /// Never more connections than this.
    pub max_connections: usize,
    /// The most requests in flight on a connection.
    pub depth: u32,
}

impl Settings {
    /// Returns the length of a step with a high rate.
    pub(super) fn step(&self) -> Duration {
        (self.budget / 24).clamp(Duration::from_millis(400), Duration::from_secs(5))
    }

    /// Returns the length of a rung of the ladder.
    pub(super) fn rung(&self) -> Duration {
        (self.budget / 60).clamp(Duration::from_millis(150), Duration::from_secs(1))
    }

    /// Returns the budget of the ladder.
    pub(super) fn climb(&self) -> Duration {
        self.budget / 5
    }

    /// Returns the longest wait for a service to recover.
    pub(super) fn patience(&self) -> Duration {
        (self.budget / 16).clamp(Duration::from_millis(250), Duration::from_secs(10))
    }

    /// Returns the time of the overload and the wait after it.
    pub(super) fn after(&self) -> Duration {
        self.step().mul_f64(1.2) + self.patience()
    }

    /// Returns the time of a confirmation and the wait after it.
    pub(super) fn confirmation(&self) -> Duration {
        self.step().mul_f64(2.4) + self.patience() / 2
    }

    /// Returns the time that is reserved for after the search.
    pub(super) fn reserve(&self) -> Duration {
        self.confirmation() + self.after()
    }
}
