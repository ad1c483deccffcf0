//! Connections by number, where a number that has been given away again cannot be mistaken for its former owner.

/// Names one occupancy of one slot. Travels through the kernel as the user data of a readiness event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u64);

impl Token {
    /// A token of the given parts. Slab of one's own making, of fixed number, use this directly.
    #[inline]
    pub const fn new(index: u32, generation: u32) -> Self {
        Self((generation as u64) << 32 | index as u64)
    }

    /// The slot's number.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as u32 as usize
    }

    /// Which occupancy of the slot this is.
    #[inline]
    pub const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The token as one number, and back by [`Token::from_bits`].
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The token that [`Token::bits`] gave.
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// A table that hands out [`Token`]s.
#[derive(Debug)]
pub struct Slab<T> {
    entries: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// How many are occupied.
    pub fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Whether none is occupied.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Puts a value in a free slot.
    ///
    /// # Panics
    /// If there are 2^32 values already, which no file limit allows.
    pub fn insert(&mut self, value: T) -> Token {
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push((0, None));
            u32::try_from(self.entries.len() - 1).expect("a process cannot have 2^32 open files")
        });
        let entry = &mut self.entries[index as usize];
        entry.1 = Some(value);
        Token::new(index, entry.0)
    }

    /// The value of this occupancy, if it lasts.
    #[inline]
    pub fn get_mut(&mut self, token: Token) -> Option<&mut T> {
        match self.entries.get_mut(token.index()) {
            Some((generation, value)) if *generation == token.generation() => value.as_mut(),
            _ => None,
        }
    }

    /// Ends an occupancy and gives its value back.
    pub fn remove(&mut self, token: Token) -> Option<T> {
        let (generation, value) = self.entries.get_mut(token.index())?;
        if *generation != token.generation() || value.is_none() {
            return None;
        }
        *generation = generation.wrapping_add(1);
        self.free.push(token.index() as u32);
        value.take()
    }

    /// The tokens of all that are occupied.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        self.iter().map(|(token, _)| token)
    }

    /// All that are occupied, with their tokens.
    pub fn iter(&self) -> impl Iterator<Item = (Token, &T)> {
        let taken = |(index, (generation, value)): (usize, &'_ (u32, Option<T>))| {
            value.is_some().then(|| Token::new(index as u32, *generation))
        };
        self.entries.iter().enumerate().filter_map(move |entry| Some((taken(entry)?, entry.1.1.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_outlive_its_occupancy() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!((slab.remove(a), slab.remove(a), slab.len()), (Some('a'), None, 1));
        let c = slab.insert('c');
        assert_eq!(c.index(), a.index(), "the free slot is used again");
        assert_eq!([a, c, b].map(|token| slab.get_mut(token).copied()), [None, Some('c'), Some('b')]);
        assert_eq!(Token::from_bits(c.bits()), c);
        assert_eq!(slab.tokens().collect::<Vec<_>>(), [c, b]);
    }
}
