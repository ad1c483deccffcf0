//! The state machine of one connection and the parser of PROXY headers, open to the fuzzer; no part of the interface.

use crate::app::pool::Threads;
use crate::app::{App, Pending};
use crate::client::proxy_protocol;
use crate::conn::http1::{self, After, Http1, Long, Part};
use crate::conn::stamp::Stamp;
use crate::context::{Context, Shared};
use crate::message::response::Pieces;
use crate::message::stream::{Made, Stream};
use crate::settings::Settings;
use std::net::SocketAddr;
use std::task::{Poll, Waker};

/// What every connection needs. Its date stands still, so that answers can be compared.
pub struct Server {
    shared: Shared,
    stamp: Stamp,
    _threads: Threads,
}

impl Server {
    /// A server without sockets and router.
    ///
    /// # Panics
    /// If the system has no descriptor left.
    pub fn new(app: App, settings: Settings) -> Self {
        let (threads, shared) = Shared::alone(app, settings).expect("there is memory, and a descriptor is free");
        Self { stamp: Stamp::new(shared.settings.server_name), shared, _threads: threads }
    }
}

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Receive more.
    Receive,
    /// Go on with what there is, or receive more if there is nothing.
    GoOn,
    /// Wait for the handler: [`Connection::answer`].
    Wait,
    /// Close.
    Close,
    /// Close, but read on for a while.
    CloseGently,
}

/// One connection.
pub struct Connection {
    cx: Context,
    http: Http1,
    waiting: Option<Pending>,
}

impl Connection {
    /// A new connection, to a server that may be leaving.
    ///
    /// # Panics
    /// If the system has no descriptor left.
    pub fn new(server: &Server, leaving: bool) -> Self {
        let mut cx = Context::new(server.shared.clone(), 0).expect("a descriptor is free");
        (cx.stamp, cx.leaving) = (server.stamp.clone(), leaving);
        Self { cx, http: Http1::default(), waiting: None }
    }

    /// Takes what has arrived and appends what is to be sent to `out`.
    pub fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Next {
        let next = self.http.receive(bytes, &self.cx, out);
        self.follow(next, out)
    }

    /// Asks the handler that is waited for; `None` if it has no answer yet.
    pub fn answer(&mut self, out: &mut Vec<u8>) -> Option<Next> {
        let waker = &mut std::task::Context::from_waker(Waker::noop());
        let Poll::Ready(response) = self.waiting.as_mut()?.as_mut().poll(waker) else { return None };
        self.waiting = None;
        let next = self.http.answer(response, &self.cx, out);
        Some(self.follow(next, out))
    }

    /// Whether there may be whole requests here already, to go on with before more is received.
    pub fn is_behind(&self) -> bool {
        self.http.is_behind()
    }

    /// The client took too long. `None` if it has not begun a request, and is not told.
    pub fn time_out(&mut self, out: &mut Vec<u8>) -> Option<Next> {
        if self.http.part() == Part::Nothing {
            return None;
        }
        let next = self.http.timed_out(&self.cx, out);
        Some(self.follow(next, out))
    }

    fn follow(&mut self, next: http1::Next, out: &mut Vec<u8>) -> Next {
        match next {
            http1::Next::Receive => Next::Receive,
            http1::Next::GoOn => Next::GoOn,
            http1::Next::Wait(future) => {
                self.waiting = Some(future);
                Next::Wait
            }
            http1::Next::Send(Long::Pieces(pieces), after) => send(pieces, after, out),
            http1::Next::Send(Long::Stream(stream), after) => send_stream(stream, after, out),
            http1::Next::Close => Next::Close,
            http1::Next::CloseGently => Next::CloseGently,
            // There is no router here, so that nothing comes while a request is answered, and hyper has the rest.
            http1::Next::Stay | http1::Next::HandOver(_) => Next::Close,
        }
    }
}

/// Sends a long body to its end.
fn send(mut pieces: Pieces, after: After, out: &mut Vec<u8>) -> Next {
    while let Some(piece) = pieces.take() {
        let Ok(piece) = piece else { return Next::Close };
        out.extend_from_slice(&piece);
    }
    follows(after)
}

/// Sends a body of frames to its end, or to where it would have to be waited for.
fn send_stream(mut stream: Stream, after: After, out: &mut Vec<u8>) -> Next {
    loop {
        let mut piece = Vec::new();
        match stream.fill(&mut piece) {
            Made::Ready if piece.is_empty() => return follows(after),
            Made::Ready => out.extend_from_slice(&piece),
            Made::Pending | Made::Short => return Next::Close,
        }
    }
}

fn follows(after: After) -> Next {
    match after {
        After::GoOn => Next::GoOn,
        After::Close => Next::Close,
        After::CloseGently => Next::CloseGently,
        After::HandOver(_) => Next::Close,
    }
}

/// A header of the PROXY protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyHeader {
    /// The client's address.
    pub source: Option<SocketAddr>,
    /// The address that the client connected to.
    pub destination: Option<SocketAddr>,
    /// Whether the connection is that of a client whose address the proxy does not tell.
    pub is_unknown: bool,
    /// The length of the header in bytes.
    pub length: usize,
}

/// Parses the PROXY header at the front of `bytes`. Returns `None` if more bytes may make it one.
///
/// # Errors
/// The reason why the bytes are no header, in words.
pub fn proxy_header(bytes: &[u8]) -> Result<Option<ProxyHeader>, String> {
    let parsed = proxy_protocol::parse(bytes).map_err(|error| error.to_string())?;
    Ok(parsed.map(|(header, length)| ProxyHeader {
        source: header.source,
        destination: header.destination,
        is_unknown: header.is_unknown,
        length,
    }))
}
