//! How a pool comes by its connections, and which of those it has it still trusts.

use super::Link;
use crate::Access;
use crate::error::DataError;
use crate::waits::Waits;
use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A connection that nobody has used for so long is asked first whether it is still there: databases and routers end what is
/// idle.
const LONG_IDLE: Duration = Duration::from_secs(30);

/// How long it has to answer.
const PING: Duration = Duration::from_secs(1);

/// Makes connections for the driver or for the model.
pub(super) struct Maker<L: Link> {
    plan: Arc<L::Plan>,
    access: Access,
    waits: Arc<Waits>,
    /// When one that was asked did not answer: those that had been idle by then are not asked one after the other.
    silent: Mutex<Option<Instant>>,
    links: PhantomData<fn() -> L>,
}

impl<L: Link> Maker<L> {
    pub(super) fn new(plan: Arc<L::Plan>, access: Access, waits: Arc<Waits>) -> Self {
        Self { plan, access, waits, silent: Mutex::new(None), links: PhantomData }
    }
}

impl<L: Link> Manager for Maker<L> {
    type Type = L;
    type Error = DataError;

    async fn create(&self) -> Result<L, DataError> {
        // In memory of its own: it is rare, and would make every future of a query several times as large.
        let link = Box::pin(L::connect(&self.plan, self.access)).await?;
        self.waits.opened();
        Ok(link)
    }

    /// Without a round trip, unless there is a reason for one: it would cost as much as the query.
    async fn recycle(&self, link: &mut L, metrics: &Metrics) -> RecycleResult<DataError> {
        if link.is_closed() {
            return Err(RecycleError::message("closed"));
        }
        if metrics.last_used() < LONG_IDLE {
            return Ok(());
        }
        let silent = || self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        let used = Instant::now().checked_sub(metrics.last_used());
        if silent().is_some_and(|silent| used.is_none_or(|used| used < silent)) {
            return Err(RecycleError::message("another one was silent"));
        }
        match tokio::time::timeout(PING, Box::pin(link.ping())).await {
            Ok(answer) => answer.map_err(RecycleError::Backend),
            Err(_) => {
                *silent() = Some(Instant::now());
                Err(RecycleError::message("silent"))
            }
        }
    }
}
