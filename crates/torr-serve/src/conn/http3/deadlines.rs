//! The time limits of a connection of HTTP/3, which are those of HTTP/2.

use super::connection::Connection;
use super::request::RequestStream;
use crate::conn::handover::frame_guard::GRACE;
use crate::observe::metrics_table::Count;
use std::time::{Duration, Instant};
use torr_wire::http3::ErrorCode;

/// The least time between the announcement of a connection's end and the end, beside the time that the announcement takes to the
/// client: an end that overtakes the announcement lets the client know less.
const LEAST_GRACE: Duration = Duration::from_millis(20);
/// The number of round trips that it has for that.
const ROUND_TRIPS: u32 = 3;

impl Connection {
    /// Does what is due by now. Returns when something is due next.
    pub fn keep_time(&mut self, now: Instant) -> Option<Instant> {
        if self.quic.is_closed() {
            return self.quic.timeout();
        }
        if self.is_handshaking {
            return self.keep_handshake(now);
        }
        let settings = std::sync::Arc::clone(&self.worker.settings);
        let slow = self.requests.values().filter_map(|stream| {
            Some((stream.id, stream.incomplete_since()?)).filter(|(_, since)| *since + settings.head_timeout <= now)
        });
        for (id, _) in slow.collect::<Vec<_>>() {
            self.worker.meter.add(Count::TimedOut, 1);
            if let Err(error) = self.give_up(id, ErrorCode::REQUEST_CANCELLED) {
                self.close(error.code);
            }
        }
        self.give_up_stuck(now);
        let incomplete = self.requests.values().filter_map(|stream| stream.incomplete_since()).min();
        let blocked = self.requests.values().filter_map(|stream| stream.blocked_since).min();
        let stuck = blocked.map(|since| since + settings.write_timeout);
        let idle = self.requests.is_empty().then(|| self.idle_since + settings.idle_timeout);
        if self.quic.is_closed() {
            return self.quic.timeout();
        }
        let has_come = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let (mut ends, mut due) = (None, [incomplete.map(|since| since + settings.head_timeout), stuck, None, None]);
        match self.ending {
            _ if has_come(self.deadline) => self.close(ErrorCode::NO_ERROR),
            None if has_come(idle) || has_come(self.expires) => self.begin_end(now),
            None => (due[2], due[3]) = (idle, self.expires),
            Some(_) => {}
        }
        if let Some(ending) = self.ending {
            let grace = (self.quic.round_trip_time() * ROUND_TRIPS).max(LEAST_GRACE);
            ends = if self.requests.is_empty() {
                Some(ending.since.max(self.idle_since) + grace)
            } else {
                // A client that is gone acknowledges nothing of its last responses.
                let is_sent = self.requests.values().all(|stream| stream.is_finished);
                is_sent.then(|| self.heard.max(ending.since) + grace.max(GRACE))
            };
            if has_come(ends) {
                self.close(ErrorCode::NO_ERROR);
            }
        }
        if self.quic.is_closed() {
            return self.quic.timeout();
        }
        due.into_iter().flatten().chain(ends).chain(self.deadline).chain(self.quic.timeout()).min()
    }

    /// Gives up responses of which the client takes nothing for too long, and the connection if it takes nothing of any.
    fn give_up_stuck(&mut self, now: Instant) {
        let most = self.worker.settings.write_timeout;
        let is_stuck = |stream: &RequestStream| stream.blocked_since.is_some_and(|since| since + most <= now);
        let stuck: Vec<_> = self.requests.values().filter(|stream| is_stuck(stream)).map(|stream| stream.id).collect();
        if !stuck.is_empty() && self.moved + most <= now {
            return self.time_out();
        }
        for id in stuck {
            self.worker.meter.add(Count::TimedOut, 1);
            if let Err(error) = self.give_up(id, ErrorCode::REQUEST_CANCELLED) {
                self.close(error.code);
            }
        }
    }

    /// Limits the time of the handshake.
    fn keep_handshake(&mut self, now: Instant) -> Option<Instant> {
        let limit = self.begun + self.worker.settings.head_timeout;
        let limit = self.deadline.map_or(limit, |deadline| deadline.min(limit));
        if limit <= now {
            self.time_out();
        }
        self.quic.timeout().into_iter().chain(Some(limit).filter(|_| !self.quic.is_closed())).min()
    }

    fn time_out(&mut self) {
        self.worker.meter.add(Count::TimedOut, 1);
        self.close(ErrorCode::NO_ERROR);
    }

    /// Ends a connection when the server stops: it finishes its requests until the deadline.
    pub fn leave(&mut self, now: Instant) {
        if self.deadline.is_some() {
            return;
        }
        self.deadline = Some(now + self.worker.settings.stop_timeout);
        match self.is_handshaking {
            false => self.begin_end(now),
            true => self.close(ErrorCode::NO_ERROR),
        }
    }

    /// Ends a connection that has nothing in flight but responses of unknown length, whose time is up in a stop.
    pub fn cut_off(&mut self) {
        if self.exchange.as_ref().is_some_and(|exchange| exchange.in_flight().has_streams_only()) {
            self.close(ErrorCode::NO_ERROR);
        }
    }
}
