//! Any protocol over TLS.

use crate::failures;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::request::SentContent;
use crate::response::events::EventArrival;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use crate::work::users::Message;
use torr_gauge::collector::FirstResponse;
use torr_gauge::{Failure, Sample};
use torr_net::Nanos;
use torr_net::tls::{NegotiatedTls, TlsClient};

/// The size in bytes of the pieces in which large content is encrypted.
const PIECE: usize = 128 * 1024;

/// A protocol whose bytes go through TLS.
#[derive(Debug)]
pub struct OverTls<S> {
    tls: TlsClient,
    inner: S,
    /// The content of a request that is not encrypted yet. No request follows before.
    content: SentContent,
    /// The failure of the first TLS message.
    failed: Option<Failure>,
}

/// The buffers that one thread's connections over TLS share.
#[derive(Debug, Default)]
pub struct TlsBuffers<T> {
    /// Plaintext of the connection that is being worked on.
    received: Vec<u8>,
    /// The number of bytes of `received` that have been read.
    read: usize,
    to_send: Vec<u8>,
    inner: T,
}

impl<T> TlsBuffers<T> {
    /// Returns the state of the protocol within.
    pub(crate) fn inner(&mut self) -> &mut T {
        &mut self.inner
    }
}

impl<S: Protocol> OverTls<S> {
    /// Returns a protocol over TLS with the settings and the resumable sessions of `client`.
    pub(crate) fn new(client: &TlsClient, inner: S) -> Self {
        Self { tls: client.with_shared_sessions(), inner, content: SentContent::default(), failed: None }
    }

    fn seal(&mut self, to_send: &mut Vec<u8>, out: &mut Vec<u8>) -> Result<(), Failure> {
        if to_send.is_empty() {
            return Ok(());
        }
        let sent = self.tls.send(to_send, out).map_err(failures::tls);
        to_send.clear();
        sent
    }
}

impl<S: Protocol> Protocol for OverTls<S> {
    const BUFFERS_EVENTS: bool = true;
    const MULTIPLEXES: bool = S::MULTIPLEXES;
    const STREAMS: bool = S::STREAMS;
    const HAS_HANDSHAKES: bool = S::HAS_HANDSHAKES;
    const HAS_LAST_BYTES: bool = S::HAS_LAST_BYTES;
    type ThreadState = TlsBuffers<S::ThreadState>;

    #[inline]
    fn multiplexes(&self) -> bool {
        self.inner.multiplexes()
    }

    fn open(&mut self, out: &mut Vec<u8>) {
        self.failed = self.tls.open(out).err().map(failures::tls);
        self.content = SentContent::default();
    }

    fn is_handshaking(&self) -> bool {
        self.tls.is_handshaking() || self.inner.is_handshaking()
    }

    fn secured(&self) -> Option<NegotiatedTls> {
        self.tls.negotiated()
    }

    fn certificate(&self) -> Option<&[u8]> {
        self.tls.server_certificates().next()
    }

    #[inline]
    fn has_room(&self) -> bool {
        self.inner.has_room() && !self.tls.is_closed() && self.content.is_empty()
    }

    #[inline]
    fn is_draining(&self) -> bool {
        self.tls.is_closed() || self.inner.is_draining()
    }

    #[inline]
    fn start(&mut self, shared: &mut Self::ThreadState, key: u32, source: &mut Source<'_>, _out: &mut Vec<u8>) -> bool {
        let is_head = self.inner.start(&mut shared.inner, key, source, &mut shared.to_send);
        if let Some(content) = source.take_content() {
            self.content = content;
        }
        is_head
    }

    #[inline]
    fn flush(&mut self, shared: &mut Self::ThreadState, out: &mut Vec<u8>) -> Result<(), Failure> {
        self.inner.flush(&mut shared.inner, &mut shared.to_send)?;
        self.seal(&mut shared.to_send, out)
    }

