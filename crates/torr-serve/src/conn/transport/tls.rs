//! TLS below HTTP.

use super::{Peer, Received, Transport};
use crate::client;
use crate::conn::next::Next;
use std::sync::Arc;
use torr_net::tls::{TlsAcceptor, TlsError, TlsServer};

/// The response to a client that speaks plain HTTP where TLS is spoken.
const NO_TLS: &[u8] = b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 32\r\n\
    Connection: close\r\n\r\nThis port speaks TLS: use https\n";

/// A transport secured by TLS.
pub(crate) struct Tls(Box<TlsServer>);

impl Transport for Tls {
    const IS_PLAIN: bool = false;

    fn accept(tls: Option<&TlsAcceptor>) -> Result<Self, TlsError> {
        tls.expect("this transport is chosen where there is an acceptor").accept().map(Box::new).map(Self)
    }

    fn resume(tls: Option<Box<TlsServer>>) -> Self {
        Self(tls.expect("hyper returns the TLS that it was given"))
    }

    fn into_tls(self) -> Option<Box<TlsServer>> {
        Some(self.0)
    }

    fn receive<'b>(
        &mut self,
        bytes: &'b mut [u8],
        peer: Peer<'_>,
        plain: &'b mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<Received<'b>, Next> {
        let (was_securing, begin) = (self.0.is_handshaking(), out.len());
        plain.clear();
        if let Err(error) = self.0.receive(bytes, out, plain) {
            return Err(refuse(&error, was_securing, out, begin));
        }
        let is_established = was_securing && !self.0.is_handshaking();
        if is_established {
            peer.client.tls = client::Tls::of(&self.0).map(Arc::new);
        }
        Ok(Received { bytes: plain, is_http2: is_established && self.0.protocol() == Some(b"h2") })
    }

    fn send<R>(
        &mut self,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        put: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> Result<R, TlsError> {
        plain.clear();
        let result = put(plain);
        if !plain.is_empty() {
            self.0.send(plain, out)?;
        }
        Ok(result)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.0.close_notify(out);
    }

    fn is_establishing(&self) -> bool {
        self.0.is_handshaking()
    }

    fn has_ended(&self) -> bool {
        self.0.is_closed()
    }
}

/// Ends a connection whose client does not speak TLS as it should. The alert is in `out` already. A client that never spoke TLS
/// is sent plain HTTP instead: an alert would tell it nothing.
#[cold]
fn refuse(error: &TlsError, was_securing: bool, out: &mut Vec<u8>, begin: usize) -> Next {
    tracing::debug!(%error, "a TLS handshake failed");
    if *error == TlsError::ClientNoTls && was_securing {
        out.truncate(begin);
        out.extend_from_slice(NO_TLS);
    }
    Next::Linger
}
