//! The state that connections use to respond, by owner: the server, a worker, a worker's engine.

use crate::app::App;
use crate::app::blocking_pool::{BlockingPool, BlockingThreads};
use crate::app::router::RouterAdapter;
use crate::computing::{Computing, Watch};
use crate::conn::common_headers::CommonHeaders;
use crate::conn::http2_streams::Http2Streams;
use crate::conn::wakeups::Wakeups;
use crate::in_runtime::InRuntime;
use crate::observe::access_log::AccessLog;
use crate::observe::metric;
use crate::observe::metrics_table::MetricsTable;
use crate::observe::telemetry::Meter;
use crate::observe::visit::Visits;
use crate::process::shutdown::Shutdown;
use crate::settings::Settings;
use std::io;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::{EnterGuard, Handle};
use torr_net::tls::TlsAcceptor;

/// The state that all workers of a process share.
#[derive(Clone)]
pub(crate) struct ServerContext {
    pub app: Arc<App>,
    pub settings: Arc<Settings>,
    pub pool: BlockingPool,
    /// The threads for requests of routes that compute, apart from those of handlers that are known to block.
    pub computing_pool: BlockingPool,
    /// `None` without TLS.
    pub tls: Option<TlsAcceptor>,
    pub table: Arc<MetricsTable>,
    pub log: Option<AccessLog>,
    pub shutdown: Arc<Shutdown>,
    pub computing: Arc<Computing>,
    /// The runtime in whose context the application's code runs, where that is not the worker's own: the one of
    /// [`Server::runtime`](crate::Server::runtime), or the one of an application of simple controllers.
    pub runtime: Option<Handle>,
}

impl ServerContext {
    /// Returns the state for a single worker without TLS and log, for tests and the fuzzer.
    ///
    /// # Errors
    /// If the system has no memory or no descriptor.
    pub fn alone(app: App, settings: Settings) -> io::Result<(BlockingThreads, Self)> {
        let (threads, pool) = BlockingPool::new(1, 0)?;
        let table = Arc::new(MetricsTable::new(1, metric::columns(app.own_metrics()))?);
        let (app, settings) = (Arc::new(app), Arc::new(settings));
        let shutdown = Arc::new(Shutdown::new(&settings, 1));
        let computing = Computing::new(settings.compute_after, app.has_computing());
        let computing_pool = pool.clone();
        Ok((
            threads,
            Self {
                app,
                settings,
                pool,
                computing_pool,
                tls: None,
                table,
                log: None,
                shutdown,
                computing,
                runtime: None,
            },
        ))
    }
}

/// The state of a worker that does not change, for connections in the engine and those that hyper serves.
pub(crate) struct WorkerContext {
    shared: ServerContext,
    /// The worker's copy of the application's router.
    pub router: Option<RouterAdapter>,
    pub wakeups: Arc<Wakeups>,
    pub meter: Meter,
    pub visits: Visits,
    pub watch: Rc<Watch>,
    pub http2_streams: Http2Streams,
}

impl WorkerContext {
    /// Enters the runtime of the application's code, where that is not the worker's own.
    pub fn enter(&self) -> Option<EnterGuard<'_>> {
        self.runtime.as_ref().map(Handle::enter)
    }

    /// Returns a future of the application's code, which is polled and dropped in the context of the application's runtime.
    pub fn within<F: Future + Unpin>(&self, future: F) -> InRuntime<F> {
        InRuntime::new(self.runtime.clone(), Rc::clone(&self.watch), future)
    }
}

impl Deref for WorkerContext {
    type Target = ServerContext;

    #[inline]
    fn deref(&self) -> &ServerContext {
        &self.shared
    }
}

/// The state of a worker's engine, on the worker's thread alone.
pub(crate) struct EngineContext {
    pub worker: Rc<WorkerContext>,
    pub common_headers: CommonHeaders,
    /// Whether the server is stopping, so that every response ends its connection.
    pub leaving: bool,
}

impl EngineContext {
    /// Returns the state of a worker that counts in `row` of the table.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new(shared: ServerContext, row: usize) -> io::Result<Self> {
        let (router, common_headers) = (shared.app.router_adapter(), CommonHeaders::new(shared.settings.server_name));
        let (wakeups, meter) = (Wakeups::new()?, Meter::new(Arc::clone(&shared.table), row));
        let visits = Visits::new(Arc::clone(&shared.settings), shared.log.as_ref());
        let http2_streams = Http2Streams::default();
        let watch = Watch::new(Arc::clone(&shared.computing), meter.elsewhere());
        Ok(Self {
            worker: Rc::new(WorkerContext { shared, router, wakeups, meter, visits, watch, http2_streams }),
            common_headers,
            leaving: false,
        })
    }
}

impl Deref for EngineContext {
    type Target = WorkerContext;

    #[inline]
    fn deref(&self) -> &WorkerContext {
        &self.worker
    }
}
