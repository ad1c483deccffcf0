//! Why a text is no rule, or a rule does not fit a run.

use thiserror::Error;

/// The reason for which a text is no rule.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ThresholdRuleError {
    /// There is no comparison in it.
    #[error("no comparison (>, >=, < or <=) as in 'p99>50ms'")]
    NoComparison,
    /// The name of the figure is unknown.
    #[error(
        "'{0}' is none of min, mean, stddev, max, p50 to p99.99, rps, errors, connect, tls, timeout, read, write, \
         protocol, status, ports, unfinished; of a hurl file also sessions_failed, failed_asserts, retries, session_mean, \
         session_max, session_p50 to session_p99.99"
    )]
    UnknownMetric(String),
    /// The name of an entry has no end.
    #[error("'{0}' has a '{{' without its '}}': an entry is named as in 'p99{{login}}>200ms'")]
    NoEnd(String),
    /// The braces are empty.
    #[error("'{0}' names no entry: write its name, or FILE:LINE, as in 'p99{{login}}>200ms'")]
    NoEntry(String),
    /// Entries have no such figure.
    #[error(
        "'{0}' is a figure of the whole run: an entry has min, mean, stddev, max, p50 to p99.99, rps, errors, unfinished, \
         retries, failed_asserts and sessions_failed"
    )]
    NotOfEntries(String),
    /// The limit does not begin with a number.
    #[error("'{0}' is not a number with its unit")]
    NoNumber(String),
    /// A response time is compared with something else.
    #[error("'{limit}' is no time: '{metric}' needs us, ms, s or m, as in '{metric}>50ms'")]
    NoTime {
        /// The metric.
        metric: String,
        /// The limit.
        limit: String,
    },
    /// A count is compared with something else.
    #[error(
        "'{limit}' is no count (k, M and G multiply) and no share: '{metric}' needs one, as in \
         '{metric}>10' or '{metric}>0.1%'"
    )]
    NoCount {
        /// The metric.
        metric: String,
        /// The limit.
        limit: String,
    },
    /// A rate is compared with something else.
    #[error("'{0}' is no number of requests per second (k, M and G multiply), as in 'rps<1000'")]
    NoRate(String),
}

/// The reason for which a rule does not fit a run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MisplacedRuleError {
    /// No entry has the name.
    #[error("'{rule}': no entry is called '{name}'; there are {names}")]
    UnknownEntry {
        /// The rule.
        rule: String,
        /// The name in the rule.
        name: String,
        /// The names that entries have.
        names: String,
    },
    /// The run has no sessions.
    #[error("'{0}' is about sessions and their entries, which only a hurl file has")]
    NoSessions(String),
}
