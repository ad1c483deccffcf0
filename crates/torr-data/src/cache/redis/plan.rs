//! How to connect to Redis.

use super::error::{refused, sorted_greeting};
use super::link::Link;
use crate::cache::CacheOptions;
use crate::cache::address::bad;
use crate::error::{DataError, ErrorKind};
use redis::{Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use std::fmt;
use std::time::Duration;
use tokio::net::TcpStream;

/// What is needed to connect.
pub(crate) struct Plan {
    host: String,
    port: u16,
    /// What is said first.
    greeting: Vec<Cmd>,
    connect_timeout: Duration,
    response_timeout: Duration,
}

impl Plan {
    pub(crate) fn new(url: &str, options: &CacheOptions) -> Result<Self, DataError> {
        let url = redis::parse_redis_url(url).ok_or_else(|| bad("the cache's URL cannot be read"))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("the cache's URL has something after its database"));
        }
        // The library's own words may not be about a URL.
        let info =
            url.into_connection_info().map_err(|_| bad("the cache's URL has no host, or a database of no number"))?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(bad("the cache's URL names no host"));
        };
        Ok(Self {
            host: host.clone(),
            port: *port,
            greeting: greeting(&info),
            connect_timeout: options.connect_timeout,
            response_timeout: options.response_timeout,
        })
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// Whether it can be connected to.
    pub(crate) async fn try_out(&self) -> Result<(), DataError> {
        self.connect().await.map(drop)
    }

    /// A connection over which Redis has answered.
    pub(super) async fn connect(&self) -> Result<Link, DataError> {
        let limit = self.connect_timeout;
        tokio::time::timeout(limit, self.greeted()).await.unwrap_or_else(|_| {
            Err(DataError::new(ErrorKind::TimedOut, format_args!("no connection to Redis within {limit:?}")))
        })
    }

    async fn greeted(&self) -> Result<Link, DataError> {
        let stream = TcpStream::connect((&*self.host, self.port)).await;
        let stream = stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = stream.map_err(|error| refused(&error))?;
        let link = Link::new(stream, self.response_timeout).await.map_err(sorted_greeting)?;
        for command in &self.greeting {
            link.say(command).await.map_err(sorted_greeting)?;
        }
        Ok(link)
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Not the greeting, which has the password.
        f.debug_struct("Plan").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Said by us, one by one, rather than by the library, which would not tell why Redis says no.
fn greeting(info: &ConnectionInfo) -> Vec<Cmd> {
    let settings = info.redis_settings();
    let command = |name: &str| redis::cmd(name);
    let mut greeting = Vec::new();
    if let Some(password) = settings.password() {
        let mut auth = command("AUTH");
        auth.arg(settings.username()).arg(password);
        greeting.push(auth);
    }
    if settings.db() != 0 {
        let mut select = command("SELECT");
        select.arg(settings.db());
        greeting.push(select);
    }
    // Also what takes no password may say no, or that it is loading still.
    greeting.push(command("PING"));
    greeting
}
