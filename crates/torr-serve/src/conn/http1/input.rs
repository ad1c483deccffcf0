//! Bytes that have arrived and wait for their turn: a head in part, or requests behind one that is being answered.

/// A queue of bytes that is read from its front without moving the rest each time. Empty it has no memory.
#[derive(Default)]
pub(super) struct Input {
    bytes: Vec<u8>,
    /// How many bytes at the front have been read.
    read: usize,
    /// Bytes that have been copied so far, for tests to bound.
    #[cfg(test)]
    pub copied: usize,
}

impl Input {
    pub fn is_empty(&self) -> bool {
        self.read == self.bytes.len()
    }

    /// The bytes that wait.
    pub fn waiting(&self) -> &[u8] {
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

    /// Takes so many bytes from the front. What is left moves only where it is at most half of what there was since the last
    /// move: so all moves together copy no more bytes than have arrived.
    pub fn advance(&mut self, used: usize) {
        self.read += used;
        let left = self.bytes.len() - self.read;
        if left <= self.bytes.len() / 2 {
            #[cfg(test)]
            {
                self.copied += left;
            }
            self.bytes = self.waiting().to_vec();
            self.read = 0;
        }
    }

    /// Takes everything.
    pub fn take(&mut self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.drain(..std::mem::take(&mut self.read));
        bytes
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Self {
        Self { bytes, ..Self::default() }
    }
}
