//! The content of a request on its way to a socket.

use bytes::{Buf, Bytes};
use std::collections::VecDeque;

/// The content of a request in its order. Large pieces are in memory that all requests share.
#[derive(Debug, Clone)]
pub struct SentContent(Pieces);

#[derive(Debug, Clone)]
enum Pieces {
    One(Bytes),
    /// Pieces of which none is empty, and the sum of their lengths.
    Several(VecDeque<Bytes>, usize),
}

impl Default for SentContent {
    fn default() -> Self {
        Bytes::new().into()
    }
}

impl From<Bytes> for SentContent {
    fn from(bytes: Bytes) -> Self {
        Self(Pieces::One(bytes))
    }
}

impl FromIterator<Bytes> for SentContent {
    fn from_iter<I: IntoIterator<Item = Bytes>>(pieces: I) -> Self {
        let pieces: VecDeque<_> = pieces.into_iter().filter(|piece| !piece.is_empty()).collect();
        let len = pieces.iter().map(Bytes::len).sum();
        Self(Pieces::Several(pieces, len))
    }
}

impl SentContent {
    /// Returns the number of bytes.
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            Pieces::One(bytes) => bytes.len(),
            Pieces::Several(_, len) => *len,
        }
    }

    /// Returns whether there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns content of which this is the rest, in one piece.
    pub(crate) fn whole(first: &[u8], rest: Option<&Self>) -> Bytes {
        let pieces = || rest.into_iter().flat_map(Self::pieces);
        match (first, pieces().count()) {
            ([], 1) => pieces().next().cloned().unwrap_or_default(),
            _ => [first].into_iter().chain(pieces().map(|piece| &**piece)).collect::<Vec<_>>().concat().into(),
        }
    }

    /// Returns the pieces.
    pub fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        let (one, several) = match &self.0 {
            Pieces::One(bytes) => (Some(bytes), None),
            Pieces::Several(pieces, _) => (None, Some(pieces)),
        };
        one.into_iter().chain(several.into_iter().flatten())
    }

    /// Takes bytes off the front: `most` at most, and no more than the first piece has. Returns none only if there are none.
    pub fn take(&mut self, most: usize) -> Bytes {
        match &mut self.0 {
            Pieces::One(bytes) => bytes.split_to(bytes.len().min(most)),
            Pieces::Several(pieces, len) => {
                let Some(first) = pieces.front_mut() else { return Bytes::new() };
                let taken = first.split_to(first.len().min(most));
                *len -= taken.len();
                if first.is_empty() {
                    pieces.pop_front();
                }
                taken
            }
        }
    }

    /// Moves bytes from the front to the end of `out`: `most` at most.
    #[inline]
    pub fn move_to(&mut self, most: usize, out: &mut Vec<u8>) {
        match &mut self.0 {
            Pieces::One(bytes) => {
                let len = bytes.len().min(most);
                out.extend_from_slice(&bytes[..len]);
                bytes.advance(len);
            }
            Pieces::Several(..) => {
                let mut left = most.min(self.len());
                while left > 0 {
                    let taken = self.take(left);
                    out.extend_from_slice(&taken);
                    left -= taken.len();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_taken_and_moved_as_one_content() {
        let several = || -> SentContent {
            ["abc", "", "de", "f"].map(|piece| Bytes::from_static(piece.as_bytes())).into_iter().collect()
        };
        for content in [several(), SentContent::from(Bytes::from_static(b"abcdef"))] {
            for first in 0..=6 {
                let (mut content, mut moved) = (content.clone(), Vec::new());
                content.move_to(first, &mut moved);
                assert_eq!((content.len(), moved.len()), (6 - first, first));
                while !content.is_empty() {
                    let taken = content.take(2);
                    assert!((1..=2).contains(&taken.len()), "{taken:?}");
                    moved.extend_from_slice(&taken);
                }
                assert_eq!(moved, b"abcdef");
                assert!(content.take(2).is_empty() && content.pieces().all(|piece| piece.is_empty()));
            }
        }
        assert_eq!(several().pieces().count(), 3, "none is empty");
    }
}
