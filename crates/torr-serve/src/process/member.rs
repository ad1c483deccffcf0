//! A worker process among others: it tells its supervisor that it is ready, and leaves when it is told to.

use crate::process::inherited::{DRAIN, READY};
use rustix::process::{Signal, getpid, kill_process};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use torr_net::StopSignal;

/// How much longer than `stop_timeout` a worker may take to leave before it is ended.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// Tells the supervisor that connections are accepted.
pub(crate) fn tell_ready(channel: &UnixStream) {
    // A supervisor that is gone is noticed by who listens to it.
    let _ = (&*channel).write_all(&[READY]);
}

/// Listens to the supervisor from now on, on a thread of its own. If it dies, this process leaves too.
pub(crate) fn obey(channel: Arc<UnixStream>, stop_signal: Arc<StopSignal>, stop_timeout: Duration) -> io::Result<()> {
    let listen = move || {
        let mut said = [0];
        loop {
            match (&*channel).read(&mut said) {
                Ok(1) if said[0] == DRAIN => stop_signal.drain(),
                Ok(1) => stop_signal.stop(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => break,
            }
        }
        stop_signal.stop();
        thread::sleep(stop_timeout.saturating_add(GRACE));
        // A handler that does not return would keep the process for ever, and a failure to end it is no worse.
        let _ = kill_process(getpid(), Signal::KILL);
    };
    thread::Builder::new().name("supervisor".into()).spawn(listen)?;
    Ok(())
}
