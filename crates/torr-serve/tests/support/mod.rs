//! What the tests of the library share: a server in this process, which ends with its value.
#![allow(dead_code, reason = "each test program uses its part of this")]

#[path = "../../../../tests/support/client.rs"]
pub mod client;
#[path = "../../../../tests/support/markdown.rs"]
pub mod markdown;

use client::Client;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use torr_serve::{App, Bound, ServeError, Server, Settings, Stop};

/// How long anything may take before a test gives it up: far more than it needs on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits for something to come true, looking often.
///
/// # Panics
/// If it does not within [`PATIENCE`].
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

/// A server on a free port of 127.0.0.1.
pub struct Running {
    pub address: SocketAddr,
    stop: Stop,
    ended: Receiver<Result<(), ServeError>>,
}

impl Running {
    /// With one worker.
    pub fn start(app: App) -> Self {
        Self::start_with(app, |_| {})
    }

    /// With one worker and these changes.
    pub fn start_with(app: App, set: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = Settings::default();
        settings.workers = 1;
        set(&mut settings);
        Self::of(Server::new(app).settings(settings).bind("127.0.0.1:0").expect("a port is free"))
    }

    /// One that listens already.
    pub fn of(bound: Bound) -> Self {
        let (address, stop) = (bound.address(), bound.stop());
        let (tell, ended) = channel();
        // Nobody may be listening any more once it has ended.
        thread::spawn(move || tell.send(bound.run()).unwrap_or_default());
        Self { address, stop, ended }
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Tells it to stop.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Waits for its end.
    pub fn wait(&self) -> Result<(), ServeError> {
        self.ended.recv_timeout(PATIENCE).expect("the server ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        // An end that was waited for before is told by nobody again.
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}
