//! The bytes of a connection that has left the engine.

use crate::seats::Seat;
use std::io;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// A socket, what has arrived on it already, and its place among the server's connections.
pub(super) struct Line {
    socket: TcpStream,
    _seat: Seat,
    before: Vec<u8>,
    /// How much of that has been read.
    read: usize,
}

impl Line {
    /// # Errors
    /// If the runtime cannot watch the socket.
    pub fn new(socket: OwnedFd, seat: Seat, before: Vec<u8>) -> io::Result<Self> {
        let socket = TcpStream::from_std(socket.into())?;
        Ok(Self { socket, _seat: seat, before, read: 0 })
    }
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = &self.before[self.read..];
        if before.is_empty() {
            return Pin::new(&mut self.socket).poll_read(cx, buffer);
        }
        let fits = before.len().min(buffer.remaining());
        buffer.put_slice(&before[..fits]);
        self.read += fits;
        if self.read == self.before.len() {
            (self.before, self.read) = (Vec::new(), 0);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}
