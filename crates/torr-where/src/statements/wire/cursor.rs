//! Numbers and texts read from the content of a message.

/// The rest of a content. Each method returns `None` where the content ends too early.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'c>(pub(super) &'c [u8]);

impl<'c> Cursor<'c> {
    /// Takes this many bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Option<&'c [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    /// Takes a byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.bytes(1).map(|bytes| bytes[0])
    }

    /// Takes a number of 1 to 8 bytes, the lowest first.
    pub(super) fn little_endian(&mut self, length: usize) -> Option<u64> {
        let bytes = self.bytes(length)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    /// Takes a number in MySQL's form of variable length.
    pub(super) fn variable(&mut self) -> Option<u64> {
        match self.byte()? {
            byte @ 0..=0xfa => Some(byte.into()),
            0xfc => self.little_endian(2),
            0xfd => self.little_endian(3),
            0xfe => self.little_endian(8),
            _ => None,
        }
    }

    /// Takes a text that ends with a zero byte, without it.
    pub(super) fn text(&mut self) -> Option<&'c [u8]> {
        let end = memchr::memchr(0, self.0)?;
        let text = self.bytes(end)?;
        self.bytes(1)?;
        Some(text)
    }
}
