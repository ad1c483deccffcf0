//! The byte stream of a connection that hyper serves, over its socket and TLS.

use super::cutoff::Cutoff;
use crate::conn::admission::Admission;
use crate::observe::metrics_table::{Count, Gauge};
use crate::observe::telemetry::Counts;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use torr_net::tcp_info;
use torr_net::tls::{TlsError, TlsServer};

/// The number of bytes that are encrypted, or received to be decrypted, at a time.
const PIECE: usize = 16 * 1024;
/// The number of bytes of ciphertext that may wait for the socket before no more plaintext is taken.
const ENOUGH: usize = 64 * 1024;

/// The number of bytes that are received behind a request, only to learn whether the connection has ended.
const PEEKED: usize = 1024;

/// A connection of which the kernel tells how much the client has taken.
pub(super) trait Acknowledged {
    /// Returns the number of bytes that the client's system has acknowledged since the connection began; `None` where the kernel
    /// does not tell, such as on a Unix socket.
    fn acknowledged(&self) -> Option<u64>;
}

/// A socket, with TLS or without, as tokio's streams are.
pub(super) struct SocketStream {
    socket: TcpStream,
    tls: Option<Box<TlsServer>>,
    admission: Arc<Admission>,
    /// The decrypted bytes that have arrived.
    arrived: Vec<u8>,
    /// The number of bytes of `arrived` that have been read.
    read: usize,
    /// Ciphertext that waits for the socket.
    unsent: Vec<u8>,
    counts: WorkerCounts,
    /// The time at which a server that stops ends the connection, if it is upgraded.
    cutoff: Option<Cutoff>,
}

/// The counts of the connection's worker, with this connection among those that hyper serves.
struct WorkerCounts(Counts);

impl WorkerCounts {
    fn new(counts: Counts) -> Self {
        counts.one_more(Gauge::Elsewhere);
        Self(counts)
    }

    fn add(&self, count: Count, number: u64) {
        self.0.add(count, number);
    }
}

impl Drop for WorkerCounts {
    fn drop(&mut self) {
        self.0.one_less(Gauge::Elsewhere);
    }
}

/// The parts of a stream.
pub(super) struct StreamParts {
    pub socket: OwnedFd,
    pub tls: Option<Box<TlsServer>>,
    pub admission: Arc<Admission>,
    /// Bytes that have arrived, are decrypted, and were not read.
    pub arrived: Vec<u8>,
}

impl SocketStream {
    /// # Errors
    /// If the runtime cannot watch the socket.
    pub fn new(parts: StreamParts, counts: Counts, cutoff: Option<Cutoff>) -> io::Result<Self> {
        let StreamParts { socket, tls, admission, arrived } = parts;
        let socket = TcpStream::from_std(socket.into())?;
        let counts = WorkerCounts::new(counts);
        Ok(Self { socket, tls, admission, arrived, read: 0, unsent: Vec::new(), counts, cutoff })
    }

    /// Waits until the socket takes bytes.
    ///
    /// # Errors
    /// If the connection has failed.
    pub async fn writable(&self) -> io::Result<()> {
        self.socket.writable().await
    }

    /// Returns the parts of a stream, all of whose output must have been flushed.
    ///
    /// # Errors
    /// If the runtime cannot let go of the socket.
    pub fn into_parts(mut self) -> io::Result<StreamParts> {
        self.arrived.drain(..self.read);
        let Self { socket, tls, admission, arrived, .. } = self;
        Ok(StreamParts { socket: socket.into_std()?.into(), tls, admission, arrived })
    }

    /// Puts bytes that were read last back, so that they are read next.
    pub fn put_back(&mut self, bytes: &[u8]) {
        self.arrived.splice(..self.read, bytes.iter().copied());
        self.read = 0;
    }

    /// Is ready when the connection has ended. Once anything else has arrived, which is kept, the end is not seen.
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

    /// Whether a server that stops ends the connection now.
    fn is_cut_off(&self) -> bool {
        self.cutoff.as_ref().is_some_and(Cutoff::has_come)
    }

    fn count_sent(&self, bytes: usize) {
        self.counts.add(Count::Sent, bytes as u64);
    }

    /// Reads what has arrived already.
    fn read_arrived(&mut self, buffer: &mut ReadBuf<'_>) {
        let rest = &self.arrived[self.read..];
        let fits = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..fits]);
        self.read += fits;
        if self.read == self.arrived.len() {
            (self.arrived, self.read) = (Vec::new(), 0);
        }
    }

    /// Receives ciphertext, and decrypts it. Returns whether there may be more.
    fn poll_decrypt(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        let Some(tls) = &mut self.tls else { return Poll::Ready(Ok(false)) };
        // The client has sent `close_notify`, whether it ends the connection or waits for the server to do that.
        if tls.is_closed() {
            return Poll::Ready(Ok(false));
        }
        let mut room = [const { MaybeUninit::uninit() }; PIECE];
        let mut buffer = ReadBuf::uninit(&mut room);
        ready!(Pin::new(&mut self.socket).poll_read(cx, &mut buffer))?;
        let received = buffer.filled_mut();
        let is_end = received.is_empty();
        self.counts.add(Count::Received, received.len() as u64);
        let decrypted = tls.receive(received, &mut self.unsent, &mut self.arrived);
        // Without `close_notify`, something may have been cut off.
        let is_cut = is_end && !tls.is_closed();
        // An alert, a ticket or a change of keys; if it does not fit now, it goes with what is sent next.
        let _ = self.poll_unsent(cx)?;
        decrypted.map_err(broken)?;
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

impl Acknowledged for SocketStream {
    fn acknowledged(&self) -> Option<u64> {
        tcp_info(&self.socket)?.acknowledged
    }
}

fn broken(error: TlsError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

impl AsyncRead for SocketStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.cutoff.as_mut().is_some_and(|cutoff| cutoff.poll(cx)) {
            return Poll::Ready(Ok(()));
        }
        if self.tls.is_none() && self.arrived.is_empty() {
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
        self.read_arrived(buffer);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SocketStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let stream = &mut *self;
        if stream.is_cut_off() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if stream.tls.is_none() {
            let sent = ready!(Pin::new(&mut stream.socket).poll_write(cx, bytes))?;
            stream.count_sent(sent);
            return Poll::Ready(Ok(sent));
        }
        if stream.unsent.len() >= ENOUGH {
            ready!(stream.poll_unsent(cx))?;
        }
        let piece = &bytes[..bytes.len().min(PIECE)];
        if let Some(tls) = &mut stream.tls {
            tls.send(piece, &mut stream.unsent).map_err(broken)?;
        }
        // What does not fit now waits for the next call.
        let _ = stream.poll_unsent(cx)?;
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
        match self.tls {
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
        self.tls.is_none()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_unsent(cx))?;
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let stream = &mut *self;
        if let Some(tls) = &mut stream.tls {
            tls.close_notify(&mut stream.unsent);
        }
        ready!(stream.poll_unsent(cx))?;
        Pin::new(&mut stream.socket).poll_shutdown(cx)
    }
}
