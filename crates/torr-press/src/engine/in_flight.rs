//! The requests in flight on one connection, with their clocks.

use std::collections::VecDeque;
use torr_net::Nanos;

/// A request in flight.
#[derive(Debug, Clone, Copy)]
pub(super) struct InFlightRequest {
    /// The time that its response time counts from.
    pub due: Nanos,
    /// The protocol's name for it.
    pub key: u32,
    /// Whether its clock has not been started: that happens when it is sent, or as soon as only the server delays it.
    pub clock_pending: bool,
    /// Whether it was begun during the warm-up.
    pub in_warmup: bool,
    /// Whether its method is HEAD, whose response has no content.
    pub is_head: bool,
    /// Whether its response is a stream that has had an event.
    pub is_streaming: bool,
}

/// The requests in flight on one connection, the oldest first.
#[derive(Default)]
pub(super) struct RequestQueue {
    first: Option<InFlightRequest>,
    /// The requests behind `first`, on connections that carry several at a time.
    #[expect(clippy::box_collection, reason = "a pointer, so that a connection fits a cache line")]
    more: Option<Box<VecDeque<InFlightRequest>>>,
}

impl RequestQueue {
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.as_ref().map_or(0, |more| more.len())
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    #[inline]
    pub fn oldest(&self) -> Option<&InFlightRequest> {
        self.first.as_ref()
    }

    pub fn oldest_mut(&mut self) -> Option<&mut InFlightRequest> {
        self.first.as_mut()
    }

    #[inline]
    pub fn push(&mut self, request: InFlightRequest) {
        match self.first {
            None => self.first = Some(request),
            Some(_) => self.more.get_or_insert_default().push_back(request),
        }
    }

    /// Inserts a request before the `younger` youngest ones.
    pub fn insert(&mut self, younger: usize, request: InFlightRequest) {
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
    pub fn take_oldest(&mut self) -> Option<InFlightRequest> {
        let next = self.more.as_mut().and_then(|more| more.pop_front());
        std::mem::replace(&mut self.first, next)
    }

    /// Removes the request at position `age`, counted from the oldest.
    pub fn remove(&mut self, age: usize) -> Option<InFlightRequest> {
        match age {
            0 => self.take_oldest(),
            _ => self.more.as_mut()?.remove(age - 1),
        }
    }

    /// Removes the request of this key.
    pub fn take(&mut self, key: u32) -> Option<InFlightRequest> {
        if self.first.is_some_and(|first| first.key == key) {
            return self.take_oldest();
        }
        let more = self.more.as_mut()?;
        let at = more.iter().position(|request| request.key == key)?;
        more.remove(at)
    }

    /// Returns the request of this key.
    pub fn of_key(&mut self, key: u32) -> Option<&mut InFlightRequest> {
        self.iter_mut().find(|request| request.key == key)
    }

    /// Returns the request at position `count`, counted from the youngest, which has position 1.
    #[inline]
    pub fn nth_youngest(&mut self, count: usize) -> Option<&mut InFlightRequest> {
        match &mut self.more {
            Some(more) if count <= more.len() => more.iter_mut().rev().nth(count - 1),
            _ => self.first.as_mut(),
        }
    }

    /// Starts the clocks of the requests that have been sent: all but the `unwritten` youngest.
    #[inline]
    pub fn start_clocks_of_sent(&mut self, unwritten: usize, now: impl Fn() -> Nanos) {
        match &mut self.more {
            None => start_clocks(self.first.iter_mut(), &now),
            Some(more) => start_clocks(self.first.iter_mut().chain(more.iter_mut()).rev().skip(unwritten), &now),
        }
    }

    /// Starts the clocks of the `youngest` requests, up to the first whose clock runs.
    pub fn start_clocks_of_youngest(&mut self, youngest: usize, now: impl Fn() -> Nanos) {
        let more = self.more.iter_mut().flat_map(|more| more.iter_mut());
        start_clocks(self.first.iter_mut().chain(more).rev().take(youngest), &now);
    }

    pub fn iter(&self) -> impl Iterator<Item = &InFlightRequest> {
        self.first.iter().chain(self.more.iter().flat_map(|more| more.iter()))
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut InFlightRequest> {
        self.first.iter_mut().chain(self.more.iter_mut().flat_map(|more| more.iter_mut()))
    }
}

#[inline]
fn start_clocks<'r>(youngest_first: impl Iterator<Item = &'r mut InFlightRequest>, now: &impl Fn() -> Nanos) {
    // They leave at once, and reading the clock costs as much as writing a request.
    let mut sent_at = None;
    for request in youngest_first.take_while(|request| request.clock_pending) {
        request.due = *sent_at.get_or_insert_with(now);
        request.clock_pending = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(key: u32) -> InFlightRequest {
        InFlightRequest { due: 0, key, clock_pending: true, in_warmup: false, is_head: false, is_streaming: false }
    }

    fn keys(requests: &RequestQueue) -> Vec<u32> {
        requests.iter().map(|request| request.key).collect()
    }

    #[test]
    fn requests_are_taken_in_order_or_by_key() {
        let mut requests = RequestQueue::default();
        (1..=5).for_each(|key| requests.push(request(key)));
        assert_eq!(requests.take(3).map(|r| r.key), Some(3));
        assert_eq!(requests.take(1).map(|r| r.key), Some(1));
        assert_eq!((requests.take(3).is_none(), keys(&requests)), (true, vec![2, 4, 5]));
        assert_eq!([3, 2, 1].map(|back| requests.nth_youngest(back).map(|r| r.key)), [Some(2), Some(4), Some(5)]);
        requests.push(request(8));
        requests.start_clocks_of_youngest(1, || 7);
        assert_eq!(requests.iter().map(|r| (r.due, r.clock_pending)).collect::<Vec<_>>()[2..], [(0, true), (7, false)]);
        assert_eq!(requests.remove(3).map(|r| r.key), Some(8));
        requests.start_clocks_of_sent(1, || 9);
        assert_eq!(requests.iter().map(|r| r.due).collect::<Vec<_>>(), [9, 9, 0], "the last is not sent yet");
        assert_eq!((requests.take_oldest().map(|r| r.key), requests.len()), (Some(2), 2));
        requests.push(request(6));
        assert_eq!(keys(&requests), [4, 5, 6]);
        requests.insert(0, request(7));
        requests.insert(3, request(8));
        requests.insert(5, request(9));
        assert_eq!(keys(&requests), [9, 4, 8, 5, 6, 7]);
        let mut none = RequestQueue::default();
        none.insert(0, request(1));
        none.insert(1, request(2));
        assert_eq!(keys(&none), [2, 1]);
    }
}
