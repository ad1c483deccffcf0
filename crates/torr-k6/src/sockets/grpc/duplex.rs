//! A connection as `h2` reads and writes it.

use crate::sockets::wire::Wire;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The number of bytes on their way to the socket beyond which no more are taken.
const MOST_OUT: usize = 256 * 1024;

/// A connection with its bytes in both directions.
pub(super) struct Duplex {
    wire: Wire,
    /// Whether this side has nothing more to send.
    is_ending: bool,
}

impl Duplex {
    pub fn new(wire: Wire) -> Self {
        Self { wire, is_ending: false }
    }
}

impl AsyncRead for Duplex {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let wire = &mut self.get_mut().wire;
        while wire.plain.is_empty() && !wire.has_ended {
            ready!(wire.poll_receive(context)).map_err(io::Error::other)?;
        }
        let taken = wire.plain.len().min(out.remaining());
        out.put_slice(&wire.plain[..taken]);
        wire.plain.drain(..taken);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Duplex {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wire = &mut self.get_mut().wire;
        if wire.unsent() > MOST_OUT {
            ready!(wire.poll_flush(context)).map_err(io::Error::other)?;
        }
        wire.send(bytes).map_err(io::Error::other)?;
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().wire.poll_flush(context).map_err(io::Error::other)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let duplex = self.get_mut();
        if !std::mem::replace(&mut duplex.is_ending, true) {
            duplex.wire.end();
        }
        duplex.wire.poll_flush(context).map_err(io::Error::other)
    }
}
