//! The server of a program: it binds listeners, runs workers as threads or processes, reloads and stops them.

#[cfg(feature = "http3")]
mod http3_sockets;
mod reload;
mod running;

pub use reload::Reload;
pub use running::Running;

use crate::app::App;
use crate::app::blocking_pool::{BlockingPool, BlockingThreads};
use crate::client::proxy_protocol::ProxyProtocol;
use crate::computing::Computing;
use crate::conn::admission::ConnectionLimits;
use crate::conn::context::{EngineContext, ServerContext};
use crate::conn::engine::Acceptor;
use crate::conn::siblings::{Pulse, Sibling, Siblings};
use crate::error::ServeError;
use crate::observe::access_log::{AccessLog, LogTarget};
use crate::observe::metric;
use crate::observe::metrics_table::{self, MetricsTable};
use crate::observe::notice;
use crate::observe::standard_error::StandardError;
use crate::process::adopted::Listener;
use crate::process::background::Background;
use crate::process::in_async;
use crate::process::listeners::{self, Listeners, Part};
use crate::process::member;
use crate::process::open_files::make_room;
use crate::process::open_listener::Listener as OpenListener;
use crate::process::pid_file::PidFile;
use crate::process::shutdown::{Ended, Shutdown};
use crate::process::signals::{self, SignalHandlers, Signals};
use crate::process::supervisor::{self, Program, SupervisorOptions};
use crate::process::systemd;
use crate::settings::Settings;
use crate::worker::{self, Sockets};
#[cfg(feature = "http3")]
use http3_sockets::Http3Sockets;
use reload::Reloader;
use std::ffi::c_int;
use std::fmt;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::Handle;
use torr_net::tls::TlsAcceptor;
use torr_net::{Address, StopSignal};

/// The address of what has none, such as a Unix socket.
pub(crate) const UNSPECIFIED: SocketAddr = SocketAddr::V4(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));

/// An application with its settings, before it listens.
#[derive(Debug)]
pub struct Server {
    app: App,
    settings: Settings,
    runtime: Option<Handle>,
}

/// A listening server: connections wait in the accept queues until it runs.
#[derive(Debug)]
pub struct Bound {
    app: Arc<App>,
    settings: Arc<Settings>,
    tls: Option<TlsAcceptor>,
    log: Option<AccessLog>,
    listeners: Vec<OwnedFd>,
    /// Whether these are copies of one socket.
    are_shared: bool,
    #[cfg(feature = "http3")]
    http3: Option<Http3Sockets>,
    part: Part,
    address: Address,
    /// The runtime of [`Server::runtime`].
    runtime: Option<Handle>,
    /// The sender that each listener keeps until it is closed, if anything waits for that.
    open: Option<mpsc::Sender<()>>,
    stop_signal: Arc<StopSignal>,
    /// The watched signals, once [`Bound::watch_signals`] was called.
    signals: Option<Signals>,
    pid_file: Option<Arc<PidFile>>,
    hooks: Hooks,
    reloader: Reloader,
}

/// The program's callbacks for the time when all workers serve.
#[derive(Default)]
struct Hooks(Vec<Box<dyn FnOnce() + Send>>);

impl fmt::Debug for Hooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Hooks").field(&self.0.len()).finish()
    }
}

/// The rows of the metrics table in which the threads of this process count.
struct TableRows {
    table: MetricsTable,
    /// The number of the first thread, among the threads of all processes.
    first: usize,
    generation: usize,
}

/// A handle to stop a server from any thread.
#[derive(Debug, Clone)]
pub struct Stop(Arc<StopSignal>);

impl Stop {
    /// Begins a graceful stop: requests in flight are finished, then the server ends. Returns at once.
    pub fn stop(&self) {
        self.0.stop();
    }
}

fn open_log(target: LogTarget, settings: &Settings) -> Result<AccessLog, ServeError> {
    let named = target.to_string();
    AccessLog::open(target, settings.access_log_format).map_err(|error| ServeError::Log { target: named, error })
}

/// Stops all workers when it is dropped.
struct StopAtEnd(Arc<StopSignal>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        // A worker that drains ends before its siblings, which have the same time to drain.
        if !self.0.is_draining() || thread::panicking() {
            self.0.stop();
        }
    }
}

