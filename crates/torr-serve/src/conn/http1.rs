//! HTTP/1.1 on one connection: bytes in, responses out. Without sockets and clock, so that any order of events can be tested.

mod content;
mod handled;
mod input;
mod long_body;
mod router_fields;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use handled::{Handled, PendingResponse};
pub(crate) use long_body::LongBody;

use crate::app::{Content as RequestContent, Outcome};
use crate::client::Client;
use crate::conn::context::EngineContext;
use crate::conn::next::{HyperProtocol, Next};
use crate::conn::visit::Note;
use crate::message::body_pace::BodyPace;
use crate::message::response::{Body, Response};
use content::{Content, ContentError, Gathered, Remainder, Upload};
use handled::ResponseRules;
use input::Input;
use std::task::Waker;
use std::time::Duration;
use torr_wire::body::Framing;
use torr_wire::request::{self, HTTP2_PREFACE, RequestHead};
use torr_wire::{WireError, encode};
use write::{status_of, write};

/// The number of bytes of pipelined responses that are made before they are sent.
const ENOUGH_OUTPUT: usize = 64 * 1024;

/// The part that is awaited of a request; `Nothing` if none of its bytes has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Nothing,
    Head,
    Content,
}

/// The HTTP/1.1 of one connection.
#[derive(Default)]
pub(crate) struct Http1 {
    /// Bytes behind the request that is being handled, or of an incomplete header section. Empty, without memory, on the hot
    /// path.
    input: Input,
    /// The content of the latest request, while it is awaited.
    content: Content,
    /// The access log's note of the request that is being handled.
    note: Option<Note>,
    /// The number of requests so far.
    served: u64,
    /// Whether the next response is the connection's last.
    ends_soon: bool,
    client: Client,
}

impl Http1 {
    /// Returns the HTTP of a new connection of this client.
    pub fn new(client: Client) -> Self {
        Self { client, ..Self::default() }
    }

    /// Returns the HTTP of a connection that hyper has served for a while: `served` is the number of requests so far, `input`
    /// what has arrived behind them.
    pub fn resumed(client: Client, served: u64, input: Vec<u8>) -> Self {
        Self { client, served, input: input.into(), ..Self::default() }
    }

    /// Makes the response to the next request the connection's last.
    pub fn end_soon(&mut self) {
        self.ends_soon = true;
    }

    pub fn client_mut(&mut self) -> &mut Client {
        &mut self.client
    }

    /// Returns what hyper needs to serve the connection: client, number of requests, unhandled input.
    pub fn into_parts(mut self) -> (Client, u64, Vec<u8>) {
        (self.client, self.served, self.input.take())
    }

    /// Returns how far the next request has arrived. Blank lines are no part of a request: some clients send one after a
    /// request's content.
    #[inline]
    pub fn part(&self) -> Part {
        match &self.content {
            Content::Gathered(_) | Content::Uploaded(_) => Part::Content,
            Content::None if self.input.unread().iter().any(|&b| b != b'\r' && b != b'\n') => Part::Head,
            Content::None => Part::Nothing,
        }
    }

    /// Whether the input may hold whole requests, which [`Http1::receive`] handles before more is received.
    #[inline]
    pub fn has_backlog(&self) -> bool {
        self.input.is_unparsed
    }

    /// Whether content is passed on to a router, which has room for more.
    #[inline]
    pub fn has_upload_room(&self) -> bool {
        matches!(&self.content, Content::Uploaded(upload) if upload.has_room())
    }

    /// Whether content is passed on to a router, which has to take some before more is received (backpressure).
    #[inline]
    pub fn has_backpressure(&self) -> bool {
        matches!(&self.content, Content::Uploaded(upload) if !upload.has_room())
    }

    /// Counts a time for which the client of content that is passed on was waited for.
    pub fn wait(&mut self, time: Duration) {
        if let Content::Uploaded(upload) = &mut self.content {
            upload.pace.wait(time);
        }
    }

    /// Returns the time that the client has for more of the content that is passed on to a router; `None` if there is no such
    /// content. The response `has_begun`, or not.
    pub fn upload_time(&self, has_begun: bool) -> Option<Duration> {
        match &self.content {
            Content::Uploaded(upload) => Some(upload.pace.left(has_begun)),
            Content::None | Content::Gathered(_) => None,
        }
    }

