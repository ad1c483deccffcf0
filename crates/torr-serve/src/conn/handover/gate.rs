//! A gate before one request: hyper reads that request's bytes and none behind them, unless the request turns its connection
//! into something else.
//!
//! hyper is more lenient than the engine's own parser. What follows a request that did not upgrade its connection is for the
//! engine, which gets the connection back.

use super::socket_stream::{Acknowledged, SocketStream};
use super::upgrade::Upgrade;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use torr_wire::body::{BodyReader, Framing};

/// A connection of which hyper sees one request.
pub(super) struct Gate {
    /// Taken when the gate is dropped, never before.
    stream: Option<SocketStream>,
    /// The number of bytes of the request's header section that hyper has not read.
    head: usize,
    /// The position in the request's content, which is checked as strictly as the engine does.
    body: BodyReader,
    upgrade: Arc<Upgrade>,
    served: ServedCell,
}

/// The cell in which a gate leaves its connection when hyper drops it. It stays empty where the connection was upgraded, and as
/// long as a handler holds what hyper has given it for an upgrade.
#[derive(Clone, Default)]
pub(super) struct ServedCell(Arc<Mutex<Option<Served>>>);

/// A connection that hyper has dropped after one request.
pub(super) struct Served {
    pub stream: SocketStream,
    /// Whether the whole request has arrived, so that the next byte is the first of another one.
    pub is_whole: bool,
}

impl ServedCell {
    /// Removes and returns the connection.
    pub fn take(&self) -> Option<Served> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn put(&self, served: Served) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(served);
    }
}

impl Gate {
    /// Returns a gate before a request whose header section has `head` bytes and whose content is framed by `framing`. Both
    /// begin what arrives on the stream.
    pub fn new(stream: SocketStream, head: usize, framing: Framing, upgrade: Arc<Upgrade>, served: ServedCell) -> Self {
        Self { stream: Some(stream), head, body: BodyReader::new(framing), upgrade, served }
    }

    fn is_whole(&self) -> bool {
        self.head == 0 && self.body.is_done()
    }

    fn stream(&mut self) -> Pin<&mut SocketStream> {
        Pin::new(self.stream.as_mut().expect("the stream is taken by drop only"))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let is_whole = self.is_whole();
        if let Some(stream) = self.stream.take().filter(|_| !self.upgrade.is_accepted()) {
            self.served.put(Served { stream, is_whole });
        }
    }
}

impl Acknowledged for Gate {
    fn acknowledged(&self) -> Option<u64> {
        self.stream.as_ref()?.acknowledged()
    }
}

impl AsyncRead for Gate {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let gate = &mut *self;
        if gate.upgrade.is_accepted() {
            return gate.stream().poll_read(cx, buffer);
        }
        if gate.is_whole() {
            // The end of the connection passes, so that a handler that works for a client that is gone is dropped.
            return gate.stream().poll_end(cx);
        }
        let before = buffer.filled().len();
        ready!(gate.stream().poll_read(cx, buffer))?;
        let came = &buffer.filled()[before..];
        let of_head = came.len().min(gate.head);
        gate.head -= of_head;
        let mut body = gate.body;
        let of_body = match gate.head {
            0 => body.read(&came[of_head..], |_| {}),
            _ => Ok(0),
        };
        let used = match of_body {
            Ok(of_body) => {
                gate.body = body;
                of_head + of_body
            }
            // The head passes alone, so that there is a request to respond to. The fault is seen again by the next read.
            Err(_) if of_head > 0 => of_head,
            Err(error) => return Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, error))),
        };
        let behind = &came[used..];
        if !behind.is_empty() {
            gate.stream.iter_mut().for_each(|stream| stream.put_back(behind));
        }
        buffer.set_filled(before + used);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Gate {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.stream().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream().poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.as_ref().is_some_and(SocketStream::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream().poll_flush(cx)
    }

    /// Ends the sending side only of a connection that was upgraded: any other is given back.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.upgrade.is_accepted() {
            return self.stream().poll_shutdown(cx);
        }
        self.stream().poll_flush(cx)
    }
}
