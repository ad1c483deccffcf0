//! What disturbs a service from outside: neighbours, and signals that stop it now and then.

use super::Environment;
use std::time::Duration;
use torr_test_support::error::Error;
use torr_test_support::neighbours::Neighbours;

impl Environment {
    /// Starts programs that want a CPU for some seconds, again and again.
    pub fn neighbours(&mut self, count: usize) {
        self.hold(Neighbours::start(count, Duration::from_secs(4), 7));
    }

    /// Stops all threads of the server that was started last for 0.3 s in each 3 s.
    ///
    /// # Errors
    /// If the program that does that cannot be started.
    pub fn stop_now_and_then(&mut self) -> Result<(), Error> {
        let server = self.last_server().ok_or_else(|| Error::failed("no server was started"))?;
        let script = "while :; do sleep 2.7; kill -STOP $0; sleep 0.3; kill -CONT $0; done";
        self.run("sh", &["-c", script, &server.to_string()])
    }
}
