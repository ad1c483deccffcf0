//! One connection's place, and the requests under way on it.

use super::looking::Looked;
use crate::failed_response::FailedResponseBuffer;
use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use torr_net::{Nanos, Token};
use torr_wire::response::ResponseReader;

/// One connection's place; its socket comes and goes. What every request touches fits one cache line.
pub(super) struct Connection<S> {
    pub socket: Option<OwnedFd>,
    /// Counts the sockets, so that a late event of an old one is recognised.
    pub generation: u32,
    pub session: S,
    pub requests: Requests,
    pub stage: Stage,
    /// Whether its readiness is watched.
    pub watched: bool,
    /// Part of what was to be sent did not fit the socket's buffer.
    pub sending: bool,
    /// Failures since the last answer, as far as they can be counted.
    pub failures: u8,
    /// How many of the youngest requests have not been written yet, because the connection is not ready for them.
    pub unwritten: u16,
    pub cold: Box<Cold>,
}

/// How far a connection has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// There is no socket.
    Closed,
    /// Not known to be established.
    Connecting,
    /// A proxy has been asked to connect further.
    Tunnelling,
    /// The session's handshake is under way.
    Securing,
    /// Requests can be sent.
    Open,
}

/// What only some requests touch.
#[derive(Default)]
pub(super) struct Cold {
    /// When connecting began.
    pub opened_at: Nanos,
    /// When it was established.
    pub established_at: Nanos,
    /// Which of the target's addresses comes next.
    pub next_address: usize,
    /// A connection has been established here before.
    pub used: bool,
    /// Requests begun on this socket.
    pub begun: u64,
    /// The next request's number, for sessions that tell answers apart by it.
    pub next_key: u32,
    /// After a failure, when it may be opened again.
    pub rests_until: Nanos,
    /// Further requests that could be under way here, but have to wait for another socket.
    pub parked: u16,
    /// What did not fit the socket's buffer.
    pub unsent: Vec<u8>,
    /// How much of that has been sent since.
    pub sent: usize,
    /// The last look at it, if there was one.
    pub looked: Option<Box<Looked>>,
    /// What a proxy has answered so far.
    pub tunnel: ResponseReader,
    /// What has come of a failed response, where one is to be kept.
    pub gathered: FailedResponseBuffer,
}

impl Cold {
    /// A name for the next request.
    pub fn new_key(&mut self) -> u32 {
        self.next_key = self.next_key.wrapping_add(1);
        self.next_key
    }
}

/// The clock of one request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pending {
    pub due: Nanos,
    /// What the session calls it.
    pub key: u32,
    /// Whether its clock is still to be started: when it is sent, or as soon as only the server keeps it from being sent.
    pub free: bool,
    /// It was begun while warming up.
    pub warm: bool,
    /// A HEAD, whose answer has no body.
    pub is_head: bool,
}

impl<S> Connection<S> {
    pub fn new(number: usize, session: S) -> Self {
        Self {
            socket: None,
            generation: 0,
            session,
            requests: Requests::default(),
            stage: Stage::Closed,
            watched: false,
            sending: false,
            failures: 0,
            unwritten: 0,
            cold: Box::new(Cold { next_address: number, ..Cold::default() }),
        }
    }

    /// How many requests have been written and not answered.
    #[inline]
    pub fn written(&self) -> usize {
        self.requests.len() - usize::from(self.unwritten)
    }

    /// Starts the clocks of the requests that are not written yet, as far as they do not run.
    #[cold]
    pub fn start_clocks(&mut self, now: impl Fn() -> Nanos) {
        self.requests.start_clocks(self.unwritten.into(), now);
    }
}

/// The connection of a token, if the token is not of a former socket.
#[inline]
pub(super) fn current<S>(connections: &mut [Connection<S>], token: Token) -> Option<&mut Connection<S>> {
    connections.get_mut(token.index()).filter(|c| c.generation == token.generation() && c.socket.is_some())
}

/// The requests under way on one connection, the oldest first.
#[derive(Default)]
pub(super) struct Requests {
    first: Option<Pending>,
    /// Those behind it, where there may be several at a time.
    #[expect(clippy::box_collection, reason = "a pointer, so that a connection fits a cache line")]
    more: Option<Box<VecDeque<Pending>>>,
}

impl Requests {
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.as_ref().map_or(0, |more| more.len())
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub fn oldest(&self) -> Option<&Pending> {
        self.first.as_ref()
    }

    #[inline]
    pub fn push(&mut self, request: Pending) {
        match self.first {
            None => self.first = Some(request),
            Some(_) => self.more.get_or_insert_default().push_back(request),
        }
    }

