//! Opening of a pool's connections, and the check of idle ones.

use super::connection::Connection;
use crate::Access;
use crate::error::DataError;
use crate::pool_waits::PoolCounters;
use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The idle time after which a connection is pinged before use: databases and routers close idle connections.
const PING_AFTER_IDLE: Duration = Duration::from_secs(30);

/// How long the response to a ping may take.
const PING_TIMEOUT: Duration = Duration::from_secs(1);

/// Opens and checks connections for one access method.
pub(super) struct Connector<C: Connection> {
    config: Arc<C::Config>,
    access: Access,
    counters: Arc<PoolCounters>,
    /// The time of the last ping without a response. Connections that were idle at that time are closed without a ping of
    /// their own, so that an operation waits for one timeout at most.
    last_silence: Mutex<Option<Instant>>,
    connections: PhantomData<fn() -> C>,
}

impl<C: Connection> Connector<C> {
    pub(super) fn new(config: Arc<C::Config>, access: Access, counters: Arc<PoolCounters>) -> Self {
        Self { config, access, counters, last_silence: Mutex::new(None), connections: PhantomData }
    }
}

impl<C: Connection> Manager for Connector<C> {
    type Type = C;
    type Error = DataError;

    async fn create(&self) -> Result<C, DataError> {
        // Connecting is rare; its future is boxed so that it does not enlarge the future of every query.
        let connection = Box::pin(C::connect(&self.config, self.access)).await?;
        self.counters.opened();
        Ok(connection)
    }

    /// Checks a connection before its next use. A ping costs as much as a query, so only long idle connections get one.
    async fn recycle(&self, connection: &mut C, metrics: &Metrics) -> RecycleResult<DataError> {
        if connection.is_closed() {
            return Err(RecycleError::message("closed"));
        }
        if metrics.last_used() < PING_AFTER_IDLE {
            return Ok(());
        }
        let last_silence = || self.last_silence.lock().unwrap_or_else(PoisonError::into_inner);
        let used = Instant::now().checked_sub(metrics.last_used());
        if last_silence().is_some_and(|silence| used.is_none_or(|used| used < silence)) {
            return Err(RecycleError::message("another connection did not respond"));
        }
        match tokio::time::timeout(PING_TIMEOUT, Box::pin(connection.ping())).await {
            Ok(response) => response.map_err(RecycleError::Backend),
            Err(_) => {
                *last_silence() = Some(Instant::now());
                Err(RecycleError::message("no response"))
            }
        }
    }
}
