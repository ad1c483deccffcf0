//! Responses: header sections and content of a stream, up to its end.

use super::buffers::Http3Buffers;
use super::happened::Happened;
use super::stream::Stream;
use super::{Http3, error};
use crate::failures;
use crate::protocol::message::Message;
use crate::protocol::{ProtocolEvent, ReceivedResponse};
use crate::response::events::{EventPlan, EventWatch};
use crate::response::failed::ParsedResponse;
use crate::response::inspect::Inspect;
use crate::response::kept::KeptResponse;
use std::num::NonZero;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_net::quic::{ReadEnd, StreamId};
use torr_wire::Header;
use torr_wire::http3::{ErrorCode, Http3Error, MessagePiece, qpack};
use torr_wire::response::{Observer, Response};

/// Why no more of a response is read. The connection stays usable.
enum Halt {
    /// The response is malformed.
    Wrong(&'static str),
    /// The response is well-formed, and of no use.
    Failed(Failure),
}

impl<'p> Http3<'p> {
    /// Reads what has arrived on the stream of a request.
    pub(super) fn read_response(
        &mut self,
        id: StreamId,
        buffers: &mut Http3Buffers,
        at: Nanos,
    ) -> Result<(), Http3Error> {
        let (Some(quic), Some(index)) = (&mut self.quic, self.streams.find(id)) else { return Ok(()) };
        let mut chunks = std::mem::take(&mut buffers.chunks);
        chunks.clear();
        let end = quic.read(id, &mut chunks);
        let (gathers, event_plan) = (self.gathers, self.event_plan);
        let stream = self.streams.at(index);
        let mut halted = Ok(());
        'chunks: for chunk in &chunks {
            let mut input = &chunk[..];
            while let Some(piece) = stream.reader.next(&mut input)? {
                halted = match piece {
                    MessagePiece::Section(section) => {
                        stream.take_section(section.as_ref(), &mut buffers.strings, (gathers, event_plan), at)?
                    }
                    MessagePiece::Content(content) => stream.take_content(content),
                    MessagePiece::TooLarge => return Err(qpack::QpackError::TooLarge.into()),
                };
                if halted.is_err() {
                    break 'chunks;
                }
            }
        }
        chunks.clear();
        buffers.chunks = chunks;
        let mut is_over = false;
        if let Some(events) = &mut stream.events {
            self.arrivals.extend(events.take_arrival(stream.key, at));
            is_over = events.is_over();
        }
        match (halted, end) {
            (Err(Halt::Wrong(wrong)), _) => self.give_up_on(index, wrong),
            (Err(Halt::Failed(failure)), _) => self.fail(index, failure),
            // What follows the last event that is wanted does not matter.
            (Ok(()), ReadEnd::Open | ReadEnd::Reset(_)) if is_over => {
                if let Some((response, kept)) = self.end_here(index) {
                    self.happened.push_back(Happened { event: ProtocolEvent::Response(response), kept });
                }
            }
            (Ok(()), ReadEnd::Open) => {}
            (Ok(()), ReadEnd::Finished) => self.complete(index)?,
            (Ok(()), ReadEnd::Reset(code)) => self.reset(index, code),
        }
        Ok(())
    }

    /// Handles the end of a response.
    fn complete(&mut self, index: usize) -> Result<(), Http3Error> {
        let stream = self.streams.at(index);
        if !stream.reader.is_between() {
            return Err(Http3Error { code: ErrorCode::FRAME_ERROR, what: "the stream ends in the middle of a frame" });
        }
        let Some(status) = stream.status else {
            self.give_up_on(index, "the stream ends without a response");
            return Ok(());
        };
        if !stream.is_bodiless() && stream.length.is_some_and(|length| length != stream.body) {
            self.give_up_on(index, "fewer bytes than the response announced");
            return Ok(());
        }
        let mut stream = match stream.upload {
            // The response came before all of the request was sent: the rest is not needed.
            Some(_) => self.give_up(index, ErrorCode::REQUEST_CANCELLED),
            None => self.streams.remove(index),
        };
        let Some(stream) = &mut stream else { return Ok(()) };
        (self.has_responded, self.rejected_at) = (true, usize::MAX);
        let response = Response { status, keep_alive: true, body: stream.body };
        let failed_checks = stream.inspector.as_mut().map_or(0, |inspector| inspector.judge(&response));
        if self.failed.is_none() {
            self.failed = stream.failed.take();
        }
        let event = ProtocolEvent::Response(ReceivedResponse {
            key: stream.key,
            first_byte: stream.first_byte,
            response,
            failed_checks,
            redirects: 0,
            ended_here: false,
        });
        self.happened.push_back(Happened { event, kept: stream.kept.take() });
        Ok(())
    }

