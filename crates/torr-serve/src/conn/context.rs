//! The state that connections use to respond, by owner: the server, a worker, a worker's engine.

use crate::app::App;
use crate::app::blocking_pool::{BlockingPool, BlockingThreads};
use crate::app::worker_app::WorkerApp;
use crate::computing::{Computing, Watch};
use crate::conn::common_headers::CommonHeaders;
use crate::conn::http2_streams::Http2Streams;
use crate::conn::visit::Visits;
use crate::conn::wakeups::Wakeups;
use crate::observe::access_log::AccessLog;
use crate::observe::metric;
use crate::observe::metrics_table::MetricsTable;
use crate::observe::telemetry::Meter;
use crate::process::shutdown::Shutdown;
use crate::settings::Settings;
use http::HeaderValue;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use tokio::runtime::Handle;
use torr_net::tls::TlsAcceptor;

/// The state that all workers of a process share, of which each has a clone.
#[derive(Clone)]
pub(crate) struct ServerContext {
    pub app: Arc<App>,
    pub settings: Arc<Settings>,
    pub pool: BlockingPool,
    pub computing_pool: BlockingPool,
    /// `None` without TLS.
    pub tls: Option<TlsAcceptor>,
    pub table: Arc<MetricsTable>,
    pub log: Option<AccessLog>,
    /// The value of `Alt-Svc`; `None` without HTTP/3.
    pub alt_svc: Option<HeaderValue>,
    pub shutdown: Arc<Shutdown>,
    pub computing: Arc<Computing>,
    /// As [`WorkerApp::runtime`].
    pub runtime: Option<Handle>,
}

impl ServerContext {
    /// Returns the state for a single worker without TLS and log, for tests and the fuzzer.
    ///
    /// # Errors
    /// If the system has no memory or no descriptor.
    pub fn alone(app: App, settings: Settings) -> io::Result<(BlockingThreads, Self)> {
        let (threads, pool) = BlockingPool::new(1, 0)?;
        let shared = Self {
            table: Arc::new(MetricsTable::new(1, metric::columns(app.own_metrics()))?),
            shutdown: Arc::new(Shutdown::new(&settings, 1)),
            computing: Computing::new(settings.compute_after, app.has_computing()),
            app: Arc::new(app),
            settings: Arc::new(settings),
            computing_pool: pool.clone(),
            pool,
            tls: None,
            log: None,
            alt_svc: None,
            runtime: None,
        };
        Ok((threads, shared))
    }
}

/// The state of a worker that does not change, for connections in the engine and those that hyper serves.
pub(crate) struct WorkerContext {
    pub app: WorkerApp,
    pub settings: Arc<Settings>,
    /// `None` without TLS.
    pub tls: Option<TlsAcceptor>,
    /// The value of `Alt-Svc`; `None` without HTTP/3.
    pub alt_svc: Option<HeaderValue>,
    pub shutdown: Arc<Shutdown>,
    pub meter: Meter,
    pub wakeups: Arc<Wakeups>,
    pub visits: Visits,
    pub http2_streams: Http2Streams,
}

impl WorkerContext {
    /// Returns the state of a worker that counts in `row` of the table.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    fn new(shared: ServerContext, row: usize) -> io::Result<Self> {
        let ServerContext {
            app,
            settings,
            pool,
            computing_pool,
            tls,
            table,
            log,
            alt_svc,
            shutdown,
            computing,
            runtime,
        } = shared;
        let (router, meter) = (app.router_adapter(), Meter::new(table, row));
        let (counts, watch) = (meter.elsewhere(), Watch::new(computing, meter.elsewhere()));
        Ok(Self {
            app: WorkerApp { shared: app, router, pool, computing_pool, counts, watch, runtime },
            visits: Visits::new(Arc::clone(&settings), log.as_ref()),
            settings,
            tls,
            alt_svc,
            shutdown,
            meter,
            wakeups: Wakeups::new()?,
            http2_streams: Http2Streams::default(),
        })
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
    /// Returns the state of the engine of a worker that counts in `row` of the table.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new(shared: ServerContext, row: usize) -> io::Result<Self> {
        let worker = Rc::new(WorkerContext::new(shared, row)?);
        let alt_svc = worker.alt_svc.as_ref().and_then(|value| value.to_str().ok()).map(str::to_owned);
        Ok(Self { common_headers: CommonHeaders::new(worker.settings.server_name, alt_svc), worker, leaving: false })
    }
}
