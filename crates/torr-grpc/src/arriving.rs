//! Messages out of content that arrives piece by piece.

use crate::error::GrpcError;
use crate::framing::PREFIX;

/// The content of a request or a response that is arriving, of which whole messages are taken.
#[derive(Debug, Default)]
pub struct Arriving(Vec<u8>);

/// The next message of content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NextMessage {
    /// It has arrived.
    Whole(Vec<u8>),
    /// More has to arrive.
    Incomplete,
    /// It has this length in bytes, which is too large.
    TooLarge(usize),
}

impl Arriving {
    /// Adds a piece of the content.
    pub fn add(&mut self, piece: &[u8]) {
        self.0.extend_from_slice(piece);
    }

    /// Whether all that has arrived was taken.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the next message, if it has at most `most` bytes. A coding is not supported.
    ///
    /// # Errors
    /// [`GrpcError::Framing`].
    pub fn next(&mut self, most: usize) -> Result<NextMessage, GrpcError> {
        let Some((&[flag, a, b, c, d], rest)) = self.0.split_first_chunk::<PREFIX>() else {
            return Ok(NextMessage::Incomplete);
        };
        match flag {
            0 => {}
            1 => return Err(GrpcError::Framing("a message is compressed although nothing was said of it")),
            _ => return Err(GrpcError::Framing("invalid flag before a message")),
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > most {
            return Ok(NextMessage::TooLarge(length));
        }
        let Some(message) = rest.get(..length) else { return Ok(NextMessage::Incomplete) };
        let message = message.to_vec();
        self.0.drain(..PREFIX + length);
        Ok(NextMessage::Whole(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_as_they_arrive() {
        let mut arriving = Arriving::default();
        let mut taken = Vec::new();
        for byte in b"\0\0\0\0\x02ab\0\0\0\0\0\0\0\0\0\x01c" {
            arriving.add(&[*byte]);
            while let Ok(NextMessage::Whole(message)) = arriving.next(2) {
                taken.push(message);
            }
        }
        assert_eq!(taken, [b"ab".to_vec(), Vec::new(), b"c".to_vec()]);
        assert!(arriving.is_empty());
    }

    #[test]
    fn what_is_no_message_or_too_large_is_not_waited_for() {
        let next = |content: &[u8]| {
            let mut arriving = Arriving::default();
            arriving.add(content);
            arriving.next(3)
        };
        assert_eq!(next(b"\0\0\0\0\x04"), Ok(NextMessage::TooLarge(4)));
        assert_eq!(next(b"\0\0\0\0\x03ab"), Ok(NextMessage::Incomplete));
        assert!(next(b"\x01\0\0\0\0").is_err_and(|error| error.to_string().contains("compressed")));
        assert!(next(b"\x07\0\0\0\0").is_err_and(|error| error.to_string().contains("flag")));
    }
}