    fn receive(
        &mut self,
        shared: &mut Self::ThreadState,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        if let Some(failure) = self.failed.take() {
            return Err(failure);
        }
        if !input.is_empty() {
            let was_securing = self.tls.is_handshaking();
            shared.read = 0;
            shared.received.clear();
            self.tls.receive(input, out, &mut shared.received).map_err(failures::tls)?;
            if was_securing && !self.tls.is_handshaking() {
                self.inner.negotiated(self.tls.protocol());
                self.inner.open(&mut shared.to_send);
            }
        }
        let rest = &mut shared.received[shared.read..];
        let event = if rest.is_empty() && !S::BUFFERS_EVENTS {
            None
        } else {
            let received = self.inner.receive(&mut shared.inner, rest, at, in_flight, &mut shared.to_send);
            if received.is_err() {
                // It may have said why. If that can't be sealed, it is of no use, and must not reach another connection.
                let _ = self.seal(&mut shared.to_send, out);
            }
            let (used, event) = received?;
            shared.read += used;
            event
        };
        self.seal(&mut shared.to_send, out)?;
        Ok((input.len(), event))
    }

    fn discard_in_flight(&mut self) {
        self.inner.discard_in_flight();
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        if self.tls.is_handshaking() {
            return Ok(None);
        }
        // An end within the protocol is complete without that of TLS.
        let is_complete = self.has_ended();
        match self.inner.server_closed()? {
            Some(_) if !is_complete => Err(failures::cut_off()),
            event => Ok(event),
        }
    }

    #[inline]
    fn has_ended(&self) -> bool {
        self.tls.is_closed() || self.inner.has_ended()
    }

    #[inline]
    fn has_more(&self) -> bool {
        !self.content.is_empty() || self.inner.has_more()
    }

    fn write_more(&mut self, shared: &mut Self::ThreadState, out: &mut Vec<u8>) -> Result<(), Failure> {
        if !self.content.is_empty() {
            let piece = self.content.take(PIECE);
            return self.tls.send(&piece, out).map_err(failures::tls);
        }
        self.inner.write_more(&mut shared.inner, &mut shared.to_send)?;
        self.seal(&mut shared.to_send, out)
    }

    #[inline]
    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        self.inner.take_arrival(at)
    }

    fn silent_since(&self, at: Nanos) -> Option<u32> {
        self.inner.silent_since(at)
    }

    fn last_event(&self, key: u32) -> Option<Nanos> {
        self.inner.last_event(key)
    }

    fn has_event_stream(&self, shared: &mut Self::ThreadState) -> bool {
        self.inner.has_event_stream(&mut shared.inner)
    }

    fn first_response(&mut self) -> Option<FirstResponse> {
        self.inner.first_response()
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        self.inner.redirect_failure()
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.inner.kept()
    }

    fn arriving(&mut self, key: u32) -> Option<&mut KeptResponse> {
        self.inner.arriving(key)
    }

    fn leave_stream(
        &mut self,
        shared: &mut Self::ThreadState,
        key: u32,
        out: &mut Vec<u8>,
    ) -> Option<ReceivedResponse> {
        let left = self.inner.leave_stream(&mut shared.inner, key, &mut shared.to_send);
        // Bytes that cannot be sealed end with the connection, which the next request finds out.
        let _ = self.seal(&mut shared.to_send, out);
        left
    }

    fn send_message(&mut self, shared: &mut Self::ThreadState, message: &Message, out: &mut Vec<u8>) {
        self.inner.send_message(&mut shared.inner, message, &mut shared.to_send);
        // As above.
        let _ = self.seal(&mut shared.to_send, out);
    }

    fn close(&mut self, shared: &mut Self::ThreadState, out: &mut Vec<u8>) {
        self.inner.close(&mut shared.inner, &mut shared.to_send);
        // Nothing can be done about bytes that cannot be sealed, and they must not reach another connection.
        let _ = self.seal(&mut shared.to_send, out);
    }

    #[inline]
    fn add_tally(shared: &mut Self::ThreadState, sample: &mut Sample) {
        S::add_tally(&mut shared.inner, sample);
    }

    fn cancel(&mut self, shared: &mut Self::ThreadState, key: u32, out: &mut Vec<u8>) -> bool {
        self.inner.cancel(&mut shared.inner, key, &mut shared.to_send) && self.seal(&mut shared.to_send, out).is_ok()
    }
}
