//! A protocol over TLS or not, for runs whose servers differ in that.

use super::tls::{OverTls, TlsBuffers};
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::response::events::EventArrival;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use crate::work::users::Message;
use torr_gauge::collector::FirstResponse;
use torr_gauge::{Failure, Sample};
use torr_net::Nanos;
use torr_net::tls::NegotiatedTls;

/// A protocol over TLS or over TCP itself.
#[derive(Debug)]
pub enum EitherTls<S> {
    /// Over TCP.
    Plain(S),
    /// Over TLS.
    Tls(Box<OverTls<S>>),
}

impl<S: Protocol> Protocol for EitherTls<S> {
    const BUFFERS_EVENTS: bool = true;
    const MULTIPLEXES: bool = S::MULTIPLEXES;
    const STREAMS: bool = S::STREAMS;
    const HAS_HANDSHAKES: bool = S::HAS_HANDSHAKES;
    const HAS_LAST_BYTES: bool = S::HAS_LAST_BYTES;
    type ThreadState = TlsBuffers<S::ThreadState>;

    fn multiplexes(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.multiplexes(),
            Self::Tls(tls) => tls.multiplexes(),
        }
    }

    fn open(&mut self, out: &mut Vec<u8>) {
        match self {
            Self::Plain(plain) => plain.open(out),
            Self::Tls(tls) => tls.open(out),
        }
    }

    fn is_handshaking(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.is_handshaking(),
            Self::Tls(tls) => tls.is_handshaking(),
        }
    }

    fn secured(&self) -> Option<NegotiatedTls> {
        match self {
            Self::Plain(plain) => plain.secured(),
            Self::Tls(tls) => tls.secured(),
        }
    }

    fn certificate(&self) -> Option<&[u8]> {
        match self {
            Self::Plain(plain) => plain.certificate(),
            Self::Tls(tls) => tls.certificate(),
        }
    }

    fn has_room(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.has_room(),
            Self::Tls(tls) => tls.has_room(),
        }
    }

    fn start(&mut self, thread: &mut Self::ThreadState, key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Plain(plain) => plain.start(thread.inner(), key, source, out),
            Self::Tls(tls) => tls.start(thread, key, source, out),
        }
    }

    fn flush(&mut self, thread: &mut Self::ThreadState, out: &mut Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Plain(plain) => plain.flush(thread.inner(), out),
            Self::Tls(tls) => tls.flush(thread, out),
        }
    }

    fn receive(
        &mut self,
        thread: &mut Self::ThreadState,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        match self {
            // It is called again after each event, as TLS needs it.
            Self::Plain(_) if input.is_empty() && !S::BUFFERS_EVENTS => Ok((0, None)),
            Self::Plain(plain) => plain.receive(thread.inner(), input, at, in_flight, out),
            Self::Tls(tls) => tls.receive(thread, input, at, in_flight, out),
        }
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        match self {
            Self::Plain(plain) => plain.server_closed(),
            Self::Tls(tls) => tls.server_closed(),
        }
    }

    fn has_ended(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.has_ended(),
            Self::Tls(tls) => tls.has_ended(),
        }
    }

    fn has_more(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.has_more(),
            Self::Tls(tls) => tls.has_more(),
        }
    }

    fn write_more(&mut self, thread: &mut Self::ThreadState, out: &mut Vec<u8>) -> Result<(), Failure> {
        match self {
            Self::Plain(plain) => plain.write_more(thread.inner(), out),
            Self::Tls(tls) => tls.write_more(thread, out),
        }
    }

    fn discard_in_flight(&mut self) {
        match self {
            Self::Plain(plain) => plain.discard_in_flight(),
            Self::Tls(tls) => tls.discard_in_flight(),
        }
    }

    fn is_draining(&self) -> bool {
        match self {
            Self::Plain(plain) => plain.is_draining(),
            Self::Tls(tls) => tls.is_draining(),
        }
    }

    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        match self {
            Self::Plain(plain) => plain.take_arrival(at),
            Self::Tls(tls) => tls.take_arrival(at),
        }
    }

    fn silent_since(&self, at: Nanos) -> Option<u32> {
        match self {
            Self::Plain(plain) => plain.silent_since(at),
            Self::Tls(tls) => tls.silent_since(at),
        }
    }

    fn last_event(&self, key: u32) -> Option<Nanos> {
        match self {
            Self::Plain(plain) => plain.last_event(key),
            Self::Tls(tls) => tls.last_event(key),
        }
    }

    fn has_event_stream(&self, thread: &mut Self::ThreadState) -> bool {
        match self {
            Self::Plain(plain) => plain.has_event_stream(thread.inner()),
            Self::Tls(tls) => tls.has_event_stream(thread),
        }
    }

    fn first_response(&mut self) -> Option<FirstResponse> {
        match self {
            Self::Plain(plain) => plain.first_response(),
            Self::Tls(tls) => tls.first_response(),
        }
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        match self {
            Self::Plain(plain) => plain.redirect_failure(),
            Self::Tls(tls) => tls.redirect_failure(),
        }
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        match self {
            Self::Plain(plain) => plain.kept(),
            Self::Tls(tls) => tls.kept(),
        }
    }

    fn arriving(&mut self, key: u32) -> Option<&mut KeptResponse> {
        match self {
            Self::Plain(plain) => plain.arriving(key),
            Self::Tls(tls) => tls.arriving(key),
        }
    }

    fn leave_stream(
        &mut self,
        thread: &mut Self::ThreadState,
        key: u32,
        out: &mut Vec<u8>,
    ) -> Option<ReceivedResponse> {
        match self {
            Self::Plain(plain) => plain.leave_stream(thread.inner(), key, out),
            Self::Tls(tls) => tls.leave_stream(thread, key, out),
        }
    }

    fn send_message(&mut self, thread: &mut Self::ThreadState, message: &Message, out: &mut Vec<u8>) {
        match self {
            Self::Plain(plain) => plain.send_message(thread.inner(), message, out),
            Self::Tls(tls) => tls.send_message(thread, message, out),
        }
    }

    fn close(&mut self, thread: &mut Self::ThreadState, out: &mut Vec<u8>) {
        match self {
            Self::Plain(plain) => plain.close(thread.inner(), out),
            Self::Tls(tls) => tls.close(thread, out),
        }
    }

    fn add_tally(thread: &mut Self::ThreadState, sample: &mut Sample) {
        S::add_tally(thread.inner(), sample);
    }

    fn cancel(&mut self, thread: &mut Self::ThreadState, key: u32, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Plain(plain) => plain.cancel(thread.inner(), key, out),
            Self::Tls(tls) => tls.cancel(thread, key, out),
        }
    }
}
