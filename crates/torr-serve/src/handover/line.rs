//! The bytes of a connection that has left the engine.

use super::cutoff::Cutoff;
use crate::seats::Seat;
use crate::telemetry::{Count, Counts, Gauge};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use torr_net::tls::{TlsError, TlsServer};

/// The most that is encrypted, or received to be decrypted, at a time.
const PIECE: usize = 16 * 1024;
/// Ciphertext that may wait for the socket before no more is taken.
const ENOUGH: usize = 64 * 1024;

/// A socket, with TLS or without, what has arrived on it already, and its place among the server's connections.
pub(super) struct Line {
    socket: TcpStream,
    secure: Option<Box<TlsServer>>,
    _seat: Seat,
    /// What has arrived and been decrypted.
    arrived: Vec<u8>,
    /// How much of that has been read.
    read: usize,
    /// Ciphertext that waits for the socket.
    unsent: Vec<u8>,
    /// What comes and goes is counted for this worker.
    counts: Counts,
    /// What has been sent, for who watches this connection.
    sent: Arc<AtomicU64>,
    /// When the server that stops ends it, if it is upgraded.
    cutoff: Option<Cutoff>,
}

impl Line {
    /// # Errors
    /// If the runtime cannot watch the socket.
    pub fn new(
        socket: OwnedFd,
        secure: Option<Box<TlsServer>>,
        seat: Seat,
        arrived: Vec<u8>,
        counts: Counts,
        sent: Arc<AtomicU64>,
        cutoff: Option<Cutoff>,
    ) -> io::Result<Self> {
        let socket = TcpStream::from_std(socket.into())?;
        counts.one_more(Gauge::Elsewhere);
        Ok(Self { socket, secure, _seat: seat, arrived, read: 0, unsent: Vec::new(), counts, sent, cutoff })
    }

    /// Whether the server that stops ends it now.
    fn is_cut_off(&self) -> bool {
        self.cutoff.as_ref().is_some_and(Cutoff::has_come)
    }

    fn count_sent(&self, bytes: usize) {
        self.counts.add(Count::Sent, bytes as u64);
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Gives what has arrived already.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.arrived[self.read..];
        let fits = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..fits]);
        self.read += fits;
        if self.read == self.arrived.len() {
            (self.arrived, self.read) = (Vec::new(), 0);
        }
    }

    /// Receives ciphertext, and decrypts it. Gives whether there may be more.
    fn poll_decrypt(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let Some(secure) = &mut self.secure else { return Poll::Ready(Ok(false)) };
        // The client has said so, whether it ends the connection or waits for us to do that.
        if secure.is_closed() {
            return Poll::Ready(Ok(false));
        }
        let mut room = [const { MaybeUninit::uninit() }; PIECE];
        let mut buffer = ReadBuf::uninit(&mut room);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        let received = buffer.filled_mut();
        let is_end = received.is_empty();
        self.counts.add(Count::Received, received.len() as u64);
        let taken = secure.receive(received, &mut self.unsent, &mut self.arrived);
        // Without a word of it, something may have been cut off.
        let is_cut = is_end && !secure.is_closed();
        // An alert, a ticket or a change of keys; if it does not fit now, it goes with what is sent next.
        let _ = self.poll_unsent(cx)?;
        taken.map_err(broken)?;
        Poll::Ready(if is_cut { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(!is_end) })
    }

    /// Sends ciphertext that waits.
    fn poll_unsent(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            match ready!(Pin::new(&mut self.socket).poll_write(cx, &self.unsent))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                sent => {
                    self.count_sent(sent);
                    self.unsent.drain(..sent);
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.counts.one_less(Gauge::Elsewhere);
    }
}

fn broken(error: TlsError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl AsyncRead for Line {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.cutoff.as_mut().is_some_and(|cutoff| cutoff.poll(cx)) {
            return Poll::Ready(Ok(()));
        }
        if self.secure.is_none() && self.arrived.is_empty() {
            let before = buffer.filled().len();
            ready!(Pin::new(&mut self.socket).poll_read(cx, buffer))?;
            self.counts.add(Count::Received, (buffer.filled().len() - before) as u64);
            return Poll::Ready(Ok(()));
        }
        while self.arrived.is_empty() {
            if !ready!(self.poll_decrypt(cx))? {
                break;
            }
        }
        self.give(buffer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Line {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let line = &mut *self;
        if line.is_cut_off() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if line.secure.is_none() {
            let sent = ready!(Pin::new(&mut line.socket).poll_write(cx, bytes))?;
            line.count_sent(sent);
            return Poll::Ready(Ok(sent));
        }
        if line.unsent.len() >= ENOUGH {
            ready!(line.poll_unsent(cx))?;
        }
        let piece = &bytes[..bytes.len().min(PIECE)];
        if let Some(secure) = &mut line.secure {
            secure.send(piece, &mut line.unsent).map_err(broken)?;
        }
        // What does not fit now waits for the next call.
        let _ = line.poll_unsent(cx)?;
        Poll::Ready(Ok(piece.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        if self.is_cut_off() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        match self.secure {
            None => {
                let sent = ready!(Pin::new(&mut self.socket).poll_write_vectored(cx, pieces))?;
                self.count_sent(sent);
                Poll::Ready(Ok(sent))
            }
            Some(_) => {
                let piece = pieces.iter().find(|piece| !piece.is_empty()).map_or(&[][..], |piece| piece);
                self.poll_write(cx, piece)
            }
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.secure.is_none()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_unsent(cx))?;
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let line = &mut *self;
        if let Some(secure) = &mut line.secure {
            secure.end(&mut line.unsent);
        }
        ready!(line.poll_unsent(cx))?;
        Pin::new(&mut line.socket).poll_shutdown(cx)
    }
}
