//! Looks at what the kernel knows of the connections: one at a time, now and then.

use super::*;
use torr_gauge::sockets::{SocketCounters, SocketReading};
use torr_net::{TcpInfo, tcp_info};

/// How many connections are looked at when the thread ends.
const LAST_LOOKS: usize = 16;

/// What the last look at a connection showed.
pub(super) struct Looked {
    at: Nanos,
    growing: SocketCounters,
}

impl<'r, S: Protocol, P: Pacer, L: Link> Engine<'r, S, P, L> {
    /// Looks at the next connection in turn that is established.
    pub(super) fn look_at_next(&mut self, now: Nanos) {
        self.look_at(1, now);
    }

    /// Looks at the next ones once more, before they are gone.
    pub(super) fn look_at_last(&mut self, now: Nanos) {
        self.look_at(LAST_LOOKS, now);
    }

    fn look_at(&mut self, mut most: usize, now: Nanos) {
        let connections = self.connections.len();
        for _ in 0..connections {
            if most == 0 || !self.can_look {
                return;
            }
            let connection = &mut self.connections[self.next_look];
            self.next_look = (self.next_look + 1) % connections;
            let Some(socket) = connection.socket.as_ref().filter(|_| connection.stage != Stage::Connecting) else {
                continue;
            };
            most -= 1;
            let Some(info) = tcp_info(socket) else {
                // It is no TCP, or the kernel does not tell: the next one will be no better.
                self.can_look = false;
                return;
            };
            let (look, growing) = of(&info);
            let cold = &mut connection.cold;
            let before = cold.looked.replace(Box::new(Looked { at: now, growing }));
            let (since, earlier) =
                before.map_or((cold.opened_at, SocketCounters::default()), |before| (before.at, before.growing));
            // What grew while warming up does not count.
            let counts = since >= self.warm_until || !self.is_warm();
            self.sample.sockets.take(look, counts.then(|| growing.since(earlier)));
        }
    }
}

fn of(info: &TcpInfo) -> (SocketReading, SocketCounters) {
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