/// Waits for blocking calls that run, up to their time limit.
fn end_threads(threads: BlockingThreads, shutdown: &Shutdown) {
    thread::scope(|scope| {
        let (tell_end, end) = mpsc::channel::<()>();
        let wait = move || {
            let _until_then = tell_end;
            shutdown.while_blocking(shutdown.background(), || threads.end(shutdown.left_of_tasks()));
        };
        // If no thread can be started, the pool is dropped without waiting.
        let _ = thread::Builder::new().spawn_scoped(scope, wait);
        shutdown.report_on(&end);
    });
}

impl App {
    /// Serves on an address, with default settings, until SIGTERM, SIGINT or SIGQUIT. Blocks the calling thread.
    ///
    /// # Errors
    /// Returns the errors of [`Server::bind`] and [`Bound::run_until_signal`], notably [`ServeError::InAsync`] in an async
    /// function.
    pub fn serve(self, address: impl ToSocketAddrs + fmt::Debug) -> Result<(), ServeError> {
        in_async::refuse()?;
        Server::new(self).bind(address)?.run_until_signal()
    }
}

impl Server {
    /// Returns a server with default settings.
    pub fn new(app: App) -> Self {
        Self { app, settings: Settings::default(), runtime: None }
    }

    /// Replaces the settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Runs handlers in the context of this runtime, on the workers' threads: what they spawn runs there, and sockets and timers
    /// that they create are driven there. Handlers that use a pool, tasks or timers of `main`'s runtime then share them with it.
    ///
    /// Without this, each worker has a runtime of its own. The runtime must be driven as long as the server runs: one of
    /// `current_thread` is driven only inside `block_on`. Tasks that handlers spawn there are the program's own: a stop does not wait
    /// for them. `block_in_place` panics in handlers, as in any runtime of one thread; `spawn_blocking` takes its place.
    ///
    /// ```
    /// # use torr_serve::{App, Server};
    /// # async fn of_main() -> std::io::Result<()> {
    /// let server = Server::new(App::new()).runtime(tokio::runtime::Handle::current());
    /// let bound = server.bind("127.0.0.1:0")?;
    /// # drop(bound.run_async());
    /// # Ok(())
    /// # }
    /// ```
    pub fn runtime(mut self, handle: Handle) -> Self {
        self.runtime = Some(handle);
        self
    }

    /// Serves a listener that the program has opened, of TCP or Unix, of std or tokio. All workers share it, and the kernel wakes one
    /// of those that are idle. [`Settings::backlog`] has no effect.
    ///
    /// # Errors
    /// [`ServeError::Settings`], also where the settings have worker processes, which open their listeners themselves;
    /// [`ServeError::HandedOver`] where the socket does not listen; otherwise as [`Server::bind`].
    pub fn on(self, listener: impl Listener) -> Result<Bound, ServeError> {
        self.listen(|settings| listeners::adopt(listener.into_descriptor()?, settings))
    }

    /// Listens on the first of these addresses, with one listener per worker. Port 0 selects a free port. In the first call,
    /// sockets that systemd has passed (socket activation) replace the address.
    ///
    /// # Errors
    /// [`ServeError::Settings`]; [`ServeError::Address`] and [`ServeError::Listen`]; [`ServeError::Tls`], [`ServeError::Log`] and
    /// [`ServeError::PidFile`] for files of the settings; [`ServeError::HandedOver`] and [`ServeError::System`], also for a
    /// second server with worker processes.
    pub fn bind(self, address: impl ToSocketAddrs + fmt::Debug) -> Result<Bound, ServeError> {
        self.listen(|settings| listeners::take(address, settings))
    }

