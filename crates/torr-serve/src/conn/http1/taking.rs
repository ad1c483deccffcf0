//! Requests whose bodies are passed on to a router as they come.

use super::*;
use crate::message::request_body::BodyError;
use crate::message::upload::{self, Intake};

/// The most that is received of a body which nobody reads, so that its connection can go on.
const DISCARDED: u64 = 256 * 1024;
const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A body on its way.
pub(super) struct Taking {
    reader: BodyReader,
    intake: Intake,
    came: u64,
    /// All of it, where that is known.
    length: Option<u64>,
    /// The client waits to be told that the body is wanted.
    expects: bool,
}

/// What there is of a request's body that has not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rest {
    Nothing,
    /// Something, after which the connection may go on.
    Coming,
    /// More than it is worth to receive, or nobody knows how much.
    Unwanted,
}

/// Why a body is not received to its end.
struct Refusal {
    status: u16,
    why: String,
}

impl Http1 {
    /// Begins to pass a body on, and calls the router.
    #[cold]
    pub(super) fn begin_taking(
        &mut self,
        head: &RequestHead<'_, '_>,
        came: &[u8],
        cx: &Context,
        out: &mut Vec<u8>,
    ) -> (usize, Option<Next>) {
        let length = match head.framing {
            Framing::Length(length) => Some(length),
            _ => None,
        };
        if length.is_some_and(|length| length > cx.settings.most_streamed()) {
            if cx.visits.are_noted() {
                self.take_note(head, cx);
            }
            return (came.len(), Some(self.fail(413, "The body is too large\n", cx, out)));
        }
        let engine = self.token.map_or(Waker::noop().clone(), |token| cx.mailbox.waker(token));
        let (intake, incoming) = upload::pair(length, engine);
        let (reader, expects) = (BodyReader::new(head.framing), head.expect_continue && came.is_empty());
        self.taking = Some(Box::new(Taking { reader, intake, came: 0, length, expects }));
        let used = match self.feed(came, cx) {
            Ok(used) => used,
            Err(refusal) => {
                if cx.visits.are_noted() {
                    self.take_note(head, cx);
                }
                return (came.len(), Some(self.refuse_body(refusal, cx, out)));
            }
        };
        let next = self.respond(head, Content::Coming(incoming), cx, out);
        if self.waiting.is_some() {
            self.invite(out);
        }
        (used, next)
    }

    /// Whether a body is passed on whose rest is to be received now.
    #[inline]
    pub fn is_taking(&self) -> bool {
        self.taking.as_ref().is_some_and(|taking| taking.intake.has_room())
    }

    /// Whether nothing more is to be received before the handler has taken what there is.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.taking.as_ref().is_some_and(|taking| !taking.intake.has_room())
    }

    /// Whether the client waits to be told that the body is wanted, which the handler has not decided.
    pub fn is_uninvited(&self) -> bool {
        self.taking.as_ref().is_some_and(|taking| taking.expects)
    }

    /// Takes what has arrived while the request is being answered.
    #[cold]
    pub fn take_meanwhile(&mut self, bytes: &[u8], cx: &Context, out: &mut Vec<u8>) -> Next {
        match self.feed(bytes, cx) {
            Ok(used) => {
                self.input.push(&bytes[used..]);
                self.behind |= used < bytes.len();
                Next::Stay
            }
            Err(refusal) if self.waiting.take().is_some() => self.refuse_body(refusal, cx, out),
            Err(_) => Next::Close,
        }
    }

    /// Takes what has arrived after the request was answered. Gives how much of it belongs to the body.
    #[cold]
    pub(super) fn take_on(&mut self, input: &[u8], cx: &Context) -> Result<usize, Next> {
        match self.feed(input, cx) {
            Ok(used) if self.rest() != Rest::Unwanted => Ok(used),
            _ => {
                self.taking = None;
                Err(Next::CloseGently)
            }
        }
    }

    /// The client has sent nothing of the body for too long. `None` if the answer has begun, so that no other can be given.
    pub fn body_timed_out(&mut self, cx: &Context, out: &mut Vec<u8>) -> Option<Next> {
        let taking = self.taking.take()?;
        taking.intake.end(Err(BodyError::TimedOut));
        self.waiting.take().map(|_| self.timed_out(cx, out))
    }

    /// Tells a client that its body is wanted, if it waits for that and the handler has asked for it.
    pub fn invite(&mut self, out: &mut Vec<u8>) {
        if let Some(taking) = &mut self.taking
            && taking.expects
            && self.waiting.is_some()
            && taking.intake.is_wanted()
        {
            taking.expects = false;
            out.extend_from_slice(CONTINUE);
        }
    }

    /// What there is to be received yet, at the time of the answer.
    #[inline]
    pub(super) fn rest(&self) -> Rest {
        let Some(taking) = &self.taking else { return Rest::Nothing };
        let is_short = taking.length.is_some_and(|length| length - taking.came <= DISCARDED);
        match taking.intake.is_abandoned() {
            // Who was not told to send it may send it or not.
            _ if taking.expects => Rest::Unwanted,
            true if !is_short => Rest::Unwanted,
            _ => Rest::Coming,
        }
    }

    /// Passes on what belongs to the body, and gives how much that is.
    fn feed(&mut self, input: &[u8], cx: &Context) -> Result<usize, Refusal> {
        let Some(taking) = &mut self.taking else { return Ok(0) };
        let Taking { reader, intake, came, expects, .. } = &mut **taking;
        *expects &= input.is_empty();
        let most = cx.settings.most_streamed();
        let read = reader.read(input, |piece| {
            *came = came.saturating_add(piece.len() as u64);
            if *came <= most {
                intake.push(piece);
            }
        });
        if *came > most {
            intake.end(Err(BodyError::TooLarge));
            return Err(Refusal { status: 413, why: "The body is too large\n".into() });
        }
        let used = read.map_err(|error| {
            intake.end(Err(BodyError::Malformed));
            Refusal { status: status_of(error), why: format!("{error}\n") }
        })?;
        if reader.is_done() {
            intake.end(Ok(()));
            self.taking = None;
        }
        Ok(used)
    }

    fn refuse_body(&mut self, refusal: Refusal, cx: &Context, out: &mut Vec<u8>) -> Next {
        self.taking = None;
        self.fail(refusal.status, refusal.why, cx, out)
    }
}
