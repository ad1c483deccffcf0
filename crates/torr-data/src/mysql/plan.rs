//! How to connect to MySQL and MariaDB.

use super::error::{sorted, sorted_connecting};
use super::store::Tables;
use crate::error::{DataError, ErrorKind};
use crate::fill::{self, Progress};
use crate::network::Patient;
use crate::options::Options;
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder};
use std::fmt;
use std::time::Duration;

/// Statements that a connection keeps prepared, among them those of updates of each size.
const STATEMENTS: usize = 64;

/// What is needed to connect.
pub(crate) struct Plan {
    opts: Opts,
    statement_timeout: Duration,
}

impl fmt::Debug for Plan {
    /// Without the password, which the driver would show.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (host, name) = (self.opts.ip_or_hostname(), self.opts.db_name());
        f.debug_struct("Plan").field("host", &host).field("name", &name).finish_non_exhaustive()
    }
}

impl Plan {
    pub(crate) fn new(url: &str, statement_timeout: Duration) -> Result<Self, DataError> {
        let url = url.replacen("mariadb://", "mysql://", 1);
        let bad =
            |text| DataError::new(ErrorKind::BadUrl, format_args!("the database's URL {text}: mysql://USER@HOST/NAME"));
        // The driver's words may hold the password, if that was taken for something else.
        let opts = Opts::from_url(&url).map_err(|_| bad("cannot be read"))?;
        if opts.db_name().is_none_or(str::is_empty) {
            return Err(bad("names no database"));
        }
        let named_socket = opts.socket().is_some();
        let opts = OptsBuilder::from_opts(opts)
            .stmt_cache_size(STATEMENTS)
            .client_found_rows(true)
            // Without it, the driver would ask a server on this machine for its socket and connect again.
            .prefer_socket(named_socket)
            .into();
        Ok(Self { opts, statement_timeout })
    }

    pub(super) async fn connect(&self) -> Result<Conn, DataError> {
        let mut conn = Conn::new(self.opts.clone()).await.map_err(sorted_connecting)?;
        let version: Option<String> = conn.query_first("SELECT VERSION()").await.map_err(sorted)?;
        let limit = self.statement_timeout;
        // MariaDB's is for all statements and in seconds, MySQL's for SELECT only and in milliseconds.
        let set = if version.is_some_and(|version| version.contains("MariaDB")) {
            conn.exec_drop("SET SESSION max_statement_time = ?", (limit.as_secs_f64(),)).await
        } else {
            let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX).max(1);
            conn.exec_drop("SET SESSION max_execution_time = ?", (limit,)).await
        };
        set.map_err(sorted)?;
        Ok(conn)
    }

    /// Makes the tables.
    pub(crate) async fn prepare(&self, options: &Options, progress: &mut dyn FnMut(Progress)) -> Result<(), DataError> {
        let limit = options.connect_timeout;
        let connected = tokio::time::timeout(limit, self.connect()).await;
        let mut tables = Patient(Tables::new(connected.unwrap_or_else(|_| Err(DataError::timed_out(limit)))?));
        fill::prepare(&mut tables, options.rows, progress).await?;
        tables.0.leave().await
    }
}
