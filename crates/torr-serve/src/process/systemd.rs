//! What is told to systemd, and what it gives. Without systemd nothing happens here.

use sd_notify::NotifyState;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use torr_net::inherited;

/// What the environment of a worker process must not have: it is said to the supervisor.
pub(crate) const VARIABLES: [&str; 6] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/// Requests are served, by this process and in this way.
pub(crate) fn ready(status: &str) {
    tell(&[NotifyState::Ready, NotifyState::MainPid(process::id()), NotifyState::Status(status)]);
}

/// A reload has begun, after which [`ready`] is told again.
pub(crate) fn reloading() {
    // With the time, `Type=notify-reload` knows which reload this answers.
    let Ok(now) = NotifyState::monotonic_usec_now() else { return };
    tell(&[NotifyState::Reloading, now, NotifyState::Status("reloading")]);
}

/// The server leaves.
pub(crate) fn stopping() {
    tell(&[NotifyState::Stopping, NotifyState::Status("answering what is under way")]);
}

/// The process lives.
pub(crate) fn alive() {
    tell(&[NotifyState::Watchdog]);
}

/// How often [`alive`] is to be told, if at all: twice as often as somebody waits for it.
pub(crate) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|time| time / 2).filter(|time| !time.is_zero())
}

/// What a server says about itself.
pub(crate) fn status(address: SocketAddr, processes: usize) -> String {
    match processes {
        0 => format!("listening on {address}"),
        1 => format!("listening on {address}, 1 worker process"),
        n => format!("listening on {address}, {n} worker processes"),
    }
}

fn tell(state: &[NotifyState<'_>]) {
    // A service manager that cannot be reached is no reason not to serve.
    let _ = sd_notify::notify(state);
}

/// The sockets that were handed over for this process (socket activation), which can be had once.
///
/// # Errors
/// If there are none where the environment says so.
#[allow(unsafe_code)]
pub(crate) fn sockets() -> io::Result<Vec<OwnedFd>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let numbers = sd_notify::listen_fds()?;
    if numbers.len() == 0 || TAKEN.swap(true, Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    // SAFETY: the service manager has left them open for this process, whose number stands in LISTEN_PID, and this line is
    // reached once.
    numbers.map(|number| unsafe { inherited::take(number) }).collect()
}
