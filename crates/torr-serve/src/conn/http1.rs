//! HTTP/1.1 on one connection: bytes in, answers out. No sockets and no clock, so that any order of events can be tried.

mod input;
mod taking;
mod writing;

use crate::app::{Content, Outcome, Pending};
use crate::client::Client;
use crate::client::request_id::FIELD;
use crate::context::Context;
use crate::message::response::{Body, Pieces, Response, SMALL};
use crate::message::stream::{self, Stream};
use crate::observe::visit::Note;
use bytes::Bytes;
use http::HeaderName;
use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use input::Input;
use std::task::Waker;
use taking::{Rest, Taking};
use torr_net::Token;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::request::{self, HTTP2_PREFACE, RequestHead};
use torr_wire::{WireError, encode};
use writing::{status_of, write};

/// Bytes of answers to pipelined requests that may gather before they are sent.
const ENOUGH_OUTPUT: usize = 64 * 1024;

/// What is to be done once the output is sent.
pub(crate) enum Next {
    /// Receive more.
    Receive,
    /// Call [`Http1::receive`] again with nothing: there are requests left to answer.
    GoOn,
    /// Nothing: the request is still being dealt with.
    Stay,
    /// Wait for the handler's answer, and give it to [`Http1::answer`].
    Wait(Pending),
    /// Send this body, then do what comes after it.
    Send(Long, After),
    /// Close.
    Close,
    /// Close, but read on for a while, so that what the client still sends does not destroy the answer on its way.
    CloseGently,
    /// Give the connection away, with [`Http1::take_input`].
    HandOver(To),
}

/// What a connection speaks from here on that this engine does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum To {
    /// HTTP/1.1, for one request, which may turn the connection into something else. Its head has this many bytes, and its body
    /// is framed like this.
    Http1 { head: usize, framing: Framing },
    /// HTTP/2.
    Http2,
}

/// A body that is not sent in one go.
pub(crate) enum Long {
    Pieces(Pieces),
    Stream(Stream),
}

impl Long {
    /// Whether nobody knows its length, so that it may have no end.
    pub fn is_endless(&self) -> bool {
        matches!(self, Self::Stream(stream) if !matches!(stream.framing(), stream::Framing::Length(_)))
    }
}

/// What is to be done after an answer that could not be sent at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum After {
    GoOn,
    Close,
    CloseGently,
    HandOver(To),
}

/// How the answer to the current request must be framed.
#[derive(Debug, Clone, Copy)]
struct Shape {
    to_head: bool,
    http_1_1: bool,
    keep_alive: bool,
    /// The connection may bring no further request, which its client does not know.
    last: bool,
    /// What there is of the request's body when it is answered.
    rest: Rest,
}

/// A request whose body is being gathered.
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
    input: Input,
    /// The input has not been looked at: it waits for the answer to a request before it.
    behind: bool,
    unfinished: Option<Box<Unfinished>>,
    /// The body that is passed on to a router as it comes.
    taking: Option<Box<Taking>>,
    /// The request whose handler is being waited for.
    waiting: Option<Shape>,
    /// That handler is not waited for any more once the client has ended its side.
    droppable: bool,
    /// The connection is to be given away at once.
    is_http2: bool,
    /// What is noted of the request that is being answered.
    note: Option<Note>,
    /// Requests so far.
    served: u64,
    client: Client,
    /// The connection's name in the engine.
    token: Option<Token>,
}

impl Http1 {
    /// A new connection of this client.
    pub fn with(client: Client) -> Self {
        Self { client, ..Self::default() }
    }

    /// A connection that has been elsewhere, with the number of its requests so far and what has arrived behind them.
    pub fn resumed(client: Client, served: u64, input: Vec<u8>) -> Self {
        let behind = !input.is_empty();
        Self { client, served, input: input.into(), behind, ..Self::default() }
    }

    /// Its name in the engine from now on.
    pub fn call_it(&mut self, token: Token) {
        self.token = Some(token);
    }

    /// What is known of the client.
    pub fn client(&mut self) -> &mut Client {
        &mut self.client
    }

    /// How many requests it has brought.
    pub fn served(&self) -> u64 {
        self.served
    }

    /// HTTP/2 was agreed on, so that nothing else is to be understood.
    pub fn expect_http2(&mut self) {
        self.is_http2 = true;
    }

    /// What has arrived and is dealt with by nobody.
    pub fn take_input(&mut self) -> Vec<u8> {
        self.input.take()
    }

    /// How far the request has arrived that is not answered yet. Blank lines are no part of one: some clients send one
    /// after a body.
    #[inline]
    pub fn part(&self) -> Part {
        match &self.unfinished {
            Some(_) => Part::Body,
            None if self.taking.is_some() => Part::Body,
            None if self.input.waiting().iter().any(|&b| b != b'\r' && b != b'\n') => Part::Head,
            None => Part::Nothing,
        }
    }

