//! The bytes of one socket: its TCP connection, with TLS or without.

use super::handle::Counts;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use tokio::io::Interest;
use tokio::net::{TcpSocket, TcpStream};
use torr_net::tls::TlsClient;

/// The number of bytes that are received at a time.
const PIECE: usize = 16 * 1024;

/// A connection.
pub(super) struct Wire {
    stream: TcpStream,
    tls: Option<TlsClient>,
    /// The bytes that are still to be sent, as they go over the socket.
    out: Vec<u8>,
    /// The bytes that have arrived and were not taken, decrypted.
    pub plain: Vec<u8>,
    piece: Vec<u8>,
    counts: Arc<Counts>,
    /// Whether the server has ended its side.
    pub has_ended: bool,
}

impl Wire {
    /// Connects to the first of these addresses that takes a connection.
    ///
    /// # Errors
    /// The reason of the last one in one line.
    pub async fn connect(
        addresses: impl Iterator<Item = SocketAddr>,
        source: Option<IpAddr>,
        counts: Arc<Counts>,
    ) -> Result<Self, String> {
        let mut failed = "the server has no address".to_owned();
        for address in addresses {
            match connect(address, source).await {
                Ok(stream) => {
                    let _ = stream.set_nodelay(true);
                    let (out, plain) = (Vec::new(), Vec::new());
                    return Ok(Self { stream, tls: None, out, plain, piece: vec![0; PIECE], counts, has_ended: false });
                }
                Err(error) => failed = format!("dial tcp {address}: connect: {}", reason(&error)),
            }
        }
        Err(failed)
    }

    /// Begins TLS, and completes its handshake.
    ///
    /// # Errors
    /// The reason in one line.
    pub async fn secure(&mut self, mut client: TlsClient) -> Result<(), String> {
        client.open(&mut self.out).map_err(|error| error.to_string())?;
        self.tls = Some(client);
        while self.tls.as_ref().is_some_and(TlsClient::is_handshaking) {
            self.turn(true).await?;
            if self.has_ended {
                return Err("the server closed the connection in the TLS handshake".to_owned());
            }
        }
        Ok(())
    }

    /// Adds bytes to those that are to be sent.
    ///
    /// # Errors
    /// The reason in one line.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        match &mut self.tls {
            Some(tls) => tls.send(bytes, &mut self.out).map_err(|error| error.to_string()),
            None => {
                self.out.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Ends this side, once all that is to be sent was sent.
    pub fn end(&mut self) {
        if let Some(tls) = &mut self.tls {
            tls.close_notify(&mut self.out);
        }
    }

    /// Returns the number of bytes that are still to be sent.
    pub fn unsent(&self) -> usize {
        self.out.len()
    }

    /// Waits until something could be sent or received, or the other side has ended. Nothing is lost if the wait is given up.
    ///
    /// # Errors
    /// The reason in one line.
    pub async fn turn(&mut self, reads: bool) -> Result<(), String> {
        let mut interest = if reads { Interest::READABLE } else { Interest::WRITABLE };
        if !self.out.is_empty() {
            interest = interest.add(Interest::WRITABLE);
        }
        let ready = self.stream.ready(interest).await.map_err(|error| reason(&error))?;
        if ready.is_writable() && !self.out.is_empty() {
            self.write()?;
        }
        if reads && ready.is_readable() {
            self.receive()?;
        }
        Ok(())
    }

    /// Receives something, or notes that the other side has ended.
    ///
    /// # Errors
    /// The reason in one line.
    pub fn poll_receive(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        ready!(self.stream.poll_read_ready(context)).map_err(|error| reason(&error))?;
        Poll::Ready(self.receive())
    }

    /// Sends all that is to be sent.
    ///
    /// # Errors
    /// The reason in one line.
    pub fn poll_flush(&mut self, context: &mut Context<'_>) -> Poll<Result<(), String>> {
        while !self.out.is_empty() {
            ready!(self.stream.poll_write_ready(context)).map_err(|error| reason(&error))?;
            self.write()?;
        }
        Poll::Ready(Ok(()))
    }

    /// Returns the protocol that the server has selected in the handshake of TLS (ALPN).
    pub fn protocol(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.protocol()
    }

    fn write(&mut self) -> Result<(), String> {
        match self.stream.try_write(&self.out) {
            Ok(sent) => {
                self.out.drain(..sent);
                self.counts.sent.fetch_add(sent as u64, Ordering::AcqRel);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(reason(&error)),
        }
    }

    fn receive(&mut self) -> Result<(), String> {
        let received = match self.stream.try_read(&mut self.piece) {
            Ok(0) => {
                self.has_ended = true;
                return Ok(());
            }
            Ok(received) => received,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(reason(&error)),
        };
        self.counts.received.fetch_add(received as u64, Ordering::AcqRel);
        let piece = &mut self.piece[..received];
        match &mut self.tls {
            Some(tls) => {
                tls.receive(piece, &mut self.out, &mut self.plain).map_err(|error| error.to_string())?;
                self.has_ended |= tls.is_closed();
            }
            None => self.plain.extend_from_slice(piece),
        }
        Ok(())
    }
}

async fn connect(address: SocketAddr, source: Option<IpAddr>) -> io::Result<TcpStream> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if let Some(source) = source.filter(|source| source.is_ipv4() == address.is_ipv4()) {
        socket.bind(SocketAddr::new(source, 0))?;
    }
    socket.connect(address).await
}

/// Returns the reason of an error in a few words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".to_owned(),
        io::ErrorKind::ConnectionReset => "connection reset by peer".to_owned(),
        io::ErrorKind::BrokenPipe => "broken pipe".to_owned(),
        io::ErrorKind::TimedOut => "i/o timeout".to_owned(),
        _ => error.to_string(),
    }
}
