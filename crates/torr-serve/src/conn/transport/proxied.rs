//! A PROXY header at the beginning of a connection, below TLS or HTTP.

use super::{Peer, Received, Transport};
use crate::client::proxy_protocol;
use crate::conn::next::Next;
use torr_net::tls::{TlsAcceptor, TlsError, TlsServer};

/// A transport behind a PROXY header, which tells the client's address.
pub(crate) struct Proxied<T> {
    /// The part of the header that has arrived; `None` once the header is complete.
    header: Option<Vec<u8>>,
    inner: T,
}

impl<T: Transport> Transport for Proxied<T> {
    const IS_PLAIN: bool = T::IS_PLAIN;

    fn accept(tls: Option<&TlsAcceptor>) -> Result<Self, TlsError> {
        Ok(Self { header: Some(Vec::new()), inner: T::accept(tls)? })
    }

    fn resume(tls: Option<Box<TlsServer>>) -> Self {
        Self { header: None, inner: T::resume(tls) }
    }

    fn into_tls(self) -> Option<Box<TlsServer>> {
        self.inner.into_tls()
    }

    fn receive<'b>(
        &mut self,
        bytes: &'b mut [u8],
        peer: Peer<'_>,
        plain: &'b mut Vec<u8>,
        out: &mut Vec<u8>,
    ) -> Result<Received<'b>, Next> {
        let Some(header) = &mut self.header else { return self.inner.receive(bytes, peer, plain, out) };
        let before = header.len();
        header.extend_from_slice(bytes);
        let parsed = proxy_protocol::parse(header).map_err(|_| Next::Drop)?;
        let Some((proxied, length)) = parsed else { return Ok(Received { bytes: &[], is_http2: false }) };
        self.header = None;
        peer.client.is_unknown = proxied.is_unknown;
        if let Some(source) = proxied.source {
            peer.admission.charge(source.ip()).map_err(|_| Next::Drop)?;
            peer.client.address = Some(source);
        }
        // The header was not complete before these bytes, so that it ends among them.
        self.inner.receive(&mut bytes[length - before..], peer, plain, out)
    }

    fn send<R>(
        &mut self,
        plain: &mut Vec<u8>,
        out: &mut Vec<u8>,
        put: impl FnOnce(&mut Vec<u8>) -> R,
    ) -> Result<R, TlsError> {
        self.inner.send(plain, out, put)
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        self.inner.end(out);
    }

    fn is_establishing(&self) -> bool {
        self.header.is_some() || self.inner.is_establishing()
    }

    fn has_ended(&self) -> bool {
        self.inner.has_ended()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Plain;
    use super::*;
    use crate::client::Client;
    use crate::conn::admission::ConnectionLimits;

    #[test]
    fn the_header_is_removed_wherever_the_bytes_are_split() {
        let (header, request) = ("PROXY TCP4 10.0.0.1 10.0.0.2 1000 80\r\n", "GET / HTTP/1.1\r\n\r\n");
        let wire = [header, request].concat();
        for at in 0..=wire.len() {
            let mut transport = Proxied::<Plain>::accept(None).expect("plain bytes need no library");
            let mut admission = ConnectionLimits::of_all(1).admit(None).expect("there is room");
            let (mut client, mut received, mut out) = (Client::default(), Vec::new(), Vec::new());
            for piece in [&wire[..at], &wire[at..]] {
                assert_eq!(transport.is_establishing(), received.is_empty() && client.address.is_none());
                let (mut bytes, mut plain) = (piece.as_bytes().to_vec(), Vec::new());
                let peer = Peer { client: &mut client, admission: &mut admission };
                let decoded = transport.receive(&mut bytes, peer, &mut plain, &mut out);
                received.extend_from_slice(decoded.expect("the header is sound").bytes);
            }
            assert_eq!((&received[..], &out[..]), (request.as_bytes(), &[][..]), "split at {at}");
            assert_eq!(client.address, Some(([10, 0, 0, 1], 1000).into()), "split at {at}");
        }
    }
}
