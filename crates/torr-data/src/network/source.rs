//! The connections of one thread and one access method: a pool, or one connection that pipelines all statements.

use super::connection::Connection;
use super::connector::Connector;
use crate::Access;
use crate::error::{DataError, ErrorKind};
use crate::options::Options;
use crate::pool_waits::PoolCounters;
use crate::shared_connection::SharedConnection;
use deadpool::Runtime;
use deadpool::managed::{Manager, Object, Pool, PoolConfig, PoolError, QueueMode, TimeoutType, Timeouts};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A pool, and the one shared connection where statements are pipelined.
pub(super) struct ConnectionSource<C: Connection> {
    pool: Pool<Connector<C>>,
    timeouts: Timeouts,
    shared: Option<SharedConnection<C>>,
    counters: Arc<PoolCounters>,
}

impl<C: Connection> ConnectionSource<C> {
    pub(super) fn new(
        config: Arc<C::Config>,
        access: Access,
        options: &Options,
        pipelined: bool,
        counters: Arc<PoolCounters>,
    ) -> Self {
        let timeouts = Timeouts {
            wait: Some(options.acquire_timeout.max(Duration::from_nanos(1))),
            create: Some(options.connect_timeout),
            recycle: None,
        };
        // Last in, first out: the last connection returned is the likeliest to be alive, and surplus ones go idle.
        let pool_config = PoolConfig { max_size: options.pool_size.max(1), timeouts, queue_mode: QueueMode::Lifo };
        let pool = Pool::builder(Connector::new(config, access, Arc::clone(&counters)))
            .config(pool_config)
            .runtime(Runtime::Tokio1)
            .build()
            .expect("building a pool with timeouts fails only without a runtime");
        let shared = pipelined.then(|| SharedConnection::new(C::is_closed));
        Self { pool, timeouts, shared, counters }
    }

    /// Returns a connection for one operation.
    pub(super) async fn lease(&self) -> Result<Lease<'_, C>, DataError> {
        match &self.shared {
            Some(shared) => self.lease_shared(shared).await,
            None => {
                let object = self.lease_pooled().await?;
                let reused = Object::metrics(&object).recycle_count > 0;
                let connection = Leased::Pooled(Some(object));
                Ok(Lease { source: self, connection, reused, usable: Cell::new(false) })
            }
        }
    }

    async fn lease_pooled(&self) -> Result<Object<Connector<C>>, DataError> {
        let at_once = Timeouts { wait: Some(Duration::ZERO), ..self.timeouts };
        let object = match self.pool.timeout_get(&at_once).await {
            Err(PoolError::Timeout(TimeoutType::Wait)) => {
                let _wait = self.counters.begin();
                Box::pin(self.pool.timeout_get(&self.timeouts)).await
            }
            object => object,
        };
        object.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(TimeoutType::Wait) => self.exhausted("all connections of the thread's pool were in use"),
            error => self.connect_timeout(error),
        })
    }

    fn exhausted(&self, what: &str) -> DataError {
        self.counters.exhausted();
        let wait = self.timeouts.wait.unwrap_or_default();
        DataError::new(ErrorKind::Exhausted, format_args!("{what} for {wait:?}"))
    }

    fn connect_timeout(&self, error: impl std::fmt::Display) -> DataError {
        let limit = self.timeouts.create.unwrap_or_default();
        DataError::new(
            ErrorKind::TimedOut,
            format_args!("timed out after {limit:?} connecting to the database: {error}"),
        )
    }

    async fn lease_shared(&self, shared: &SharedConnection<C>) -> Result<Lease<'_, C>, DataError> {
        let lease = |connection, reused| Lease {
            source: self,
            connection: Leased::Shared(connection),
            reused,
            usable: Cell::new(false),
        };
        if let Some(connection) = shared.current() {
            return Ok(lease(connection, true));
        }
        let _wait = shared.is_connecting().then(|| self.counters.begin());
        let connect = async {
            let limit = self.timeouts.create.unwrap_or(Duration::MAX);
            let connected = tokio::time::timeout(limit, self.pool.manager().create()).await;
            connected.map_err(|elapsed| self.connect_timeout(elapsed))?
        };
        let wait = self.timeouts.wait.unwrap_or(Duration::MAX);
        let open = shared.open(wait, || self.exhausted("another request was connecting"), connect);
        let connection = Box::pin(open).await?;
        Ok(lease(connection, false))
    }
}

enum Leased<C: Connection> {
    /// A connection of the pool; `None` only while the lease is dropped.
    Pooled(Option<Object<Connector<C>>>),
    Shared(Rc<C>),
}

/// A connection for one operation. If the lease is dropped before the operation has ended, a connection of the pool is
/// closed, because its protocol state is unknown.
pub(super) struct Lease<'l, C: Connection> {
    source: &'l ConnectionSource<C>,
    connection: Leased<C>,
    reused: bool,
    /// Whether the connection may serve further operations.
    usable: Cell<bool>,
}

impl<C: Connection> Lease<'_, C> {
    pub(super) fn connection(&self) -> &C {
        match &self.connection {
            Leased::Pooled(object) => object.as_ref().expect("only dropping the lease removes the object"),
            Leased::Shared(connection) => connection,
        }
    }

    /// Returns whether an earlier operation used the connection.
    pub(super) fn is_reused(&self) -> bool {
        self.reused
    }

    /// Records how the operation has ended, and returns its outcome.
    pub(super) fn end<T>(&self, outcome: Result<T, DataError>) -> Result<T, DataError> {
        let Err(error) = &outcome else {
            self.usable.set(true);
            return outcome;
        };
        self.usable.set(error.leaves_connection_usable());
        if error.kind() == ErrorKind::Lost {
            // Whatever has ended one connection has most likely ended all of them.
            self.source.pool.retain(|_, _| false);
        }
        if let (Some(shared), Leased::Shared(connection)) = (&self.source.shared, &self.connection)
            && !self.usable.get()
        {
            shared.discard(connection);
        }
        outcome
    }
}

impl<C: Connection> Drop for Lease<'_, C> {
    fn drop(&mut self) {
        if let Leased::Pooled(object) = &mut self.connection
            && !self.usable.get()
        {
            drop(object.take().map(Object::take));
        }
    }
}
