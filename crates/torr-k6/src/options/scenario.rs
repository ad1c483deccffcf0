//! Scenarios: what an executor does, for how long, with how many virtual users.

use super::duration;
use super::stage::Stage;
use std::collections::BTreeMap;
use std::time::Duration;

/// The time for which iterations may go on after the end of their scenario, unless the scenario says otherwise.
pub(super) const DEFAULT_GRACEFUL_STOP: Duration = Duration::from_secs(30);

/// A scenario with all of its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scenario {
    /// The name.
    pub name: String,
    /// The exported function that is called, `default` unless set.
    pub exec: Option<String>,
    /// The time of the scenario's beginning, counted from the beginning of the first scenario.
    pub start_time: Duration,
    /// The time for which iterations may go on after the scenario's end.
    pub graceful_stop: Duration,
    /// Variables that the scenario adds to `__ENV`.
    pub env: BTreeMap<String, String>,
    /// Tags of the scenario's samples.
    pub tags: BTreeMap<String, String>,
    /// What begins iterations.
    pub executor: Executor,
    /// The keys as the script wrote them, for `exec.test.options`.
    pub written: ScenarioPart,
}

/// The fields of a scenario that were set, in the form that scripts see them in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScenarioPart(pub serde_json::Map<String, serde_json::Value>);

/// An executor with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Executor {
    /// Virtual users take iterations from one common count.
    SharedIterations {
        /// The number of virtual users.
        vus: u64,
        /// The number of iterations of all virtual users together.
        iterations: u64,
        /// The time after which no iteration begins.
        max_duration: Duration,
    },
    /// Each virtual user runs a number of iterations.
    PerVuIterations {
        /// The number of virtual users.
        vus: u64,
        /// The number of iterations of each virtual user.
        iterations: u64,
        /// The time after which no iteration begins.
        max_duration: Duration,
    },
    /// Virtual users run one iteration after another.
    ConstantVus {
        /// The number of virtual users.
        vus: u64,
        /// The time after which no iteration begins.
        duration: Duration,
    },
    /// The number of virtual users changes linearly in stages.
    RampingVus {
        /// The number of virtual users at the beginning.
        start_vus: u64,
        /// The stages.
        stages: Vec<Stage>,
        /// The time for which an iteration may go on whose virtual user is no longer wanted.
        graceful_ramp_down: Duration,
    },
    /// Iterations begin at a constant rate.
    ConstantArrivalRate {
        /// The iterations in a time unit.
        rate: u64,
        /// The time after which no iteration begins.
        duration: Duration,
        /// What arrival rates have in common.
        arrival: ArrivalRate,
    },
    /// Iterations begin at a rate that changes linearly in stages.
    RampingArrivalRate {
        /// The iterations in a time unit at the beginning.
        start_rate: u64,
        /// The stages.
        stages: Vec<Stage>,
        /// What arrival rates have in common.
        arrival: ArrivalRate,
    },
}

/// The settings that both executors with arrival rates have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrivalRate {
    /// The time unit of rates.
    pub time_unit: Duration,
    /// The number of virtual users that exist before the test begins.
    pub pre_allocated_vus: u64,
    /// The largest number of virtual users.
    pub max_vus: u64,
}

impl Executor {
    /// Returns the executor's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::SharedIterations { .. } => "shared-iterations",
            Self::PerVuIterations { .. } => "per-vu-iterations",
            Self::ConstantVus { .. } => "constant-vus",
            Self::RampingVus { .. } => "ramping-vus",
            Self::ConstantArrivalRate { .. } => "constant-arrival-rate",
            Self::RampingArrivalRate { .. } => "ramping-arrival-rate",
        }
    }

    /// Returns the time after which no iteration begins, counted from the scenario's beginning.
    #[must_use]
    pub fn regular_duration(&self) -> Duration {
        match self {
            Self::SharedIterations { max_duration, .. } | Self::PerVuIterations { max_duration, .. } => *max_duration,
            Self::ConstantVus { duration, .. } | Self::ConstantArrivalRate { duration, .. } => *duration,
            Self::RampingVus { stages, .. } | Self::RampingArrivalRate { stages, .. } => length(stages),
        }
    }

    /// Returns the largest number of virtual users that the executor can have at a time.
    #[must_use]
    pub fn max_vus(&self) -> u64 {
        match self {
            Self::SharedIterations { vus, .. } | Self::PerVuIterations { vus, .. } | Self::ConstantVus { vus, .. } => {
                *vus
            }
            Self::RampingVus { start_vus, stages, .. } => highest(*start_vus, stages),
            Self::ConstantArrivalRate { arrival, .. } | Self::RampingArrivalRate { arrival, .. } => arrival.max_vus,
        }
    }
}

