//! Which slots may take a request, and in which order.
//!
//! A slot is room for one request in flight; a connection has as many as the plan's depth.

use std::collections::VecDeque;

/// The free slots of a thread's connections, named by the number of their connection.
pub(super) enum SlotQueue {
    /// In the order in which they became free: a plain closed loop keeps all connections busy alike.
    InTurn(VecDeque<u32>),
    /// Slots of open connections before those of any other.
    OpenFirst(OpenFirst),
}

/// Free slots of which those with an open connection are taken first. Each connection with a free slot stands in one of
/// two lists, once.
///
/// The invariant: a connection in `closed` has no socket. One in `open` may have none either, which is noticed when its
/// turn comes: it moves to `closed` then, at most once for each time that it was put into `open`.
#[derive(Default)]
pub(super) struct OpenFirst {
    /// The last one used on top: the fewest connections that do, whose memory is still near.
    open: Vec<u32>,
    closed: VecDeque<u32>,
    /// The number of free slots of each connection. A connection without any stands in no list.
    available: Vec<u16>,
}

impl SlotQueue {
    /// All slots of so many connections, none of which is open yet.
    pub fn new(connections: usize, depth: u16, open_first: bool) -> Self {
        let all = 0..connections as u32;
        if open_first {
            Self::OpenFirst(OpenFirst { open: Vec::new(), closed: all.collect(), available: vec![depth; connections] })
        } else {
            Self::InTurn(all.flat_map(|at| std::iter::repeat_n(at, depth.into())).collect())
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::InTurn(slots) => slots.is_empty(),
            Self::OpenFirst(lists) => lists.open.is_empty() && lists.closed.is_empty(),
        }
    }

    /// Returns the slot that is next, without taking it. `is_open` tells whether a connection has a socket.
    #[inline]
    pub fn next(&mut self, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        match self {
            Self::InTurn(slots) => slots.front().copied(),
            Self::OpenFirst(lists) => lists.next(is_open),
        }
    }

    /// Takes the slot that [`SlotQueue::next`] has returned. Its connection is about to be used, so that its other slots
    /// count as those of an open one.
    #[inline]
    pub fn take(&mut self) {
        match self {
            Self::InTurn(slots) => _ = slots.pop_front(),
            Self::OpenFirst(lists) => lists.take(),
        }
    }

    /// Frees a slot of a connection.
    #[inline]
    pub fn put(&mut self, at: u32) {
        match self {
            Self::InTurn(slots) => slots.push_back(at),
            Self::OpenFirst(lists) => lists.put(at),
        }
    }

    /// Forgets all of them: no request will need one.
    pub fn clear(&mut self) {
        match self {
            Self::InTurn(slots) => slots.clear(),
            Self::OpenFirst(lists) => {
                *lists = OpenFirst { available: vec![0; lists.available.len()], ..OpenFirst::default() }
            }
        }
    }

    /// Returns the connections that have free slots and may be open, as far as their order is by that.
    pub fn open(&self) -> &[u32] {
        match self {
            Self::InTurn(_) => &[],
            Self::OpenFirst(lists) => &lists.open,
        }
    }
}

impl OpenFirst {
    #[inline]
    fn next(&mut self, is_open: impl Fn(u32) -> bool) -> Option<u32> {
        while let Some(&at) = self.open.last() {
            if is_open(at) {
                return Some(at);
            }
            self.open.pop();
            self.closed.push_back(at);
        }
        self.closed.front().copied()
    }

    #[inline]
    fn take(&mut self) {
        let at = match self.open.last() {
            Some(&at) => at,
            None => match self.closed.pop_front() {
                Some(at) => {
                    self.open.push(at);
                    at
                }
                None => return,
            },
        };
        self.available[at as usize] -= 1;
        if self.available[at as usize] == 0 {
            self.open.pop();
        }
    }

    #[inline]
    fn put(&mut self, at: u32) {
        self.available[at as usize] += 1;
        // With more of them it stands in a list already.
        if self.available[at as usize] == 1 {
            self.open.push(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Takes the next slot.
    fn take(slots: &mut SlotQueue, open: &BTreeSet<u32>) -> Option<u32> {
        let at = slots.next(|at| open.contains(&at))?;
        slots.take();
        Some(at)
    }

    #[test]
    fn slots_in_turn_are_taken_as_they_became_free() {
        let mut slots = SlotQueue::new(2, 2, false);
        let none = BTreeSet::new();
        assert_eq!([(); 5].map(|()| take(&mut slots, &none)), [Some(0), Some(0), Some(1), Some(1), None]);
        slots.put(1);
        slots.put(0);
        assert_eq!([(); 3].map(|()| take(&mut slots, &none)), [Some(1), Some(0), None]);
    }

    #[test]
    fn a_connection_that_was_closed_after_its_use_hides_no_open_one() {
        let mut slots = SlotQueue::new(3, 1, true);
        let mut open = BTreeSet::from([0, 1, 2]);
        assert_eq!([(); 4].map(|()| take(&mut slots, &open)), [Some(0), Some(1), Some(2), None]);
        (0..3).for_each(|at| slots.put(at));
        open.remove(&2);
        assert_eq!([(); 4].map(|()| take(&mut slots, &open)), [Some(1), Some(0), Some(2), None]);
    }

    #[test]
    fn all_slots_of_an_open_connection_come_before_those_of_a_closed_one() {
        let mut slots = SlotQueue::new(2, 3, true);
        let mut open = BTreeSet::new();
        assert_eq!(slots.next(|_| false), Some(0));
        slots.take();
        open.insert(0);
        assert_eq!([(); 3].map(|()| take(&mut slots, &open)), [Some(0), Some(0), Some(1)]);
        open.insert(1);
        // The first is lost with two requests, and opened again by the third.
        open.remove(&0);
        (0..2).for_each(|_| slots.put(0));
        assert_eq!([(); 3].map(|()| take(&mut slots, &open)), [Some(1), Some(1), Some(0)]);
        open.insert(0);
        slots.put(0);
        slots.put(1);
        assert_eq!([(); 4].map(|()| take(&mut slots, &open)), [Some(1), Some(0), Some(0), None]);
    }

    #[test]
    fn no_slot_is_lost_or_found_whatever_happens_to_connections() {
        let (connections, depth) = (7, 3);
        let mut slots = SlotQueue::new(connections, depth, true);
        let mut taken = vec![0_u16; connections];
        let mut open = BTreeSet::new();
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..100_000 {
            let at = random.u32(0..connections as u32);
            match random.u8(0..4) {
                0 => _ = open.remove(&at),
                1 | 2 => {
                    let has_free = |&at: &u32| taken[at as usize] < depth;
                    let any_open = open.iter().any(has_free);
                    let any = (0..connections as u32).any(|at| has_free(&at));
                    let next = slots.next(|at| open.contains(&at));
                    assert_eq!((next.is_some(), next.is_some_and(|at| open.contains(&at))), (any, any_open));
                    if let Some(at) = next {
                        slots.take();
                        taken[at as usize] += 1;
                        open.insert(at);
                    }
                }
                _ if taken[at as usize] > 0 => {
                    taken[at as usize] -= 1;
                    slots.put(at);
                }
                _ => {}
            }
            assert!(taken.iter().all(|&taken| taken <= depth));
        }
    }
}
