//! Bytes that wait until a socket takes them: copies of small ones, and content that all connections share.

use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use torr_net::socket;

/// The number of pieces that one send takes at most.
pub(super) const PIECES: usize = 16;

/// Bytes to be sent on one connection, in their order.
#[derive(Debug, Default)]
pub(super) struct UnsentBytes {
    pieces: VecDeque<Bytes>,
    /// Copied bytes behind the pieces.
    copied: Vec<u8>,
}

impl UnsentBytes {
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty() && self.copied.is_empty()
    }

    /// Adds a copy of bytes.
    pub fn copy(&mut self, bytes: &[u8]) {
        self.copied.extend_from_slice(bytes);
    }

    /// Adds bytes whose memory is shared.
    pub fn share(&mut self, bytes: Bytes) {
        self.seal_copied();
        self.pieces.push_back(bytes);
    }

    /// Sends as much as the socket takes, by one system call, and returns the number of bytes.
    ///
    /// # Errors
    /// Returns the errors of [`socket::send_all_of`].
    pub fn send(&mut self, socket: impl AsFd) -> io::Result<usize> {
        self.seal_copied();
        let mut slices = [IoSlice::new(&[]); PIECES];
        let count = self.pieces.len().min(PIECES);
        slices.iter_mut().zip(&self.pieces).for_each(|(slice, piece)| *slice = IoSlice::new(piece));
        let sent = socket::send_all_of(socket, &slices[..count])?;
        let mut left = sent;
        while let Some(piece) = self.pieces.front_mut().filter(|_| left > 0) {
            let taken = left.min(piece.len());
            piece.advance(taken);
            left -= taken;
            if piece.is_empty() {
                self.pieces.pop_front();
            }
        }
        Ok(sent)
    }

    /// Sends as much as `send` takes, which begins at a boundary of what was added, and returns the number of bytes.
    ///
    /// # Errors
    /// Returns the errors of `send`.
    pub fn send_by(&mut self, mut send: impl FnMut(&[u8]) -> io::Result<usize>) -> io::Result<usize> {
        self.seal_copied();
        let mut all = 0;
        while let Some(piece) = self.pieces.front_mut() {
            let sent = send(piece)?;
            all += sent;
            piece.advance(sent);
            if !piece.is_empty() {
                break;
            }
            self.pieces.pop_front();
        }
        Ok(all)
    }

    fn seal_copied(&mut self) {
        if !self.copied.is_empty() {
            self.pieces.push_back(std::mem::take(&mut self.copied).into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_a_send_of_trains_does_not_take_comes_first_the_next_time() {
        let mut unsent = UnsentBytes::default();
        unsent.copy(b"abcdef");
        unsent.share(Bytes::from_static(b"ghi"));
        let (mut sent, mut room) = (Vec::new(), 0);
        for more in [2, 0, 5, 9] {
            room += more;
            let taken = unsent.send_by(|bytes| {
                let len = bytes.len().min(room);
                room -= len;
                sent.extend_from_slice(&bytes[..len]);
                Ok(len)
            });
            assert!(taken.is_ok_and(|taken| taken <= more));
        }
        assert!(sent == b"abcdefghi" && unsent.is_empty());
    }

    #[test]
    fn bytes_leave_in_their_order_whatever_the_socket_takes_at_a_time() {
        let (socket, mut peer) = UnixStream::pair().expect("sockets can be made");
        socket.set_nonblocking(true).expect("a socket takes options");
        let shared = Bytes::from((0..3_000_000_u32).map(|n| (n / 7) as u8).collect::<Vec<_>>());
        let mut unsent = UnsentBytes::default();
        let mut expected = Vec::new();
        for round in 0..20_u8 {
            unsent.copy(&[round; 3]);
            unsent.copy(b"more");
            expected.extend_from_slice(&[round; 3]);
            expected.extend_from_slice(b"more");
            if round % 5 == 0 {
                unsent.share(shared.clone());
                expected.extend_from_slice(&shared);
            }
        }
        let mut received = vec![];
        let mut buffer = vec![0; 100_000];
        while !unsent.is_empty() {
            unsent.send(&socket).expect("the peer is there");
            let len = peer.read(&mut buffer).expect("there are bytes");
            received.extend_from_slice(&buffer[..len]);
        }
        drop(socket);
        peer.read_to_end(&mut received).expect("it ends");
        assert!(received == expected, "{} bytes of {}", received.len(), expected.len());
    }
}
