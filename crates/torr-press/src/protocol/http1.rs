//! HTTP/1.1 on one connection, pipelined or not.

use crate::failures;
use crate::protocol::{InFlight, Protocol, ProtocolEvent, ReceivedResponse};
use crate::response::events::EventArrival;
use crate::response::follow::Redirected;
use crate::response::inspect::Inspect;
use crate::response::kept::KeptResponse;
use crate::work::source::Source;
use memchr::memmem;
use std::num::NonZero;
use torr_gauge::Failure;
use torr_gauge::collector::FirstResponse;
use torr_net::Nanos;
use torr_wire::response::{HeadCache, Response, ResponseReader};

/// The size in bytes of the pieces in which an inspector's large content is written.
const PIECE: usize = 128 * 1024;

/// HTTP/1.1: responses arrive in the order of their requests. An inspector may check them.
#[derive(Debug, Default)]
pub struct Http1<I = ()> {
    reader: ResponseReader,
    /// The time of the first byte of a response that is incomplete.
    first_byte: Option<NonZero<Nanos>>,
    inspector: I,
}

impl<I: Inspect> Http1<I> {
    /// Returns the protocol of a connection whose responses are inspected.
    pub fn inspected_by(inspector: I) -> Self {
        Self { reader: ResponseReader::default(), first_byte: None, inspector }
    }

    /// Returns the inspector.
    pub fn inspector(&mut self) -> &mut I {
        &mut self.inspector
    }

    #[inline]
    fn received(&mut self, response: Response) -> ReceivedResponse {
        ReceivedResponse {
            key: 0,
            first_byte: self.first_byte.take(),
            response,
            failed_checks: self.inspector.judge(&response),
            redirects: self.inspector.redirects(),
            ended_here: false,
        }
    }
}

impl<I: Inspect> Protocol for Http1<I> {
    const BUFFERS_EVENTS: bool = false;
    const MULTIPLEXES: bool = false;
    const STREAMS: bool = I::STREAMS;
    type ThreadState = HeadCache;

    fn open(&mut self, _out: &mut Vec<u8>) {
        self.reader.reset();
        self.first_byte = None;
        self.inspector.opened();
    }

    #[inline]
    fn start(&mut self, _shared: &mut HeadCache, _key: u32, source: &mut Source<'_>, out: &mut Vec<u8>) -> bool {
        if let Some(request) = self.inspector.redirect_to_send() {
            out.extend_from_slice(&request);
            return request.starts_with(b"HEAD ");
        }
        let start = out.len();
        let info = source.write(out);
        self.inspector.begun(&info);
        self.inspector.written(out, start, || source.take_content());
        info.is_head
    }

    #[inline]
    fn receive(
        &mut self,
        shared: &mut HeadCache,
        input: &mut [u8],
        at: Nanos,
        in_flight: InFlight<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(usize, Option<ProtocolEvent>), Failure> {
        if in_flight.count == 0 && !input.is_empty() {
            return Err(failures::surplus());
        }
        let is_first = !self.reader.is_mid_response();
        let observed = self.reader.observe(input, in_flight.oldest_is_head, shared, &mut self.inspector);
        if I::STREAMS
            && let Some(failure) = self.inspector.failure()
        {
            return Err(failure);
        }
        match observed {
            // Bytes behind the last response are an error.
            Ok((used, Some(response)))
                if used < input.len() && in_flight.count == 1 && !self.inspector.switches(&response) =>
            {
                Err(failures::surplus())
            }
            Ok((used, Some(response))) => {
                if response.status >= 400
                    && let Some(gather) = in_flight.failed_response
                {
                    gather.last_piece(&input[..used], is_first);
                }
                let Some(redirected) = self.inspector.redirected(&response) else {
                    return Ok((used, Some(ProtocolEvent::Response(self.received(response)))));
                };
                self.first_byte = self.first_byte.or(NonZero::new(at));
                match redirected {
                    Redirected::Here(request) => {
                        out.extend_from_slice(&request);
                        Ok((used, None))
                    }
                    Redirected::Elsewhere => Ok((used, Some(ProtocolEvent::RedirectedElsewhere))),
                }
            }
            Ok((used, None)) => {
                if let Some(gather) = in_flight.failed_response {
                    gather.piece(input, is_first);
                }
                self.first_byte = self.first_byte.or(NonZero::new(at));
                if I::STREAMS
                    && let Some(response) = self.inspector.ended_here()
                {
                    let received = ReceivedResponse { ended_here: true, ..self.received(response) };
                    return Ok((used, Some(ProtocolEvent::Response(received))));
                }
                Ok((used, None))
            }
            Err(error) => {
                let other = failures::plain_to_tls(input).or_else(|| failures::http1_to_http2(input));
                Err(other.unwrap_or_else(|| failures::protocol(error)))
            }
        }
    }

    #[inline]
    fn has_room(&self) -> bool {
        !self.inspector.has_unwritten()
    }

    #[inline]
    fn has_more(&self) -> bool {
        self.inspector.has_unwritten()
    }

    fn write_more(&mut self, _shared: &mut HeadCache, out: &mut Vec<u8>) -> Result<(), Failure> {
        out.extend_from_slice(&self.inspector.next_piece(PIECE));
        Ok(())
    }

    fn is_draining(&self) -> bool {
        self.inspector.is_draining()
    }

    fn server_closed(&mut self) -> Result<Option<ProtocolEvent>, Failure> {
        let Some(response) = self.reader.end().map_err(failures::protocol)? else { return Ok(None) };
        // Such a response says that its connection is not persistent, so that no request follows on it.
        Ok(Some(match self.inspector.redirected(&response) {
            None => ProtocolEvent::Response(self.received(response)),
            Some(_) => ProtocolEvent::RedirectedElsewhere,
        }))
    }

    fn discard_in_flight(&mut self) {
        self.inspector.forget();
    }

    #[inline]
    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        self.inspector.take_arrival(at)
    }

    fn silent_since(&self, at: Nanos) -> Option<u32> {
        self.inspector.last_event().filter(|&last| last <= at).map(|_| 0)
    }

    fn last_event(&self, _key: u32) -> Option<Nanos> {
        self.inspector.last_event()
    }

    fn has_event_stream(&self, shared: &mut HeadCache) -> bool {
        let is_stream = || shared.head().is_some_and(|head| memmem::find(head, b"text/event-stream").is_some());
        !I::STREAMS && self.reader.is_mid_response() && (self.inspector.is_event_stream() || is_stream())
    }

    fn first_response(&mut self) -> Option<FirstResponse> {
        self.inspector.first()
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        self.inspector.redirect_failure()
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.inspector.kept()
    }

    fn arriving(&mut self, _key: u32) -> Option<&mut KeptResponse> {
        self.inspector.kept()
    }

    fn leave_stream(&mut self, _shared: &mut HeadCache, _key: u32, _out: &mut Vec<u8>) -> Option<ReceivedResponse> {
        let response = self.inspector.end_here()?;
        Some(ReceivedResponse { ended_here: true, ..self.received(response) })
    }
}
