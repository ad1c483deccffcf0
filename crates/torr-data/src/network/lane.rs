//! A thread's connections of one kind: a pool, or one over which everything is pipelined.

use super::Link;
use super::maker::Maker;
use crate::Access;
use crate::error::{DataError, ErrorKind};
use crate::options::Options;
use crate::shared::Shared;
use crate::waits::Waits;
use deadpool::Runtime;
use deadpool::managed::{Manager, Object, Pool, PoolConfig, PoolError, QueueMode, TimeoutType, Timeouts};
use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A pool, and above it the one connection, if there is but one.
pub(super) struct Lane<L: Link> {
    pool: Pool<Maker<L>>,
    timeouts: Timeouts,
    pipe: Option<Shared<L>>,
    waits: Arc<Waits>,
}

impl<L: Link> Lane<L> {
    pub(super) fn new(
        plan: Arc<L::Plan>,
        access: Access,
        options: &Options,
        pipelined: bool,
        waits: Arc<Waits>,
    ) -> Self {
        let timeouts = Timeouts {
            wait: Some(options.acquire_timeout.max(Duration::from_nanos(1))),
            create: Some(options.connect_timeout),
            recycle: None,
        };
        // The last one that came back is the likeliest to be alive, and the rest of them may become idle.
        let config = PoolConfig { max_size: options.pool_size.max(1), timeouts, queue_mode: QueueMode::Lifo };
        let pool = Pool::builder(Maker::new(plan, access, Arc::clone(&waits)))
            .config(config)
            .runtime(Runtime::Tokio1)
            .build()
            .expect("a pool with time-outs lacks nothing but a runtime, and has one");
        let pipe = pipelined.then(|| Shared::new(L::is_closed));
        Self { pool, timeouts, pipe, waits }
    }

    /// A connection for one operation.
    pub(super) async fn lease(&self) -> Result<Lease<'_, L>, DataError> {
        match &self.pipe {
            Some(pipe) => self.share(pipe).await,
            None => {
                let object = self.take().await?;
                let kept = Object::metrics(&object).recycle_count > 0;
                Ok(Lease { lane: self, link: Held::Taken(Some(object)), kept, sound: Cell::new(false) })
            }
        }
    }

    async fn take(&self) -> Result<Object<Maker<L>>, DataError> {
        let at_once = Timeouts { wait: Some(Duration::ZERO), ..self.timeouts };
        let taken = match self.pool.timeout_get(&at_once).await {
            Err(PoolError::Timeout(TimeoutType::Wait)) => {
                let _waiting = self.waits.begin();
                Box::pin(self.pool.timeout_get(&self.timeouts)).await
            }
            taken => taken,
        };
        taken.map_err(|error| match error {
            PoolError::Backend(error) => error,
            PoolError::Timeout(TimeoutType::Wait) => {
                self.exhausted("all connections of the thread's pool have been in use")
            }
            error => self.silent(error),
        })
    }

    fn exhausted(&self, what: &str) -> DataError {
        self.waits.exhausted();
        let wait = self.timeouts.wait.unwrap_or_default();
        DataError::new(ErrorKind::Exhausted, format_args!("{what} for {wait:?}"))
    }

    fn silent(&self, error: impl std::fmt::Display) -> DataError {
        let limit = self.timeouts.create.unwrap_or_default();
        DataError::new(ErrorKind::TimedOut, format_args!("no connection to the database within {limit:?}: {error}"))
    }

    async fn share(&self, pipe: &Shared<L>) -> Result<Lease<'_, L>, DataError> {
        let lease = |link, kept| Lease { lane: self, link: Held::Shared(link), kept, sound: Cell::new(false) };
        if let Some(link) = pipe.current() {
            return Ok(lease(link, true));
        }
        let _waiting = pipe.is_connecting().then(|| self.waits.begin());
        let connect = async {
            let limit = self.timeouts.create.unwrap_or(Duration::MAX);
            let connected = tokio::time::timeout(limit, self.pool.manager().create()).await;
            connected.map_err(|elapsed| self.silent(elapsed))?
        };
        let wait = self.timeouts.wait.unwrap_or(Duration::MAX);
        let open = pipe.open(wait, || self.exhausted("others have been connecting"), connect);
        let link = Box::pin(open).await?;
        Ok(lease(link, false))
    }
}

enum Held<L: Link> {
    /// Out of the pool, until this is dropped.
    Taken(Option<Object<Maker<L>>>),
    Shared(Rc<L>),
}

/// A connection for one operation. If it is dropped before the operation has ended, a connection of a pool is not used again:
/// nobody knows in what state it is.
pub(super) struct Lease<'l, L: Link> {
    lane: &'l Lane<L>,
    link: Held<L>,
    kept: bool,
    sound: Cell<bool>,
}

impl<L: Link> Lease<'_, L> {
    pub(super) fn link(&self) -> &L {
        match &self.link {
            Held::Taken(object) => object.as_ref().expect("it is taken out only when the lease is dropped"),
            Held::Shared(link) => link,
        }
    }

    /// Whether it had been used before.
    pub(super) fn was_kept(&self) -> bool {
        self.kept
    }

    /// Says how the operation has ended.
    pub(super) fn end<T>(&self, outcome: Result<T, DataError>) -> Result<T, DataError> {
        let Err(error) = &outcome else {
            self.sound.set(true);
            return outcome;
        };
        self.sound.set(error.leaves_connection_sound());
        if error.kind() == ErrorKind::Lost {
            // What has ended one connection has most likely ended all of them.
            self.lane.pool.retain(|_, _| false);
        }
        if let (Some(pipe), Held::Shared(link)) = (&self.lane.pipe, &self.link)
            && !self.sound.get()
        {
            pipe.give_up(link);
        }
        outcome
    }
}

impl<L: Link> Drop for Lease<'_, L> {
    fn drop(&mut self) {
        if let Held::Taken(object) = &mut self.link
            && !self.sound.get()
        {
            drop(object.take().map(Object::take));
        }
    }
}