    fn listen(self, take: impl FnOnce(&Settings) -> Result<Listeners, ServeError>) -> Result<Bound, ServeError> {
        self.settings.check().map_err(ServeError::Settings)?;
        let tls = self.settings.acceptor()?;
        let log = self.settings.access_log.clone().map(|target| open_log(target, &self.settings)).transpose()?;
        let Listeners { listeners, address, part, are_shared } = take(&self.settings)?;
        #[cfg(feature = "http3")]
        let http3 = Http3Sockets::open(&address, listeners.len(), tls.as_ref(), &self.settings)?;
        let mine = !matches!(part, Part::Worker(_));
        let needs_name = self.settings.proxy_protocol == ProxyProtocol::Required && matches!(address, Address::Unix(_));
        if mine && needs_name && !self.settings.trusted_proxies.trusts(None) {
            notice::warn("proxy_protocol rejects all connections to this Unix socket: add 'unix' to trusted_proxies");
        }
        let pid_file = self.settings.pid_file.as_deref().filter(|_| mine);
        let pid_file = pid_file.map(PidFile::create).transpose().map_err(ServeError::PidFile)?.map(Arc::new);
        let stop_signal = Arc::new(StopSignal::new()?);
        let (app, settings) = (Arc::new(self.app), Arc::new(self.settings.bounded()));
        let reloader = match part {
            Part::Supervisor => Reloader::of_supervisor()?,
            Part::Alone | Part::Worker(_) => {
                let status = systemd::status(&address, 0);
                Reloader::of_process(tls.clone(), log.clone(), Arc::clone(&stop_signal), status)
            }
        };
        let (runtime, open, signals, hooks) = (self.runtime, None, None, Hooks::default());
        Ok(Bound {
            app,
            settings,
            tls,
            log,
            listeners,
            are_shared,
            #[cfg(feature = "http3")]
            http3,
            part,
            address,
            runtime,
            open,
            stop_signal,
            signals,
            pid_file,
            hooks,
            reloader,
        })
    }
}

impl Bound {
    /// Returns the address that the server listens on; `0.0.0.0:0` where it listens on a Unix socket.
    pub fn address(&self) -> SocketAddr {
        self.address.tcp().unwrap_or(UNSPECIFIED)
    }

    /// Returns the path of the Unix socket that the server listens on. An abstract name begins with `@`. `None` for TCP.
    pub fn unix_path(&self) -> Option<&Path> {
        match &self.address {
            Address::Unix(path) => Some(path),
            Address::Tcp(_) => None,
        }
    }

    /// Returns a handle to stop the server.
    pub fn stop(&self) -> Stop {
        Stop(Arc::clone(&self.stop_signal))
    }

    /// Returns a handle to reload the server: to read its certificates and to open its access log again.
    pub fn reload(&self) -> Reload {
        self.reloader.handle()
    }

    /// Lets a handle that was made before the server reload it.
    pub(crate) fn reloaded_by(&self, handle: &Reload) {
        handle.reach(&self.reloader);
    }

    /// Sets a callback for the time when all workers serve. It is called in the supervisor if there is one, never in worker
    /// processes.
    pub fn on_ready(mut self, call: impl FnOnce() + Send + 'static) -> Self {
        self.hooks.0.push(Box::new(call));
        self
    }

    /// Sets a callback for each reload: on SIGHUP and SIGUSR2, called on a separate thread while [`Bound::run_until_signal`] runs, and by
    /// [`Reload::reload`]. It is called in a server of a single process, and in a worker process that receives the signal itself. A
    /// supervisor starts new workers instead.
    pub fn on_reload(self, call: impl Fn() + Send + Sync + 'static) -> Self {
        self.reloader.call(Arc::new(call));
        self
    }

    /// Serves until [`Stop::stop`], on a thread per worker, or in worker processes with such threads. Blocks the calling thread.
    /// After the last connection has ended, waits for tasks that handlers have spawned, at most
    /// [`Settings::task_stop_timeout`].
    ///
    /// # Errors
    /// [`ServeError::InAsync`] in an async function.
    /// [`ServeError::System`] and [`ServeError::Panicked`]; the other workers are stopped first. [`ServeError::Worker`].
    pub fn run(mut self) -> Result<(), ServeError> {
        in_async::refuse()?;
        match std::mem::take(&mut self.part) {
            Part::Alone => {
                let (address, ready) = (self.address.clone(), std::mem::take(&mut self.hooks.0));
                self.work(None, || {
                    ready.into_iter().for_each(|call| call());
                    systemd::ready(&systemd::status(&address, 0));
                })
            }
            Part::Worker(member) => {
                let channel = Arc::new(member.channel);
                // The supervisor's number of threads: the configuration may have changed since.
                let threads = self.listeners.len();
                let first = (member.number - 1) * threads;
                // A supervisor of another version may use another layout.
                let table =
                    MetricsTable::inherited(member.table, first + threads, metric::columns(self.app.own_metrics()))
                        .map(|table| TableRows { table, first, generation: member.generation });
                member::follow_supervisor(
                    Arc::clone(&channel),
                    Arc::clone(&self.stop_signal),
                    self.settings.stop_timeout,
                )?;
                self.work(table, || member::send_ready(&channel))
            }
            Part::Supervisor => self.supervise(None).map(drop),
        }
    }

