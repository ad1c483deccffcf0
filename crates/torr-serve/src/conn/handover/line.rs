//! The bytes of a connection that has left the engine.

use super::cutoff::Cutoff;
use crate::conn::seats::Seat;
use crate::observe::telemetry::{Count, Counts, Gauge};
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

/// The most that is received of what follows a request, only to learn whether the connection has ended.
const PEEKED: usize = 1024;

/// A socket, with TLS or without, what has arrived on it already, and its place among the server's connections.
pub(super) struct Line {
    socket: TcpStream,
    secure: Option<Box<TlsServer>>,
    seat: Arc<Seat>,
    /// What has arrived and been decrypted.
    arrived: Vec<u8>,
    /// How much of that has been read.
    read: usize,
    /// Ciphertext that waits for the socket.
    unsent: Vec<u8>,
    /// What comes and goes is counted for this worker.
    counts: Here,
    /// What has been sent, for who watches this connection.
    sent: Arc<AtomicU64>,
    /// When the server that stops ends it, if it is upgraded.
    cutoff: Option<Cutoff>,
}

/// Counts a connection among those that have left the engine.
struct Here(Counts);

impl Here {
    fn new(counts: Counts) -> Self {
        counts.one_more(Gauge::Elsewhere);
        Self(counts)
    }

    fn add(&self, count: Count, number: u64) {
        self.0.add(count, number);
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        self.0.one_less(Gauge::Elsewhere);
    }
}

/// The parts of a line whose connection goes back to the engine.
pub(super) struct Parts {
    pub socket: OwnedFd,
    pub secure: Option<Box<TlsServer>>,
    pub seat: Arc<Seat>,
    /// Bytes that have arrived, were decrypted, and were read by nobody.
    pub arrived: Vec<u8>,
}

impl Line {
    /// # Errors
    /// If the runtime cannot watch the socket.
    pub fn new(
        socket: OwnedFd,
        secure: Option<Box<TlsServer>>,
        seat: Arc<Seat>,
        arrived: Vec<u8>,
        counts: Counts,
        sent: Arc<AtomicU64>,
        cutoff: Option<Cutoff>,
    ) -> io::Result<Self> {
        let socket = TcpStream::from_std(socket.into())?;
        let counts = Here::new(counts);
        Ok(Self { socket, secure, seat, arrived, read: 0, unsent: Vec::new(), counts, sent, cutoff })
    }

    /// Waits until the socket takes bytes.
    ///
    /// # Errors
    /// If the connection has failed.
    pub async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Takes the line apart. What was written must have been flushed.
    ///
    /// # Errors
    /// If the runtime cannot let go of the socket.
    pub fn into_parts(mut self) -> io::Result<Parts> {
        self.arrived.drain(..self.read);
        let Self { socket, secure, seat, arrived, .. } = self;
        Ok(Parts { socket: socket.into_std()?.into(), secure, seat, arrived })
    }

    /// Puts back bytes that were read last, so that they are the next ones to be read.
    pub fn put_back(&mut self, bytes: &[u8]) {
        self.arrived.splice(..self.read, bytes.iter().copied());
        self.read = 0;
    }

    /// Is ready when the connection has ended. Once anything else has arrived, which is kept, nobody learns of its end.
    pub fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.arrived.is_empty() {
            return Poll::Pending;
        }
        let mut room = [0; PEEKED];
        let mut buffer = ReadBuf::new(&mut room);
        ready!(Pin::new(&mut *self).poll_read(cx, &mut buffer))?;
        if buffer.filled().is_empty() {
            return Poll::Ready(Ok(()));
        }
        self.put_back(buffer.filled());
        Poll::Pending
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
            secure.close_notify(&mut line.unsent);
        }
        ready!(line.poll_unsent(cx))?;
        Pin::new(&mut line.socket).poll_shutdown(cx)
    }
}
