//! The timers of connections whose protocol has some.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use torr_net::{Nanos, Token};

/// The timers of a thread's connections. A connection whose time is put off keeps its timer, which finds that out when it goes off: most
/// are put off with each request.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(Nanos, u32, u32)>>);

impl Timers {
    /// Sets a timer for the connection of a token.
    pub fn set(&mut self, at: Nanos, token: Token) {
        self.0.push(Reverse((at, token.index() as u32, token.generation())));
    }

    /// Returns when the next timer goes off; the maximum if none is set.
    pub fn next_time(&self) -> Nanos {
        self.0.peek().map_or(Nanos::MAX, |Reverse((at, ..))| *at)
    }

    /// Takes the connection of a timer that has gone off, with the timer's time.
    pub fn take_due(&mut self, now: Nanos) -> Option<(Nanos, Token)> {
        let Reverse((at, index, generation)) = *self.0.peek().filter(|Reverse((at, ..))| *at <= now)?;
        self.0.pop();
        Some((at, Token::new(index, generation)))
    }
}
