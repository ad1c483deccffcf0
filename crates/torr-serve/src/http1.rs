//! HTTP/1.1 on one connection: bytes in, answers out. No sockets and no clock, so that any order of events can be tried.

use crate::app::{App, Outcome, Pending};
use crate::guest::Local;
use crate::response::{Body, Pieces, Response};
use crate::settings::Settings;
use crate::stamp::Stamp;
use crate::stream::{self, Stream};
use bytes::Bytes;
use std::net::SocketAddr;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::request::{self, RequestHead};
use torr_wire::{WireError, encode};

/// Bytes of answers to pipelined requests that may gather before they are sent.
const ENOUGH_OUTPUT: usize = 64 * 1024;
/// Bodies up to this size are sent together with their head.
const SMALL_BODY: usize = 64 * 1024;

/// What every connection of a worker needs to answer.
pub(crate) struct Context<'w> {
    pub app: &'w App,
    /// The worker's copy of the application's router.
    pub router: Option<&'w Local>,
    pub settings: &'w Settings,
    pub stamp: &'w Stamp,
    /// The server is leaving: every answer ends its connection.
    pub leaving: bool,
}

/// What is to be done once the output is sent.
pub(crate) enum Next {
    /// Receive more.
    Receive,
    /// Call [`Http1::receive`] again with nothing: there are requests left to answer.
    GoOn,
    /// Wait for the handler's answer, and give it to [`Http1::answer`].
    Wait(Pending),
    /// Send this body, then do what comes after it.
    Send(Long, After),
    /// Close.
    Close,
    /// Close, but read on for a while, so that what the client still sends does not destroy the answer on its way.
    CloseGently,
}

/// A body that is not sent in one go.
pub(crate) enum Long {
    Pieces(Pieces),
    Stream(Stream),
}

/// What is to be done after an answer that could not be sent at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    GoOn,
    Close,
    CloseGently,
}

/// How the answer to the current request must be framed.
#[derive(Debug, Clone, Copy)]
struct Shape {
    to_head: bool,
    http_1_1: bool,
    keep_alive: bool,
}

/// A request whose body has not arrived in full.
struct Unfinished {
    head: Vec<u8>,
    reader: BodyReader,
    body: Vec<u8>,
}

/// How much there is of a request that is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Nothing,
    Head,
    Body,
}

/// The state of one connection.
#[derive(Default)]
pub(crate) struct Http1 {
    /// What has arrived but is not part of an answered or unfinished request: a head in part, or further requests.
    /// Empty, without memory, on the usual path.
    input: Vec<u8>,
    /// The input has not been looked at: it waits for the answer to a request before it.
    behind: bool,
    unfinished: Option<Box<Unfinished>>,
    /// The request whose handler is being waited for.
    waiting: Option<Shape>,
    /// The client.
    peer: Option<SocketAddr>,
}

impl Http1 {
    /// A new connection of this client.
    pub fn with(peer: Option<SocketAddr>) -> Self {
        Self { peer, ..Self::default() }
    }

    /// How far the request has arrived that is not answered yet. Blank lines are no part of one: some clients send one
    /// after a body.
    #[inline]
    pub fn part(&self) -> Part {
        match &self.unfinished {
            Some(_) => Part::Body,
            None if self.input.iter().any(|&b| b != b'\r' && b != b'\n') => Part::Head,
            None => Part::Nothing,
        }
    }

