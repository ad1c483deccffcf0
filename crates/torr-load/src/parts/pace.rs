//! How hard and how long the load is.

use crate::parsed::Parsed;
use crate::values::Stages;
use std::time::Duration;
use torr_press::{Arrivals, Pace, Schedule, ThinkTime, Timestamps};

/// The number of connections of a load that gives none.
const CONNECTIONS: usize = 100;
/// The time-out of a load that gives none, as the default of its setting.
const TIMEOUT: Duration = Duration::from_secs(10);

/// How hard and how long the load is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PacePart {
    pub connections: Option<Parsed<usize>>,
    pub max_connections: Option<Parsed<usize>>,
    pub threads: Option<Parsed<usize>>,
    pub duration: Option<Parsed<Duration>>,
    pub requests: Option<Parsed<u64>>,
    pub rate: Option<Parsed<Schedule>>,
    pub stages: Option<Parsed<Stages>>,
    pub max_rate: Option<Parsed<f64>>,
    pub arrivals: Option<Parsed<Arrivals>>,
    pub coalesce: Option<Parsed<Duration>>,
    pub patience: Option<Parsed<Duration>>,
    pub timestamps: Option<Parsed<Timestamps>>,
    pub quick_ack: bool,
    pub timeout: Option<Parsed<Duration>>,
    pub warmup: Option<Parsed<Duration>>,
    pub think: Option<Parsed<ThinkTime>>,
    pub pipeline: Option<Parsed<u16>>,
    pub requests_per_connection: Option<Parsed<u64>>,
    pub no_keepalive: bool,
}

impl PacePart {
    /// Returns the pace of requests.
    pub fn pace(&self) -> Pace {
        let arrivals = self.arrivals.as_deref().copied().unwrap_or(Arrivals::Constant);
        let max_rate = self.max_rate.as_deref().copied();
        match (self.rate.as_deref(), self.stages.as_deref()) {
            (Some(rate), _) | (None, Some(Stages::Rates(rate))) => Pace::Open(rate.clone(), arrivals),
            (None, Some(Stages::Connections(connections))) => {
                Pace::Closed { connections: Some(connections.clone()), max_rate }
            }
            (None, None) => Pace::closed(max_rate),
        }
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        match self.stages.as_deref() {
            Some(Stages::Connections(connections)) => connections.peak().ceil() as usize,
            _ => self.max_connections.as_deref().or(self.connections.as_deref()).copied().unwrap_or(CONNECTIONS),
        }
    }

    /// Returns the time after which a request without a complete response has failed.
    pub fn timeout(&self) -> Duration {
        self.timeout.as_deref().copied().unwrap_or(TIMEOUT)
    }

    /// Returns whether the load is an open loop.
    pub fn is_open(&self) -> bool {
        matches!(self.pace(), Pace::Open(..))
    }

    /// Returns whether stages give the number of connections.
    pub fn has_stages_of_connections(&self) -> bool {
        matches!(self.stages.as_deref(), Some(Stages::Connections(_)))
    }
}
