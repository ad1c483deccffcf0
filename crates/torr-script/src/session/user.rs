//! A virtual user: its session, and what that has of streams, WebSockets, cookies and servers.

use super::socket::{Called, Socket, SocketCall};
use crate::state::step_mark;
use bytes::Bytes;
use cookie_store::CookieStore;
use mlua::{MultiValue, Thread, Value};
use torr_press::request::{secrets_of_content, sent_secrets};
use torr_press::users::{Step, Unmet};
use url::Url;

/// A virtual user.
#[derive(Debug)]
pub(super) struct User {
    /// The number among all users of the run.
    pub(super) number: usize,
    pub(super) coroutine: Option<Thread>,
    /// What the session does next.
    pub(super) next: Next,
    /// The entry of the latest request.
    pub(super) entry: u32,
    /// The latest request in HTTP/1.1, but for large content.
    pub(super) request: Vec<u8>,
    /// The large content of the latest request.
    pub(super) content: Option<Bytes>,
    /// The secrets of the latest request whose response failed.
    pub(super) sent: Vec<String>,
    /// The cookies of the session, from the first one on.
    pub(super) cookies: Option<Box<CookieStore>>,
    /// The server of the latest request, where it is not the target's.
    pub(super) server: Option<Box<OtherServer>>,
    /// Whether the latest request is a call of gRPC.
    pub(super) is_call: bool,
    /// The stream that the latest request is to bring.
    pub(super) stream: Stream,
    /// The number of streams that have begun.
    pub(super) streams: u64,
    /// Whether the session has left the stream in flight.
    pub(super) has_left: bool,
    /// What the session does next when it has left that stream.
    pub(super) after_leaving: Next,
    /// What the session has of its WebSocket.
    pub(super) socket: Socket,
    /// The checks that failed between the events of the stream in flight.
    pub(super) unmet: Vec<Unmet>,
}

/// The stream of events that a session reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// There is none.
    None,
    /// The session waits for the first event.
    Awaited,
    /// The session reads the events of the stream with this number.
    Open(u64),
    /// The session waits for the response that opens a WebSocket.
    Opening,
    /// The session has the WebSocket with this number.
    Socket(u64),
}

/// A server beside the target that a request goes to.
#[derive(Debug)]
pub(super) struct OtherServer {
    /// The URL of its root.
    pub(super) url: Url,
    /// Its number, once it is found.
    pub(super) number: Option<usize>,
    /// How many times the user has waited for it to be found.
    pub(super) look_ups: u32,
}

/// What a session does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Next {
    /// Lua code runs.
    Resume,
    /// The engine acts.
    Step(Step),
    /// The session goes on when its pause is over, ...
    Paused,
    /// ... and before that its WebSocket has ended.
    StillPaused,
}

impl User {
    pub(super) fn new(number: usize) -> Self {
        Self {
            number,
            coroutine: None,
            next: Next::Resume,
            entry: 0,
            request: Vec::new(),
            content: None,
            sent: Vec::new(),
            cookies: None,
            server: None,
            is_call: false,
            stream: Stream::None,
            streams: 0,
            has_left: false,
            after_leaving: Next::Resume,
            socket: Socket::default(),
            unmet: Vec::new(),
        }
    }

    /// Takes a call of the session's code for a WebSocket.
    pub(super) fn call_socket(&mut self, call: SocketCall) -> Called {
        let is_open = |number| self.stream == Stream::Socket(number);
        match call {
            SocketCall::Receive(number) => {
                let unread = if self.socket.number == number { self.socket.mail.pop_front() } else { None };
                match unread {
                    Some(message) => Called::Message(message),
                    None if is_open(number) => {
                        self.socket.is_awaiting = true;
                        Called::Step(Step::Await)
                    }
                    None => Called::Closed,
                }
            }
            SocketCall::Send(number, message) if is_open(number) => {
                self.socket.outgoing = Some(message);
                Called::Step(Step::Message)
            }
            SocketCall::Close(number) if is_open(number) => {
                self.socket.mail.clear();
                Called::Step(self.leave_before(Next::Resume))
            }
            SocketCall::Send(..) | SocketCall::Close(_) => Called::Closed,
        }
    }

    /// Returns what comes before a step of a session whose WebSocket is open: only a pause leaves it so.
    pub(super) fn step_beside_socket(&mut self, socket: Stream, step: Step) -> Step {
        if let Step::Pause(_) = step {
            self.stream = socket;
            return step;
        }
        self.leave_before(Next::Step(step))
    }

    /// Returns the step that leaves the stream in flight, before the session does this.
    pub(super) fn leave_before(&mut self, next: Next) -> Step {
        if !matches!(next, Next::Step(Step::Send(_))) {
            self.stream = Stream::None;
        }
        (self.has_left, self.after_leaving) = (true, next);
        Step::Leave
    }

    /// Returns a URL of the server that the latest request goes to. `target` is the run's.
    pub(super) fn url<'u>(&'u self, target: &'u Url) -> &'u Url {
        self.server.as_ref().map_or(target, |server| &server.url)
    }

    /// Returns the secrets in the latest request.
    pub(super) fn sent_secrets(&self) -> Vec<String> {
        let mut sent = sent_secrets(&self.request);
        if let Some(content) = &self.content {
            sent.extend(secrets_of_content(content));
        }
        sent
    }
}

impl OtherServer {
    /// Returns the server of an origin; `None` if it is the target's.
    ///
    /// # Errors
    /// If the text is no origin.
    pub(super) fn of(origin: &str, target: &Url) -> Result<Option<Box<Self>>, String> {
        let url: Url =
            origin.parse().map_err(|error| format!("the request goes to {origin}, an invalid URL: {error}"))?;
        let is_other = url.origin() != target.origin();
        Ok(is_other.then(|| Box::new(Self { url, number: None, look_ups: 0 })))
    }
}

/// Returns the number of the stream whose next event is awaited, if that is what yielded values stand for.
pub(super) fn awaited_stream(yielded: &MultiValue) -> Option<u64> {
    let is_event = yielded.front() == Some(&step_mark())
        && yielded.get(1).and_then(Value::as_string).is_some_and(|text| *text == "event");
    let number = yielded.get(2).filter(|_| is_event)?;
    // Whole numbers are integers to mlua.
    number.as_u64().or_else(|| number.as_f64().map(|number| number as u64))
}
