//! The limit of connections, shared by all workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// So many connections may be open at a time.
#[derive(Debug, Clone)]
pub(crate) struct Seats {
    free: Arc<AtomicUsize>,
}

/// The right to be open; given back when the connection ends.
#[derive(Debug)]
pub(crate) struct Seat(Seats);

impl Seats {
    pub fn new(seats: usize) -> Self {
        Self { free: Arc::new(AtomicUsize::new(seats)) }
    }

    /// A seat, if one is free.
    pub fn take(&self) -> Option<Seat> {
        let taken = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1));
        taken.ok().map(|_| Seat(self.clone()))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seat_is_free_again_once_its_holder_has_gone() {
        let seats = Seats::new(2);
        let (one, two) = (seats.take(), seats.clone().take());
        assert!(one.is_some() && two.is_some() && seats.take().is_none());
        drop(one);
        assert!(seats.take().is_some());
    }
}