    /// Queues SIGTERM, SIGINT, SIGQUIT, SIGHUP and SIGUSR2 for [`Bound::run_until_signal`] from now on. Needed by programs that
    /// announce their service before they run it.
    ///
    /// # Errors
    /// [`ServeError::System`].
    pub fn watch_signals(mut self) -> Result<Self, ServeError> {
        self.signals = Some(Signals::watch()?);
        Ok(self)
    }

    /// Serves until SIGTERM, SIGINT or SIGQUIT, then finishes requests in flight; a second SIGTERM or SIGINT ends the process at
    /// once. On SIGHUP and SIGUSR2 a supervisor replaces its worker processes; see also [`Bound::on_reload`].
    ///
    /// # Errors
    /// Returns the errors of [`Bound::run`], and [`ServeError::System`] if signals cannot be watched.
    pub fn run_until_signal(self) -> Result<(), ServeError> {
        in_async::refuse()?;
        let ended = self.until_signal();
        // The last lines of the log may wait for their reader.
        let _ = StandardError.flush();
        ended
    }

    fn until_signal(mut self) -> Result<(), ServeError> {
        let signals = self.signals.take().map_or_else(Signals::watch, Ok)?;
        if matches!(self.part, Part::Supervisor) {
            if let Some(signal) = self.supervise(Some(signals))? {
                signals::end_by(signal);
            }
            return Ok(());
        }
        let (stop, pid_file) = (self.stop(), self.pid_file.clone());
        let reload = self.reload();
        let handlers = SignalHandlers {
            leave: Box::new(move || stop.stop()),
            // The reload itself reports its failures.
            reload: Box::new(move || drop(reload.reload())),
            last: Box::new(move || pid_file.iter().for_each(|file| file.remove())),
        };
        let (handle, listener) = signals::spawn(signals, handlers)?;
        let ended = self.run();
        handle.close();
        let _ = listener.join();
        ended
    }

    /// Runs worker processes. Returns the signal that requested the end at once.
    fn supervise(mut self, signals: Option<Signals>) -> Result<Option<c_int>, ServeError> {
        // Workers open and reopen the log themselves.
        self.log = None;
        let mut listeners = std::mem::take(&mut self.listeners).into_iter();
        let of_one = |_| listeners.by_ref().take(self.settings.workers.max(1)).collect();
        let ready = std::mem::take(&mut self.hooks.0);
        supervisor::run(SupervisorOptions {
            program: Program::of_this_process()?,
            table: MetricsTable::new(
                self.settings.processes * self.settings.workers.max(1),
                metric::columns(self.app.own_metrics()),
            )?,
            listeners: (0..self.settings.processes).map(of_one).collect(),
            settings: Arc::clone(&self.settings),
            stop_signal: Arc::clone(&self.stop_signal),
            reload: match &self.reloader {
                Reloader::Supervisor(wake_up) => Some(Arc::clone(wake_up)),
                Reloader::Process(_) => None,
            },
            signals,
            status: systemd::status(&self.address, self.settings.processes),
            when_ready: Box::new(move || ready.into_iter().for_each(|call| call())),
        })
    }

