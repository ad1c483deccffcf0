//! Bytes that have arrived and are not handled yet: a part of a header section, or requests behind one that is in flight.

/// A queue of bytes that is read from its front without moving the rest each time. An empty queue has no memory.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// The number of bytes at the front that have been read.
    read: usize,
    /// The bytes may hold whole requests: the parser has not seen them all.
    pub is_unparsed: bool,
    /// The number of bytes that have been copied so far, which a test bounds.
    #[cfg(test)]
    pub copied: usize,
}

impl Input {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.read == self.bytes.len()
    }

    /// Returns the bytes that are not handled.
    #[inline]
    pub fn unread(&self) -> &[u8] {
        &self.bytes[self.read..]
    }

    /// Adds bytes at the end.
    pub fn push(&mut self, bytes: &[u8]) {
        #[cfg(test)]
        {
            self.copied += bytes.len();
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Removes `used` bytes from the front. The rest moves only where it is at most half of the bytes since the last move:
    /// so all moves together copy no more bytes than have arrived.
    pub fn advance(&mut self, used: usize) {
        self.read += used;
        let left = self.bytes.len() - self.read;
        if left <= self.bytes.len() / 2 {
            #[cfg(test)]
            {
                self.copied += left;
            }
            self.bytes = self.unread().to_vec();
            self.read = 0;
        }
    }

    /// Removes and returns all bytes.
    pub fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..std::mem::take(&mut self.read));
        bytes
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Self { is_unparsed: !bytes.is_empty(), bytes, ..Self::default() }
    }
}