    /// Whether there may be whole requests here already, for [`Http1::receive`] to answer before more is received.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Bytes that are held back.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.input.len()
    }

    /// Takes what has arrived and appends answers to `out`.
    #[inline]
    pub fn receive(&mut self, bytes: &[u8], cx: &Context<'_>, out: &mut Vec<u8>) -> Next {
        if self.input.is_empty() {
            let (used, next) = self.advance(bytes, cx, out);
            self.keep(&bytes[used..], &next);
            return next;
        }
        let mut input = std::mem::take(&mut self.input);
        self.behind = false;
        input.extend_from_slice(bytes);
        let (used, next) = self.advance(&input, cx, out);
        self.keep(&input[used..], &next);
        next
    }

    fn keep(&mut self, rest: &[u8], next: &Next) {
        if !rest.is_empty() && !matches!(next, Next::Close | Next::CloseGently) {
            self.input = rest.to_vec();
            self.behind = !matches!(next, Next::Receive);
        }
    }

    /// The answer of the handler that was waited for.
    pub fn answer(&mut self, response: Response, cx: &Context<'_>, out: &mut Vec<u8>) -> Next {
        let Some(shape) = self.waiting.take() else { return Next::Close };
        write(response, shape, cx, out).unwrap_or(Next::GoOn)
    }

    /// Answers request after request. Returns how much of the input is dealt with.
    fn advance(&mut self, input: &[u8], cx: &Context<'_>, out: &mut Vec<u8>) -> (usize, Next) {
        let begin = out.len();
        let mut at = 0;
        if self.unfinished.is_some() {
            let (used, next) = self.body_arrived(input, cx, out);
            match next {
                Some(next) => return (used, next),
                None => at = used,
            }
        }
        while at < input.len() {
            if out.len() - begin > ENOUGH_OUTPUT {
                return (at, Next::GoOn);
            }
            let rest = &input[at..];
            let mut slots = request::slots();
            let head = match request::parse(rest, &mut slots, cx.settings.limits()) {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(error) => return (at, refuse(error, cx, out)),
            };
            let after_head = &rest[head.len..];
            let body = match head.framing {
                Framing::None => &[],
                Framing::Length(length) if length <= after_head.len() as u64 && length <= cx.settings.max_body => {
                    &after_head[..length as usize]
                }
                _ => {
                    at += head.len;
                    match self.begin_body(&head, rest, cx, out) {
                        Some(next) => return (at, next),
                        None => {
                            let (used, next) = self.body_arrived(&input[at..], cx, out);
                            at += used;
                            match next {
                                Some(next) => return (at, next),
                                None => continue,
                            }
                        }
                    }
                }
            };
            at += head.len + body.len();
            if let Some(next) = self.respond(&head, body, cx, out) {
                return (at, next);
            }
        }
        (at, Next::Receive)
    }

    /// A head came without its whole body.
    #[cold]
    fn begin_body(
        &mut self,
        head: &RequestHead<'_, '_>,
        input: &[u8],
        cx: &Context<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        if matches!(head.framing, Framing::Length(length) if length > cx.settings.max_body) {
            return Some(fail(413, "The body is too large\n", cx, out));
        }
        if head.expect_continue && input.len() == head.len {
            encode::status_line(out, 100);
            out.extend_from_slice(b"\r\n");
        }
        let head_bytes = input[..head.len].to_vec();
        let reader = BodyReader::new(head.framing);
        self.unfinished = Some(Box::new(Unfinished { head: head_bytes, reader, body: Vec::new() }));
        None
    }

    /// More of a body has arrived. `None` if the request was answered and the next one may follow.
    #[cold]
    fn body_arrived(&mut self, input: &[u8], cx: &Context<'_>, out: &mut Vec<u8>) -> (usize, Option<Next>) {
        let Some(mut unfinished) = self.unfinished.take() else { return (0, None) };
        let Unfinished { reader, body, .. } = &mut *unfinished;
        let room = cx.settings.max_body - body.len() as u64;
        let mut came = 0;
        let read = reader.read(input, |piece| {
            came += piece.len() as u64;
            if came <= room {
                body.extend_from_slice(piece);
            }
        });
        let used = match read {
            // A fault behind what is too large may not have come yet, and must not change the answer.
            _ if came > room => return (input.len(), Some(fail(413, "The body is too large\n", cx, out))),
            Ok(used) => used,
            Err(error) => return (input.len(), Some(refuse(error, cx, out))),
        };
        if !reader.is_done() {
            self.unfinished = Some(unfinished);
            return (used, Some(Next::Receive));
        }
        let mut slots = request::slots();
        match request::parse(&unfinished.head, &mut slots, cx.settings.limits()) {
            Ok(Some(head)) => (used, self.respond(&head, &unfinished.body, cx, out)),
            // It was parsed before, and has not changed.
            _ => (used, Some(Next::Close)),
        }
    }

    /// Answers one request. `None` if the next one may follow.
    #[inline]
    fn respond(
        &mut self,
        head: &RequestHead<'_, '_>,
        body: &[u8],
        cx: &Context<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        let shape = Shape { to_head: head.method == "HEAD", http_1_1: head.http_1_1, keep_alive: head.keep_alive };
        match cx.app.call(head, body, cx.router, self.peer) {
            Outcome::Ready(response) => write(response, shape, cx, out),
            Outcome::Pending(future) => {
                self.waiting = Some(shape);
                Some(Next::Wait(future))
            }
        }
    }
}

