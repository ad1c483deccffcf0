//! What the tests of the library share: a server in this process, which ends with its value.

pub mod axum_serve;
pub mod warnings;

use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use torr_serve::{App, Bound, Reload, ServeError, Server, Settings, Stop};
pub use torr_test_support::PATIENCE;
use torr_test_support::client::Client;

/// A server on a free port of 127.0.0.1.
pub struct Running {
    pub address: SocketAddr,
    stop: Stop,
    reload: Reload,
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
        let (address, stop, reload) = (bound.address(), bound.stop(), bound.reload());
        let (tell, ended) = channel();
        // The port has no listener once the server has ended.
        thread::spawn(move || tell.send(bound.run()).unwrap_or_default());
        Self { address, stop, reload, ended }
    }

    pub fn client(&self) -> Client {
        Client::connect(self.address)
    }

    /// Tells it to stop.
    pub fn stop(&self) {
        self.stop.stop();
    }

    /// Reads the certificates again.
    pub fn reload(&self) {
        self.reload.reload().expect("the files are sound");
    }

    /// Waits for its end.
    pub fn wait(&self) -> Result<(), ServeError> {
        self.ended.recv_timeout(PATIENCE).expect("the server ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        // An end that was waited for is not reported again.
        let _ = self.ended.recv_timeout(PATIENCE);
    }
}
