//! The layers between a connection's socket and its HTTP, composed by type: [`Plain`], [`Tls`], [`Proxied`] around either.

mod proxied;
mod tls;

pub(crate) use proxied::Proxied;
pub(crate) use tls::Tls;

use crate::client::Client;
use crate::conn::admission::Admission;
use crate::conn::next::Next;
use torr_net::tls::{TlsAcceptor, TlsError, TlsServer};

/// The layers below HTTP on one connection, without a socket.
pub(crate) trait Transport: Sized + 'static {
    /// Whether what is sent goes to the socket as it is.
    const IS_PLAIN: bool;

    /// Begins a connection. `tls` is there where connections are secured.
    ///
    /// # Errors
    /// If the TLS library makes no connection.
    fn accept(tls: Option<&TlsAcceptor>) -> Result<Self, TlsError>;

    /// Continues a connection that hyper has served for a while.
    fn resume(tls: Option<Box<TlsServer>>) -> Self;

    /// Returns the state of TLS, with which hyper continues the connection.
    fn into_tls(self) -> Option<Box<TlsServer>>;

    /// Decodes what has arrived, within `bytes` or into `plain`. Appends what has to be sent in return to `out`.
    ///
    /// # Errors
    /// The end of a connection whose HTTP does not begin: [`Next::Linger`] after output that tells the client of its fault,
    /// [`Next::Drop`] for a client that is turned away.
    fn receive<'b>(
        &mut self,
        bytes: &'b mut [u8],
        peer: Peer<'_>,
        plain: &'b mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<Received<'b>, Next>;

    /// Encodes what `put` appends to its buffer, and appends that to `out`. `plain` is memory for the time between.
    ///
    /// # Errors
    /// If the keys of TLS are used up.
    fn send<R>(
        &mut self,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        put: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> Result<R, TlsError>;

    /// Appends what tells the client that nothing was cut off (`close_notify`).
    fn end(&mut self, out: &mut Vec<u8>);

    /// Whether a PROXY header or a TLS handshake is not complete.
    fn is_establishing(&self) -> bool;

    /// Whether the client has ended its side with `close_notify`. It may keep the socket open, to receive responses.
    fn has_ended(&self) -> bool;
}

/// The properties of the client that a transport may change.
pub(crate) struct Peer<'c> {
    pub client: &'c mut Client,
    pub admission: &'c mut Admission,
}

/// The bytes that a transport has decoded.
pub(crate) struct Received<'b> {
    pub bytes: &'b [u8],
    /// The client and the server have agreed on HTTP/2 (ALPN).
    pub is_http2: bool,
}

/// No transport of its own: bytes of HTTP on the socket.
pub(crate) struct Plain;

impl Transport for Plain {
    const IS_PLAIN: bool = true;

    #[inline]
    fn accept(_: Option<&TlsAcceptor>) -> Result<Self, TlsError> {
        Ok(Self)
    }

    fn resume(_: Option<Box<TlsServer>>) -> Self {
        Self
    }

    fn into_tls(self) -> Option<Box<TlsServer>> {
        None
    }

    #[inline]
    fn receive<'b>(
        &mut self,
        bytes: &'b mut [u8],
        _: Peer<'_>,
        _: &'b mut Vec<u8>,
        _: &mut Vec<u8>,
    ) -> Result<Received<'b>, Next> {
        Ok(Received { bytes, is_http2: false })
    }

    #[inline]
    fn send<R>(
        &mut self,
        _: &mut Vec<u8>,
        out: &mut Vec<u8>,
        put: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> Result<R, TlsError> {
        Ok(put(out))
    }

    #[inline]
    fn end(&mut self, _: &mut Vec<u8>) {}

    #[inline]
    fn is_establishing(&self) -> bool {
        false
    }

    #[inline]
    fn has_ended(&self) -> bool {
        false
    }
}
