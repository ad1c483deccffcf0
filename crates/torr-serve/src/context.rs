//! What every connection of a worker needs to answer.

use crate::app::App;
use crate::app::pool::{Pool, Threads};
use crate::app::router::RouterAdapter;
use crate::conn::common_headers::CommonHeaders;
use crate::conn::wakeups::Wakeups;
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

/// What all workers share.
#[derive(Clone)]
pub(crate) struct ServerContext {
    pub app: Arc<App>,
    pub settings: Arc<Settings>,
    /// Threads for handlers that block.
    pub pool: Pool,
    /// How TLS is spoken, if it is.
    pub tls: Option<TlsAcceptor>,
    pub table: Arc<MetricsTable>,
    pub log: Option<AccessLog>,
    pub shutdown: Arc<Shutdown>,
    /// The runtime in whose context simple controllers run, where the application has nothing else.
    pub background: Option<Handle>,
}

impl ServerContext {
    /// For one worker that is looked at by itself, without TLS and log.
    ///
    /// # Errors
    /// If the system has no memory or no descriptor.
    pub fn alone(app: App, settings: Settings) -> io::Result<(Threads, Self)> {
        let (threads, pool) = Pool::new(1, 0)?;
        let table = Arc::new(MetricsTable::new(1, metric::columns(app.own_metrics()))?);
        let (app, settings) = (Arc::new(app), Arc::new(settings));
        let shutdown = Arc::new(Shutdown::new(&settings, 1));
        Ok((threads, Self { app, settings, pool, tls: None, table, log: None, shutdown, background: None }))
    }
}

/// What does not change, and is shared with connections that have left the engine.
pub(crate) struct WorkerContext {
    shared: ServerContext,
    /// The worker's copy of the application's router.
    pub router: Option<RouterAdapter>,
    pub wakeups: Arc<Wakeups>,
    pub meter: Meter,
    pub visits: Visits,
}

impl WorkerContext {
    /// Enters the context that the application's code runs in, where that is not the worker's runtime.
    pub fn enter(&self) -> Option<EnterGuard<'_>> {
        self.background.as_ref().map(Handle::enter)
    }
}

impl Deref for WorkerContext {
    type Target = ServerContext;

    #[inline]
    fn deref(&self) -> &ServerContext {
        &self.shared
    }
}

pub(crate) struct EngineContext {
    pub worker: Rc<WorkerContext>,
    pub common_headers: CommonHeaders,
    /// The server is leaving: every answer ends its connection.
    pub leaving: bool,
}

impl EngineContext {
    /// For the worker that has this place on the table.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new(shared: ServerContext, place: usize) -> io::Result<Self> {
        let (router, common_headers) = (shared.app.local(), CommonHeaders::new(shared.settings.server_name));
        let (wakeups, meter) = (Wakeups::new()?, Meter::new(Arc::clone(&shared.table), place));
        let visits = Visits::new(Arc::clone(&shared.settings), shared.log.as_ref());
        Ok(Self {
            worker: Rc::new(WorkerContext { shared, router, wakeups, meter, visits }),
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
