//! What the options of a run say about requests.

use crate::network::Proxies;
use crate::options::Options;
use std::time::Duration;

/// The version of k6 whose behaviour is reproduced.
const VERSION: &str = "2.2.0";
/// The time-out of requests that name none.
pub const TIMEOUT: Duration = Duration::from_secs(60);

/// What the options of a run say about requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The value of `User-Agent`; empty for none.
    pub user_agent: String,
    /// The number of redirects that a request follows.
    pub max_redirects: u64,
    /// Whether the options name that number.
    pub names_max_redirects: bool,
    /// Whether a failed request is an exception.
    pub throws: bool,
    /// Whether contents of responses are dropped.
    pub discards: bool,
    /// The number of requests of one user in flight at a time.
    pub batch: usize,
    /// The number of requests of one user in flight to one server at a time.
    pub batch_per_host: usize,
    /// Whether cookies stay over iterations.
    pub keeps_cookies: bool,
    /// Whether each request has a connection of its own.
    pub closes: bool,
    /// The proxies.
    pub proxies: Proxies,
    /// What the log shows of each request and response; `None` for nothing.
    pub shown: Option<Shown>,
}

/// What the log shows of requests and responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The header sections.
    Fields,
    /// The content as well.
    All,
}

impl Settings {
    /// Returns what options say.
    #[must_use]
    pub fn of(options: &Options) -> Self {
        let count = |given: Option<u64>, default: usize| given.map_or(default, |given| (given as usize).clamp(1, 1000));
        Self {
            user_agent: options.user_agent.clone().unwrap_or_else(|| format!("Grafana k6/{VERSION}")),
            max_redirects: options.max_redirects.unwrap_or(10),
            names_max_redirects: options.max_redirects.is_some(),
            throws: options.throw.unwrap_or(false),
            discards: options.discard_response_bodies.unwrap_or(false),
            batch: count(options.batch, 20),
            batch_per_host: count(options.batch_per_host, 6),
            keeps_cookies: options.no_cookies_reset.unwrap_or(false),
            closes: options.no_connection_reuse.unwrap_or(false),
            proxies: Proxies::default(),
            shown: options.http_debug.as_deref().map(|mode| if mode == "full" { Shown::All } else { Shown::Fields }),
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::of(&Options::default())
    }
}