    /// Whether there may be whole requests here already, for [`Http1::receive`] to answer before more is received.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.behind
    }

    /// Whether the handler that is waited for is of no use once the client has ended its side.
    #[inline]
    pub fn is_droppable(&self) -> bool {
        self.droppable && !self.is_taking()
    }

    /// Bytes that are held back.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.input.waiting().len()
    }

    /// Takes what has arrived and appends answers to `out`.
    #[inline]
    pub fn receive(&mut self, bytes: &[u8], cx: &Context, out: &mut Vec<u8>) -> Next {
        if self.is_http2 {
            self.input.push(bytes);
            return Next::HandOver(To::Http2);
        }
        if self.input.is_empty() {
            let (used, next) = self.advance(bytes, cx, out);
            self.keep(&bytes[used..], &next);
            return next;
        }
        let mut input = std::mem::take(&mut self.input);
        self.behind = false;
        input.push(bytes);
        let (used, next) = self.advance(input.waiting(), cx, out);
        if !matches!(next, Next::Close | Next::CloseGently) {
            input.advance(used);
            self.behind = !input.is_empty() && !matches!(next, Next::Receive);
            self.input = input;
        }
        next
    }

    fn keep(&mut self, rest: &[u8], next: &Next) {
        if !rest.is_empty() && !matches!(next, Next::Close | Next::CloseGently) {
            self.input.push(rest);
            self.behind = !matches!(next, Next::Receive);
        }
    }

    /// The answer of the handler that was waited for.
    pub fn answer(&mut self, response: Response, cx: &Context, out: &mut Vec<u8>) -> Next {
        let Some(shape) = self.waiting.take() else { return Next::Close };
        let shape = Shape { rest: self.rest(), ..shape };
        self.put(response, shape, cx, out).unwrap_or(Next::GoOn)
    }

    /// Answers request after request. Returns how much of the input is dealt with.
    fn advance(&mut self, input: &[u8], cx: &Context, out: &mut Vec<u8>) -> (usize, Next) {
        let begin = out.len();
        let most_at_once = cx.settings.max_body.min(cx.settings.most_streamed());
        let mut at = 0;
        if self.unfinished.is_some() {
            let (used, next) = self.body_arrived(input, cx, out);
            match next {
                Some(next) => return (used, next),
                None => at = used,
            }
        }
        if self.taking.is_some() {
            match self.take_on(input, cx) {
                Ok(used) => at = used,
                Err(next) => return (input.len(), next),
            }
        }
        while at < input.len() {
            if out.len() - begin > ENOUGH_OUTPUT {
                return (at, Next::GoOn);
            }
            let rest = &input[at..];
            let mut slots = request::header_buffer();
            let head = match request::parse(rest, &mut slots, cx.settings.limits()) {
                Ok(Some(head)) => head,
                Ok(None) => break,
                Err(WireError::Version) if self.may_be_http2(rest, cx) => {
                    if rest.len() < HTTP2_PREFACE.len() {
                        break;
                    }
                    return (at, Next::HandOver(To::Http2));
                }
                Err(error) => return (at, self.refuse(error, cx, out)),
            };
            if (head.upgrade || head.method == "CONNECT") && is_exotic(&head, cx) {
                return (at, Next::HandOver(To::Http1 { head: head.len, framing: head.framing }));
            }
            let after_head = &rest[head.len..];
            let body = match head.framing {
                Framing::None => &[],
                Framing::Length(length) if length <= after_head.len() as u64 && length <= most_at_once => {
                    &after_head[..length as usize]
                }
                _ if cx.app.takes_body_as_it_comes(head.method, head.path(), cx) => {
                    let (used, next) = self.begin_taking(&head, after_head, cx, out);
                    at += head.len + used;
                    match next {
                        Some(next) => return (at, next),
                        None => continue,
                    }
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
            if let Some(next) = self.respond(&head, Content::Whole(body), cx, out) {
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
        cx: &Context,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        if matches!(head.framing, Framing::Length(length) if length > cx.settings.max_body) {
            if cx.visits.are_noted() {
                self.take_note(head, cx);
            }
            return Some(self.fail(413, "The body is too large\n", cx, out));
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
    fn body_arrived(&mut self, input: &[u8], cx: &Context, out: &mut Vec<u8>) -> (usize, Option<Next>) {
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
            _ if came > room => {
                self.take_note_again(&unfinished.head, cx);
                return (input.len(), Some(self.fail(413, "The body is too large\n", cx, out)));
            }
            Ok(used) => used,
            Err(error) => {
                self.take_note_again(&unfinished.head, cx);
                return (input.len(), Some(self.refuse(error, cx, out)));
            }
        };
        if !reader.is_done() {
            self.unfinished = Some(unfinished);
            return (used, Some(Next::Receive));
        }
        let mut slots = request::header_buffer();
        match request::parse(&unfinished.head, &mut slots, cx.settings.limits()) {
            Ok(Some(head)) => (used, self.respond(&head, Content::Whole(&unfinished.body), cx, out)),
            // It was parsed before, and has not changed.
            _ => (used, Some(Next::Close)),
        }
    }

    /// Answers one request. `None` if the next one may follow.
    #[inline]
    fn respond(
        &mut self,
        head: &RequestHead<'_, '_>,
        content: Content<'_>,
        cx: &Context,
        out: &mut Vec<u8>,
    ) -> Option<Next> {
        self.served += 1;
        let (to_head, rest) = (head.method == "HEAD", Rest::Nothing);
        let most = cx.settings.requests_per_connection;
        let last = most != 0 && self.served >= most;
        let shape = Shape { to_head, http_1_1: head.http_1_1, keep_alive: head.keep_alive, last, rest };
        let outcome = if cx.visits.are_noted() {
            let client = self.take_note(head, cx);
            cx.app.call(head, content, &client, cx)
        } else {
            cx.app.call(head, content, &self.client, cx)
        };
        match outcome {
            Outcome::Ready(response) => self.put(response, Shape { rest: self.rest(), ..shape }, cx, out),
            Outcome::Pending(future) => {
                (self.waiting, self.droppable) = (Some(shape), false);
                Some(Next::Wait(future))
            }
            Outcome::Droppable(future) => {
                (self.waiting, self.droppable) = (Some(shape), true);
                Some(Next::Wait(future))
            }
        }
    }

    /// Notes a request, and gives who sent it.
    #[cold]
    fn take_note(&mut self, head: &RequestHead<'_, '_>, cx: &Context) -> Client {
        let protocol = if head.http_1_1 { "HTTP/1.1" } else { "HTTP/1.0" };
        let fields: Vec<_> = head.headers.iter().map(|field| (field.name, field.value)).collect();
        let (client, note) = cx.visits.begin(&self.client, [head.method, head.target, protocol], &fields);
        self.note = Some(note);
        client
    }

    /// Notes a request whose head was kept.
    #[cold]
    fn take_note_again(&mut self, head: &[u8], cx: &Context) {
        let mut slots = request::header_buffer();
        if cx.visits.are_noted()
            && let Ok(Some(head)) = request::parse(head, &mut slots, cx.settings.limits())
        {
            self.take_note(&head, cx);
        }
    }

    /// Writes an answer, and notes it.
    #[inline]
    fn put(&mut self, response: Response, shape: Shape, cx: &Context, out: &mut Vec<u8>) -> Option<Next> {
        let next = write(response, shape, self.note.as_mut(), cx, out);
        if !matches!(next, Some(Next::Send(..))) {
            self.note = None;
        }
        next
    }

    /// So many bytes of a long body are made ready to be sent.
    pub fn sent(&mut self, bytes: u64) {
        self.note.iter_mut().for_each(|note| note.sent(bytes));
    }

    /// A long body is sent to its end.
    pub fn finish(&mut self) {
        self.note = None;
    }

    /// Answers what is no request.
    #[cold]
    fn refuse(&mut self, error: WireError, cx: &Context, out: &mut Vec<u8>) -> Next {
        self.note.get_or_insert_with(|| cx.visits.malformed(&self.client));
        self.fail(status_of(error), format!("{error}\n"), cx, out)
    }

    /// Answers with a failure after which the connection cannot go on.
    #[cold]
    fn fail(&mut self, status: u16, why: impl Into<Body>, cx: &Context, out: &mut Vec<u8>) -> Next {
        let shape = Shape { to_head: false, http_1_1: true, keep_alive: false, last: true, rest: Rest::Unwanted };
        self.put(Response::error(status, why), shape, cx, out);
        Next::CloseGently
    }

    /// Answers a client that took too long over its request.
    pub fn timed_out(&mut self, cx: &Context, out: &mut Vec<u8>) -> Next {
        if let Some(unfinished) = self.unfinished.take() {
            self.take_note_again(&unfinished.head, cx);
        }
        self.note.get_or_insert_with(|| cx.visits.malformed(&self.client));
        self.fail(408, "The request took too long\n", cx, out)
    }

    /// Whether the connection begins as one of HTTP/2 does, as far as it has come.
    #[cold]
    fn may_be_http2(&self, input: &[u8], cx: &Context) -> bool {
        let come = input.len().min(HTTP2_PREFACE.len());
        cx.settings.http2 && self.served == 0 && input[..come] == HTTP2_PREFACE[..come]
    }
}

/// Whether a request may turn its connection into something else than HTTP/1.1. A request for HTTP/2 by `Upgrade` is
/// none: that way in was taken back (RFC 9113, section 3.1), and who offers it is content with HTTP/1.1.
#[cold]
fn is_exotic(head: &RequestHead<'_, '_>, cx: &Context) -> bool {
    let offered = || head.header("upgrade").is_some_and(|protocol| !protocol.eq_ignore_ascii_case(b"h2c"));
    (head.method == "CONNECT" || offered()) && cx.app.takes_body_as_it_comes(head.method, head.path(), cx)
}

#[cfg(test)]
mod tests;
