//! The end of an engine: its connections end one by one.

use super::Engine;
use super::connection::State;
use super::timeouts::SHUTDOWN_IDLE;
use crate::conn::http1::Part;
use crate::conn::transport::Transport;
use crate::process::shutdown::Remaining;
use std::io;
use std::time::Duration;
use torr_net::clock;

/// The interval at which time-outs are looked for during a shutdown.
const SHUTDOWN_TICK: Duration = Duration::from_millis(20);

impl<T: Transport> Engine<T> {
    /// Whether the shutdown has begun.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_some()
    }

    /// Whether a shutdown has begun that does not hurry idle connections.
    pub fn is_leaving_softly(&self) -> bool {
        self.leaving.is_some() && self.stop_signal.is_draining()
    }

    /// Whether the shutdown has begun, and the last connection has ended.
    pub fn has_left(&self) -> bool {
        self.leaving.is_some() && self.connections.is_empty()
    }

    /// Returns what is still in flight during the shutdown.
    pub fn remaining(&self) -> Remaining {
        let mut remaining = Remaining::default();
        for (_, connection) in self.connections.iter() {
            match connection.state {
                State::Writing { .. } | State::Producing { .. } if connection.state.is_endless() => {
                    remaining.streams += 1
                }
                State::Writing { .. } | State::Producing { .. } | State::Handling { .. } => remaining.requests += 1,
                State::Reading if connection.http.part() != Part::Nothing => remaining.requests += 1,
                State::Reading | State::Lingering { .. } => {}
            }
        }
        remaining
    }

    /// Begins the shutdown: accepts what has connected so far, unless other processes go on accepting there, and nothing after
    /// it. From now on each response ends its connection.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        self.poller.remove(&self.stop_signal)?;
        self.leaving = Some(self.now);
        self.cx.leaving = true;
        self.ticker.set(SHUTDOWN_TICK)?;
        // Clients that come again as soon as they have a response would keep it here for ever.
        let until = clock::exact() + clock::nanos(SHUTDOWN_IDLE);
        while !self.stop_signal.is_draining() && self.accept() && clock::exact() < until {
            self.handle();
            self.send();
        }
        self.leave_siblings();
        if let Some(listener) = self.listener.take() {
            // Where another process holds the same socket open, it would be watched even after this copy is closed.
            let _ = self.poller.remove(&*listener);
        }
        Ok(())
    }
}
