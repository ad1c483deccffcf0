//! Notifications to systemd and sockets from it. Without systemd there is no effect.

use crate::process::notify_socket::NotifySocket;
use sd_notify::NotifyState;
use std::io;
use std::os::fd::OwnedFd;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use torr_net::{Address, inherited};

/// The variables for the supervisor alone, which are removed from the environment of worker processes.
pub(crate) const VARIABLES: [&str; 6] =
    ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"];

/// Notifies that this process serves requests, with a line of status.
pub(crate) fn ready(status: &str) {
    notify(&[NotifyState::Ready, NotifyState::MainPid(process::id()), NotifyState::Status(status)]);
}

/// Notifies that a reload has begun, which the next [`ready`] ends.
pub(crate) fn reloading() {
    // `Type=notify-reload` matches the notification with its request by the time.
    let Ok(now) = NotifyState::monotonic_usec_now() else { return };
    notify(&[NotifyState::Reloading, now, NotifyState::Status("reloading")]);
}

/// Notifies that the server stops.
pub(crate) fn stopping() {
    notify(&[NotifyState::Stopping, NotifyState::Status("finishing requests in flight")]);
}

/// Notifies that the process is alive.
pub(crate) fn alive() {
    notify(&[NotifyState::Watchdog]);
}

/// Returns the interval of [`alive`], half of the watchdog's time-out; `None` without a watchdog.
pub(crate) fn watchdog() -> Option<Duration> {
    sd_notify::watchdog_enabled().map(|time| time / 2).filter(|time| !time.is_zero())
}

/// Returns the line of status of a server.
pub(crate) fn status(address: &Address, processes: usize) -> String {
    match processes {
        0 => format!("listening on {address}"),
        1 => format!("listening on {address}, 1 worker process"),
        n => format!("listening on {address}, {n} worker processes"),
    }
}

/// Sends a message of these lines, without waiting for its reader.
fn notify(state: &[NotifyState<'_>]) {
    static SOCKET: OnceLock<Option<Arc<NotifySocket>>> = OnceLock::new();
    let open = || NotifySocket::new(&std::env::var_os("NOTIFY_SOCKET")?).ok();
    let Some(socket) = SOCKET.get_or_init(open) else { return };
    let message: String = state.iter().map(|line| format!("{line}\n")).collect();
    let matters = !matches!(state, [NotifyState::Watchdog]);
    // A service manager that cannot be reached is no reason not to serve.
    let _ = socket.send(message, matters);
}

/// Returns the sockets that systemd has passed to this process (socket activation), in the first call only.
///
/// # Errors
/// If the environment names sockets that do not exist.
#[allow(unsafe_code)]
pub(crate) fn sockets() -> io::Result<Vec<OwnedFd>> {
    static TAKEN: AtomicBool = AtomicBool::new(false);
    let numbers = sd_notify::listen_fds()?;
    if numbers.len() == 0 || TAKEN.swap(true, Ordering::Relaxed) {
        return Ok(Vec::new());
    }
    // SAFETY: the descriptors belong to this process, as LISTEN_PID has its number, and this line is reached once.
    numbers.map(|number| unsafe { inherited::take(number) }).collect()
}
