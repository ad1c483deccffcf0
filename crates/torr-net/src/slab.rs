//! A table with stable indices, whose tokens carry a generation: a token of a removed value never matches its successor.

/// The index of an entry and its generation. Epoll carries the token as the user data of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Token(u64);

impl Token {
    /// Creates a token from its parts. Descriptors outside of a [`Slab`], such as listeners, choose them freely.
    #[inline]
    pub const fn new(index: u32, generation: u32) -> Self {
        Self((generation as u64) << 32 | index as u64)
    }

    /// Returns the entry's index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as u32 as usize
    }

    /// Returns the entry's generation, which the removal of a value increments.
    #[inline]
    pub const fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Returns the token as one number, the inverse of [`Token::from_bits`].
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the token of a number from [`Token::bits`].
    #[inline]
    pub const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}

/// A table of values that are found by [`Token`]s.
#[derive(Debug)]
pub struct Slab<T> {
    /// The generation of each entry, and its value unless the entry is vacant.
    entries: Vec<(u32, Option<T>)>,
    vacant: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), vacant: Vec::new() }
    }
}

impl<T> Slab<T> {
    /// Returns the number of values.
    pub fn len(&self) -> usize {
        self.entries.len() - self.vacant.len()
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Stores a value in a vacant entry.
    ///
    /// # Panics
    /// If there are 2^32 values already, which no file limit allows.
    pub fn insert(&mut self, value: T) -> Token {
        let index = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push((0, None));
            u32::try_from(self.entries.len() - 1).expect("a process cannot have 2^32 open files")
        });
        let entry = &mut self.entries[index as usize];
        entry.1 = Some(value);
        Token::new(index, entry.0)
    }

    /// Returns the token's value, `None` once it is removed.
    #[inline]
    pub fn get_mut(&mut self, token: Token) -> Option<&mut T> {
        match self.entries.get_mut(token.index()) {
            Some((generation, value)) if *generation == token.generation() => value.as_mut(),
            _ => None,
        }
    }

    /// Removes and returns the token's value.
    pub fn remove(&mut self, token: Token) -> Option<T> {
        let (generation, value) = self.entries.get_mut(token.index())?;
        if *generation != token.generation() || value.is_none() {
            return None;
        }
        *generation = generation.wrapping_add(1);
        self.vacant.push(token.index() as u32);
        value.take()
    }

    /// Returns the tokens of all values.
    pub fn tokens(&self) -> impl Iterator<Item = Token> {
        self.iter().map(|(token, _)| token)
    }

    /// Returns all values with their tokens.
    pub fn iter(&self) -> impl Iterator<Item = (Token, &T)> {
        let token = |(index, (generation, value)): (usize, &'_ (u32, Option<T>))| {
            value.is_some().then(|| Token::new(index as u32, *generation))
        };
        self.entries.iter().enumerate().filter_map(move |entry| Some((token(entry)?, entry.1.1.as_ref()?)))
    }

    /// Returns all values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.entries.iter_mut().filter_map(|(_, value)| value.as_mut())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_does_not_outlive_its_value() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!((slab.remove(a), slab.remove(a), slab.len()), (Some('a'), None, 1));
        let c = slab.insert('c');
        assert_eq!(c.index(), a.index(), "the vacant entry is used again");
        assert_eq!([a, c, b].map(|token| slab.get_mut(token).copied()), [None, Some('c'), Some('b')]);
        assert_eq!(Token::from_bits(c.bits()), c);
        assert_eq!(slab.tokens().collect::<Vec<_>>(), [c, b]);
    }
}
