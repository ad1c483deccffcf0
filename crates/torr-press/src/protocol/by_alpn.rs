//! HTTP/1.1 or HTTP/2 on one connection, as its TLS handshake negotiates (ALPN, RFC 7301).

use super::http1::Http1;
use super::http2::Http2;
use super::http2::packed::Packed;
use super::{InFlight, Protocol, ProtocolEvent};
use crate::response::keeper::Keeper;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::response::HeadCache;

/// The name of HTTP/2 over TLS (RFC 9113, section 3.1).
const HTTP2: &[u8] = b"h2";

/// HTTP/2 where it was negotiated, otherwise HTTP/1.1 with one request at a time. Responses are kept for their users.
#[derive(Debug, Default)]
pub struct ByAlpn {
    http1: Http1<Keeper>,
    /// HTTP/2, on a connection whose server has selected it.
    http2: Option<Box<Http2<'static>>>,
    /// The key of the latest request in HTTP/1.1, whose responses have none.
    key: u32,
}

/// The state that all connections of a thread share.
#[derive(Debug, Default)]
pub struct ByAlpnState {
    http1: HeadCache,
    http2: Packed,
}

impl ByAlpn {
    /// Returns an event of HTTP/1.1 with the key of the request in flight.
    fn with_key(&self, event: ProtocolEvent) -> ProtocolEvent {
        match event {
            ProtocolEvent::Response(mut received) => {
                received.key = self.key;
                ProtocolEvent::Response(received)
            }
            other => other,
        }
    }
}

impl Protocol for ByAlpn {
    const BUFFERS_EVENTS: bool = true;
    const MULTIPLEXES: bool = true;
    /// Virtual users take a response as a whole.
    const STREAMS: bool = false;
    type ThreadState = ByAlpnState;

    fn negotiated(&mut self, protocol: Option<&[u8]>) {
        match protocol == Some(HTTP2) {
            true => drop(self.http2.get_or_insert_with(|| Box::new(Http2::uninspected()))),
            false => self.http2 = None,
        }
    }

    #[inline]
    fn multiplexes(&self) -> bool {
        self.http2.is_some()
    }

    fn open(&mut self, out: &mut Vec<u8>) {
        match &mut self.http2 {
            Some(http2) => http2.open(out),
            None => self.http1.open(out),
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.http2.as_ref().map_or_else(|| self.http1.has_room(), |http2| http2.has_room())
    }

    #[inline]
    fn start(&mut self, thread: &mut ByAlpnState, key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        match &mut self.http2 {
            Some(http2) => http2.start(&mut thread.http2, key, source, out),
            None => {
                self.key = key;
                self.http1.start(&mut thread.http1, key, source, out)
            }
        }
    }

    #[inline]
    fn receive(
        &mut self,
        thread: &mut ByAlpnState,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        if let Some(http2) = &mut self.http2 {
            return http2.receive(&mut thread.http2, input, at, in_flight, out);
        }
        // HTTP/1.1 leaves no event behind input that was consumed.
        if input.is_empty() {
            return Ok((0, None));
        }
        let (used, event) = self.http1.receive(&mut thread.http1, input, at, in_flight, out)?;
        Ok((used, event.map(|event| self.with_key(event))))
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        match &mut self.http2 {
            Some(http2) => http2.server_closed(),
            None => self.http1.server_closed().map(|event| event.map(|event| self.with_key(event))),
        }
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.http2.as_ref().map_or_else(|| self.http1.has_more(), |http2| http2.has_more())
    }

    fn write_more(&mut self, thread: &mut ByAlpnState, out: &mut Vec<u8>) -> Result<(), Failure> {
        match &mut self.http2 {
            Some(http2) => http2.write_more(&mut thread.http2, out),
            None => self.http1.write_more(&mut thread.http1, out),
        }
    }

    fn discard_in_flight(&mut self) {
        match &mut self.http2 {
            Some(http2) => http2.discard_in_flight(),
            None => self.http1.discard_in_flight(),
        }
    }

    fn is_draining(&self) -> bool {
        self.http2.as_ref().map_or_else(|| self.http1.is_draining(), |http2| http2.is_draining())
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        match &mut self.http2 {
            Some(http2) => http2.kept(),
            None => self.http1.kept(),
        }
    }

    fn cancel(&mut self, thread: &mut ByAlpnState, key: u32, out: &mut Vec<u8>) -> bool {
        self.http2.as_mut().is_some_and(|http2| http2.cancel(&mut thread.http2, key, out))
    }
}
