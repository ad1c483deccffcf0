//! From an application to a running server, and its end.

use crate::access_log::{AccessLog, LogTarget};
use crate::app::App;
use crate::context::{Context, Shared};
use crate::engine::Engine;
use crate::pool::Pool;
use crate::seats::Seats;
use crate::settings::Settings;
use crate::telemetry::Board;
use crate::worker;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::thread;
use thiserror::Error;
use torr_net::tls::{TlsAcceptor, TlsError};
use torr_net::{Bell, limits, socket};

/// Files that a server makes room for, as far as the hard limit allows.
const FILES: u64 = 100_000;

/// Why a server cannot serve.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address is none, or its name does not resolve.
    #[error("'{0}' is not an address to listen on")]
    Address(String),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {}", .error.kind())]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        error: io::Error,
    },
    /// The access log cannot be opened.
    #[error("cannot open the access log '{target}': {}", .error.kind())]
    Log {
        /// Where it should go.
        target: String,
        /// Why.
        error: io::Error,
    },
    /// A certificate or key is of no use.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system refused a thread, a poller or a signal.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
    /// A worker panicked, which is a defect of this library.
    #[error("a worker panicked")]
    Panicked,
}

/// An application with its settings, not listening yet.
#[derive(Debug)]
pub struct Server {
    app: App,
    settings: Settings,
}

/// A server that listens: connections queue up, and are served once it runs.
#[derive(Debug)]
pub struct Bound {
    app: Arc<App>,
    settings: Arc<Settings>,
    tls: Option<TlsAcceptor>,
    log: Option<AccessLog>,
    listeners: Vec<OwnedFd>,
    address: SocketAddr,
    bell: Arc<Bell>,
    /// Those to stop at, once they are watched for.
    signals: Option<Signals>,
}

/// Tells a server to stop, from any thread.
#[derive(Debug, Clone)]
pub struct Stop(Arc<Bell>);

impl Stop {
    /// Answers what is under way, then lets the server end. Returns at once.
    pub fn stop(&self) {
        self.0.ring();
    }
}

/// Stops all workers when it is dropped.
struct StopAtEnd(Arc<Bell>);

impl Drop for StopAtEnd {
    fn drop(&mut self) {
        self.0.ring();
    }
}

impl Server {
    /// With default settings.
    pub fn new(app: App) -> Self {
        Self { app, settings: Settings::default() }
    }

    /// With these settings.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Listens on the first of these addresses, with one listener per worker. Port 0 takes a free port.
    ///
    /// # Errors
    /// [`ServeError::Address`] and [`ServeError::Listen`].
    pub fn bind(self, address: impl ToSocketAddrs) -> Result<Bound, ServeError> {
        let mut addresses = address.to_socket_addrs().map_err(|error| ServeError::Address(error.to_string()))?;
        let address = addresses.next().ok_or_else(|| ServeError::Address("nothing".into()))?;
        let (backlog, deferred) = (self.settings.backlog, self.settings.defer_accept);
        let tls = self.settings.acceptor()?;
        let open = |target: LogTarget| {
            let named = target.to_string();
            AccessLog::open(target, self.settings.access_log_format)
                .map_err(|error| ServeError::Log { target: named, error })
        };
        let log = self.settings.access_log.clone().map(open).transpose()?;
        let failed = |error| ServeError::Listen { address, error };
        // Workers share the port, which would let a second server share it unnoticed: see first that it is free.
        let probe = socket::reserve(address).map_err(failed)?;
        let address = socket::local_addr(&probe)?;
        drop(probe);
        let listen = |_| socket::listen(address, backlog, true, deferred).map_err(failed);
        let listeners = (0..self.settings.workers.max(1)).map(listen).collect::<Result<_, _>>()?;
        let bell = Arc::new(Bell::new()?);
        let (app, settings) = (Arc::new(self.app), Arc::new(self.settings));
        Ok(Bound { app, settings, tls, log, listeners, address, bell, signals: None })
    }
}

impl Bound {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// A way to stop it.
    pub fn stop(&self) -> Stop {
        Stop(Arc::clone(&self.bell))
    }

    /// Serves until [`Stop::stop`], on a thread per worker.
    ///
    /// # Errors
    /// [`ServeError::System`] and [`ServeError::Panicked`]; the other workers are stopped first.
    pub fn run(self) -> Result<(), ServeError> {
        limits::make_room_for(FILES);
        let Self { app, settings, tls, log, listeners, bell, .. } = self;
        let seats = Seats::with(settings.max_connections, settings.max_connections_per_address);
        let (_threads, pool) = Pool::new(settings.blocking_threads, settings.blocking_queue)?;
        let shared = Shared { app, settings, pool, tls, board: Arc::new(Board::new(listeners.len())), log };
        let start = |(number, listener): (usize, OwnedFd)| {
            let (shared, seats, bell) = (shared.clone(), seats.clone(), Arc::clone(&bell));
            thread::Builder::new().name(format!("serve-{number}")).spawn(move || {
                // A worker never ends alone, not even by a panic: its listener's share of connections would have nobody
                // to serve them.
                let _stop_all = StopAtEnd(Arc::clone(&bell));
                let cx = Context::new(shared, number)?;
                worker::run(Engine::new(cx, seats, listener, bell)?)
            })
        };
        let workers: Vec<_> = listeners.into_iter().enumerate().map(start).collect();
        if workers.iter().any(Result::is_err) {
            bell.ring();
        }
        let join = |worker: io::Result<thread::JoinHandle<io::Result<()>>>| match worker?.join() {
            Ok(ended) => Ok(ended?),
            Err(_) => Err(ServeError::Panicked),
        };
        workers.into_iter().map(join).collect::<Vec<_>>().into_iter().collect()
    }

    /// From here on SIGTERM and SIGINT no longer end the process, but are kept for [`Bound::run_until_signal`]: for who
    /// tells others that it serves before it does.
    ///
    /// # Errors
    /// [`ServeError::System`].
    pub fn watch_signals(mut self) -> Result<Self, ServeError> {
        self.signals = Some(Signals::new([SIGTERM, SIGINT])?);
        Ok(self)
    }

    /// Serves until SIGTERM or SIGINT, finishing requests that are under way.
    ///
    /// # Errors
    /// As [`Bound::run`].
    pub fn run_until_signal(mut self) -> Result<(), ServeError> {
        let mut signals = match self.signals.take() {
            Some(signals) => signals,
            None => Signals::new([SIGTERM, SIGINT])?,
        };
        let (handle, stop) = (signals.handle(), self.stop());
        let listener = thread::Builder::new().name("signals".into()).spawn(move || {
            if signals.forever().next().is_some() {
                stop.stop();
            }
        })?;
        let ended = self.run();
        handle.close();
        let _ = listener.join();
        ended
    }
}
