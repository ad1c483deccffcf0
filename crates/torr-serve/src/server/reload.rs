//! Reloads of a running server: certificates are read and the access log is opened again, or worker processes are replaced.

use crate::callbacks;
use crate::error::ServeError;
use crate::observe::access_log::AccessLog;
use crate::observe::notice;
use crate::process::systemd;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use torr_net::tls::TlsAcceptor;
use torr_net::{StopSignal, WakeUp};

/// A handle to reload a server from any thread, as SIGHUP does under [`Bound::run_until_signal`](crate::Bound::run_until_signal).
///
/// It has no effect as long as a server of [`serve`](crate::serve()) is not awaited, and once the server stops.
#[derive(Clone, Default)]
pub struct Reload(Arc<OnceLock<Target>>);

/// What a handle reaches as long as the server runs.
enum Target {
    Process(Weak<ProcessReload>),
    Supervisor(Weak<WakeUp>),
}

/// What a reload of a server does.
pub(super) enum Reloader {
    /// The server's threads are in this process.
    Process(Arc<ProcessReload>),
    /// This process supervises worker processes, which the wake-up tells it to replace.
    Supervisor(Arc<WakeUp>),
}

/// A reload in a process with worker threads.
pub(super) struct ProcessReload {
    tls: Option<TlsAcceptor>,
    log: Option<AccessLog>,
    /// The program's callbacks.
    calls: Mutex<Vec<Arc<dyn Fn() + Send + Sync>>>,
    stop_signal: Arc<StopSignal>,
    /// The line of status for systemd.
    status: String,
}

impl Reload {
    /// Reads the certificates again, opens the access log again, and calls what [`Bound::on_reload`](crate::Bound::on_reload) was
    /// given. New connections use the new certificates; open ones continue. A supervisor replaces its worker processes instead, and
    /// this returns at once. Otherwise the calling thread waits until the files are read. Changes of [`Settings`](crate::Settings)
    /// take a restart.
    ///
    /// # Errors
    /// [`ServeError::Tls`] and [`ServeError::Log`]: the old certificate or the old log stays in use. The error is reported to the
    /// server's operator as well.
    pub fn reload(&self) -> Result<(), ServeError> {
        match self.0.get() {
            Some(Target::Process(reload)) => reload.upgrade().map_or(Ok(()), |reload| reload.run()),
            Some(Target::Supervisor(wake_up)) => {
                wake_up.upgrade().iter().for_each(|wake_up| wake_up.wake());
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// Makes this handle, and its clones, one of a server that starts. Only the first call has an effect.
    pub(super) fn reach(&self, reloader: &Reloader) {
        let _ = self.0.set(match reloader {
            Reloader::Process(reload) => Target::Process(Arc::downgrade(reload)),
            Reloader::Supervisor(wake_up) => Target::Supervisor(Arc::downgrade(wake_up)),
        });
    }
}

impl Reloader {
    /// Returns the reload of a supervisor.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn of_supervisor() -> io::Result<Self> {
        Ok(Self::Supervisor(Arc::new(WakeUp::new()?)))
    }

    /// Returns the reload of a process with worker threads, with the line of status that systemd is sent after each reload.
    pub fn of_process(
        tls: Option<TlsAcceptor>,
        log: Option<AccessLog>,
        stop_signal: Arc<StopSignal>,
        status: String,
    ) -> Self {
        Self::Process(Arc::new(ProcessReload { tls, log, calls: Mutex::default(), stop_signal, status }))
    }

    /// Adds a callback, which a supervisor does not call.
    pub fn call(&self, call: Arc<dyn Fn() + Send + Sync>) {
        if let Self::Process(reload) = self {
            reload.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        }
    }

    /// Returns a handle.
    pub fn handle(&self) -> Reload {
        let handle = Reload::default();
        handle.reach(self);
        handle
    }
}

impl ProcessReload {
    fn run(&self) -> Result<(), ServeError> {
        if self.stop_signal.is_draining() || self.stop_signal.stopped_at() > 0 {
            return Ok(());
        }
        systemd::reloading();
        let renewed = self.renew();
        // A callback may reload or add callbacks itself, so the lock is not held.
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone();
        calls.iter().for_each(|call| callbacks::survive("on_reload", || call()));
        systemd::ready(&self.status);
        renewed
    }

    /// Reads the certificates and opens the log again, and reports the outcome.
    fn renew(&self) -> Result<(), ServeError> {
        let reopen =
            |log: &AccessLog| log.reopen().map_err(|error| ServeError::Log { target: log.target().to_string(), error });
        let tls = self.tls.as_ref().map(|tls| tls.reload().map_err(ServeError::from));
        let log = self.log.as_ref().map(reopen);
        let done = match (&tls, &log) {
            (Some(_), Some(_)) => "certificates read again, access log reopened",
            (Some(_), None) => "certificates read again",
            (None, Some(_)) => "access log reopened",
            (None, None) => "no certificates and no access log to read again",
        };
        let failures = [
            tls.and_then(Result::err).map(|error| ("the old certificates remain in use", error)),
            log.and_then(Result::err).map(|error| ("the access log was not reopened", error)),
        ];
        if failures.iter().all(Option::is_none) {
            notice::inform(&format!("reloaded: {done}; changes of settings require a restart"));
        }
        let mut failures = failures.into_iter().flatten();
        let mut failed = Ok(());
        for (effect, error) in failures.by_ref() {
            notice::warn(&format!("{effect}: {error}"));
            failed = failed.and(Err(error));
        }
        failed
    }
}

impl fmt::Debug for Reload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reload").finish_non_exhaustive()
    }
}

impl fmt::Debug for Reloader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reloader").finish_non_exhaustive()
    }
}