    /// Ends a stream of events that the client does not want further. Returns the response, which is kept if it was to be.
    pub(super) fn end_here(&mut self, index: usize) -> Option<(ReceivedResponse, Option<Box<KeptResponse>>)> {
        let mut stream = self.give_up(index, ErrorCode::REQUEST_CANCELLED)?;
        (self.has_responded, self.rejected_at) = (true, usize::MAX);
        let response = Response { status: stream.status?, keep_alive: true, body: stream.body };
        let failed_checks = stream.inspector.as_mut().map_or(0, |inspector| inspector.judge(&response));
        let (key, first_byte) = (stream.key, stream.first_byte);
        let response = ReceivedResponse { key, first_byte, response, failed_checks, redirects: 0, ended_here: true };
        Some((response, stream.kept.take()))
    }

    /// Fails the request of a stream whose response is well-formed, and of no use.
    #[cold]
    fn fail(&mut self, index: usize, failure: Failure) {
        if let Some(stream) = self.give_up(index, ErrorCode::REQUEST_CANCELLED) {
            (self.has_responded, self.rejected_at) = (true, usize::MAX);
            self.happened.push_back(ProtocolEvent::Failed(stream.key, failure).into());
        }
    }

    /// Handles the reset of a stream by the server.
    #[cold]
    fn reset(&mut self, index: usize, code: u64) {
        let Some(stream) = self.streams.remove(index) else { return };
        let is_rejected = code == ErrorCode::REQUEST_REJECTED.0 && stream.status.is_none();
        let others = self.streams.len();
        // With others in flight, there were too many. The only one would be rejected again.
        if is_rejected && others > 0 {
            self.rejected_at = self.rejected_at.min(others);
            self.happened.push_back(ProtocolEvent::Unprocessed(stream.key).into());
        } else {
            self.happened.push_back(ProtocolEvent::Failed(stream.key, error::reset(code)).into());
        }
        if stream.upload.is_some()
            && let Some(quic) = &mut self.quic
        {
            quic.give_up(stream.id, ErrorCode::REQUEST_CANCELLED.0);
        }
    }

    /// Gives up the stream of a malformed response, whose request has failed.
    #[cold]
    fn give_up_on(&mut self, index: usize, wrong: &'static str) {
        if let Some(stream) = self.give_up(index, ErrorCode::MESSAGE_ERROR) {
            self.happened.push_back(ProtocolEvent::Failed(stream.key, error::malformed(wrong)).into());
        }
    }

    /// Removes a stream, and gives it up in both directions.
    pub(super) fn give_up(&mut self, index: usize, code: ErrorCode) -> Option<Stream<'p>> {
        let stream = self.streams.remove(index)?;
        if let Some(quic) = &mut self.quic {
            quic.give_up(stream.id, code.0);
        }
        Some(stream)
    }
}

impl<'p> Stream<'p> {
    /// Whether the response has no content, whatever its length says.
    fn is_bodiless(&self) -> bool {
        self.is_head || matches!(self.status, Some(204 | 304))
    }

