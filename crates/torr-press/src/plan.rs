//! What to press, and how hard.

use crate::open_loop::Arrivals;
use crate::request::{Requests, split};
use crate::schedule::Schedule;
use http::Uri;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use thiserror::Error;
use torr_gauge::result::PlanSummary;
use torr_net::{Nanos, clock};

/// One run.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Where to.
    pub target: Target,
    /// The addresses behind the target's name; connections take them in turn. At least one.
    pub addresses: Vec<SocketAddr>,
    /// The addresses to connect from, taken in turn. With none the system chooses; where it runs out of ports on the
    /// loopback network, further addresses of that network are used.
    pub sources: Vec<IpAddr>,
    /// What is sent, over and over.
    pub request: Requests,
    /// Connections at a time, at least 1; in an open loop the most, opened as they are needed.
    pub connections: usize,
    /// Threads; more than connections are of no use and are not started.
    pub threads: usize,
    /// When to stop, counted from the first connect.
    pub duration: Option<Duration>,
    /// How many requests to send. With `duration` as well, whichever is reached first ends the run; with neither, only
    /// an interruption does.
    pub requests: Option<u64>,
    /// When requests are due, whatever the service does: an open loop. Without one each connection sends its next request
    /// as soon as the one before has ended.
    pub schedule: Option<(Schedule, Arrivals)>,
    /// Whether connections are used again.
    pub keep_alive: bool,
    /// After how long without a whole answer a request has failed.
    pub timeout: Duration,
}

impl Plan {
    /// What the result says of the plan.
    pub(crate) fn summary(&self) -> PlanSummary {
        PlanSummary {
            connections: self.connections,
            threads: self.thread_count(),
            duration_s: self.duration.map(|d| d.as_secs_f64()),
            requests: self.requests,
            rate: self.schedule.as_ref().and_then(|(schedule, _)| schedule.rate()),
            keep_alive: self.keep_alive,
            protocol: "http/1.1".into(),
            method: self.request.method(),
            timeout_s: self.timeout.as_secs_f64(),
        }
    }

    /// When the run ends, if nothing else ends it.
    pub(crate) fn deadline(&self) -> Nanos {
        let schedule = self.schedule.as_ref().and_then(|(schedule, _)| schedule.length());
        [self.duration, schedule].into_iter().flatten().map(clock::nanos).min().unwrap_or(Nanos::MAX)
    }

    pub(crate) fn thread_count(&self) -> usize {
        self.threads.clamp(1, self.connections)
    }
}

/// Why a plan cannot be made; each is the user's to mend.
#[derive(Debug, Error)]
pub enum PlanError {
    /// Not a URL.
    #[error("'{url}' is not a URL: {why}")]
    Url {
        /// As given.
        url: String,
        /// What is wrong.
        why: String,
    },
    /// A URL of another scheme than `http`.
    #[error("cannot press '{0}' yet: only http:// URLs")]
    Scheme(String),
}

/// The parts of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The whole URL, but for a user and password.
    pub url: String,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port, given or the scheme's.
    pub port: u16,
    /// In lower case.
    pub(crate) scheme: String,
    /// User and password, as they stand in the URL.
    pub(crate) userinfo: Option<String>,
    /// What stands in the `Host` field, unless overridden.
    pub(crate) authority: String,
    /// Path and query as given: they may have placeholders, and are checked with what is sent.
    pub(crate) path: String,
}

impl Target {
    /// Parses a URL; `http://` may be left out.
    ///
    /// # Errors
    /// [`PlanError::Url`] and [`PlanError::Scheme`].
    pub fn parse(url: &str) -> Result<Self, PlanError> {
        let bad = |why: &str| PlanError::Url { url: url.to_owned(), why: why.to_owned() };
        let parts = split(url);
        let scheme = parts.scheme.unwrap_or("http").to_ascii_lowercase();
        if parts.authority.contains(['{', '}']) {
            return Err(bad("its host cannot have placeholders"));
        }
        let origin = format!("{scheme}://{}", parts.authority);
        let uri: Uri = origin.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        if scheme != "http" {
            return Err(PlanError::Scheme(url.to_owned()));
        }
        let authority = uri.authority().ok_or_else(|| bad("it has no host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad("it has no host"));
        }
        let port = match &authority.as_str()[authority.host().len()..] {
            "" => 80,
            ":" => return Err(bad("the port is missing after ':'")),
            port => port[1..].parse().ok().filter(|&p| p != 0).ok_or_else(|| bad("the port is not 1 to 65535"))?,
        };
        // A query without a path still asks for the root (RFC 9112, section 3.2.1).
        let path = if parts.path.starts_with('/') { parts.path.to_owned() } else { format!("/{}", parts.path) };
        Ok(Self {
            url: format!("{origin}{}", parts.path),
            host: host.to_owned(),
            port,
            userinfo: parts.userinfo.map(str::to_owned),
            authority: authority.to_string(),
            path,
            scheme,
        })
    }

    /// The URL of another path of the same scheme, host and port.
    pub(crate) fn whole(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.authority)
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.whole("")
    }

    pub(crate) fn has_origin_of(&self, other: &Self) -> bool {
        self.scheme == other.scheme && self.port == other.port && self.host.eq_ignore_ascii_case(&other.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_many_forms() {
        for (url, host, port, authority, path) in [
            ("http://example.com", "example.com", 80, "example.com", "/"),
            ("example.com:8080/a?b=c#d", "example.com", 8080, "example.com:8080", "/a?b=c"),
            ("http://[::1]:81/x", "::1", 81, "[::1]:81", "/x"),
            ("HTTP://127.0.0.1?q", "127.0.0.1", 80, "127.0.0.1", "/?q"),
            ("http://user:secret@h:1/{{rand 1 9}}", "h", 1, "h:1", "/{{rand 1 9}}"),
        ] {
            let target = Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(
                (target.host.as_str(), target.port, target.authority.as_str(), target.path.as_str()),
                (host, port, authority, path)
            );
            assert!(!target.url.contains("secret"), "{}", target.url);
        }
    }

    #[test]
    fn what_is_no_url_says_why() {
        for (url, why) in [
            ("", "is not a URL"),
            ("http://", "is not a URL"),
            ("http:///x", "is not a URL"),
            ("http://host:0/", "the port"),
            ("http://host:99999/", "the port"),
            ("http://a b/", "is not a URL"),
            ("http://a{{b}}/", "is not a URL"),
            ("ftp://host/", "only http://"),
            ("https://host/", "only http://"),
        ] {
            let error = Target::parse(url).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
