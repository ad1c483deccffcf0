//! Which descriptors are ready: epoll.

use crate::Token;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

/// What to be told of a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interest {
    /// A listener, a bell, a ticker: told as long as there is something to accept, so that one accept per event is enough.
    Level,
    /// A connection: told once when bytes arrive or the peer ends its side.
    Read,
    /// A connection, also told once when a full send buffer has room again, or a connect has come to its end.
    ReadWrite,
}

impl Interest {
    fn flags(self) -> epoll::EventFlags {
        use epoll::EventFlags as F;
        match self {
            Self::Level => F::IN,
            Self::Read => F::IN | F::RDHUP | F::ET,
            Self::ReadWrite => F::IN | F::OUT | F::RDHUP | F::ET,
        }
    }
}

/// An epoll instance. It can be watched itself: it is readable while any of its descriptors is ready.
#[derive(Debug)]
pub struct Poller(OwnedFd);

impl Poller {
    /// A poller that watches nothing yet.
    ///
    /// # Errors
    /// If the kernel has no room for one more descriptor.
    pub fn new() -> io::Result<Self> {
        Ok(Self(epoll::create(epoll::CreateFlags::CLOEXEC)?))
    }

    /// Watches a descriptor until it is closed.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`.
    pub fn add(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, epoll::EventData::new_u64(token.bits()), interest.flags())?)
    }

    /// Changes what to be told of a descriptor, and tells anew what is ready.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`.
    pub fn modify(&self, fd: impl AsFd, token: Token, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.0, fd, epoll::EventData::new_u64(token.bits()), interest.flags())?)
    }

    /// Watches a descriptor no longer.
    ///
    /// # Errors
    /// As `epoll_ctl(2)`.
    pub fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.0, fd)?)
    }

    /// Waits until something is ready or the time is up, for which `None` is never, and replaces `events` by what is ready. A signal ends the
    /// wait early, with no events.
    ///
    /// # Errors
    /// As `epoll_wait(2)`.
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

/// Room for what one wait tells.
pub struct Events {
    list: Vec<epoll::Event>,
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Events").field("len", &self.list.len()).finish()
    }
}

impl Events {
    /// Room for so many events at a time.
    pub fn with_capacity(capacity: usize) -> Self {
        Self { list: Vec::with_capacity(capacity) }
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The event of this number.
    #[inline]
    pub fn get(&self, at: usize) -> Event {
        Event::of(&self.list[at])
    }

    /// All of them.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Event> + '_ {
        self.list.iter().map(Event::of)
    }
}

/// One descriptor that is ready, and for what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// As given to [`Poller::add`].
    pub token: Token,
    /// There is something to receive, be it the end or an error.
    pub readable: bool,
    /// Sending may go on, or a connect has come to its end.
    pub writable: bool,
    /// The peer has ended its side or the connection is broken: after what has arrived comes the end, and no further
    /// event will say so.
    pub ended: bool,
}

impl Event {
    /// It may be ready for anything: who tries will see.
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
