//! Readiness of descriptors, by epoll.

use crate::Token;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// The readiness of a descriptor that causes events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// Readable, level-triggered: an event at each wait while the descriptor is readable. For listeners, so that one accept
    /// per event is enough, and for wake-ups and tickers.
    Level,
    /// Readable, level-triggered, for a listener that several pollers share: an event wakes one of the pollers that wait, or a
    /// few (EPOLLEXCLUSIVE). The interest cannot be changed.
    Shared,
    /// Readable, edge-triggered: one event when bytes arrive or the peer ends its side. For connections.
    Read,
    /// Readable and writable, level-triggered: an event at each wait while the descriptor is either.
    LevelReadWrite,
    /// Readable and writable, edge-triggered: also one event when a full send buffer has room again, or a connect ends.
    ReadWrite,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        use epoll::EventFlags as F;
        match self {
            Self::Level => F::IN,
            Self::LevelReadWrite => F::IN | F::OUT,
            Self::Shared => F::IN | F::EXCLUSIVE,
            Self::Read => F::IN | F::RDHUP | F::ET,
            Self::ReadWrite => F::IN | F::OUT | F::RDHUP | F::ET,
        }
    }
}

/// An epoll instance, which is readable itself while any of its descriptors is ready.
#[derive(Debug)]
pub struct Poller(OwnedFd);

impl Poller {
    /// Creates an epoll instance without descriptors.
    ///
    /// # Errors
    /// Returns the errors of `epoll_create1(2)`.
    pub fn new() -> io::Result<Self> {
        Ok(Self(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Registers a descriptor, until it is removed or closed.
    ///
    /// # Errors
    /// Returns the errors of `epoll_ctl(2)`.
    pub fn add(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(token.bits()), interest.flags())?)
    }

    /// Changes the interest in a descriptor. Readiness that exists already causes an event again.
    ///
    /// # Errors
    /// Returns the errors of `epoll_ctl(2)`.
    pub fn modify(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.0, fd, epoll::EventData::new_u64(token.bits()), interest.flags())?)
    }

    /// Unregisters a descriptor.
    ///
    /// # Errors
    /// Returns the errors of `epoll_ctl(2)`.
    pub fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.0, fd)?)
    }

    /// Waits for readiness at most for `timeout`, without limit for `None`, and replaces `events` by the new events. A signal
    /// ends the wait without events.
    ///
    /// # Errors
    /// Returns the errors of `epoll_wait(2)`, except `EINTR`.
    #[inline]
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(|t| Timespec { tv_sec: t.as_secs() as i64, tv_nsec: t.subsec_nanos().into() });
        events.list.clear();
        match epoll::wait(&self.0, rustix::buffer::spare_capacity(&mut events.list), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl AsRawFd for Poller {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

/// The events of one wait.
pub struct Events {
    list: Vec<epoll::Event>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("len", &self.list.len()).finish()
    }
}

impl Events {
    /// Creates a buffer for at most `capacity` events per wait.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity) }
    }

    /// Returns the number of events.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns whether there are no events.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the event at this index.
    #[inline]
    pub fn get(&self, at: usize) -> Event {
        Event::of(&self.list[at])
    }

    /// Returns all events in order.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        self.list.iter().map(Event::of)
    }
}

/// The readiness of one descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The token given to [`Poller::add`].
    pub token: Token,
    /// Bytes, the end of the stream or an error can be received.
    pub readable: bool,
    /// The send buffer has room, or a connect has ended.
    pub writable: bool,
    /// The peer has ended its side or the connection is broken: the end follows the bytes that have arrived, without
    /// another event.
    pub ended: bool,
}

impl Event {
    /// Creates an event that assumes readiness, for a descriptor to try without a wait.
    #[inline]
    pub fn assumed(token: Token) -> Self {
        Self { token, readable: true, writable: true, ended: false }
    }

    #[inline]
    fn of(event: &epoll::Event) -> Self {
        use epoll::EventFlags as F;
        let flags = event.flags;
        Self {
            token: Token::from_bits(event.data.u64()),
            readable: flags.intersects(F::IN | F::RDHUP | F::HUP | F::ERR),
            writable: flags.intersects(F::OUT | F::HUP | F::ERR),
            ended: flags.intersects(F::RDHUP | F::HUP | F::ERR),
        }
    }
}
