//! A worker process's side of the channel to its supervisor: it sends that it is ready, and stops on a message.

use crate::process::inherited::{DRAIN, READY};
use rustix::process::{Signal, getpid, kill_process};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use torr_net::StopSignal;

/// The time after `stop_timeout` at which a worker process that has not ended is killed.
pub(crate) const GRACE: Duration = Duration::from_secs(2);

/// Sends the supervisor that connections are accepted.
pub(crate) fn send_ready(channel: &UnixStream) {
    // The thread of `follow_supervisor` notices that a supervisor has ended.
    let _ = (&*channel).write_all(&[READY]);
}

/// Starts a thread that stops this process on the supervisor's messages, or when the supervisor ends.
pub(crate) fn follow_supervisor(
    channel: Arc<UnixStream>,
    stop_signal: Arc<StopSignal>,
    stop_timeout: Duration,
) -> io::Result<()> {
    let listen = move || {
        let mut message = [0];
        loop {
            match (&*channel).read(&mut message) {
                Ok(1) if message[0] == DRAIN => stop_signal.drain(),
                Ok(1) => stop_signal.stop(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => break,
            }
        }
        stop_signal.stop();
        thread::sleep(stop_timeout.saturating_add(GRACE));
        // A handler that does not return would keep the process alive for ever.
        let _ = kill_process(getpid(), Signal::KILL);
    };
    thread::Builder::new().name("supervisor".into()).spawn(listen)?;
    Ok(())
}
