//! The readiness of sockets: the poller, its events, and connections that need another turn without an event.

use super::connection::Connection;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use torr_net::WakeUp;
use torr_net::{Event, Events, Interest, Nanos, Poller, Token};

/// Readiness events per wait.
const EVENTS: usize = 512;
/// The token of the wake-up: no thread has so many connections.
const WOKEN: Token = Token::new(u32::MAX, u32::MAX);

/// The poller of a thread.
pub(super) struct Readiness {
    poller: Poller,
    events: Events,
    /// The events of this turn of the loop.
    pub ready: Vec<Event>,
    /// Connections with more to be received, for which the edge-triggered poller reports no event.
    again: Vec<Event>,
    /// The event by which other threads end a wait, where they do.
    wake_up: Option<Arc<WakeUp>>,
}

impl Readiness {
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            poller: Poller::new()?,
            events: Events::with_capacity(EVENTS),
            ready: Vec::with_capacity(EVENTS),
            again: Vec::new(),
            wake_up: None,
        })
    }

    /// Returns an event by which other threads end a wait.
    ///
    /// # Errors
    /// If the system has no descriptor left for it.
    pub fn wake_up(&mut self) -> io::Result<Arc<WakeUp>> {
        let wake_up = Arc::new(WakeUp::new()?);
        self.poller.add(&*wake_up, WOKEN, Interest::Level)?;
        self.wake_up = Some(wake_up.clone());
        Ok(wake_up)
    }

    /// Waits for events, and adds them to `ready`.
    #[inline]
    pub fn wait(&mut self, timeout: Nanos) -> io::Result<()> {
        self.poller.wait(&mut self.events, Some(Duration::from_nanos(timeout)))?;
        self.ready.append(&mut self.again);
        self.ready.extend(self.events.iter());
        if let Some(wake_up) = &self.wake_up {
            let before = self.ready.len();
            self.ready.retain(|event| event.token != WOKEN);
            if self.ready.len() < before {
                wake_up.clear();
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_of_another_thread_ends_a_wait_and_is_no_event() {
        let mut readiness = Readiness::new().expect("there are descriptors");
        let wake_up = readiness.wake_up().expect("there are descriptors");
        std::thread::scope(|scope| {
            scope.spawn(|| wake_up.wake());
            // Longer than any test takes.
            readiness.wait(3_600_000_000_000).expect("it waits");
        });
        assert!(readiness.ready.is_empty() && !readiness.events.is_empty());
        readiness.wait(0).expect("it waits");
        assert!(readiness.events.is_empty(), "it is consumed");
    }
}
