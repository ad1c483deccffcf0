//! How to connect to PostgreSQL.

use super::error::{sorted, sorted_connecting};
use super::store::Tables;
use crate::error::{DataError, ErrorKind};
use crate::fill::{self, Progress};
use crate::mover::Mover;
use crate::network::Patient;
use crate::options::Options;
use std::time::Duration;
use tokio_postgres::{Client, Config, NoTls};

/// What is needed to connect.
#[derive(Debug)]
pub(crate) struct Plan {
    config: Config,
    statement_timeout: Duration,
}

impl Plan {
    pub(crate) fn new(url: &str, statement_timeout: Duration) -> Result<Self, DataError> {
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            // The driver says options that it does not know, and takes what follows a '?' in a password for some.
            let told = match url.split_once('?') {
                Some((_, options)) if options.contains('@') => {
                    "a '?' or '@' in a password has to be percent-encoded".into()
                }
                _ => error.to_string(),
            };
            DataError::new(ErrorKind::BadUrl, format_args!("the database's URL cannot be read: {told}"))
        })?;
        if config.get_application_name().is_none() {
            config.application_name("torr");
        }
        Ok(Self { config, statement_timeout })
    }

    /// Connects.
    pub(super) async fn connect(&self) -> Result<(Client, Mover), DataError> {
        let (client, connection) = self.config.connect(NoTls).await.map_err(|error| sorted_connecting(&error))?;
        // What ends it, those learn who wait for answers.
        let mover = Mover::start(async move { drop(connection.await) });
        let limit = self.statement_timeout.as_millis().max(1).to_string();
        let set = client.execute("SELECT set_config('statement_timeout', $1, false)", &[&limit]).await;
        set.map_err(|error| sorted(&error))?;
        Ok((client, mover))
    }

    /// Makes the tables.
    pub(crate) async fn prepare(&self, options: &Options, progress: &mut dyn FnMut(Progress)) -> Result<(), DataError> {
        let limit = options.connect_timeout;
        let connected = tokio::time::timeout(limit, self.connect()).await;
        let (client, _mover) = connected.unwrap_or_else(|_| Err(DataError::timed_out(limit)))?;
        fill::prepare(&mut Patient(Tables::new(client)), options.rows, progress).await
    }
}
