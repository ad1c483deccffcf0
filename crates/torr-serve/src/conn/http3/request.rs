//! The stream of one request: what has arrived of it, and what is to be sent.

use super::outgoing::Outgoing;
use super::response;
use crate::conn::engine::AbortOnDrop;
use crate::message::body_channel::{BodyReceiver, BodySender, Held, body_channel_within};
use crate::message::body_error::BodyError;
use http::HeaderValue;
use http::header::EXPECT;
use http::request::Parts;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;
use torr_net::quic::StreamId;
use torr_wire::http3::{
    Http3Error, Malformed, MessagePiece, MessageStream, RequestFields, Sender, TrailerFields, content_length, qpack,
};

/// The defect of a message whose trailer section is larger than a header section may be.
const LARGE_TRAILERS: Malformed = "trailer section above the limit";

/// Why a request gets no response of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// The request is malformed: its stream is reset.
    Malformed(Malformed),
    /// The stream ends without a request: it is reset.
    Incomplete,
    /// The header section is larger than the server takes, or has more fields.
    TooLarge,
}

/// The limits of a header section.
#[derive(Debug, Clone, Copy)]
pub(super) struct SectionLimits {
    /// The number of bytes.
    pub bytes: usize,
    /// The number of fields.
    pub fields: usize,
}

/// How far a request has come.
enum Stage {
    /// The header section is incomplete since this time.
    Head(Instant),
    /// Content arrives.
    Content {
        sender: BodySender,
        /// The length that was announced, and the number of bytes so far.
        announced: Option<u64>,
        received: u64,
    },
    /// The request has ended, or is not read any further.
    Over,
}

/// The stream of a request.
pub(super) struct RequestStream {
    pub id: StreamId,
    reader: MessageStream,
    stage: Stage,
    /// The header section, and the receiver of the content, until the request is handled.
    begun: Option<(Parts, BodyReceiver)>,
    /// The content that the connection's handlers have not read yet.
    unread: Arc<Held>,
    /// Whether the client waits for `100 Continue` before it sends content.
    expects_continue: bool,
    pub out: Rc<Outgoing>,
    /// The task that makes the response.
    pub task: Option<AbortOnDrop>,
    /// Whether the handler has content that it has not read, so that no more is read of the stream.
    pub is_paused: bool,
    /// The time since which the client takes nothing of the response, although there is more.
    pub blocked_since: Option<Instant>,
    /// Whether all of the response was handed to QUIC.
    pub is_finished: bool,
}

impl RequestStream {
    pub fn new(id: StreamId, limits: SectionLimits, waker: Waker, unread: Arc<Held>, now: Instant) -> Self {
        Self {
            id,
            reader: MessageStream::new(Sender::Client, limits.bytes),
            stage: Stage::Head(now),
            begun: None,
            unread,
            expects_continue: false,
            out: Outgoing::new(waker),
            task: None,
            is_paused: false,
            blocked_since: None,
            is_finished: false,
        }
    }

    /// Returns since when the header section is incomplete.
    pub fn incomplete_since(&self) -> Option<Instant> {
        match self.stage {
            Stage::Head(since) => Some(since),
            _ => None,
        }
    }

