//! The signals that a server handles, and the thread that handles them in a process with worker threads.

use crate::callbacks;
use crate::observe::notice;
use crate::process::systemd;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR2};
use signal_hook::iterator::Handle;
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use std::ffi::c_int;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use torr_net::{Events, Interest, Poller, Token};

/// The interval at which signals are polled if the poller fails.
const LOOK: Duration = Duration::from_millis(100);

/// The action that a signal requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignalAction {
    /// A graceful stop; the second such signal ends the process at once.
    Leave,
    Reload,
}

/// Watched signals, which are queued and do not have their default effects.
#[derive(Debug)]
pub(crate) struct Signals(SignalDelivery<UnixStream, SignalOnly>);

impl Signals {
    /// # Errors
    /// If the system refuses the handlers or a descriptor.
    pub fn watch() -> io::Result<Self> {
        let (read, write) = UnixStream::pair()?;
        let signals = [SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2];
        Ok(Self(SignalDelivery::with_pipe(read, write, SignalOnly, signals)?))
    }

    /// Returns the signals since the last call.
    pub fn arrived(&mut self) -> Vec<(c_int, SignalAction)> {
        let action =
            |signal| if [SIGHUP, SIGUSR2].contains(&signal) { SignalAction::Reload } else { SignalAction::Leave };
        self.0.pending().map(|signal| (signal, action(signal))).collect()
    }

    fn handle(&self) -> Handle {
        self.0.handle()
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.get_read().as_fd()
    }
}

/// Returns whether the signal ends the process at once if it is the second that requests a stop.
pub(crate) fn is_urgent(signal: c_int) -> bool {
    [SIGTERM, SIGINT].contains(&signal)
}

/// Ends this process by the signal's default effect.
pub(crate) fn end_by(signal: c_int) {
    // All of these signals end the process by default.
    let _ = signal_hook::low_level::emulate_default_handler(signal);
}

/// The callbacks of signals.
pub(crate) struct SignalHandlers {
    pub leave: Box<dyn Fn() + Send>,
    pub reload: Box<dyn Fn() + Send>,
    /// Called right before the process ends at once.
    pub last: Box<dyn Fn() + Send>,
}

/// Starts a thread that handles signals until the handle is closed, and notifies systemd's watchdog.
pub(crate) fn spawn(signals: Signals, handlers: SignalHandlers) -> io::Result<(Handle, std::thread::JoinHandle<()>)> {
    let poller = Poller::new()?;
    poller.add(&signals, Token::new(0, 0), Interest::Level)?;
    spawn_with(move |timeout| poller.wait(&mut Events::with_capacity(1), timeout), signals, handlers)
}

/// Starts a thread that handles signals each time that `wait` returns.
fn spawn_with(
    mut wait: impl FnMut(Option<Duration>) -> io::Result<()> + Send + 'static,
    mut signals: Signals,
    handlers: SignalHandlers,
) -> io::Result<(Handle, std::thread::JoinHandle<()>)> {
    let handle = signals.handle();
    let closed = handle.clone();
    let thread = std::thread::Builder::new().name("signals".into()).spawn(move || {
        let (mut leaving, mut has_failed) = (false, false);
        let watchdog = systemd::watchdog();
        while !closed.is_closed() {
            if watchdog.is_some() {
                systemd::alive();
            }
            if let Err(error) = wait(watchdog) {
                // Without a poller, signals are polled.
                if !std::mem::replace(&mut has_failed, true) {
                    notice::warn(&format!("cannot wait for signals ({error}): polling every {LOOK:?}"));
                }
                std::thread::sleep(LOOK);
            }
            for (signal, action) in signals.arrived() {
                match action {
                    SignalAction::Leave if leaving && is_urgent(signal) => {
                        callbacks::survive("what is done before the end", &handlers.last);
                        end_by(signal);
                    }
                    SignalAction::Leave => {
                        leaving = true;
                        systemd::stopping();
                        callbacks::survive("what is done to leave", &handlers.leave);
                    }
                    SignalAction::Reload if !leaving => callbacks::survive("what is done to reload", &handlers.reload),
                    SignalAction::Reload => {}
                }
            }
        }
    })?;
    Ok((handle, thread))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn signals_are_handled_without_a_poller_and_after_a_panic() {
        let signals = Signals::watch().expect("signals can be watched");
        let (sender, calls) = channel();
        let (reload, leave) = (sender.clone(), sender);
        let handlers = SignalHandlers {
            leave: Box::new(move || leave.send("leave").unwrap_or_default()),
            reload: Box::new(move || {
                reload.send("reload").unwrap_or_default();
                panic!("this is part of the test");
            }),
            last: Box::new(|| {}),
        };
        let fails = |_| Err(io::ErrorKind::OutOfMemory.into());
        let (handle, thread) = spawn_with(fails, signals, handlers).expect("a thread starts");
        for (signal, expected) in [(SIGHUP, "reload"), (SIGUSR2, "reload"), (SIGTERM, "leave")] {
            signal_hook::low_level::raise(signal).expect("a process may send itself signals");
            assert_eq!(calls.recv_timeout(Duration::from_secs(30)), Ok(expected), "{signal}");
        }
        handle.close();
        thread.join().expect("it does not panic");
    }
}
