//! The state machine of one connection and the parser of PROXY headers, open to the fuzzer; no part of the interface.

use crate::app::blocking_pool::BlockingThreads;
use crate::app::{App, Pending};
use crate::client::proxy_protocol;
use crate::conn::common_headers::CommonHeaders;
use crate::conn::context::{EngineContext, ServerContext};
use crate::conn::http1::{Handled, Http1, LongBody, PendingResponse};
use crate::conn::next;
use crate::settings::Settings;
use std::net::SocketAddr;
use std::task::{Poll, Waker};

/// The state that connections share. Its date is constant, so that responses can be compared.
pub struct Server {
    shared: ServerContext,
    common_headers: CommonHeaders,
    _threads: BlockingThreads,
}

impl Server {
    /// Returns a server without sockets and router.
    ///
    /// # Panics
    /// If the system has no descriptor left.
    pub fn new(app: App, settings: Settings) -> Self {
        let (threads, shared) = ServerContext::alone(app, settings).expect("there is memory, and a descriptor is free");
        Self { common_headers: CommonHeaders::new(shared.settings.server_name, None), shared, _threads: threads }
    }
}

/// The next step of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Receive more.
    Receive,
    /// Handle the input that has arrived, or receive more if there is none.
    Continue,
    /// Wait for the handler: [`Connection::respond`].
    Wait,
    /// Close.
    Close,
    /// Close after a lingering close.
    Linger,
    /// Hand the connection over to hyper.
    HandOver,
}

/// One connection.
pub struct Connection {
    cx: EngineContext,
    http: Http1,
    /// The handler that is waited for.
    waiting: Option<(Pending, PendingResponse)>,
}

impl Connection {
    /// A new connection, to a server that may be leaving.
    ///
    /// # Panics
    /// If the system has no descriptor left.
    pub fn new(server: &Server, leaving: bool) -> Self {
        let mut cx = EngineContext::new(server.shared.clone(), 0).expect("a descriptor is free");
        (cx.common_headers, cx.leaving) = (server.common_headers.clone(), leaving);
        Self { cx, http: Http1::default(), waiting: None }
    }

    /// Takes what has arrived and appends what is to be sent to `out`.
    pub fn receive(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Next {
        let handled = self.http.receive(bytes, &self.cx, || Waker::noop().clone(), out);
        self.follow(handled, out)
    }

    /// Polls the handler that is waited for. Returns `None` if it has no response yet.
    pub fn respond(&mut self, out: &mut Vec<u8>) -> Option<Next> {
        let waker = &mut std::task::Context::from_waker(Waker::noop());
        let (mut future, pending) = self.waiting.take()?;
        let Poll::Ready(response) = future.as_mut().poll(waker) else {
            self.waiting = Some((future, pending));
            return None;
        };
        let handled = self.http.respond(response, pending, &self.cx, out);
        Some(self.follow(handled, out))
    }

    /// Whether the input may hold whole requests, which are handled before more is received.
    pub fn is_behind(&self) -> bool {
        self.http.has_backlog()
    }

    /// Ends the time for a request. Returns `None` if the client has not begun one, and is sent no response.
    pub fn time_out(&mut self, out: &mut Vec<u8>) -> Option<Next> {
        let handled = self.http.time_out(false, &self.cx, out)?;
        Some(self.follow(handled, out))
    }

    fn follow(&mut self, handled: Handled, out: &mut Vec<u8>) -> Next {
        let next = match handled {
            Handled::Pending(future, pending) => {
                self.waiting = Some((future, pending));
                return Next::Wait;
            }
            Handled::Body(body, next) => send(body, out).map_or(next::Next::Close, |()| next),
            Handled::Done(next) => next,
        };
        match next {
            next::Next::Receive => Next::Receive,
            next::Next::Continue => Next::Continue,
            // hyper serves the connection from here on.
            next::Next::HandOver(_) => Next::HandOver,
            next::Next::Linger => Next::Linger,
            next::Next::Close | next::Next::Drop => Next::Close,
        }
    }
}

/// Sends a long body to its end. Returns `None` where it would have to be waited for, or fails.
fn send(mut body: LongBody, out: &mut Vec<u8>) -> Option<()> {
    loop {
        let mut part = Vec::new();
        match body.fill(&mut part) {
            Poll::Ready(Ok(_)) if part.is_empty() => return Some(()),
            Poll::Ready(Ok(_)) => out.extend_from_slice(&part),
            Poll::Pending | Poll::Ready(Err(_)) => return None,
        }
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
