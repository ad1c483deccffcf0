//! Databases that are reached over the network: the parts that all of them share.
//!
//! A thread has two connection sources per database: one for the driver, which the query builder uses too, and one for the
//! model. Both manage connections alike, so that a comparison of access methods compares nothing else.

mod connection;
mod connector;
mod source;
mod time_limit;

pub(crate) use connection::Connection;
pub(crate) use time_limit::{STEP_LIMIT, TimeLimited};

use crate::Access;
use crate::error::{DataError, ErrorKind};
use crate::model::{Fortune, Item, World};
use crate::options::Options;
use crate::pool_waits::PoolCounters;
use futures_util::future::{FutureExt, try_join_all};
use source::ConnectionSource;
use std::sync::Arc;
use std::time::Duration;
use time_limit::GRACE;

/// A thread's connections to one database.
pub(crate) struct NetworkConnections<C: Connection> {
    driver: ConnectionSource<C>,
    model: ConnectionSource<C>,
    /// Whether one connection carries many statements at a time.
    pipelined: bool,
    /// How long to wait for a statement.
    limit: Duration,
}

impl<C: Connection> NetworkConnections<C> {
    pub(crate) fn new(
        config: &Arc<C::Config>,
        options: &Options,
        pipelined: bool,
        counters: &Arc<PoolCounters>,
    ) -> Self {
        let source =
            |access| ConnectionSource::new(Arc::clone(config), access, options, pipelined, Arc::clone(counters));
        let limit = options.statement_timeout + GRACE;
        Self { driver: source(Access::Raw), model: source(Access::Model), pipelined, limit }
    }

    pub(crate) async fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        self.read(access, async |connection| self.world_on(connection, access, id).await).await
    }

    pub(crate) async fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        self.read(access, async |connection| self.worlds_on(connection, access, ids).await).await
    }

    pub(crate) async fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        let item = self.read(access, async |connection| self.limited(connection.item(access, id)).await).await?;
        item.ok_or_else(|| DataError::missing_row(id))
    }

    pub(crate) async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        self.read(access, async |connection| self.limited(connection.fortunes(access)).await).await
    }

    /// Reads `ids`, then writes `rows`. An update is not retried after a lost connection, which may have executed it.
    pub(crate) async fn update(&self, access: Access, ids: &[i32], rows: &[World]) -> Result<Vec<World>, DataError> {
        let lease = self.source(access).lease().await?;
        let update = async {
            let before = self.worlds_on(lease.connection(), access, ids).await?;
            if !rows.is_empty() {
                self.limited(lease.connection().write(access, rows)).await?;
            }
            Ok(before)
        };
        lease.end(update.await)
    }

    fn source(&self, access: Access) -> &ConnectionSource<C> {
        if access == Access::Model { &self.model } else { &self.driver }
    }

    /// Runs a read, and retries it once if a reused connection turns out to have ended.
    async fn read<T>(&self, access: Access, read: impl AsyncFn(&C) -> Result<T, DataError>) -> Result<T, DataError> {
        let lease = self.source(access).lease().await?;
        let outcome = lease.end(read(lease.connection()).await);
        let retry = lease.is_reused() && outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Lost);
        // The retry needs the lease's room in the pool.
        drop(lease);
        if !retry {
            return outcome;
        }
        // The rare retry is boxed, so that it does not enlarge the future of every read.
        Box::pin(async {
            let lease = self.source(access).lease().await?;
            lease.end(read(lease.connection()).await)
        })
        .await
    }

    async fn world_on(&self, connection: &C, access: Access, id: i32) -> Result<World, DataError> {
        self.limited(connection.world(access, id)).await?.ok_or_else(|| DataError::missing_row(id))
    }

    /// Reads rows with one SELECT each, all in flight at once on a pipelined connection.
    async fn worlds_on(&self, connection: &C, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        if self.pipelined {
            return try_join_all(ids.iter().map(|id| self.world_on(connection, access, *id))).await;
        }
        let mut worlds = Vec::with_capacity(ids.len());
        for id in ids {
            worlds.push(self.world_on(connection, access, *id).await?);
        }
        Ok(worlds)
    }

    /// Puts the time limit on a statement. An `async fn` here would reserve memory for the statement's future twice.
    fn limited<T>(
        &self,
        statement: impl Future<Output = Result<T, DataError>>,
    ) -> impl Future<Output = Result<T, DataError>> {
        let limit = self.limit;
        let late = move |_| Err(DataError::timed_out(limit));
        tokio::time::timeout(limit, statement).map(move |outcome| outcome.unwrap_or_else(late))
    }
}