    /// Runs worker threads, and calls `when_ready` when all of them accept connections.
    fn work(self, rows: Option<TableRows>, when_ready: impl FnOnce()) -> Result<(), ServeError> {
        // The pid file stays, and handles reload the server, until its end.
        let (_pid_file, _reloader) = (self.pid_file, self.reloader);
        #[cfg(feature = "http3")]
        let http3 = self.http3;
        #[cfg(feature = "http3")]
        let alt_svc = http3.as_ref().map(Http3Sockets::alt_svc);
        #[cfg(not(feature = "http3"))]
        let alt_svc = None;
        let Self { app, settings, tls, log, listeners, are_shared, runtime, open, stop_signal, .. } = self;
        let room = make_room(&settings, listeners.len());
        let limits = ConnectionLimits::new(room.connections, settings.max_connections_per_address);
        let (threads, pool) = BlockingPool::new(settings.blocking_threads, settings.blocking_queue)?;
        let (computing_threads, computing_pool) =
            BlockingPool::new(settings.blocking_threads, settings.blocking_queue)?;
        let (built, builds) = mpsc::channel();
        let count = listeners.len();
        let own = || {
            Ok::<_, io::Error>(TableRows {
                table: MetricsTable::new(count, metric::columns(app.own_metrics()))?,
                first: 0,
                generation: 0,
            })
        };
        let TableRows { table, first, generation } = rows.map_or_else(own, Ok)?;
        let table = Arc::new(table);
        // The metrics of a process are in the row of its first thread.
        metric::keep(app.own_metrics(), &table, metrics_table::row(first, generation));
        let shutdown = Arc::new(Shutdown::new(&settings, count));
        let (tell_ended, ended) = mpsc::channel();
        let (tell_background_ended, background_ended) = mpsc::channel();
        let start_background = || Background::start(Arc::clone(&shutdown), Ended(tell_background_ended));
        let background = (app.is_simple() && runtime.is_none()).then(start_background).transpose()?;
        let runtime = runtime.or_else(|| background.as_ref().map(Background::handle));
        let on_shutdown = Arc::clone(&shutdown);
        let computing = Computing::new(settings.compute_after, app.has_computing());
        let shared = ServerContext {
            app,
            settings,
            pool,
            computing_pool,
            tls,
            table,
            log,
            alt_svc,
            shutdown: on_shutdown,
            computing,
            runtime,
        };
        let open_listener = |listener| Arc::new(OpenListener::new(listener, open.clone()));
        let listeners: Vec<_> = listeners.into_iter().map(open_listener).collect();
        let pulses: Vec<Arc<Pulse>> = listeners.iter().map(|_| Arc::default()).collect();
        let sibling = |(listener, pulse): (&Arc<_>, &Arc<_>)| Sibling {
            listener: Arc::downgrade(listener),
            pulse: Arc::clone(pulse),
        };
        // Workers that share a listener accept from it whichever of them is held up.
        let siblings: Arc<[_]> = listeners.iter().zip(&pulses).map(sibling).filter(|_| !are_shared).collect();
        #[cfg(feature = "http3")]
        let mut http3 = http3.into_iter().flat_map(|sockets| sockets.parts(&limits));
        let start = |(number, (listener, pulse)): (usize, (Arc<OpenListener>, Arc<Pulse>))| {
            let acceptor = Acceptor { listener, pulse, siblings: Siblings::new(Arc::clone(&siblings), number) };
            #[cfg(feature = "http3")]
            let sockets = Sockets { acceptor, http3: http3.next() };
            #[cfg(not(feature = "http3"))]
            let sockets = Sockets { acceptor };
            let (shared, limits) = (shared.clone(), limits.clone());
            let (stop_signal, built, ended) = (Arc::clone(&stop_signal), built.clone(), Ended(tell_ended.clone()));
            thread::Builder::new().name(format!("serve-{number}")).spawn(move || {
                // When a worker ends, also by a panic, all others stop: the kernel would still assign connections to its
                // listener.
                let _stop_all = StopAtEnd(Arc::clone(&stop_signal));
                let cx = EngineContext::new(shared, metrics_table::row(first + number, generation))?;
                // The receiver is gone where another worker could not be started.
                let started = move || _ = built.send(());
                worker::run(cx, limits, sockets, stop_signal, started, number, &ended)
            })
        };
        let workers: Vec<_> = listeners.into_iter().zip(pulses).enumerate().map(start).collect();
        // The application is dropped with the last worker.
        drop((shared, tell_ended, open));
        if workers.iter().any(Result::is_err) {
            stop_signal.stop();
        }
        drop(built);
        let mut called = Ok(());
        if builds.iter().count() == count {
            called = catch_unwind(AssertUnwindSafe(when_ready));
            room.warning.iter().for_each(|warning| notice::warn(warning));
            if called.is_err() {
                stop_signal.stop();
            }
        }
        shutdown.report(&ended);
        let join = |worker: io::Result<thread::JoinHandle<io::Result<()>>>| match worker?.join() {
            Ok(ended) => Ok(ended?),
            Err(_) => Err(ServeError::Panicked),
        };
        let ended = workers.into_iter().map(join).collect::<Vec<_>>().into_iter().collect();
        if let Some(mut background) = background {
            background.begin_stop();
            shutdown.report_on(&background_ended);
            background.join();
        }
        end_threads(threads, &shutdown);
        end_threads(computing_threads, &shutdown);
        shutdown.report_dropped();
        called.map_or_else(|panic| resume_unwind(panic), |()| ended)
    }
}