impl Scenario {
    /// Returns a scenario that has nothing set but its executor.
    #[must_use]
    pub fn plain(name: impl Into<String>, executor: Executor) -> Self {
        Self {
            name: name.into(),
            exec: None,
            start_time: Duration::ZERO,
            graceful_stop: DEFAULT_GRACEFUL_STOP,
            env: BTreeMap::new(),
            tags: BTreeMap::new(),
            executor,
            written: ScenarioPart::default(),
        }
    }

    /// Returns the exported function that the scenario calls.
    #[must_use]
    pub fn function(&self) -> &str {
        self.exec.as_deref().unwrap_or("default")
    }

    /// Returns the end of the scenario's last iteration at the latest, counted from the beginning of the first scenario.
    #[must_use]
    pub fn latest_end(&self) -> Duration {
        self.start_time + self.executor.regular_duration() + self.graceful_stop
    }

    /// Returns the scenario in one line, as it is listed before the test begins.
    #[must_use]
    pub fn description(&self) -> String {
        let mut details = Vec::new();
        let plain = |duration: Duration| duration::format(duration);
        let text = match &self.executor {
            Executor::SharedIterations { vus, iterations, max_duration } => {
                details.push(format!("maxDuration: {}", plain(*max_duration)));
                format!("{iterations} iterations shared among {vus} VUs")
            }
            Executor::PerVuIterations { vus, iterations, max_duration } => {
                details.push(format!("maxDuration: {}", plain(*max_duration)));
                format!("{iterations} iterations for each of {vus} VUs")
            }
            Executor::ConstantVus { vus, duration } => format!("{vus} looping VUs for {}", plain(*duration)),
            Executor::RampingVus { stages, graceful_ramp_down, .. } => {
                if !graceful_ramp_down.is_zero() {
                    details.push(format!("gracefulRampDown: {}", plain(*graceful_ramp_down)));
                }
                let (most, time) = (self.executor.max_vus(), plain(length(stages)));
                format!("Up to {most} looping VUs for {time} over {} stages", stages.len())
            }
            Executor::ConstantArrivalRate { rate, duration, arrival } => {
                details.push(arrival.vus_text());
                format!("{:.2} iterations/s for {}", arrival.per_second(*rate), plain(*duration))
            }
            Executor::RampingArrivalRate { start_rate, stages, arrival } => {
                details.push(arrival.vus_text());
                let most = arrival.per_second(highest(*start_rate, stages));
                format!("Up to {most:.2} iterations/s for {} over {} stages", plain(length(stages)), stages.len())
            }
        };
        if let Some(exec) = &self.exec {
            details.push(format!("exec: {exec}"));
        }
        if !self.start_time.is_zero() {
            details.push(format!("startTime: {}", plain(self.start_time)));
        }
        if !self.graceful_stop.is_zero() {
            details.push(format!("gracefulStop: {}", plain(self.graceful_stop)));
        }
        if details.is_empty() { text } else { format!("{text} ({})", details.join(", ")) }
    }
}

impl ArrivalRate {
    fn vus_text(&self) -> String {
        if self.max_vus > self.pre_allocated_vus {
            format!("maxVUs: {}-{}", self.pre_allocated_vus, self.max_vus)
        } else {
            format!("maxVUs: {}", self.pre_allocated_vus)
        }
    }

    /// Returns a rate in iterations per second.
    #[must_use]
    pub fn per_second(&self, rate: u64) -> f64 {
        rate as f64 / self.time_unit.as_secs_f64()
    }
}

/// Returns the time that all stages take.
fn length(stages: &[Stage]) -> Duration {
    stages.iter().map(|stage| stage.duration).sum()
}

/// Returns the highest value that stages go through.
fn highest(start: u64, stages: &[Stage]) -> u64 {
    stages.iter().map(|stage| stage.target).fold(start, u64::max)
}
