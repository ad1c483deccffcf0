//! The numbers of the engine's users: first the seats of a thread, each with a virtual user, then their lanes.

/// Which user of the engine is what. The first seat of a thread is for setup and teardown, and is used on the first thread only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The number of threads.
    pub threads: usize,
    /// The number of seats of a thread.
    pub seats: usize,
    /// The number of lanes of a seat: users that carry requests beside those of the seat.
    pub lanes: usize,
}

/// What a user of the engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A seat.
    Seat(usize),
    /// A lane of a seat.
    Lane(usize, usize),
}

impl Layout {
    /// Returns the layout of so many virtual users on so many threads.
    #[must_use]
    pub fn new(threads: usize, virtual_users: usize, lanes: usize) -> Self {
        let threads = threads.max(1);
        Self { threads, seats: 1 + virtual_users.div_ceil(threads), lanes }
    }

    /// Returns the number of the engine's users on all threads.
    #[must_use]
    pub fn users(&self) -> usize {
        self.threads * self.seats * (1 + self.lanes)
    }

    /// Returns what a user is.
    pub(super) fn place(&self, user: usize) -> Place {
        match user.checked_sub(self.seats) {
            None => Place::Seat(user),
            Some(lane) => Place::Lane(lane / self.lanes, lane % self.lanes),
        }
    }

    /// Returns the user that is a lane.
    pub(super) fn lane(&self, seat: usize, lane: usize) -> usize {
        self.seats + seat * self.lanes + lane
    }

    /// Returns the seat of a virtual user.
    pub(super) fn seat_of(&self, virtual_user: usize) -> usize {
        1 + virtual_user / self.threads
    }

    /// Returns the virtual user of a seat.
    pub(super) fn virtual_user(&self, thread: usize, seat: usize) -> usize {
        (seat - 1) * self.threads + thread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_come_before_lanes() {
        let layout = Layout::new(2, 5, 3);
        assert_eq!((layout.seats, layout.users()), (4, 32));
        assert_eq!(layout.place(3), Place::Seat(3));
        for seat in 0..4 {
            for lane in 0..3 {
                assert_eq!(layout.place(layout.lane(seat, lane)), Place::Lane(seat, lane));
            }
        }
        for virtual_user in 0..5 {
            let (thread, seat) = (virtual_user % 2, layout.seat_of(virtual_user));
            assert_eq!(layout.virtual_user(thread, seat), virtual_user);
        }
    }
}
