//! The application as one worker has it, with all that calls of its handlers need.

use super::App;
use super::blocking_pool::BlockingPool;
use super::router::RouterAdapter;
use crate::computing::Watch;
use crate::in_runtime::InRuntime;
use crate::observe::telemetry::Counts;
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::{EnterGuard, Handle};

/// A worker's application.
pub(crate) struct WorkerApp {
    /// The application of all workers.
    pub shared: Arc<App>,
    /// The worker's copy of the application's router.
    pub router: Option<RouterAdapter>,
    pub pool: BlockingPool,
    /// The threads for requests of routes that compute, apart from those of handlers that are known to block.
    pub computing_pool: BlockingPool,
    pub counts: Counts,
    pub watch: Rc<Watch>,
    /// The runtime in whose context the application's code runs, where that is not the worker's own: the one of
    /// [`Server::runtime`](crate::Server::runtime), or the one of an application of simple controllers.
    pub runtime: Option<Handle>,
}

impl WorkerApp {
    /// Enters the runtime of the application's code, where that is not the worker's own.
    pub fn enter(&self) -> Option<EnterGuard<'_>> {
        self.runtime.as_ref().map(Handle::enter)
    }

    /// Returns a future of the application's code, which is polled and dropped in the context of the application's runtime.
    pub fn within<F: Future + Unpin>(&self, future: F) -> InRuntime<F> {
        InRuntime::new(self.runtime.clone(), Rc::clone(&self.watch), future)
    }
}
