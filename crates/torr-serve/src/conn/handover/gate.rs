//! A gate before one request: hyper reads that request's bytes and none behind them, unless the request turns its connection
//! into something else.
//!
//! hyper is more lenient than the engine's own parser. What follows a request that did not upgrade its connection is for the
//! engine, which gets the connection back.

use super::line::Line;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use torr_wire::body::{BodyReader, Framing};

/// A connection of which hyper sees one request.
pub(super) struct Gate {
    /// Taken when the gate is dropped, never before.
    line: Option<Line>,
    /// Bytes of the request's head that hyper has not read.
    head: usize,
    /// The position in the request's body, which is checked as strictly as the engine does.
    body: BodyReader,
    passage: Arc<Passage>,
}

/// The state that a gate shares with the task that serves its connection. It has to be fit for other threads, since hyper
/// asks for that where a connection may be upgraded.
#[derive(Default)]
pub(super) struct Passage {
    is_open: AtomicBool,
    served: Mutex<Option<Served>>,
}

/// A connection that hyper has dropped after one request.
pub(super) struct Served {
    pub line: Line,
    /// Whether the whole request has arrived, so that the next byte is the first of another one.
    pub is_whole: bool,
}

impl Passage {
    /// Lets everything pass from now on: the request has turned the connection into something else.
    pub fn open(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// Takes the connection back, once hyper has dropped its end. `None` if the connection was upgraded, or if a handler still
    /// holds what hyper has given it for an upgrade.
    pub fn take_served(&self) -> Option<Served> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Gate {
    /// A gate before a request whose head has this many bytes and whose body is framed like this. Both begin what arrives on
    /// the line.
    pub fn new(line: Line, head: usize, framing: Framing, passage: Arc<Passage>) -> Self {
        Self { line: Some(line), head, body: BodyReader::new(framing), passage }
    }

    fn is_whole(&self) -> bool {
        self.head == 0 && self.body.is_done()
    }

    /// The line, for as long as the gate lives.
    fn line(&mut self) -> Pin<&mut Line> {
        Pin::new(self.line.as_mut().expect("it is taken by drop only"))
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let is_whole = self.is_whole();
        if let Some(line) = self.line.take().filter(|_| !self.passage.is_open()) {
            *self.passage.served.lock().unwrap_or_else(PoisonError::into_inner) = Some(Served { line, is_whole });
        }
    }
}

impl AsyncRead for Gate {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let gate = &mut *self;
        if gate.passage.is_open() {
            return gate.line().poll_read(cx, buffer);
        }
        if gate.is_whole() {
            // The end of the connection passes, so that a handler who works for a client that has gone is dropped.
            return gate.line().poll_end(cx);
        }
        let before = buffer.filled().len();
        ready!(gate.line().poll_read(cx, buffer))?;
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
            // The head passes alone, so that there is a request to answer. What is wrong is seen again by the next read.
            Err(_) if of_head > 0 => of_head,
            Err(error) => return Poll::Ready(Err(io::Error::new(ErrorKind::InvalidData, error))),
        };
        let behind = &came[used..];
        if !behind.is_empty() {
            gate.line.iter_mut().for_each(|line| line.put_back(behind));
        }
        buffer.set_filled(before + used);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Gate {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.line().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.line().poll_write_vectored(cx, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.line.as_ref().is_some_and(Line::is_write_vectored)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.line().poll_flush(cx)
    }

    /// Ends the sending side only of a connection that was upgraded: any other is given back.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.passage.is_open() {
            return self.line().poll_shutdown(cx);
        }
        self.line().poll_flush(cx)
    }
}