    /// Whether the client waits for `100 Continue`, and the handler has not read the content yet.
    pub fn expects_continue(&self) -> bool {
        matches!(&self.content, Content::Uploaded(upload) if upload.expects_continue)
    }

    /// Returns the number of unhandled bytes.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.input.unread().len()
    }

    /// Handles bytes that have arrived, and those of the input before them, and appends responses to `out`. `wake` makes a
    /// waker for the connection, which calls [`Http1::invite`].
    #[inline]
    pub fn receive(
        &mut self,
        bytes: &[u8],
        cx: &EngineContext,
        wake: impl Fn() -> Waker,
        out: &mut Vec<u8>,
    ) -> Handled {
        if self.input.is_empty() {
            let (used, handled) = self.advance(bytes, cx, wake, out);
            if used < bytes.len() && !handled.is_end() {
                self.input.push(&bytes[used..]);
                self.input.is_unparsed = !matches!(handled, Handled::Done(Next::Receive));
            }
            return handled;
        }
        let mut input = std::mem::take(&mut self.input);
        input.push(bytes);
        let (used, handled) = self.advance(input.unread(), cx, wake, out);
        if !handled.is_end() {
            input.advance(used);
            input.is_unparsed = !input.is_empty() && !matches!(handled, Handled::Done(Next::Receive));
            self.input = input;
        }
        handled
    }

    /// Keeps bytes unhandled, for hyper.
    #[cold]
    pub fn keep(&mut self, bytes: &[u8]) {
        self.input.push(bytes);
    }

    /// Handles request after request. Returns how much of the input is handled.
    fn advance(
        &mut self,
        input: &[u8],
        cx: &EngineContext,
        wake: impl Fn() -> Waker,
        out: &mut Vec<u8>,
    ) -> (usize, Handled) {
        let begin = out.len();
        let mut at = 0;
        if !matches!(self.content, Content::None) {
            match self.continue_content(input, cx, out) {
                (used, Handled::Done(Next::Continue)) => at = used,
                ended => return ended,
            }
        }
        while at < input.len() {
            if out.len() - begin > ENOUGH_OUTPUT {
                return (at, Handled::Done(Next::Continue));
            }
            let (used, handled) = self.receive_request(&input[at..], cx, &wake, out);
            at += used;
            if !matches!(handled, Handled::Done(Next::Continue)) {
                return (at, handled);
            }
        }
        (at, Handled::Done(Next::Receive))
    }

    /// Handles the request at the front of `input`. Returns also how much of the input is handled.
    #[inline]
    fn receive_request(
        &mut self,
        input: &[u8],
        cx: &EngineContext,
        wake: impl Fn() -> Waker,
        out: &mut Vec<u8>,
    ) -> (usize, Handled) {
        let renamed;
        let mut headers = request::header_buffer();
        let (mut known, limits) = (input, cx.worker.settings.limits());
        let mut parsed = request::parse(input, &mut headers, limits);
        if let Err(WireError::Version) = parsed
            && let Some(copy) = request::as_http_1_1(input, limits)
        {
            renamed = copy;
            known = &renamed;
            headers = request::header_buffer();
            parsed = request::parse(known, &mut headers, limits);
        }
        let head = match parsed {
            Ok(Some(head)) => head,
            Ok(None) => return (0, Handled::Done(Next::Receive)),
            Err(error) => return (0, self.refuse_head(error, input, cx, out)),
        };
        if (head.upgrade || head.method == "CONNECT") && is_for_hyper(&head, cx) {
            let protocol = HyperProtocol::Http1 { head: head.len, framing: head.framing };
            return (0, Handled::Done(Next::HandOver(protocol)));
        }
        let behind = &input[head.len..];
        let content = match head.framing {
            Framing::None => &[],
            Framing::Length(length) if length <= behind.len() as u64 && length <= most_at_once(cx) => {
                &behind[..length as usize]
            }
            _ if cx.worker.app.takes_body_as_it_comes(head.method, head.path()) => {
                let (used, handled) = self.begin_upload(&head, behind, cx, wake, out);
                return (head.len + used, handled);
            }
            _ => {
                let (used, handled) = self.begin_gathering(&head, &known[..head.len], behind, cx, out);
                return (head.len + used, handled);
            }
        };
        (head.len + content.len(), self.dispatch(&head, RequestContent::Whole(content), cx, out))
    }

    /// Begins to gather content that has not arrived as a whole.
    #[cold]
    fn begin_gathering(
        &mut self,
        head: &RequestHead<'_, '_>,
        head_bytes: &[u8],
        behind: &[u8],
        cx: &EngineContext,
        out: &mut Vec<u8>,
    ) -> (usize, Handled) {
        if matches!(head.framing, Framing::Length(length) if length > cx.worker.settings.max_body) {
            self.note_request(head, cx);
            return (0, self.refuse_content(ContentError::TooLarge, cx, out));
        }
        if head.expect_continue && behind.is_empty() {
            invite(out);
        }
        self.content = Content::Gathered(Box::new(Gathered::new(head_bytes.to_vec(), head.framing)));
        self.continue_content(behind, cx, out)
    }

    /// Begins to pass content on to the router, and calls the router.
    #[cold]
    fn begin_upload(
        &mut self,
        head: &RequestHead<'_, '_>,
        behind: &[u8],
        cx: &EngineContext,
        wake: impl Fn() -> Waker,
        out: &mut Vec<u8>,
    ) -> (usize, Handled) {
        if matches!(head.framing, Framing::Length(length) if length > cx.worker.settings.most_streamed()) {
            self.note_request(head, cx);
            return (behind.len(), self.refuse_content(ContentError::TooLarge, cx, out));
        }
        let (upload, receiver) = Upload::new(
            head.framing,
            head.expect_continue && behind.is_empty(),
            BodyPace::new(&cx.worker.settings),
            wake,
        );
        self.content = Content::Uploaded(Box::new(upload));
        let used = match self.upload(behind, cx) {
            Ok(used) => used,
            Err(error) => {
                self.note_request(head, cx);
                return (behind.len(), self.refuse_content(error, cx, out));
            }
        };
        let handled = self.dispatch(head, RequestContent::Coming(receiver), cx, out);
        if matches!(handled, Handled::Pending(..)) {
            self.invite(out);
        }
        (used, handled)
    }

    /// Takes more of the content that is awaited, before any other request.
    #[cold]
    fn continue_content(&mut self, input: &[u8], cx: &EngineContext, out: &mut Vec<u8>) -> (usize, Handled) {
        match std::mem::take(&mut self.content) {
            Content::None => (0, Handled::Done(Next::Continue)),
            Content::Gathered(gathered) => self.gather(gathered, input, cx, out),
            uploaded @ Content::Uploaded(_) => {
                // The response has been sent, so that a refusal cannot be.
                self.content = uploaded;
                match self.upload(input, cx) {
                    Ok(used) if self.remainder() != Remainder::Unwanted => (used, Handled::Done(Next::Continue)),
                    _ => {
                        self.content = Content::None;
                        (input.len(), Handled::Done(Next::Linger))
                    }
                }
            }
        }
    }

    /// Gathers more of a request's content, and calls the handler once it is complete.
    fn gather(
        &mut self,
        mut gathered: Box<Gathered>,
        input: &[u8],
        cx: &EngineContext,
        out: &mut Vec<u8>,
    ) -> (usize, Handled) {
        let used = match gathered.receive(input, cx.worker.settings.max_body) {
            Ok(used) => used,
            Err(error) => {
                self.note_head(&gathered.head, cx);
                return (input.len(), self.refuse_content(error, cx, out));
            }
        };
        if !gathered.is_complete() {
            self.content = Content::Gathered(gathered);
            return (used, Handled::Done(Next::Receive));
        }
        let mut headers = request::header_buffer();
        match request::parse(&gathered.head, &mut headers, cx.worker.settings.limits()) {
            Ok(Some(head)) => (used, self.dispatch(&head, RequestContent::Whole(&gathered.body), cx, out)),
            // Unreachable: the bytes were parsed before, and have not changed.
            _ => (used, Handled::Done(Next::Close)),
        }
    }

    /// Passes on what of `input` belongs to the content. Returns how much that is.
    fn upload(&mut self, input: &[u8], cx: &EngineContext) -> Result<usize, ContentError> {
        let Content::Uploaded(upload) = &mut self.content else { return Ok(0) };
        let used = upload.receive(input, cx.worker.settings.most_streamed())?;
        if upload.is_complete() {
            self.content = Content::None;
        }
        Ok(used)
    }

    /// Takes bytes that have arrived while a response is made (`is_handling`) or sent.
    #[cold]
    pub fn receive_content(
        &mut self,
        bytes: &[u8],
        is_handling: bool,
        cx: &EngineContext,
        out: &mut Vec<u8>,
    ) -> Handled {
        match self.upload(bytes, cx) {
            Ok(used) => {
                self.input.push(&bytes[used..]);
                self.input.is_unparsed |= used < bytes.len();
                Handled::Done(Next::Receive)
            }
            Err(error) if is_handling => self.refuse_content(error, cx, out),
            Err(_) => Handled::Done(Next::Close),
        }
    }

    /// Sends `100 Continue` to a client that waits for it, if the handler reads the content. For use before the response.
    pub fn invite(&mut self, out: &mut Vec<u8>) {
        if let Content::Uploaded(upload) = &mut self.content
            && upload.invites()
        {
            invite(out);
        }
    }

    /// Takes the response of a handler that was waited for.
    pub fn respond(
        &mut self,
        response: Response,
        pending: PendingResponse,
        cx: &EngineContext,
        out: &mut Vec<u8>,
    ) -> Handled {
        self.put(response, pending.rules, self.remainder(), cx, out)
    }

    /// Takes the end of the time for a request, or for its content while a handler works (`is_handling`). Returns `None` where
    /// the client is sent no response, since none of a request has arrived, or the response has been sent.
    pub fn time_out(&mut self, is_handling: bool, cx: &EngineContext, out: &mut Vec<u8>) -> Option<Handled> {
        let part = self.part();
        match std::mem::take(&mut self.content) {
            Content::None if is_handling || part == Part::Nothing => return None,
            Content::None => {}
            Content::Gathered(gathered) => self.note_head(&gathered.head, cx),
            Content::Uploaded(upload) => {
                upload.time_out();
                if !is_handling {
                    return None;
                }
            }
        }
        self.note.get_or_insert_with(|| cx.worker.visits.malformed(&self.client));
        Some(self.fail(408, "The request took too long\n", cx, out))
    }

    /// Counts `bytes` of a long body as sent.
    pub fn count_sent(&mut self, bytes: u64) {
        self.note.iter_mut().for_each(|note| note.sent(bytes));
    }

    /// Ends a long body, all of which is sent.
    pub fn end_body(&mut self) {
        self.note = None;
    }

    /// Calls the handler of a request.
    #[inline]
    fn dispatch(
        &mut self,
        head: &RequestHead<'_, '_>,
        content: RequestContent<'_>,
        cx: &EngineContext,
        out: &mut Vec<u8>,
    ) -> Handled {
        self.served += 1;
        let most = cx.worker.settings.requests_per_connection;
        let rules = ResponseRules {
            to_head: head.method == "HEAD",
            http_1_1: head.http_1_1,
            keep_alive: head.keep_alive,
            is_last: self.ends_soon || most != 0 && self.served >= most,
        };
        let outcome = match self.note_request(head, cx) {
            Some(client) => cx.worker.app.call(head, content, &client),
            None => cx.worker.app.call(head, content, &self.client),
        };
        let (future, is_droppable) = match outcome {
            Outcome::Ready(response) => return self.put(response, rules, self.remainder(), cx, out),
            Outcome::Pending { future, is_droppable } => (future, is_droppable),
        };
        Handled::Pending(future, PendingResponse { rules, is_droppable })
    }

    /// Returns how much of the request's content has not arrived.
    #[inline]
    fn remainder(&self) -> Remainder {
        match &self.content {
            Content::Uploaded(upload) => upload.remainder(),
            Content::None | Content::Gathered(_) => Remainder::Nothing,
        }
    }

    /// Appends a response to `out`, and notes it.
    #[inline]
    fn put(
        &mut self,
        response: Response,
        rules: ResponseRules,
        remainder: Remainder,
        cx: &EngineContext,
        out: &mut Vec<u8>,
    ) -> Handled {
        let handled = write(response, rules, remainder, self.note.as_mut(), cx, out);
        if !matches!(handled, Handled::Body(..)) {
            self.note = None;
        }
        handled
    }

    /// Notes a request where a setting requires that. Returns the client then, as far as a proxy tells.
    #[inline]
    fn note_request(&mut self, head: &RequestHead<'_, '_>, cx: &EngineContext) -> Option<Client> {
        if cx.worker.visits.are_noted() { Some(self.take_note(head, cx)) } else { None }
    }

    #[cold]
    fn take_note(&mut self, head: &RequestHead<'_, '_>, cx: &EngineContext) -> Client {
        let protocol = if head.http_1_1 { "HTTP/1.1" } else { "HTTP/1.0" };
        let fields: Vec<_> = head.headers.iter().map(|field| (field.name, field.value)).collect();
        let (client, note) = cx.worker.visits.begin(&self.client, [head.method, head.target, protocol], &fields);
        self.note = Some(note);
        client
    }

    /// Notes a request whose header section was kept.
    #[cold]
    fn note_head(&mut self, head: &[u8], cx: &EngineContext) {
        let mut headers = request::header_buffer();
        if let Ok(Some(head)) = request::parse(head, &mut headers, cx.worker.settings.limits()) {
            self.note_request(&head, cx);
        }
    }

    /// Handles what is no request of HTTP/1.1: the preface of HTTP/2, or a fault.
    #[cold]
    fn refuse_head(&mut self, error: WireError, input: &[u8], cx: &EngineContext, out: &mut Vec<u8>) -> Handled {
        let arrived = input.len().min(HTTP2_PREFACE.len());
        let may_be_http2 = cx.worker.settings.http2 && self.served == 0 && input[..arrived] == HTTP2_PREFACE[..arrived];
        match error {
            WireError::Version if may_be_http2 && arrived < HTTP2_PREFACE.len() => Handled::Done(Next::Receive),
            WireError::Version if may_be_http2 => Handled::Done(Next::HandOver(HyperProtocol::Http2)),
            _ => self.refuse(error, cx, out),
        }
    }

    #[cold]
    fn refuse_content(&mut self, error: ContentError, cx: &EngineContext, out: &mut Vec<u8>) -> Handled {
        self.content = Content::None;
        match error {
            ContentError::TooLarge => self.fail(413, "The body is too large\n", cx, out),
            ContentError::Malformed(error) => self.refuse(error, cx, out),
        }
    }

    /// Refuses a request that breaks the rules of HTTP.
    #[cold]
    fn refuse(&mut self, error: WireError, cx: &EngineContext, out: &mut Vec<u8>) -> Handled {
        self.note.get_or_insert_with(|| cx.worker.visits.malformed(&self.client));
        self.fail(status_of(error), format!("{error}\n"), cx, out)
    }

    /// Sends a failure after which the connection ends.
    #[cold]
    fn fail(&mut self, status: u16, why: impl Into<Body>, cx: &EngineContext, out: &mut Vec<u8>) -> Handled {
        let rules = ResponseRules { to_head: false, http_1_1: true, keep_alive: false, is_last: true };
        self.put(Response::error(status, why), rules, Remainder::Unwanted, cx, out);
        Handled::Done(Next::Linger)
    }
}

fn invite(out: &mut Vec<u8>) {
    encode::status_line(out, 100);
    out.extend_from_slice(b"\r\n");
}

/// Returns the length of content up to which it is handed over with its header section, if it has arrived.
fn most_at_once(cx: &EngineContext) -> u64 {
    cx.worker.settings.max_body.min(cx.worker.settings.most_streamed())
}

/// Whether a request may upgrade its connection. A request for HTTP/2 by `Upgrade` may not: that way was removed (RFC 9113,
/// section 3.1), and a client that offers it takes HTTP/1.1.
#[cold]
fn is_for_hyper(head: &RequestHead<'_, '_>, cx: &EngineContext) -> bool {
    let offered = || head.header("upgrade").is_some_and(|protocol| !protocol.eq_ignore_ascii_case(b"h2c"));
    (head.method == "CONNECT" || offered()) && cx.worker.app.takes_body_as_it_comes(head.method, head.path())
}
