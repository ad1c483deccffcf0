//! Why a step failed, as data: how the service fell short, and what the generator had to do with it.

/// How the service fell short of the objectives.
#[derive(Debug, Clone, PartialEq)]
pub enum StepFailure {
    /// The service could not be reached, for a reason.
    Unreachable(String),
    /// The service responded to no request.
    NoResponse,
    /// A share of the requests failed for one cause.
    Failing {
        /// The status, or the kind of failure with its cause.
        what: String,
        /// The share of the requests, 0 to 1.
        share: f64,
    },
    /// An objective was missed.
    Missed {
        /// The objective, such as `p99<50ms`.
        objective: String,
        /// The measured figure with its unit. `None` if a few responses were too slow for a percentile.
        measured: Option<String>,
    },
    /// The service responded to fewer requests than were due: this share, 0 to 1.
    FellBehind(f64),
    /// The median response time kept growing, by so many seconds in each second.
    QueueGrew(f64),
    /// The step was ended early, since it clearly failed.
    EndedEarly,
}

/// Why the generator may have caused a failure.
#[derive(Debug, Clone, PartialEq)]
pub enum GeneratorFault {
    /// Most failures were the client's, for this cause.
    ClientFailures(String),
    /// The busiest thread was busy this share of the time.
    Busy(f64),
    /// The 99th percentile of the send lag, in seconds, was a large part of the response times.
    SendLag(f64),
    /// The passive finding names the generator.
    Finding,
}
