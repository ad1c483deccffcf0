//! When requests are due: the load models, and the pacer by which each thread follows one.

pub(crate) mod changes;
pub(crate) mod closed;
pub(crate) mod fed;
pub(crate) mod limited;
pub(crate) mod logged;
pub(crate) mod open;
pub(crate) mod open_pacer;
pub(crate) mod pacer;
pub(crate) mod schedule;
pub(crate) mod thread_pacer;

use fed::Feed;
use open::Arrivals;
use schedule::Schedule;

/// The times at which requests are due.
#[derive(Debug, Clone, PartialEq)]
pub enum Pace {
    /// A closed loop: each slot sends its next request as soon as the one before has ended.
    Closed {
        /// The number of connections in use over time; `None` for all connections all the time.
        connections: Option<Schedule>,
        /// The most requests begun per second, while warming up as well, evenly spaced and in equal parts for all threads. More
        /// than 0.
        max_rate: Option<f64>,
    },
    /// An open loop: requests follow a schedule, whether responses arrive or not.
    Open(Schedule, Arrivals),
    /// An open loop whose times are learnt during the run.
    Fed(Feed),
}

impl Pace {
    /// Returns a closed loop on all connections, with a limit of the rate if one is given.
    pub const fn closed(max_rate: Option<f64>) -> Self {
        Self::Closed { connections: None, max_rate }
    }

    /// Returns the most requests that a closed loop begins per second, if that is limited.
    pub fn max_rate(&self) -> Option<f64> {
        match self {
            Self::Closed { max_rate, .. } => *max_rate,
            Self::Open(..) | Self::Fed(_) => None,
        }
    }

    /// Whether requests are due at times of their own, whether responses arrive or not.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Open(..) | Self::Fed(_))
    }

    /// Returns the schedule of a rate, or of connections.
    pub fn schedule(&self) -> Option<&Schedule> {
        match self {
            Self::Closed { connections, .. } => connections.as_ref(),
            Self::Open(schedule, _) => Some(schedule),
            Self::Fed(_) => None,
        }
    }

    /// Returns the pace of a generator that has this part of the load, more than 0 and at most 1.
    pub(crate) fn scaled(self, part: f64) -> Self {
        match self {
            Self::Closed { connections, max_rate } => Self::Closed {
                connections: connections.map(|schedule| schedule.scaled(part)),
                max_rate: max_rate.map(|rate| rate * part),
            },
            Self::Open(schedule, arrivals) => Self::Open(schedule.scaled(part), arrivals),
            Self::Fed(feed) => Self::Fed(feed),
        }
    }
}
