//! Why a text is no rule, or a rule does not fit a run.

use thiserror::Error;

/// The reason for which a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThresholdRuleError {
    /// There is no comparison in it.
    #[error("expected a comparison (>, >=, < or <=), as in 'p99>50ms'")]
    NoComparison,
    /// The name of the figure is unknown.
    #[error(
        "unknown metric '{0}': use min, mean, stddev, max, p50 to p99.99, rps, errors, connect, tls, timeout, read, \
         write, protocol, status, ports, unfinished; for grpc:// URLs also grpc.NAME such as grpc.UNAVAILABLE; with a hurl \
         file also sessions_failed, failed_asserts, retries, session_mean, session_max, session_p50 to session_p99.99; \
         with --sse also first_event_max, first_event_p50 to first_event_p99.99, gap_max, gap_p50 to gap_p99.99; with \
         --tokens also first_token_max, token_gap_max and the like"
    )]
    UnknownMetric(String),
    /// The name of an entry has no end.
    #[error("expected '}}' to close '{{' in '{0}', as in 'p99{{login}}>200ms'")]
    NoEnd(String),
    /// The braces are empty.
    #[error("missing entry in '{0}': use its name, or FILE:LINE, as in 'p99{{login}}>200ms'")]
    NoEntry(String),
    /// Entries have no such figure.
    #[error(
        "'{0}' is a metric of the whole run: for an entry use min, mean, stddev, max, p50 to p99.99, rps, errors, \
         unfinished, retries, failed_asserts or sessions_failed"
    )]
    NotOfEntries(String),
    /// The limit does not begin with a number.
    #[error("expected a number with its unit, found '{0}'")]
    NoNumber(String),
    /// A response time is compared with something else.
    #[error("'{metric}' needs a time with its unit (us, ms, s or m), as in '{metric}>50ms', found '{limit}'")]
    NoTime {
        /// The metric.
        metric: String,
        /// The limit.
        limit: String,
    },
    /// A count is compared with something else.
    #[error(
        "'{metric}' needs a count (k, M and G multiply) or a share, as in '{metric}>10' or '{metric}>0.1%', \
         found '{limit}'"
    )]
    NoCount {
        /// The metric.
        metric: String,
        /// The limit.
        limit: String,
    },
    /// A rate is compared with something else.
    #[error("expected a number of requests per second (k, M and G multiply), as in 'rps<1000', found '{0}'")]
    NoRate(String),
}

/// The reason for which a rule does not fit a run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MisplacedRuleError {
    /// No entry has the name.
    #[error("'{rule}': unknown entry '{name}': use {names}")]
    UnknownEntry {
        /// The rule.
        rule: String,
        /// The name in the rule.
        name: String,
        /// The names that entries have.
        names: String,
    },
    /// The responses of the run are no streams.
    #[error("'{0}' needs --sse, --listen, or a grpc:// method that returns a stream: other runs have no events")]
    NoStreams(String),
    /// The objective is about the whole length of streams.
    #[error(
        "'{0}' is about complete streams, whose length is by design: use objectives such as \
         'first_event_p99<500ms,gap_p99<100ms,errors<0.1%'"
    )]
    WholeStreams(String),
    /// The run has no sessions.
    #[error("'{0}' needs a hurl file: only its runs have sessions and entries")]
    NoSessions(String),
}
