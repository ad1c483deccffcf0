//! The settings of connections to PostgreSQL.

use super::error::{classify, classify_connect};
use super::tables::PostgresTables;
use crate::address;
use crate::connection_task::ConnectionTask;
use crate::error::{DataError, ErrorKind};
use crate::fill::{self, Progress};
use crate::network::TimeLimited;
use crate::options::Options;
use std::time::Duration;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, NoTls};

/// The settings of connections to one database.
#[derive(Debug)]
pub(crate) struct PostgresConfig {
    /// The server's name with its address, for messages.
    server: String,
    config: Config,
    statement_timeout: Duration,
}

impl PostgresConfig {
    pub(crate) fn new(url: &str, statement_timeout: Duration) -> Result<Self, DataError> {
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            // The driver's message quotes unknown options, and a '?' in a password would begin such options.
            let reason = match url.split_once('?') {
                Some((_, options)) if options.contains('@') => {
                    "'?' and '@' in a password must be percent-encoded".into()
                }
                _ => error.to_string(),
            };
            DataError::new(ErrorKind::BadUrl, format_args!("cannot parse the database's URL: {reason}"))
        })?;
        if config.get_application_name().is_none() {
            config.application_name("torr");
        }
        let server = address::server("PostgreSQL", url, &addresses(&config));
        Ok(Self { server, config, statement_timeout })
    }

    /// Opens a connection and sets its statement timeout.
    pub(super) async fn connect(&self) -> Result<(Client, ConnectionTask), DataError> {
        let (client, connection) =
            self.config.connect(NoTls).await.map_err(|error| classify_connect(&self.server, &error))?;
        // The error that ends the connection is reported to the statements in flight.
        let task = ConnectionTask::start(async move { drop(connection.await) });
        let limit = self.statement_timeout.as_millis().max(1).to_string();
        let set = client.execute("SELECT set_config('statement_timeout', $1, false)", &[&limit]).await;
        set.map_err(|error| classify(&error))?;
        Ok((client, task))
    }

    /// Creates and fills the tables.
    pub(crate) async fn prepare(&self, options: &Options, progress: &mut dyn FnMut(Progress)) -> Result<(), DataError> {
        let limit = options.connect_timeout;
        let connected = tokio::time::timeout(limit, self.connect()).await;
        let (client, _task) = connected.unwrap_or_else(|_| Err(DataError::not_connected(&self.server, limit)))?;
        fill::prepare(&mut TimeLimited(PostgresTables::new(client)), options.rows, progress).await
    }
}

/// Returns the addresses of all hosts with commas between them.
fn addresses(config: &Config) -> String {
    // There are as many ports as hosts, or one for all, or none for the default.
    let ports = config.get_ports();
    let port = |number: usize| ports.get(number).or_else(|| ports.first()).copied().unwrap_or(5432);
    let address = |(number, host): (usize, &Host)| match host {
        Host::Tcp(host) => format!("{host}:{}", port(number)),
        Host::Unix(folder) => folder.display().to_string(),
    };
    config.get_hosts().iter().enumerate().map(address).collect::<Vec<_>>().join(", ")
}
