//! Responses: header sections and content of a stream, up to its end.

use super::buffers::Http3Buffers;
use super::stream::Stream;
use super::{Http3, error};
use crate::protocol::message::Message;
use crate::protocol::{ProtocolEvent, ReceivedResponse};
use crate::response::failed::ParsedResponse;
use crate::response::inspect::Inspect;
use std::num::NonZero;
use torr_net::Nanos;
use torr_net::quic::{ReadEnd, StreamId};
use torr_wire::Header;
use torr_wire::http3::{ErrorCode, Http3Error, MessagePiece, qpack};
use torr_wire::response::{Observer, Response};

/// The defect of a malformed response, which leaves its connection usable.
type Wrong = &'static str;

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
        let gathers = self.gathers;
        let stream = self.streams.at(index);
        let mut wrong = Ok(());
        'chunks: for chunk in &chunks {
            let mut input = &chunk[..];
            while let Some(piece) = stream.reader.next(&mut input)? {
                wrong = match piece {
                    MessagePiece::Section(section) => {
                        stream.take_section(section.as_ref(), &mut buffers.strings, gathers, at)?
                    }
                    MessagePiece::Content(content) => stream.take_content(content),
                    MessagePiece::TooLarge => return Err(qpack::QpackError::TooLarge.into()),
                };
                if wrong.is_err() {
                    break 'chunks;
                }
            }
        }
        chunks.clear();
        buffers.chunks = chunks;
        match (wrong, end) {
            (Err(wrong), _) => self.give_up_on(index, wrong),
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
        self.events.push_back(ProtocolEvent::Response(ReceivedResponse {
            key: stream.key,
            first_byte: stream.first_byte,
            response,
            failed_checks,
            redirects: 0,
            ended_here: false,
        }));
        Ok(())
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
            self.events.push_back(ProtocolEvent::Unprocessed(stream.key));
        } else {
            self.events.push_back(ProtocolEvent::Failed(stream.key, error::reset(code)));
        }
        if stream.upload.is_some()
            && let Some(quic) = &mut self.quic
        {
            quic.give_up(stream.id, ErrorCode::REQUEST_CANCELLED.0);
        }
    }

    /// Gives up the stream of a malformed response, whose request has failed.
    #[cold]
    fn give_up_on(&mut self, index: usize, wrong: Wrong) {
        if let Some(stream) = self.give_up(index, ErrorCode::MESSAGE_ERROR) {
            self.events.push_back(ProtocolEvent::Failed(stream.key, error::malformed(wrong)));
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

impl Stream<'_> {
    /// Whether the response has no content, whatever its length says.
    fn is_bodiless(&self) -> bool {
        self.is_head || matches!(self.status, Some(204 | 304))
    }

    /// Handles a complete field section: of a response, interim or final, or its trailers.
    fn take_section(
        &mut self,
        section: &[u8],
        strings: &mut Vec<u8>,
        gathers: bool,
        at: Nanos,
    ) -> Result<Result<(), Wrong>, Http3Error> {
        let (mut message, mut fields) = (Message::default(), Vec::new());
        let inspects = self.inspector.is_some();
        qpack::decode(section, strings, |name, value| {
            message.take(name, value);
            if inspects || (gathers && message.status.is_some_and(|status| status >= 400)) {
                fields.push((String::from_utf8_lossy(name).into_owned(), value.to_vec()));
            }
        })?;
        Ok(match (message.wrong, self.status, message.status) {
            (Some(wrong), ..) => Err(wrong),
            // Trailers, of which one section may come.
            (None, Some(_), None) => Ok(()),
            (None, Some(_), Some(_)) => Err("second header section in a response"),
            (None, None, None) => Err("missing :status"),
            (None, None, Some(101)) => Err("invalid interim response"),
            (None, None, Some(100..200)) => Ok(()),
            (None, None, Some(status)) => {
                (self.status, self.length, self.first_byte) = (Some(status), message.length, NonZero::new(at));
                if let Some(inspector) = &mut self.inspector {
                    let fields: Vec<_> = fields.iter().map(|(name, value)| Header { name, value }).collect();
                    inspector.see_head(status, &fields);
                }
                if gathers && status >= 400 {
                    fields.retain(|(name, _)| !name.starts_with(':'));
                    let version = "HTTP/3";
                    self.failed =
                        Some(Box::new(ParsedResponse { status, fields, version, ..ParsedResponse::default() }));
                }
                Ok(())
            }
        })
    }

    /// Handles a piece of content.
    #[inline]
    fn take_content(&mut self, content: &[u8]) -> Result<(), Wrong> {
        self.body += content.len() as u64;
        if let Some(failed) = &mut self.failed {
            failed.content(content);
        }
        if let Some(inspector) = &mut self.inspector {
            inspector.body(content);
        }
        match self.status {
            None => Err("content before the header section"),
            Some(_) if self.is_bodiless() => Err("content in a response that must have none"),
            Some(_) if self.length.is_some_and(|length| self.body > length) => {
                Err("more bytes than the response announced")
            }
            Some(_) => Ok(()),
        }
    }
}
