//! The readiness of sockets: the poller, its events, and connections that need another turn without an event.

use super::connection::Connection;
use std::io;
use std::time::Duration;
use torr_net::{Event, Events, Interest, Nanos, Poller, Token};

/// Readiness events per wait.
const EVENTS: usize = 512;

/// The poller of a thread.
pub(super) struct Readiness {
    poller: Poller,
    events: Events,
    /// The events of this turn of the loop.
    pub ready: Vec<Event>,
    /// Connections with more to be received, for which the edge-triggered poller reports no event.
    again: Vec<Event>,
}

impl Readiness {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            events: Events::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            again: Vec::new(),
        })
    }

    /// Waits for events, and adds them to `ready`.
    #[inline]
    pub fn wait(&mut self, timeout: Nanos) -> io::Result<()> {
        self.poller.wait(&mut self.events, Some(Duration::from_nanos(timeout)))?;
        self.ready.append(&mut self.again);
        self.ready.extend(self.events.iter());
        Ok(())
    }

    /// Whether a connection needs a turn without an event.
    pub fn has_more(&self) -> bool {
        !self.again.is_empty()
    }

    /// Gives a connection a turn without an event.
    pub fn add_turn(&mut self, token: Token, ended: bool) {
        self.again.push(Event { token, readable: true, writable: false, ended });
    }

    /// Gives a connection a turn to send without an event.
    pub fn add_writable_turn(&mut self, token: Token) {
        self.again.push(Event { token, readable: false, writable: true, ended: false });
    }

    /// Registers a connection's socket for events, or changes for which.
    pub fn register<P>(&self, connection: &mut Connection<P>, index: usize, interest: Interest) -> io::Result<()> {
        let Some(socket) = &mut connection.socket else { return Ok(()) };
        let token = Token::new(index as u32, connection.generation);
        let registered = match socket.registered {
            true => self.poller.modify(&*socket, token, interest),
            false => self.poller.add(&*socket, token, interest),
        };
        socket.registered = true;
        registered
    }
}