    /// Puts one in front of so many of the youngest.
    pub fn insert(&mut self, younger: usize, request: Pending) {
        match self.len().saturating_sub(younger) {
            0 => {
                if let Some(first) = self.first.replace(request) {
                    self.more.get_or_insert_default().push_front(first);
                }
            }
            at => self.more.get_or_insert_default().insert(at - 1, request),
        }
    }

    #[inline]
    pub fn take_oldest(&mut self) -> Option<Pending> {
        let next = self.more.as_mut().and_then(|more| more.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    /// Takes the one that so many others are older than.
    pub fn remove(&mut self, place: usize) -> Option<Pending> {
        match place {
            0 => self.take_oldest(),
            _ => self.more.as_mut()?.remove(place - 1),
        }
    }

    /// Takes the request of this key.
    pub fn take(&mut self, key: u32) -> Option<Pending> {
        if self.first.is_some_and(|first| first.key == key) {
            return self.take_oldest();
        }
        let more = self.more.as_mut()?;
        let at = more.iter().position(|request| request.key == key)?;
        more.remove(at)
    }

    /// The one of which so many, itself among them, are the youngest.
    #[inline]
    pub fn nth_youngest(&mut self, count: usize) -> Option<&mut Pending> {
        match &mut self.more {
            Some(more) if count <= more.len() => more.iter_mut().rev().nth(count - 1),
            _ => self.first.as_mut(),
        }
    }

    /// Sets the clocks of those that are sent without a schedule. The youngest `unwritten` ones are not sent yet.
    #[inline]
    pub fn set_due(&mut self, unwritten: usize, now: impl Fn() -> Nanos) {
        match &mut self.more {
            None => set_due(self.first.iter_mut(), &now),
            Some(more) => set_due(self.first.iter_mut().chain(more.iter_mut()).rev().skip(unwritten), &now),
        }
    }

    /// Starts the clocks of so many of the youngest requests, up to the first whose clock runs.
    pub fn start_clocks(&mut self, youngest: usize, now: impl Fn() -> Nanos) {
        let more = self.more.iter_mut().flat_map(|more| more.iter_mut());
        set_due(self.first.iter_mut().chain(more).rev().take(youngest), &now);
    }

    pub fn iter(&self) -> impl Iterator<Item = &Pending> {
        self.first.iter().chain(self.more.iter().flat_map(|more| more.iter()))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.first.iter_mut().chain(self.more.iter_mut().flat_map(|more| more.iter_mut()))
    }
}

#[inline]
fn set_due<'r>(youngest_first: impl Iterator<Item = &'r mut Pending>, now: &impl Fn() -> Nanos) {
    // All leave at once, and the clock costs as much as a request.
    let mut sent_at = None;
    for request in youngest_first.take_while(|request| request.free) {
        request.due = *sent_at.get_or_insert_with(now);
        request.free = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: u32) -> Pending {
        Pending { due: 0, key, free: true, warm: false, is_head: false }
    }

    fn keys(requests: &Requests) -> Vec<u32> {
        requests.iter().map(|request| request.key).collect()
    }

    #[test]
    fn requests_are_taken_in_order_or_by_key() {
        let mut requests = Requests::default();
        (1..=5).for_each(|key| requests.push(request(key)));
        assert_eq!(requests.take(3).map(|r| r.key), Some(3));
        assert_eq!(requests.take(1).map(|r| r.key), Some(1));
        assert_eq!((requests.take(3).is_none(), keys(&requests)), (true, vec![2, 4, 5]));
        assert_eq!([3, 2, 1].map(|back| requests.nth_youngest(back).map(|r| r.key)), [Some(2), Some(4), Some(5)]);
        requests.push(request(8));
        requests.start_clocks(1, || 7);
        assert_eq!(requests.iter().map(|r| (r.due, r.free)).collect::<Vec<_>>()[2..], [(0, true), (7, false)]);
        assert_eq!(requests.remove(3).map(|r| r.key), Some(8));
        requests.set_due(1, || 9);
        assert_eq!(requests.iter().map(|r| r.due).collect::<Vec<_>>(), [9, 9, 0], "the last is not sent yet");
        assert_eq!((requests.take_oldest().map(|r| r.key), requests.len()), (Some(2), 2));
        requests.push(request(6));
        assert_eq!(keys(&requests), [4, 5, 6]);
        requests.insert(0, request(7));
        requests.insert(3, request(8));
        requests.insert(5, request(9));
        assert_eq!(keys(&requests), [9, 4, 8, 5, 6, 7]);
        let mut none = Requests::default();
        none.insert(0, request(1));
        none.insert(1, request(2));
        assert_eq!(keys(&none), [2, 1]);
    }
}
