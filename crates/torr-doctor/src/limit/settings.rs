//! What a search looks for, and how far it goes.

use super::slo::Slo;
use std::time::Duration;

/// What to look for, and how far to go.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What the service is to keep to.
    pub slo: Slo,
    /// How long all of it may take.
    pub budget: Duration,
    /// Never more requests per second than this.
    pub max_rate: Option<f64>,
    /// Never more connections than this.
    pub max_connections: usize,
}

impl Settings {
    /// How long a step is measured, if its rate is high enough.
    pub(super) fn step(&self) -> Duration {
        (self.budget / 24).clamp(Duration::from_millis(400), Duration::from_secs(5))
    }

    /// How long a rung of the ladder is measured.
    pub(super) fn rung(&self) -> Duration {
        (self.budget / 60).clamp(Duration::from_millis(150), Duration::from_secs(1))
    }

    /// How long all of the ladder may take.
    pub(super) fn climb(&self) -> Duration {
        self.budget / 5
    }

    /// How long to wait until a service is as before.
    pub(super) fn patience(&self) -> Duration {
        (self.budget / 16).clamp(Duration::from_millis(250), Duration::from_secs(10))
    }

    /// What the overload and the wait after it take.
    pub(super) fn after(&self) -> Duration {
        self.step().mul_f64(1.2) + self.patience()
    }

    /// How long it takes to press a rate for longer, and to wait for what that left.
    pub(super) fn confirmation(&self) -> Duration {
        self.step().mul_f64(2.4) + self.patience() / 2
    }

    /// What is kept for the time after the search.
    pub(super) fn reserve(&self) -> Duration {
        self.confirmation() + self.after()
    }
}
