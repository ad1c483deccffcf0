//! The settings of connections to MySQL and MariaDB.

use super::error::{classify, classify_connect};
use super::tables::MySqlTables;
use crate::address;
use crate::error::{DataError, ErrorKind};
use crate::fill::{self, Progress};
use crate::network::TimeLimited;
use crate::options::Options;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use std::fmt;
use std::time::Duration;

/// The most statements that a connection keeps prepared, among them one for each size of update.
const MAX_STATEMENTS: usize = 64;

/// The settings of connections to one database.
pub(crate) struct MySqlConfig {
    /// The server's name with its address, for messages.
    server: String,
    opts: Opts,
    statement_timeout: Duration,
}

impl fmt::Debug for MySqlConfig {
    /// Leaves out the password, which the driver's own format shows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, name) = (self.opts.ip_or_hostname(), self.opts.db_name());
        f.debug_struct("MySqlConfig").field("host", &host).field("name", &name).finish_non_exhaustive()
    }
}

impl MySqlConfig {
    pub(crate) fn new(url: &str, statement_timeout: Duration) -> Result<Self, DataError> {
        let url = url.replacen("mariadb://", "mysql://", 1);
        let bad = |text| {
            DataError::new(ErrorKind::BadUrl, format_args!("{text} the database's URL: use mysql://USER@HOST/NAME"))
        };
        // The driver's message may quote the password, if the password was parsed as another part of the URL.
        let opts = Opts::from_url(&url).map_err(|_| bad("cannot parse"))?;
        if opts.db_name().is_none_or(str::is_empty) {
            return Err(bad("missing database name in"));
        }
        let named_socket = opts.socket().is_some();
        let host = || format!("{}:{}", opts.ip_or_hostname(), opts.tcp_port());
        let server = address::server("MySQL", &url, &opts.socket().map_or_else(host, str::to_owned));
        let opts = OptsBuilder::from_opts(opts)
            .stmt_cache_size(MAX_STATEMENTS)
            .client_found_rows(true)
            // By default the driver asks a local server for its Unix socket and connects again.
            .prefer_socket(named_socket)
            .into();
        Ok(Self { server, opts, statement_timeout })
    }

    pub(super) async fn connect(&self) -> Result<Conn, DataError> {
        let mut conn = Conn::new(self.opts.clone()).await.map_err(|error| classify_connect(&self.server, error))?;
        let version: Option<String> = conn.query_first("SELECT VERSION()").await.map_err(classify)?;
        let limit = self.statement_timeout;
        // MariaDB's limit applies to all statements, in seconds; MySQL's only to SELECT, in milliseconds.
        let set = if version.is_some_and(|version| version.contains("MariaDB")) {
            conn.exec_drop("SET SESSION max_statement_time = ?", (limit.as_secs_f64(),)).await
        } else {
            let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1);
            conn.exec_drop("SET SESSION max_execution_time = ?", (limit,)).await
        };
        set.map_err(classify)?;
        Ok(conn)
    }

    /// Creates and fills the tables.
    pub(crate) async fn prepare(&self, options: &Options, progress: &mut dyn FnMut(Progress)) -> Result<(), DataError> {
        let limit = options.connect_timeout;
        let connected = tokio::time::timeout(limit, self.connect()).await;
        let connected = connected.unwrap_or_else(|_| Err(DataError::not_connected(&self.server, limit)))?;
        let mut tables = TimeLimited(MySqlTables::new(connected));
        fill::prepare(&mut tables, options.rows, progress).await?;
        tables.0.close().await
    }
}
