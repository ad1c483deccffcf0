//! Databases beyond a socket: what is the same for all of them.
//!
//! A thread has two *lanes* to its database: one for the driver, which the query builder uses too, one for the model. Both
//! have the same connection strategy, so that what differs between the ways is the ways.

mod lane;
mod maker;
mod patient;

pub(crate) use patient::{PATIENCE, Patient};

use crate::Access;
use crate::error::{DataError, ErrorKind};
use crate::model::{Fortune, Item, World};
use crate::options::Options;
use crate::waits::Waits;
use futures_util::future::{FutureExt, try_join_all};
use lane::Lane;
use std::sync::Arc;
use std::time::Duration;

/// What the database has on top of its own limit before its connection is given up.
const GRACE: Duration = Duration::from_millis(250);

/// An open connection, made for the driver or for the model.
pub(crate) trait Link: Send + Sized + 'static {
    /// How to connect.
    type Plan: Send + Sync + 'static;

    /// Connects.
    fn connect(plan: &Self::Plan, access: Access) -> impl Future<Output = Result<Self, DataError>> + Send;
    /// Whether it is known to have ended.
    fn is_closed(&self) -> bool;
    /// Asks whether anybody is there.
    fn ping(&mut self) -> impl Future<Output = Result<(), DataError>> + Send;

    /// Reads a row.
    async fn world(&self, access: Access, id: i32) -> Result<Option<World>, DataError>;
    /// Reads a row.
    async fn item(&self, access: Access, id: i32) -> Result<Option<Item>, DataError>;
    /// Reads all rows.
    async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError>;
    /// Writes rows, sorted by their ids, of which none comes twice: all of them or none.
    async fn write(&self, access: Access, rows: &[World]) -> Result<(), DataError>;
}

/// One thread's connections to a database.
pub(crate) struct Local<L: Link> {
    driver: Lane<L>,
    model: Lane<L>,
    /// Whether one connection takes many statements at a time.
    pipelined: bool,
    limit: Duration,
}

impl<L: Link> Local<L> {
    pub(crate) fn new(plan: &Arc<L::Plan>, options: &Options, pipelined: bool, waits: &Arc<Waits>) -> Self {
        let lane = |access| Lane::new(Arc::clone(plan), access, options, pipelined, Arc::clone(waits));
        let limit = options.statement_timeout + GRACE;
        Self { driver: lane(Access::Raw), model: lane(Access::Model), pipelined, limit }
    }

    pub(crate) async fn world(&self, access: Access, id: i32) -> Result<World, DataError> {
        self.read(access, async |link| self.world_on(link, access, id).await).await
    }

    pub(crate) async fn worlds(&self, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        self.read(access, async |link| self.worlds_on(link, access, ids).await).await
    }

    pub(crate) async fn item(&self, access: Access, id: i32) -> Result<Item, DataError> {
        let item = self.read(access, async |link| self.limited(link.item(access, id)).await).await?;
        item.ok_or_else(|| DataError::missing_row(id))
    }

    pub(crate) async fn fortunes(&self, access: Access) -> Result<Vec<Fortune>, DataError> {
        self.read(access, async |link| self.limited(link.fortunes(access)).await).await
    }

    /// Reads `ids`, then writes `rows`. Not tried again if the connection is lost: it may have happened.
    pub(crate) async fn update(&self, access: Access, ids: &[i32], rows: &[World]) -> Result<Vec<World>, DataError> {
        let lease = self.lane(access).lease().await?;
        let update = async {
            let before = self.worlds_on(lease.link(), access, ids).await?;
            if !rows.is_empty() {
                self.limited(lease.link().write(access, rows)).await?;
            }
            Ok(before)
        };
        lease.end(update.await)
    }

    fn lane(&self, access: Access) -> &Lane<L> {
        if access == Access::Model { &self.model } else { &self.driver }
    }

    /// Reads something: once more, if a connection that was kept turns out to have ended meanwhile.
    async fn read<T>(&self, access: Access, read: impl AsyncFn(&L) -> Result<T, DataError>) -> Result<T, DataError> {
        let lease = self.lane(access).lease().await?;
        let outcome = lease.end(read(lease.link()).await);
        let once_more = lease.was_kept() && outcome.as_ref().is_err_and(|error| error.kind() == ErrorKind::Lost);
        // Its place in the pool is needed.
        drop(lease);
        if !once_more {
            return outcome;
        }
        // What is rare has memory of its own: a future is moved as a whole, however little of it is needed.
        Box::pin(async {
            let lease = self.lane(access).lease().await?;
            lease.end(read(lease.link()).await)
        })
        .await
    }

    async fn world_on(&self, link: &L, access: Access, id: i32) -> Result<World, DataError> {
        self.limited(link.world(access, id)).await?.ok_or_else(|| DataError::missing_row(id))
    }

    /// One SELECT for each.
    async fn worlds_on(&self, link: &L, access: Access, ids: &[i32]) -> Result<Vec<World>, DataError> {
        if self.pipelined {
            return try_join_all(ids.iter().map(|id| self.world_on(link, access, *id))).await;
        }
        let mut worlds = Vec::with_capacity(ids.len());
        for id in ids {
            worlds.push(self.world_on(link, access, *id).await?);
        }
        Ok(worlds)
    }

    /// Not an `async fn`, which would have room for the statement twice.
    fn limited<T>(
        &self,
        statement: impl Future<Output = Result<T, DataError>>,
    ) -> impl Future<Output = Result<T, DataError>> {
        let limit = self.limit;
        let late = move |_| Err(DataError::timed_out(limit));
        tokio::time::timeout(limit, statement).map(move |outcome| outcome.unwrap_or_else(late))
    }
}
