//! The memory that a virtual user needs first when it goes on.
//!
//! Each of a thousand users has its own, and after the others have had their turn it is in no cache of the CPU.

use crate::user::Vu;
use std::ops::Range;
use torr_net::prefetch;

/// The bytes of the state of the script engine: QuickJS's of a runtime and of a context, and that of its wrapper.
const ENGINE: [usize; 3] = [1600, 640, 320];
/// The bytes before such a state, which have the number of its users.
const HEADER: usize = 16;
/// The most further places.
const PLACES: usize = 8;

/// The addresses of a virtual user's memory.
#[derive(Debug, Clone, Default)]
pub struct Near {
    /// The part of the stack.
    stack: Range<usize>,
    /// The state that host functions share.
    user: usize,
    /// The state of the script engine.
    engine: [usize; 3],
    /// The begins of what the state of the user refers to, and zeros.
    places: [usize; PLACES],
}

impl Near {
    /// Returns the addresses of a user with a script engine, which goes on on this part of its stack.
    pub fn new(stack: Range<usize>, user: &Vu, engine: [usize; 3]) -> Self {
        let mut places = [0; PLACES];
        places.iter_mut().zip(user.places()).for_each(|(place, found)| *place = found);
        Self { stack, user: std::ptr::from_ref(user).addr(), engine, places }
    }

    /// Has the CPU bring the memory into its nearest cache.
    #[inline]
    pub fn prefetch(&self) {
        prefetch::addresses(self.stack.start, self.stack.len());
        prefetch::addresses(self.user, size_of::<Vu>());
        for (address, bytes) in self.engine.into_iter().zip(ENGINE) {
            prefetch::addresses(address.saturating_sub(HEADER), HEADER + bytes);
        }
        for place in self.places.into_iter().take_while(|place| *place != 0) {
            prefetch::addresses(place.saturating_sub(HEADER), HEADER + 1);
        }
    }
}
