//! What to press, and how hard.

use crate::open_loop::Arrivals;
use crate::schedule::Schedule;
use http::header::{HeaderName, HeaderValue};
use http::{Method, Uri};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;
use thiserror::Error;
use torr_gauge::result::{self, PlanSummary};
use torr_net::{Nanos, clock};
use torr_wire::encode;

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
    pub request: Request,
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
            arrivals: self.schedule.as_ref().map(|(_, arrivals)| match arrivals {
                Arrivals::Constant => result::Arrivals::Constant,
                Arrivals::Poisson => result::Arrivals::Poisson,
            }),
            keep_alive: self.keep_alive,
            protocol: "http/1.1".into(),
            method: self.request.method.clone(),
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
    /// A header that is not one.
    #[error("header '{0}' is not of the form 'Name: value'")]
    Header(String),
    /// A header that the engine must set itself.
    #[error("header '{0}' is set by the body that is sent: leave it out")]
    OwnHeader(String),
    /// A method that is not one.
    #[error("'{0}' is not an HTTP method")]
    Method(String),
}

/// The parts of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The whole URL.
    pub url: String,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port, given or the scheme's.
    pub port: u16,
    /// What stands in the `Host` field, unless overridden.
    authority: String,
    /// Path and query.
    path: String,
}

impl Target {
    /// Parses a URL; `http://` may be left out.
    ///
    /// # Errors
    /// [`PlanError::Url`] and [`PlanError::Scheme`].
    pub fn parse(url: &str) -> Result<Self, PlanError> {
        let full = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let bad = |why: &str| PlanError::Url { url: url.to_owned(), why: why.to_owned() };
        let uri: Uri = full.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        if uri.scheme_str() != Some("http") {
            return Err(PlanError::Scheme(url.to_owned()));
        }
        let authority = uri.authority().ok_or_else(|| bad("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(bad("give a user and password as a header instead"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad("it has no host"));
        }
        let port = match &authority.as_str()[authority.host().len()..] {
            "" => 80,
            ":" => return Err(bad("the port is missing after ':'")),
            port => port[1..].parse().ok().filter(|&p| p != 0).ok_or_else(|| bad("the port is not 1 to 65535"))?,
        };
        let path = uri.path_and_query().map_or("/", |p| p.as_str());
        // A query without a path still asks for the root (RFC 9112, section 3.2.1).
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Self { host: host.to_owned(), port, authority: authority.to_string(), path, url: full })
    }
}

/// One request, ready to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// The method.
    pub method: String,
    /// Whether the method is HEAD, whose answers have no body.
    pub is_head: bool,
}

impl Request {
    /// Builds a request to a target. `headers` are lines as `Name: value`; they replace the ones that are sent by
    /// themselves (`Host`, `User-Agent`, `Accept`, `Connection`), and an empty value leaves such a one out, as with curl.
    ///
    /// # Errors
    /// [`PlanError::Method`], [`PlanError::Header`], [`PlanError::OwnHeader`].
    pub fn new(
        target: &Target,
        method: &str,
        headers: &[String],
        body: Option<&[u8]>,
        keep_alive: bool,
    ) -> Result<Self, PlanError> {
        // CONNECT would turn the connection into a tunnel.
        let method = Method::from_bytes(method.as_bytes())
            .ok()
            .filter(|m| m != Method::CONNECT)
            .ok_or_else(|| PlanError::Method(method.to_owned()))?;
        let mut host = target.authority.clone().into_bytes();
        let mut fields = vec![("User-Agent", agent()), ("Accept", b"*/*".to_vec())];
        if !keep_alive {
            fields.push(("Connection", b"close".to_vec()));
        }
        for line in headers {
            let (name, value) = header(line)?;
            if name.eq_ignore_ascii_case("host") {
                host = value;
                continue;
            }
            if ["content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(PlanError::OwnHeader(line.clone()));
            }
            let replaces = |default: &&str| name.eq_ignore_ascii_case(default);
            if DEFAULTS.iter().any(replaces) {
                fields.retain(|(default, _)| !replaces(default));
            }
            if !value.is_empty() {
                fields.push((name, value));
            }
        }
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_slice())).collect();
        let mut bytes = Vec::new();
        encode::request(&mut bytes, method.as_str(), &target.path, &host, &fields, body);
        Ok(Self { bytes, is_head: method == Method::HEAD, method: method.to_string() })
    }
}

/// Fields that are sent by themselves, and not beside one of the user's.
const DEFAULTS: [&str; 3] = ["User-Agent", "Accept", "Connection"];

fn agent() -> Vec<u8> {
    concat!("torr/", env!("CARGO_PKG_VERSION")).as_bytes().to_vec()
}

/// Splits and checks one header line.
fn header(line: &str) -> Result<(&str, Vec<u8>), PlanError> {
    let bad = || PlanError::Header(line.to_owned());
    let (name, value) = line.split_once(':').ok_or_else(bad)?;
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| bad())?;
    Ok((name, value.as_bytes().to_vec()))
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
        ] {
            let target = Target::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(
                (target.host.as_str(), target.port, target.authority.as_str(), target.path.as_str()),
                (host, port, authority, path)
            );
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
            ("http://user:secret@host/", "user and password"),
            ("ftp://host/", "only http://"),
            ("https://host/", "only http://"),
        ] {
            let error = Target::parse(url).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }

    fn build(headers: &[&str], body: Option<&[u8]>) -> Result<String, PlanError> {
        let headers: Vec<_> = headers.iter().map(|&h| h.to_owned()).collect();
        let request = Request::new(&Target::parse("http://h:1/p").unwrap(), "POST", &headers, body, true)?;
        Ok(String::from_utf8(request.bytes).unwrap().replace(concat!("torr/", env!("CARGO_PKG_VERSION")), "torr"))
    }

    #[test]
    fn headers_replace_and_remove_defaults() {
        assert_eq!(
            build(&[], None).unwrap(),
            "POST /p HTTP/1.1\r\nHost: h:1\r\nUser-Agent: torr\r\nAccept: */*\r\n\r\n"
        );
        assert_eq!(
            build(&["host: other", "accept:", "User-Agent: me", "X: 1", "X: 2"], Some(b"hi")).unwrap(),
            "POST /p HTTP/1.1\r\nHost: other\r\nUser-Agent: me\r\nX: 1\r\nX: 2\r\nContent-Length: 2\r\n\r\nhi"
        );
        for bad in ["nothing", "a b: c", ": x", "X: a\r\nY: b", "Content-Length: 3", "transfer-encoding: chunked"] {
            assert!(build(&[bad], None).is_err(), "{bad:?} was taken");
        }
    }
}
