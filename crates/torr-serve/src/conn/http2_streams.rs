//! The connections of HTTP/2 that have nothing in flight but responses of unknown length, which a stop ends earlier than all else.

use std::cell::Cell;

/// The numbers of such connections of a worker, and of their responses.
#[derive(Debug, Default)]
pub(crate) struct Http2Streams {
    connections: Cell<usize>,
    streams: Cell<usize>,
}

impl Http2Streams {
    /// Notes that the number of a connection's responses has changed. It is 0 while anything else is in flight.
    pub fn change(&self, from: usize, to: usize) {
        self.streams.set(self.streams.get() + to - from);
        self.connections.set(self.connections.get() + usize::from(to > 0) - usize::from(from > 0));
    }

    /// Returns the number of connections.
    pub fn connections(&self) -> usize {
        self.connections.get()
    }

    /// Returns the number of responses.
    pub fn streams(&self) -> usize {
        self.streams.get()
    }
}
