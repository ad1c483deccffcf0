//! Responses: header sections and data of a stream, up to its end.

use super::error::{self, Broken, Code};
use super::frame::{self, Head, flag, kind};
use super::{Http2, WINDOW};
use crate::failures;
use crate::protocol::message::Message;
use crate::protocol::{ProtocolEvent, ReceivedResponse};
use crate::response::events::EventWatch;
use crate::response::failed::ParsedResponse;
use crate::response::grpc::GrpcFields;
use crate::response::inspect::Inspect;
use std::num::NonZero;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::response::{Observer, Response};

/// The number of bytes of content that make up for one reply that the server demands.
const CONTENT_FOR_A_REPLY: u32 = 1024;

/// The defect of a malformed response, which leaves its connection usable.
type Wrong = &'static str;

impl Http2<'_> {
    /// Handles a complete header section: of a response, interim or final, or its trailers.
    #[inline]
    pub(super) fn take_head(
        &mut self,
        head: Head,
        block: &[u8],
        at: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<Option<ProtocolEvent>, Broken> {
        let (mut message, mut fields) = (Message::default(), Vec::new());
        let (looks, gathers) = (self.looks, self.gathers);
        // The messages of a call need no field.
        let demands_streams = self.event_plan.is_some_and(|plan| plan.demands_streams);
        let inspects = self.inspection.is_some() || (demands_streams && self.method.is_none());
        let mut called = GrpcFields::default();
        let (keeps, is_call) = match self.streams.find(head.stream).map(|at| self.streams.at(at)) {
            Some(stream) => (stream.kept.is_some(), stream.call.is_some()),
            None => (false, false),
        };
        // The block of a closed stream is decoded as well, since it may change the table.
        self.decoder.decode(block, |name, value| {
            message.take(name, value);
            let has_failed = gathers && message.status.is_some_and(|status| status >= 400);
            if looks || keeps || has_failed {
                if is_call {
                    called.take(name, value);
                }
                if inspects || keeps || has_failed || (gathers && called.has_failed()) {
                    fields.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
                }
            }
        })?;
        let Some(index) = self.streams.find(head.stream) else { return self.check_closed(head).map(|()| None) };
        let is_last = head.has(flag::END_STREAM);
        let stream = self.streams.at(index);
        let failed_call = called.status.filter(|_| gathers && called.has_failed());
        if let Some(call) = &mut stream.call {
            call.take(called);
        }
        let taken: Result<(), Wrong> = match (message.wrong, stream.status, message.status) {
            (Some(wrong), ..) => Err(wrong),
            (None, Some(_), None) if is_last => {
                if let Some(kept) = &mut stream.kept {
                    kept.add_fields(fields.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())));
                }
                Ok(())
            }
            (None, Some(_), _) => Err("second header section in a response"),
            (None, None, None) => Err("missing :status"),
            (None, None, Some(100 | 102..200)) if !is_last => return Ok(None),
            (None, None, Some(100..200)) => Err("invalid interim response"),
            (None, None, Some(status)) => {
                (stream.status, stream.length, stream.first_byte) = (Some(status), message.length, NonZero::new(at));
                stream.is_event_stream = message.is_event_stream;
                if inspects {
                    let fields: Vec<_> = fields.iter().map(|(name, value)| Header { name, value }).collect();
                    if let Some(inspector) = &mut stream.inspector {
                        inspector.see_head(status, &fields);
                    }
                    if let Some(events) = &mut stream.events {
                        events.see_head(status, &fields);
                    }
                }
                if let Some(plan) = self.event_plan
                    && message.is_event_stream
                    && !demands_streams
                {
                    let fields: Vec<_> = fields.iter().map(|(name, value)| Header { name, value }).collect();
                    let hands_events = stream.kept.as_ref().is_some_and(|kept| kept.hands_events);
                    stream.events = EventWatch::found(plan, hands_events, status, &fields);
                }
                if let Some(kept) = &mut stream.kept {
                    let fields = fields.iter().filter(|(name, _)| !name.starts_with(':'));
                    kept.begin(status, fields.map(|(name, value)| (name.as_bytes(), value.as_slice())));
                    kept.version = "2";
                    kept.is_stream = !demands_streams && stream.events.is_some();
                }
                if gathers && status >= 400 && failed_call.is_none() {
                    fields.retain(|(name, _)| !name.starts_with(':'));
                    let fields = std::mem::take(&mut fields);
                    stream.failed = Some(Box::new(ParsedResponse { status, fields, ..ParsedResponse::default() }));
                }
                Ok(())
            }
        };
        if let Some(failure) = stream.events.as_mut().and_then(|events| events.take_failure()) {
            return Ok(self.fail(index, failure, is_last, out));
        }
        if let Some(status) = failed_call {
            fields.retain(|(name, _)| !name.starts_with(':'));
            let status = status.counted_as();
            stream.failed = Some(Box::new(ParsedResponse { status, fields, ..ParsedResponse::default() }));
        }
        match taken {
            Ok(()) if is_last => Ok(self.complete(index, out)),
            Ok(()) => Ok(None),
            Err(wrong) => Ok(self.give_up_on(index, wrong, out)),
        }
    }

    /// Handles a piece of content.
    #[inline]
    pub(super) fn take_data(
        &mut self,
        head: Head,
        payload: &[u8],
        at: Nanos,
        out: &mut Vec<u8>,
    ) -> Result<Option<ProtocolEvent>, Broken> {
        let content = frame::unpadded(head, payload).ok_or(Broken::protocol("more padding than payload in a frame"))?;
        // Of the window, the padding takes its part too.
        let length = head.len as u32;
        give_back(&mut self.received, length, 0, out);
        // Servers measure the round-trip time by asking for replies while they send.
        self.chatter = self.chatter.saturating_sub(length / CONTENT_FOR_A_REPLY);
        let Some(index) = self.streams.find(head.stream) else { return self.check_closed(head).map(|()| None) };
        let stream = self.streams.at(index);
        let is_last = head.has(flag::END_STREAM);
        if !is_last {
            give_back(&mut stream.received, length, stream.id, out);
        }
        stream.body += content.len() as u64;
        if let Some(failed) = &mut stream.failed {
            failed.content(content);
        }
        if let Some(inspector) = &mut stream.inspector {
            inspector.body(content);
        }
        if let Some(kept) = &mut stream.kept
            && !kept.is_stream
        {
            kept.add(content);
        }
        let mut wrong_message = None;
        if let (Some(call), Some(200)) = (&mut stream.call, stream.status) {
            let before = call.messages();
            wrong_message = call.content(content).err();
            if let Some(events) = &mut stream.events {
                // A frame has fewer messages than bytes.
                events.see_messages((call.messages() - before) as u32);
            }
        }
        let mut ends_here = false;
        if let Some(events) = &mut stream.events {
            match &mut stream.kept {
                Some(kept) if kept.is_stream => events.see_parts(content, |part| kept.add_part(part)),
                _ => events.see_body(content),
            }
            self.arrivals.extend(events.take_arrival(stream.key, at));
            ends_here = events.is_over() && !is_last;
            let lacks_events = stream.kept.as_ref().is_some_and(|kept| kept.lacks_events());
            if let Some(failure) = events.take_failure().or_else(|| lacks_events.then(failures::malformed_coding)) {
                return Ok(self.fail(index, failure, is_last, out));
            }
        }
        let is_bodiless = stream.is_head || matches!(stream.status, Some(204 | 304));
        let wrong = match stream.status {
            None => Some("content before the header section"),
            Some(_) if is_bodiless && stream.body > 0 => Some("content in a response that must have none"),
            Some(_) if stream.length.is_some_and(|length| stream.body > length) && !is_bodiless => {
                Some("more bytes than the response announced")
            }
            Some(_) => None,
        };
        // What follows the last message that is wanted does not matter.
        match wrong.or(wrong_message.filter(|_| !ends_here)) {
            Some(wrong) => Ok(self.give_up_on(index, wrong, out)),
            None if is_last => Ok(self.complete(index, out)),
            None if ends_here => Ok(self.end_here(index, out).map(ProtocolEvent::Response)),
            None => Ok(None),
        }
    }

    /// Handles the end of a response.
    #[inline]
    fn complete(&mut self, index: usize, out: &mut Vec<u8>) -> Option<ProtocolEvent> {
        let stream = self.streams.at(index);
        let status = stream.status?;
        let is_bodiless = stream.is_head || matches!(status, 204 | 304);
        if !is_bodiless && stream.length.is_some_and(|length| length != stream.body) {
            return self.give_up_on(index, "fewer bytes than the response announced", out);
        }
        let status = match &stream.call {
            Some(call) => match call.end(status) {
                Ok(status) => status,
                Err(wrong) => return self.give_up_on(index, wrong, out),
            },
            None => status,
        };
        let mut stream = if stream.upload.is_some() {
            // The response came before all of the request was sent: the rest is not needed.
            self.give_up(index, Code::CANCEL, out)?
        } else {
            self.take(index)?
        };
        (self.has_responded, self.chatter, self.refused_at) = (true, 0, usize::MAX);
        let response = Response { status, keep_alive: true, body: stream.body };
        let failed_checks = stream.inspector.as_mut().map_or(0, |inspector| inspector.judge(&response));
        if stream.failed.is_some() {
            self.failed = stream.failed.take();
        }
        self.kept = stream.kept.take();
        let (key, first_byte) = (stream.key, stream.first_byte);
        Some(ProtocolEvent::Response(ReceivedResponse {
            key,
            first_byte,
            response,
            failed_checks,
            redirects: 0,
            ended_here: false,
        }))
    }

    /// Ends a stream of events that the client does not want further.
    pub(super) fn end_here(&mut self, index: usize, out: &mut Vec<u8>) -> Option<ReceivedResponse> {
        let mut stream = self.give_up(index, Code::CANCEL, out)?;
        (self.has_responded, self.chatter, self.refused_at) = (true, 0, usize::MAX);
        let response = Response { status: stream.status?, keep_alive: true, body: stream.body };
        self.kept = stream.kept.take();
        let failed_checks = stream.inspector.as_mut().map_or(0, |inspector| inspector.judge(&response));
        let (key, first_byte) = (stream.key, stream.first_byte);
        Some(ReceivedResponse { key, first_byte, response, failed_checks, redirects: 0, ended_here: true })
    }

    /// Fails the request of a stream whose response is well-formed, and of no use.
    #[cold]
    fn fail(&mut self, index: usize, failure: Failure, is_last: bool, out: &mut Vec<u8>) -> Option<ProtocolEvent> {
        let stream = if is_last { self.take(index) } else { self.give_up(index, Code::CANCEL, out) }?;
        (self.has_responded, self.chatter, self.refused_at) = (true, 0, usize::MAX);
        Some(ProtocolEvent::Failed(stream.key, failure))
    }

    /// Resets the stream of a malformed response, and returns its failure.
    #[cold]
    fn give_up_on(&mut self, index: usize, wrong: Wrong, out: &mut Vec<u8>) -> Option<ProtocolEvent> {
        let stream = self.give_up(index, Code::PROTOCOL_ERROR, out)?;
        Some(ProtocolEvent::Failed(stream.key, error::malformed(wrong)))
    }
}

/// Counts what has come, and gives it back to the server's window in time.
#[inline]
fn give_back(received: &mut u32, length: u32, stream: u32, out: &mut Vec<u8>) {
    *received += length;
    if *received > WINDOW / 2 {
        frame::number(kind::WINDOW_UPDATE, stream, *received, out);
        *received = 0;
    }
}