    /// Whether the request is read to its end, or not read any further.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Over)
    }

    /// Reads no more of the request. A handler that waits for content gets an error, unless the content has ended.
    pub fn stop_reading(&mut self) {
        self.stage = Stage::Over;
    }

    /// Whether the handler has room for content. If not, the connection is woken when there is.
    pub fn has_room(&self) -> bool {
        match &self.stage {
            Stage::Content { sender, .. } => sender.has_room(),
            _ => true,
        }
    }

    /// Tells a client that waits for it that its content is awaited, once the handler does.
    pub fn invite(&mut self) {
        let Stage::Content { sender, received: 0, .. } = &self.stage else { return };
        if self.expects_continue && !self.out.has_begun() && sender.is_wanted() {
            self.expects_continue = false;
            response::send_continue(&self.out);
        }
    }

    /// Takes the header section and the receiver of the content, once, when the request can be handled.
    pub fn take_begun(&mut self) -> Option<(Parts, BodyReceiver)> {
        self.begun.take()
    }

    /// Reads bytes of the stream.
    ///
    /// # Errors
    /// If the client violates HTTP/3; within, the fault of the request.
    pub fn read(
        &mut self,
        mut input: &[u8],
        limits: SectionLimits,
        strings: &mut Vec<u8>,
    ) -> Result<Result<(), Fault>, Http3Error> {
        while let Some(piece) = self.reader.next(&mut input)? {
            let taken = match piece {
                MessagePiece::TooLarge => match self.stage {
                    Stage::Head(_) => Err(Fault::TooLarge),
                    _ => Err(self.fail(LARGE_TRAILERS)),
                },
                MessagePiece::Section(section) => match self.stage {
                    Stage::Head(_) => self.take_head(section.as_ref(), limits, strings)?,
                    _ => take_trailers(section.as_ref(), limits, strings)?,
                },
                MessagePiece::Content(content) => self.take_content(content),
            };
            if taken.is_err() {
                return Ok(taken);
            }
        }
        Ok(Ok(()))
    }

    fn take_head(
        &mut self,
        section: &[u8],
        limits: SectionLimits,
        strings: &mut Vec<u8>,
    ) -> Result<Result<(), Fault>, Http3Error> {
        let mut fields = RequestFields::default();
        match qpack::decode_up_to(limits.bytes, section, strings, |name, value| fields.take(name, value)) {
            Ok(()) => {}
            Err(qpack::QpackError::TooLarge) => return Ok(Err(Fault::TooLarge)),
            Err(error) => return Err(error.into()),
        }
        if fields.count() > limits.fields {
            return Ok(Err(Fault::TooLarge));
        }
        let head = fields.finish().and_then(|head| Ok((content_length(&head.headers)?, head)));
        let (announced, head) = match head {
            Ok(head) => head,
            Err(wrong) => return Ok(Err(Fault::Malformed(wrong))),
        };
        let (sender, receiver) = body_channel_within(announced, self.out.waker().clone(), Arc::clone(&self.unread));
        let expected = head.headers.get(EXPECT).map(HeaderValue::as_bytes);
        self.expects_continue = expected.is_some_and(|expected| expected.eq_ignore_ascii_case(b"100-continue"));
        self.begun = Some((head, receiver));
        self.stage = Stage::Content { sender, announced, received: 0 };
        Ok(Ok(()))
    }

    fn take_content(&mut self, content: &[u8]) -> Result<(), Fault> {
        let Stage::Content { sender, announced, received } = &mut self.stage else { return Ok(()) };
        *received += content.len() as u64;
        if announced.is_some_and(|announced| *received > announced) {
            return Err(self.fail("more content than content-length"));
        }
        sender.push(content);
        Ok(())
    }

    /// Handles the end of the stream.
    ///
    /// # Errors
    /// If the request is incomplete; within, the fault of the request.
    pub fn end(&mut self) -> Result<Result<(), Fault>, Http3Error> {
        if !self.reader.is_between() {
            let what = "the stream ends in the middle of a frame";
            return Err(Http3Error { code: torr_wire::http3::ErrorCode::FRAME_ERROR, what });
        }
        let fault = match &self.stage {
            Stage::Over => return Ok(Ok(())),
            Stage::Head(_) => {
                self.stage = Stage::Over;
                return Ok(Err(Fault::Incomplete));
            }
            Stage::Content { announced, received, .. } => {
                announced.filter(|announced| announced != received).map(|_| "less content than content-length")
            }
        };
        if let Some(fault) = fault {
            return Ok(Err(self.fail(fault)));
        }
        if let Stage::Content { sender, .. } = &self.stage {
            sender.end(Ok(()));
        }
        self.stage = Stage::Over;
        Ok(Ok(()))
    }

    fn fail(&mut self, wrong: Malformed) -> Fault {
        if let Stage::Content { sender, .. } = &self.stage {
            sender.end(Err(BodyError::Malformed));
        }
        self.stage = Stage::Over;
        Fault::Malformed(wrong)
    }
}

/// Checks trailers, which handlers do not get.
fn take_trailers(
    section: &[u8],
    limits: SectionLimits,
    strings: &mut Vec<u8>,
) -> Result<Result<(), Fault>, Http3Error> {
    let mut fields = TrailerFields::default();
    match qpack::decode_up_to(limits.bytes, section, strings, |name, value| fields.take(name, value)) {
        Ok(()) => Ok(fields.finish().map(drop).map_err(Fault::Malformed)),
        Err(qpack::QpackError::TooLarge) => Ok(Err(Fault::Malformed(LARGE_TRAILERS))),
        Err(error) => Err(error.into()),
    }
}
