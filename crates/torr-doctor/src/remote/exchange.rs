//! Requests to another machine over HTTP/1.1, each on a new connection.

use super::error::RemoteError;
use std::io;
use std::time::Duration;
use torr_gauge::redact;
use ureq::Agent;
use ureq::http::uri::Authority;

/// The time-out of connecting.
const CONNECT: Duration = Duration::from_secs(5);
/// The time-out of a whole exchange, beside the time that the other machine works for it.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a response: that of a machine with very many processes has a few megabytes.
const MOST: u64 = 64 * 1024 * 1024;

/// A client for one address.
#[derive(Debug)]
pub(super) struct Exchange {
    /// Host and port.
    pub address: String,
    authorization: Option<String>,
    agent: Agent,
}

/// A response.
#[derive(Debug)]
pub(super) struct Reply {
    pub status: u16,
    pub text: String,
}

impl Exchange {
    /// Returns a client for `host:port` or `http://host:port/anything`.
    pub fn new(address: &str, token: Option<&str>) -> Result<Self, RemoteError> {
        let bare = address.strip_prefix("http://").unwrap_or(address);
        let bare = bare.split('/').next().unwrap_or_default();
        let authority = bare
            .parse::<Authority>()
            .ok()
            .filter(|authority| !authority.host().is_empty() && authority.port_u16().is_some() && !bare.contains('@'));
        if authority.is_none() || address.starts_with("https:") {
            return Err(RemoteError::Address(redact::url(address).into_owned()));
        }
        if token.is_some_and(|token| !token.bytes().all(|byte| byte.is_ascii_graphic())) {
            return Err(RemoteError::Token(bare.to_owned()));
        }
        // No proxy and no redirect to another machine; and a connection that is kept alive would count among the service's.
        let agent = Agent::config_builder()
            .timeout_connect(Some(CONNECT))
            .max_redirects(0)
            .max_idle_connections(0)
            .http_status_as_error(false)
            .proxy(None)
            .user_agent(concat!("torr/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Ok(Self { address: bare.to_owned(), authorization: token.map(|token| format!("Bearer {token}")), agent })
    }

    /// Requests what is there.
    pub fn get(&self, target: &str) -> Result<Reply, RemoteError> {
        self.get_after(target, Duration::ZERO)
    }

    /// Requests what the other machine works on for so long.
    pub fn get_after(&self, target: &str, work: Duration) -> Result<Reply, RemoteError> {
        let request = self.agent.get(format!("http://{}{target}", self.address));
        let mut request = request.config().timeout_global(Some(TIMEOUT + work)).build();
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let mut response = request.call().map_err(|error| self.failed(error))?;
        let body = response.body_mut().with_config().limit(MOST).read_to_vec().map_err(|error| self.failed(error))?;
        Ok(Reply { status: response.status().as_u16(), text: String::from_utf8_lossy(&body).into_owned() })
    }

    fn failed(&self, error: ureq::Error) -> RemoteError {
        let address = self.address.clone();
        match error {
            ureq::Error::Io(error) => RemoteError::Unreachable(address, error),
            ureq::Error::Timeout(_) => RemoteError::Unreachable(address, io::ErrorKind::TimedOut.into()),
            ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => {
                RemoteError::Unreachable(address, io::Error::other(error))
            }
            // The text may quote the response.
            other => RemoteError::NotHttp(address, redact::printable(&other.to_string()).into_owned()),
        }
    }

    /// Returns the error of a response that has no reading.
    pub fn refused(&self, reply: &Reply) -> RemoteError {
        let address = self.address.clone();
        // `torr watch` begins its refusals with its name.
        let line = reply.text.lines().next().and_then(|line| line.strip_prefix("torr watch: "));
        match (reply.status, line) {
            (401, _) => RemoteError::Token(address),
            (_, Some(line)) => RemoteError::Refused(address, redact::printable(line).into_owned()),
            _ => RemoteError::Stranger(address),
        }
    }
}
