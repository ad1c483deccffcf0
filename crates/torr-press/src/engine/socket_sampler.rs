//! The sampling of sockets' statistics (TCP_INFO): one connection at a time, in turn.

use super::connection::{Connection, SocketSnapshot, Stage};
use super::recorder::Recorder;
use std::time::Duration;
use torr_gauge::sockets::{SocketCounters, SocketReading};
use torr_net::{Nanos, TcpInfo, tcp_info};

/// The turn of connections to be sampled.
pub(super) struct SocketSampler {
    next: usize,
    /// Whether the kernel has such statistics: not for Unix sockets.
    supported: bool,
}

impl SocketSampler {
    pub fn new() -> Self {
        Self { next: 0, supported: true }
    }

    /// Samples the next `most` established connections.
    pub fn sample<P>(&mut self, connections: &mut [Connection<P>], most: usize, now: Nanos, recorder: &mut Recorder) {
        let mut left = most;
        for _ in 0..connections.len() {
            if left == 0 || !self.supported {
                return;
            }
            let count = connections.len();
            let connection = &mut connections[self.next];
            self.next = (self.next + 1) % count;
            let Some(socket) = connection.socket.as_ref().filter(|socket| socket.stage != Stage::Connecting) else {
                continue;
            };
            left -= 1;
            let Some(info) = tcp_info(socket) else {
                self.supported = false;
                return;
            };
            let (look, growing) = statistics(&info);
            let cold = &mut connection.cold;
            let before = cold.snapshot.replace(Box::new(SocketSnapshot { at: now, growing }));
            let (since, earlier) =
                before.map_or((cold.opened_at, SocketCounters::default()), |before| (before.at, before.growing));
            recorder.socket(look, &growing, &earlier, since);
        }
    }
}

/// Returns what holds at this time, and what has grown since the socket was opened.
fn statistics(info: &TcpInfo) -> (SocketReading, SocketCounters) {
    let us = |time: Option<Duration>| time.map(|time| time.as_micros() as u64);
    let look = SocketReading { min_rtt: us(info.min_rtt), rtt: us(info.rtt), receiver_rtt: us(info.receiver_rtt) };
    let growing = SocketCounters {
        retransmits: Some(info.retransmits.into()),
        segments: info.segments.map(u64::from),
        busy: us(info.busy),
        window_limited: us(info.window_limited),
        buffer_limited: us(info.buffer_limited),
    };
    (look, growing)
}