    /// Handles a complete field section: of a response, interim or final, or its trailers. `gathers` tells whether a failed response is
    /// to be kept, `event_plan` what is awaited of streams.
    fn take_section(
        &mut self,
        section: &[u8],
        strings: &mut Vec<u8>,
        (gathers, event_plan): (bool, Option<&'p EventPlan>),
        at: Nanos,
    ) -> Result<Result<(), Halt>, Http3Error> {
        let (mut message, mut fields) = (Message::default(), Vec::new());
        let looks = self.inspector.is_some() || self.kept.is_some() || event_plan.is_some();
        qpack::decode(section, strings, |name, value| {
            message.take(name, value);
            if looks || (gathers && message.status.is_some_and(|status| status >= 400)) {
                fields.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
            }
        })?;
        Ok(match (message.wrong, self.status, message.status) {
            (Some(wrong), ..) => Err(Halt::Wrong(wrong)),
            // Trailers, of which one section may come.
            (None, Some(_), None) => {
                if let Some(kept) = &mut self.kept {
                    kept.add_fields(fields.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())));
                }
                Ok(())
            }
            (None, Some(_), Some(_)) => Err(Halt::Wrong("second header section in a response")),
            (None, None, None) => Err(Halt::Wrong("missing :status")),
            (None, None, Some(101)) => Err(Halt::Wrong("invalid interim response")),
            (None, None, Some(100..200)) => Ok(()),
            (None, None, Some(status)) => {
                (self.status, self.length, self.first_byte) = (Some(status), message.length, NonZero::new(at));
                self.is_event_stream = message.is_event_stream;
                self.begin(status, &fields, event_plan);
                if gathers && status >= 400 {
                    fields.retain(|(name, _)| !name.starts_with(':'));
                    let version = "HTTP/3";
                    self.failed =
                        Some(Box::new(ParsedResponse { status, fields, version, ..ParsedResponse::default() }));
                }
                let failure = self.events.as_mut().and_then(|events| events.take_failure());
                failure.map_or(Ok(()), |failure| Err(Halt::Failed(failure)))
            }
        })
    }

    /// Shows the field section of the final response to all that look at it.
    fn begin(&mut self, status: u16, fields: &[(String, Vec<u8>)], event_plan: Option<&'p EventPlan>) {
        let headers: Vec<_> = fields.iter().map(|(name, value)| Header { name, value }).collect();
        if let Some(inspector) = &mut self.inspector {
            inspector.see_head(status, &headers);
        }
        match event_plan {
            Some(plan) if self.is_event_stream && !plan.demands_streams => {
                let hands_events = self.kept.as_ref().is_some_and(|kept| kept.hands_events);
                self.events = EventWatch::found(plan, hands_events, status, &headers);
            }
            _ => {
                if let Some(events) = &mut self.events {
                    events.see_head(status, &headers);
                }
            }
        }
        if let Some(kept) = &mut self.kept {
            let fields = fields.iter().filter(|(name, _)| !name.starts_with(':'));
            kept.begin(status, fields.map(|(name, value)| (name.as_bytes(), value.as_slice())));
            kept.version = "3";
            kept.is_stream = event_plan.is_some_and(|plan| !plan.demands_streams) && self.events.is_some();
        }
    }

    /// Handles a piece of content.
    #[inline]
    fn take_content(&mut self, content: &[u8]) -> Result<(), Halt> {
        self.body += content.len() as u64;
        if let Some(failed) = &mut self.failed {
            failed.content(content);
        }
        if let Some(inspector) = &mut self.inspector {
            inspector.body(content);
        }
        match &mut self.kept {
            Some(kept) if !kept.is_stream => kept.add(content),
            _ => {}
        }
        let wrong = match self.status {
            None => Some("content before the header section"),
            Some(_) if self.is_bodiless() => Some("content in a response that must have none"),
            Some(_) if self.length.is_some_and(|length| self.body > length) => {
                Some("more bytes than the response announced")
            }
            Some(_) => None,
        };
        if let Some(wrong) = wrong {
            return Err(Halt::Wrong(wrong));
        }
        if let Some(events) = &mut self.events {
            match &mut self.kept {
                Some(kept) if kept.is_stream => events.see_parts(content, |part| kept.add_part(part)),
                _ => events.see_body(content),
            }
            let lacks_events = self.kept.as_ref().is_some_and(|kept| kept.lacks_events());
            if let Some(failure) = events.take_failure().or_else(|| lacks_events.then(failures::malformed_coding)) {
                return Err(Halt::Failed(failure));
            }
        }
        Ok(())
    }
}
