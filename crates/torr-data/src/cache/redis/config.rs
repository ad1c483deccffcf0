//! The settings of connections to Redis.

use super::connection::RedisConnection;
use super::error::classify_handshake;
use crate::address;
use crate::cache::CacheOptions;
use crate::cache::address::bad;
use crate::error::DataError;
use redis::{Cmd, ConnectionAddr, ConnectionInfo, IntoConnectionInfo};
use std::fmt;
use std::time::Duration;
use tokio::net::TcpStream;

/// The settings of connections to one Redis.
pub(crate) struct RedisConfig {
    host: String,
    port: u16,
    /// The server's name with its address, for messages.
    server: String,
    /// The commands to send first.
    handshake: Vec<Cmd>,
    connect_timeout: Duration,
    response_timeout: Duration,
}

impl RedisConfig {
    pub(crate) fn new(url: &str, options: &CacheOptions) -> Result<Self, DataError> {
        let given = url;
        let url = redis::parse_redis_url(url).ok_or_else(|| bad("cannot parse the cache's URL"))?;
        if url.query().is_some() || url.fragment().is_some() {
            return Err(bad("the cache's URL must end with the database's number"));
        }
        let database = url.path().trim_matches('/');
        if !database.is_empty() && database.parse::<i64>().is_err() {
            return Err(bad("the database in the cache's URL must be a number"));
        }
        // The library's message may not be about the URL.
        let info = url.into_connection_info().map_err(|_| bad("missing host in the cache's URL"))?;
        let ConnectionAddr::Tcp(host, port) = info.addr() else {
            return Err(bad("missing host in the cache's URL"));
        };
        Ok(Self {
            host: host.clone(),
            port: *port,
            server: address::server("Redis", given, &format!("{host}:{port}")),
            handshake: handshake(&info),
            connect_timeout: options.connect_timeout,
            response_timeout: options.response_timeout,
        })
    }

    pub(super) fn connect_timeout(&self) -> Duration {
        self.connect_timeout
    }

    /// Checks that a connection can be opened.
    pub(crate) async fn check(&self) -> Result<(), DataError> {
        self.connect().await.map(drop)
    }

    /// Opens a connection and completes the handshake.
    pub(super) async fn connect(&self) -> Result<RedisConnection, DataError> {
        let limit = self.connect_timeout;
        let connected = tokio::time::timeout(limit, self.connect_unlimited()).await;
        connected.unwrap_or_else(|_| Err(DataError::not_connected(&self.server, limit)))
    }

    async fn connect_unlimited(&self) -> Result<RedisConnection, DataError> {
        let stream = TcpStream::connect((&*self.host, self.port)).await;
        let stream = stream.and_then(|stream| stream.set_nodelay(true).map(|()| stream));
        let stream = stream.map_err(|error| DataError::refused(&self.server, &error))?;
        let failed = |error| classify_handshake(&self.server, error);
        let connection = RedisConnection::new(stream, self.response_timeout).await.map_err(failed)?;
        for command in &self.handshake {
            connection.send(command).await.map_err(failed)?;
        }
        Ok(connection)
    }
}

impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The handshake holds the password and is left out.
        f.debug_struct("RedisConfig").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Returns the commands of the handshake. They are sent here one by one, because the library would not report why Redis
/// refuses one of them.
fn handshake(info: &ConnectionInfo) -> Vec<Cmd> {
    let settings = info.redis_settings();
    let command = |name: &str| redis::cmd(name);
    let mut handshake = Vec::new();
    if let Some(password) = settings.password() {
        let mut auth = command("AUTH");
        auth.arg(settings.username()).arg(password);
        handshake.push(auth);
    }
    if settings.db() != 0 {
        let mut select = command("SELECT");
        select.arg(settings.db());
        handshake.push(select);
    }
    // A Redis without a password may also refuse, or still be loading.
    handshake.push(command("PING"));
    handshake
}
