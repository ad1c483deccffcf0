//! The bytes of one direction of a connection in their order, from segments that come twice, early or never.

use std::collections::VecDeque;

/// The most segments, and bytes of them, that wait for one that is missing.
const EARLY: usize = 64;
const EARLY_BYTES: usize = 512 * 1024;

/// What a segment means for its direction.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Arrival<'s> {
    /// These bytes are next.
    Next(&'s [u8]),
    /// Nothing is next: the bytes are known, or others are missing before them.
    Nothing,
    /// Too much waits for bytes that do not come.
    Gap,
}

/// A segment that came before others that precede it.
#[derive(Debug)]
struct Early {
    sequence: u32,
    at: u64,
    bytes: Vec<u8>,
}

/// One direction of a connection.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The number of the next byte; `None` before any was seen.
    next: Option<u32>,
    early: VecDeque<Early>,
}

/// Returns how far a number is ahead of another one; numbers begin again at 2^32.
fn ahead(number: u32, of: u32) -> i64 {
    i64::from(number.wrapping_sub(of).cast_signed())
}

impl Stream {
    /// Begins with the segment that opens the connection.
    pub(super) fn open(&mut self, sequence: u32) {
        self.next = Some(sequence.wrapping_add(1));
        self.early.clear();
    }

    /// Forgets where the stream was: the next segment continues it.
    pub(super) fn begin_again(&mut self) {
        self.next = None;
        self.early.clear();
    }

    /// Returns whether the receiver has bytes that were not seen here.
    pub(super) fn lacks(&self, acknowledged: u32) -> bool {
        // The end of a stream has a number too, but no byte.
        self.next.is_some_and(|next| ahead(acknowledged, next) > 1)
    }

    /// Takes a segment with bytes.
    pub(super) fn segment<'s>(&mut self, sequence: u32, at: u64, bytes: &'s [u8]) -> Arrival<'s> {
        let next = *self.next.get_or_insert(sequence);
        let ahead = ahead(sequence, next);
        if ahead > 0 {
            let waiting: usize = self.early.iter().map(|early| early.bytes.len()).sum();
            if self.early.len() >= EARLY || waiting + bytes.len() > EARLY_BYTES {
                return Arrival::Gap;
            }
            self.early.push_back(Early { sequence, at, bytes: bytes.to_vec() });
            return Arrival::Nothing;
        }
        let known = usize::try_from(-ahead).unwrap_or(usize::MAX);
        match bytes.get(known..) {
            Some(new) if !new.is_empty() => {
                self.advance(new.len());
                Arrival::Next(new)
            }
            _ => Arrival::Nothing,
        }
    }

    /// Returns the bytes of a segment that came early and are next now, with its time.
    pub(super) fn early(&mut self) -> Option<(Vec<u8>, u64)> {
        let next = self.next?;
        while let Some(position) = self.early.iter().position(|early| ahead(early.sequence, next) <= 0) {
            let Early { sequence, at, mut bytes } = self.early.remove(position)?;
            let known = usize::try_from(-ahead(sequence, next)).unwrap_or(usize::MAX).min(bytes.len());
            bytes.drain(..known);
            if !bytes.is_empty() {
                self.advance(bytes.len());
                return Some((bytes, at));
            }
        }
        None
    }

    fn advance(&mut self, length: usize) {
        // A segment is shorter than the numbers' range.
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        self.next = self.next.map(|next| next.wrapping_add(length));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns all bytes that a segment makes available.
    fn take(stream: &mut Stream, sequence: u32, bytes: &[u8]) -> Vec<u8> {
        let Arrival::Next(next) = stream.segment(sequence, 0, bytes) else { return Vec::new() };
        let mut all = next.to_vec();
        while let Some((bytes, _)) = stream.early() {
            all.extend(bytes);
        }
        all
    }

    #[test]
    fn what_is_missing_is_noticed() {
        let mut stream = Stream::default();
        stream.open(u32::MAX);
        assert_eq!(take(&mut stream, 0, b"ab"), b"ab");
        assert!(!stream.lacks(2) && !stream.lacks(3) && stream.lacks(4));
        for number in 0..EARLY {
            let sequence = 10 + u32::try_from(number).expect("few");
            assert_eq!(stream.segment(sequence, 0, b"x"), Arrival::Nothing);
        }
        assert_eq!(stream.segment(500, 0, b"x"), Arrival::Gap);
    }

    proptest! {
        #[test]
        fn order_and_repetition_do_not_matter(
            bytes in proptest::collection::vec(any::<u8>(), 1..200),
            start in any::<u32>(),
            cuts in proptest::collection::vec((0usize..200, 1usize..50), 0..40),
        ) {
            let mut stream = Stream::default();
            stream.open(start.wrapping_sub(1));
            let mut all = Vec::new();
            let whole = (0..bytes.len()).step_by(7).map(|at| (at, 7));
            for (at, length) in cuts.into_iter().chain(whole) {
                let at = at.min(bytes.len());
                let piece = &bytes[at..(at + length).min(bytes.len())];
                if !piece.is_empty() {
                    all.extend(take(&mut stream, start.wrapping_add(u32::try_from(at).expect("few")), piece));
                }
            }
            prop_assert_eq!(all, bytes);
        }
    }
}
