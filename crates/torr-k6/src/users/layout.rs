//! The numbers of the engine's users: first the slots of a thread, each with a virtual user, then their lanes.

/// Which user of the engine is what. The first slot of a thread is for setup and teardown, and is used on the first thread only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The number of threads.
    pub threads: usize,
    /// The number of slots of a thread.
    pub slots: usize,
    /// The number of lanes of a slot: users that carry requests beside those of the slot.
    pub lanes: usize,
}

/// What a user of the engine is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// A slot.
    Slot(usize),
    /// A lane of a slot.
    Lane(usize, usize),
}

impl Layout {
    /// Returns the layout of so many virtual users on so many threads.
    #[must_use]
    pub fn new(threads: usize, virtual_users: usize, lanes: usize) -> Self {
        let threads = threads.max(1);
        Self { threads, slots: 1 + virtual_users.div_ceil(threads), lanes }
    }

    /// Returns the number of the engine's users on all threads.
    #[must_use]
    pub fn users(&self) -> usize {
        self.threads * self.slots * (1 + self.lanes)
    }

    /// Returns what a user is.
    pub(super) fn place(&self, user: usize) -> Place {
        match user.checked_sub(self.slots) {
            None => Place::Slot(user),
            Some(lane) => Place::Lane(lane / self.lanes, lane % self.lanes),
        }
    }

    /// Returns the user that is a lane.
    pub(super) fn lane(&self, slot: usize, lane: usize) -> usize {
        self.slots + slot * self.lanes + lane
    }

    /// Returns the slot of a virtual user.
    pub(super) fn slot_of(&self, virtual_user: usize) -> usize {
        1 + virtual_user / self.threads
    }

    /// Returns the virtual user of a slot.
    pub(super) fn virtual_user(&self, thread: usize, slot: usize) -> usize {
        (slot - 1) * self.threads + thread
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_come_before_lanes() {
        let layout = Layout::new(2, 5, 3);
        assert_eq!((layout.slots, layout.users()), (4, 32));
        assert_eq!(layout.place(3), Place::Slot(3));
        for slot in 0..4 {
            for lane in 0..3 {
                assert_eq!(layout.place(layout.lane(slot, lane)), Place::Lane(slot, lane));
            }
        }
        for virtual_user in 0..5 {
            let (thread, slot) = (virtual_user % 2, layout.slot_of(virtual_user));
            assert_eq!(layout.virtual_user(thread, slot), virtual_user);
        }
    }
}
