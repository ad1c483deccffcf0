//! Bodies that are sent as the client takes them.

use crate::callbacks;
use crate::message::file_part::FilePart;
use crate::message::response::Pieces;
use crate::message::stream::{BodyFailed, Framing, Stream};
use bytes::{Buf, Bytes};
use std::io::{self, IoSlice};
use std::os::fd::AsFd;
use std::task::Poll;
use torr_net::socket;

/// The number of bytes of a long body that are made at a time ...
const PART: usize = 64 * 1024;
/// ... and that are sent at a time where nothing is made.
const DIRECT: usize = 1024 * 1024;

/// A body that is not sent together with its header section.
pub(crate) enum LongBody {
    Whole(WholeBody),
    Pieces(Pieces),
    File(FilePart),
    Stream(Box<Stream>),
}

/// Bytes in memory that are not sent yet.
pub(crate) struct WholeBody(Bytes);

impl From<Bytes> for WholeBody {
    fn from(bytes: Bytes) -> Self {
        Self(bytes)
    }
}

impl Drop for WholeBody {
    fn drop(&mut self) {
        callbacks::dispose("the bytes of a body", std::mem::take(&mut self.0));
    }
}

impl LongBody {
    /// Whether the body has no known length, so that it may have no end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Stream(stream) if !matches!(stream.framing(), Framing::Length(_)))
    }

    /// Puts the next part into an empty buffer, which stays empty at the body's end. Returns how many bytes of the body that is,
    /// without their framing.
    ///
    /// # Errors
    /// If the body cannot be sent to its end.
    pub fn fill(&mut self, buffer: &mut Vec<u8>) -> Poll<Result<u64, BodyFailed>> {
        match self {
            Self::Stream(stream) => return stream.fill(buffer),
            Self::File(part) => part.read(buffer, PART).map_err(|_| BodyFailed)?,
            Self::Whole(WholeBody(bytes)) => buffer.extend_from_slice(&bytes.split_to(bytes.len().min(PART))),
            Self::Pieces(pieces) => {
                while buffer.len() < PART
                    && let Some(piece) = pieces.take()
                {
                    buffer.extend_from_slice(&piece?);
                }
            }
        }
        Poll::Ready(Ok(buffer.len() as u64))
    }

    /// Sends a header section to a socket without TLS, and with it, where that costs no more, the beginning of the body. Returns how
    /// many bytes of each the socket has taken.
    ///
    /// # Errors
    /// Those of the socket.
    pub fn send_with(&mut self, head: &[u8], to: impl AsFd) -> io::Result<(usize, usize)> {
        match self {
            Self::Whole(WholeBody(bytes)) => {
                let body = &bytes[..bytes.len().min(DIRECT)];
                let sent = socket::send_all_of(to, &[IoSlice::new(head), IoSlice::new(body)])?;
                let of_head = sent.min(head.len());
                bytes.advance(sent - of_head);
                Ok((of_head, sent - of_head))
            }
            Self::File(_) => Ok((socket::send_first(to, head)?, 0)),
            Self::Pieces(_) | Self::Stream(_) => Ok((socket::send(to, head)?, 0)),
        }
    }

    /// Sends the next part to a socket without TLS, from where it lies: `None` for a body that has to be made. Returns how many bytes
    /// the socket has taken, 0 if it is full, and nothing at the body's end.
    ///
    /// # Errors
    /// If the body cannot be sent to its end, and those of the socket.
    pub fn send(&mut self, to: impl AsFd) -> Option<io::Result<Option<usize>>> {
        let sent = match self {
            Self::Pieces(_) | Self::Stream(_) => return None,
            Self::Whole(WholeBody(bytes)) if bytes.is_empty() => Ok(None),
            Self::Whole(WholeBody(bytes)) => socket::send(to, &bytes[..bytes.len().min(DIRECT)]).map(|sent| {
                bytes.advance(sent);
                Some(sent)
            }),
            Self::File(part) if part.length() == 0 => Ok(None),
            Self::File(part) => part.send(to, DIRECT).map(Some),
        };
        Some(sent)
    }
}
