//! Experiments as values, which rules request, without a socket or a clock.

use std::net::SocketAddr;
use std::time::Duration;
use torr_gauge::verdict::{ExperimentId, ExperimentLabel, Finding};

/// An experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The identity of the experiment within a diagnosis and in recordings.
    pub id: ExperimentId,
    /// The load.
    pub load: Load,
    /// The length.
    pub length: Length,
    /// The warm-up.
    pub warmup: Warmup,
    /// The time in which nothing is sent before the experiment begins.
    pub rest: Option<Duration>,
}

/// A load, as changes of the load that the user means.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// Connections at a time.
    pub connections: usize,
    /// Streams of events at a time on each connection, where responses to the target are such.
    pub streams_each: Option<u16>,
    /// Whether one request at a time is sent, by one thread and without pipelining.
    pub single: bool,
    /// Threads of the generator.
    pub threads: usize,
    /// How many agents of a fleet carry it out. `None` for all.
    pub agents: Option<usize>,
    /// The request.
    pub request: Request,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// Requests per second in an open loop. `None` for a closed loop.
    pub rate: Option<f64>,
    /// The number of requests after which the experiment ends.
    pub requests: Option<u64>,
    /// The shortest and the longest pause between a response and the next request.
    pub think: Option<(Duration, Duration)>,
    /// The interval at which throughput is sampled, where the default is too long.
    pub interval: Option<Duration>,
    /// Whether acknowledgements are sent at once. `None` leaves that to the driver.
    pub quick_ack: Option<bool>,
    /// Whether connections come from two addresses in turn.
    pub two_sources: bool,
    /// The addresses behind a proxy to which requests are sent directly. Empty for the target's own address.
    pub direct: Vec<SocketAddr>,
}

/// The request of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request {
    /// The request of the user.
    Target,
    /// The header section of the target alone.
    Head,
    /// The target, compressed with gzip if the server likes.
    Gzip,
    /// The target with an explicit `Connection: keep-alive`.
    ExplicitKeepAlive,
    /// The target without compression.
    Identity,
    /// The target over HTTP/1.0 with keep-alive.
    Http10,
    /// A path that does not exist.
    Absent,
    /// A request without a `Host` field, which a server rejects before it looks at the path.
    WithoutHost,
    /// Content from a service that does nothing.
    Null(NullContent),
}

/// The content of the responses of a service that does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullContent {
    /// So many bytes.
    Bytes(u64),
    /// A stream of events, so many milliseconds apart; without a pause at 0.
    Events {
        /// The milliseconds between two events.
        gap_ms: u64,
    },
}

/// The length of an experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// Seconds, for a budget of a minute.
    Seconds(f64),
    /// Seconds, for a budget of a minute, and more where single requests are slow.
    Responses(f64),
    /// A share of the budget.
    Share(f64),
}

/// The warm-up of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    /// Everything counts.
    None,
    /// A short warm-up.
    Short,
    /// Until all connections are open and the first responses are in, unless the measurement is too short for that.
    Settled,
    /// As [`Warmup::Settled`], and long enough that connections which found a full accept queue have been retried.
    Connected,
}

/// The experiment that a rule requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// One experiment. The diagnosis ends if it `must_connect` and not one connection comes about.
    Run {
        /// The experiment.
        experiment: Experiment,
        /// Whether the diagnosis means nothing without it.
        must_connect: bool,
    },
    /// Two experiments in turns, A B A B ..., until the interval of their ratio is narrow.
    InTurns([Experiment; 2]),
    /// A load with a second, light one at the same time.
    Beside {
        /// The load.
        load: Experiment,
        /// The light load, whose length and warm-up are those of the load.
        light: Experiment,
    },
}

/// The result of a rule: a finding, `None` if the rule passes, or as an error the experiment that it needs. The rule is then called
/// again with the observation among the evidence.
pub type Step = Result<Option<Finding>, Box<Ask>>;

impl Experiment {
    /// Changes the load.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut Load)) -> Self {
        change(&mut self.load);
        self
    }

    /// Returns what the name of the experiment consists of.
    pub fn label(&self) -> ExperimentLabel {
        let Load { connections, streams_each, single, rate, .. } = self.load;
        let is_of_streams = matches!(self.load.request, Request::Target | Request::Null(NullContent::Events { .. }));
        let each = streams_each.filter(|_| is_of_streams).map(|each| if single { 1 } else { usize::from(each) });
        let streams = each.map(|each| connections * each);
        ExperimentLabel { id: self.id, connections, streams, rate, variant: None }
    }
}
