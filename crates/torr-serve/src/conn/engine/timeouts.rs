//! Time-outs, and what else is done a few times a second.

use super::connection::{Connection, State};
use super::{Engine, Output};
use crate::conn::http1::Part;
use crate::conn::lingering::{LINGER_PAUSE, LINGER_TIME};
use crate::conn::transport::Transport;
use crate::observe::metrics_table::Count;
use std::io;
use std::time::Duration;
use torr_net::{Nanos, Token, clock};

/// The time for which a client may still send after its connection's last response during a shutdown.
const SHUTDOWN_LINGER: Duration = Duration::from_secs(2);
/// The number of looks at what clients have taken in the time of `write_timeout`. A socket has room again only once much of what it
/// holds was taken.
const LOOKS: u32 = 8;
/// The time for which an idle connection is kept during a shutdown, since its next request may be on its way.
pub(super) const SHUTDOWN_IDLE: Duration = Duration::from_millis(300);

impl<T: Transport> Engine<T> {
    /// Ends connections whose time is up, accepts again after a pause, writes the access log.
    pub(super) fn tick(&mut self) -> io::Result<()> {
        self.now = clock::coarse();
        self.cx.common_headers.refresh();
        self.resume_accepting();
        self.cx.worker.visits.flush();
        self.cx.worker.app.watch.tick();
        let pause = self.look_pause();
        for connection in self.connections.values_mut() {
            if matches!(connection.state, State::Writing { .. }) && connection.look(self.now, pause) {
                connection.since = self.now;
            }
        }
        self.look_after_siblings();
        if !self.cx.worker.settings.max_connection_age.is_zero() {
            self.end_old_connections();
        }
        let overdue: Vec<_> =
            self.connections.iter().filter(|(_, c)| self.is_overdue(c)).map(|(token, _)| token).collect();
        for token in overdue {
            self.time_out(token);
        }
        self.send();
        self.counts.end_batch(&self.cx.worker.meter);
        Ok(())
    }

    /// Returns the least time between two looks at what a client has taken.
    pub(super) fn look_pause(&self) -> Nanos {
        clock::nanos(self.cx.worker.settings.write_timeout / LOOKS)
    }

    /// Ends idle connections that are old, and lets others end with their next response.
    fn end_old_connections(&mut self) {
        let old: Vec<_> =
            self.connections.iter().filter(|(_, c)| c.expires <= self.now).map(|(token, _)| token).collect();
        for token in old {
            let Some(connection) = self.connections.get_mut(token) else { continue };
            connection.http.end_soon();
            if connection.is_idle() {
                connection.end_transport();
                self.connections.remove(token);
            }
        }
    }

    fn is_overdue(&self, connection: &Connection<T>) -> bool {
        let (settings, http, mut since) = (&self.cx.worker.settings, &connection.http, connection.since);
        let limit = match connection.state {
            State::Writing { .. } => settings.write_timeout,
            State::Lingering { began } => {
                if let Some(leaving) = self.leaving {
                    since = began.max(leaving);
                    SHUTDOWN_LINGER
                } else if self.now.saturating_sub(began) >= clock::nanos(LINGER_TIME) {
                    Duration::ZERO
                } else {
                    LINGER_PAUSE
                }
            }
            _ if http.has_backpressure() => Duration::MAX,
            State::Reading if connection.transport.is_establishing() => settings.head_timeout,
            State::Reading => match (http.part(), self.leaving) {
                (Part::Content, _) => http.upload_time(false).unwrap_or(settings.body_timeout),
                (Part::Head, _) => settings.head_timeout,
                (Part::Nothing, Some(leaving)) if !self.stop_signal.is_draining() => {
                    since = since.max(leaving).max(self.stop_signal.stopped_at());
                    SHUTDOWN_IDLE
                }
                (Part::Nothing, _) => settings.idle_timeout,
            },
            State::Handling { .. } if http.expects_continue() => Duration::MAX,
            State::Handling { .. } if http.has_upload_room() => http.upload_time(false).unwrap_or(Duration::MAX),
            State::Producing { .. } if http.has_upload_room() => http.upload_time(true).unwrap_or(Duration::MAX),
            State::Handling { .. } | State::Producing { .. } => Duration::MAX,
        };
        let is_over = |since: Nanos, limit| self.now.saturating_sub(since) >= clock::nanos(limit);
        // A response of unknown length goes on for as long as such responses may.
        let is_cut_off = || connection.state.is_endless() && self.cx.worker.shutdown.streams_are_over();
        is_over(since, limit)
            || self.leaving.is_some_and(|leaving| is_over(leaving, settings.stop_timeout) || is_cut_off())
    }

    fn time_out(&mut self, token: Token) {
        let Some(connection) = self.connections.get_mut(token) else { return };
        let is_leaving = self.leaving.is_some();
        // Neither a client that has its last response, nor one that has to leave with the server, has taken too long.
        if !is_leaving && !matches!(connection.state, State::Lingering { .. }) {
            self.cx.worker.meter.add(Count::TimedOut, 1);
        }
        tracing::debug!(state = connection.state.name(), part = ?connection.http.part(), "a connection timed out");
        let start = self.buffers.out.len();
        let handled = if is_leaving { None } else { connection.time_out(&self.cx, &mut self.buffers) };
        if let Some(handled) = handled {
            return self.outputs.push(Output { token, bytes: start..self.buffers.out.len(), handled });
        }
        if connection.state.is_reading() {
            connection.end_transport();
        }
        self.connections.remove(token);
    }
}