/// Writes an answer. `None` if the next request may follow.
#[inline]
fn write(mut response: Response, shape: Shape, cx: &Context<'_>, out: &mut Vec<u8>) -> Option<Next> {
    let mut framing = response.body.framing();
    if let (stream::Framing::Chunked, false, Body::Stream(stream)) = (framing, shape.http_1_1, &mut response.body) {
        stream.until_close();
        framing = stream.framing();
    }
    let until_close = framing == stream::Framing::UntilClose;
    let keep_alive = shape.keep_alive && !cx.leaving && !response.closes && !until_close;
    encode::status_line(out, response.status);
    // RFC 9110, section 8.6: neither of these has a body, nor may announce one.
    let has_body = response.status != 204 && response.status != 304;
    match framing {
        _ if !has_body => {}
        stream::Framing::Length(length) => encode::content_length(out, length),
        stream::Framing::Chunked => encode::header(out, "Transfer-Encoding", b"chunked"),
        stream::Framing::UntilClose | stream::Framing::Nothing => {}
    }
    if has_body && !response.content_type.is_empty() {
        encode::header(out, "Content-Type", response.content_type.as_bytes());
    }
    for (name, value) in &response.headers {
        encode::header(out, name.as_str(), value.as_bytes());
    }
    if !keep_alive {
        encode::header(out, "Connection", b"close");
    } else if !shape.http_1_1 {
        encode::header(out, "Connection", b"keep-alive");
    }
    out.extend_from_slice(cx.stamp.missing(response.dated, response.named));
    out.extend_from_slice(b"\r\n");
    let after = match (keep_alive, shape.keep_alive) {
        (true, _) => After::GoOn,
        (false, false) => After::Close,
        // The client does not know yet, and may be sending further requests.
        (false, true) => After::CloseGently,
    };
    match response.body {
        _ if !has_body || shape.to_head => {}
        Body::Empty => {}
        Body::Static(bytes) if bytes.len() <= SMALL_BODY => out.extend_from_slice(bytes),
        Body::Bytes(bytes) if bytes.len() <= SMALL_BODY => out.extend_from_slice(&bytes),
        body => return Some(Next::Send(long(body), after)),
    }
    match after {
        After::GoOn => None,
        After::Close => Some(Next::Close),
        After::CloseGently => Some(Next::CloseGently),
    }
}

/// A long body, to be sent as the client takes it.
#[cold]
fn long(body: Body) -> Long {
    let mut whole = match body {
        Body::Stream(stream) => return Long::Stream(stream),
        Body::Pieces(pieces) => return Long::Pieces(pieces),
        Body::Empty => Bytes::new(),
        Body::Static(bytes) => Bytes::from_static(bytes),
        Body::Bytes(bytes) => bytes,
    };
    let length = whole.len() as u64;
    let piece = move || (!whole.is_empty()).then(|| whole.split_to(whole.len().min(SMALL_BODY)));
    Long::Pieces(Pieces { length, next: Box::new(std::iter::from_fn(piece)) })
}

/// Answers what is no request, as RFC 9112 and RFC 6585 order.
#[cold]
fn refuse(error: WireError, cx: &Context<'_>, out: &mut Vec<u8>) -> Next {
    let status = match error {
        WireError::TargetTooLong => 414,
        WireError::HeadTooLarge | WireError::TooManyHeaders => 431,
        WireError::Version => 505,
        WireError::TransferCoding => 501,
        _ => 400,
    };
    fail(status, format!("{error}\n"), cx, out)
}

/// Answers with a failure after which the connection cannot go on.
#[cold]
fn fail(status: u16, why: impl Into<Body>, cx: &Context<'_>, out: &mut Vec<u8>) -> Next {
    let shape = Shape { to_head: false, http_1_1: true, keep_alive: false };
    write(Response::error(status, why), shape, cx, out);
    Next::CloseGently
}

/// Answers a client that took too long over its request.
pub(crate) fn timed_out(cx: &Context<'_>, out: &mut Vec<u8>) -> Next {
    fail(408, "The request took too long\n", cx, out)
}

#[cfg(test)]
mod tests;
