//! The requests of WebSocket connections: those of opening handshakes, and messages.

use super::RequestError;
use super::body;
use super::cursor::Cursor;
use super::entry::{Composer, Entry};
use super::match_rule::MatchRule;
use super::options::{Body, Options};
use super::request_set::RequestSet;
use crate::servers::target::Target;
use std::sync::Arc;
use torr_wire::is_token;
use torr_wire::websocket::{FIELDS, Key, Kind, Offer};

/// The largest message, in bytes.
const LARGEST: usize = 16 * 1024 * 1024;

/// What makes requests those of WebSocket connections.
#[derive(Debug, Clone)]
pub struct WebSocketRequests {
    /// The requests of the opening handshakes. The value of the last field is [`Key::PLACE`].
    pub(super) handshakes: Arc<RequestSet>,
    /// The subprotocols that handshakes offer.
    pub(crate) subprotocols: Vec<String>,
    /// The compression that handshakes offer.
    pub(crate) deflate: Option<Offer>,
    /// The kind of the messages that are sent.
    pub(crate) kind: Kind,
    /// Whether there is a message to send: a client that listens may have none.
    pub(crate) sends: bool,
    /// The value that a message and its response have in common; without one responses come in order.
    pub(crate) matched_by: Option<MatchRule>,
}

/// The settings of WebSocket connections beside those of their handshakes' requests.
#[derive(Debug, Clone, Default)]
pub struct WebSocketOptions {
    /// The content of each message; of a client that listens, of the first and only one.
    pub message: Option<Body>,
    /// Whether the client listens to the messages that the server pushes.
    pub listens: bool,
    /// Whether messages are binary; they are text otherwise.
    pub binary: bool,
    /// The subprotocols to offer, the preferred one first.
    pub subprotocols: Vec<String>,
    /// The compression to offer.
    pub deflate: Option<Offer>,
    /// The value that a message and its response have in common; without one responses come in order.
    pub matched_by: Option<MatchRule>,
}

impl WebSocketRequests {
    /// Returns what `of_websocket` makes of messages, with the requests of the opening handshakes.
    pub(super) fn new(handshakes: Arc<RequestSet>, of_websocket: &WebSocketOptions) -> Self {
        let WebSocketOptions { binary, subprotocols, deflate, matched_by, message, .. } = of_websocket.clone();
        let kind = if binary { Kind::Binary } else { Kind::Text };
        Self { handshakes, subprotocols, deflate, kind, sends: message.is_some(), matched_by }
    }

    /// Returns the cursor of thread `thread` of `threads` for the requests of the opening handshakes.
    pub fn handshakes(&self, thread: usize, threads: usize) -> Cursor<'_> {
        Cursor::new(&self.handshakes, thread, threads)
    }
}

/// Composes the message.
///
/// # Errors
/// If it is missing, no text although it has to be, or too large.
pub(super) fn message(
    target: &Target,
    of_websocket: &WebSocketOptions,
    composer: &mut Composer<'_>,
) -> Result<Entry, RequestError> {
    let none = Body::Data(Vec::new());
    let message = of_websocket.message.as_ref().or(of_websocket.listens.then_some(&none));
    let message = message.ok_or(RequestError::NoMessage)?;
    let content = body::compose(message, false, &mut composer.parser)?.content;
    if !of_websocket.binary && content.literals().any(|literal| std::str::from_utf8(literal).is_err()) {
        return Err(RequestError::NotText);
    }
    let entry = composer.message(target, content);
    if entry.longest > LARGEST {
        return Err(RequestError::LargeMessage(LARGEST));
    }
    Ok(entry)
}

/// Returns the options of the requests that open connections (RFC 6455, section 4.1).
///
/// # Errors
/// If the user's fields are those of the handshake itself, or a subprotocol has no name.
pub(super) fn handshake(options: &Options, of_websocket: &WebSocketOptions) -> Result<Options, RequestError> {
    let subprotocols = &of_websocket.subprotocols;
    let mut headers = options.headers.clone();
    for line in &headers {
        let name = line.split([':', ';']).next().unwrap_or_default();
        if FIELDS.iter().any(|field| name.eq_ignore_ascii_case(field)) {
            return Err(RequestError::HandshakeHeader(name.to_owned()));
        }
    }
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_token);
    if let Some(bad) = subprotocols.iter().find(|name| !is_name(name)) {
        return Err(RequestError::Subprotocol(bad.clone()));
    }
    headers.extend(["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"].map(str::to_owned));
    if !subprotocols.is_empty() {
        headers.push(format!("Sec-WebSocket-Protocol: {}", subprotocols.join(", ")));
    }
    headers.extend(of_websocket.deflate.map(|offer| format!("Sec-WebSocket-Extensions: {}", offer.value())));
    // The last one: there its value is found.
    headers.push(format!("Sec-WebSocket-Key: {}", String::from_utf8_lossy(Key::PLACE.value())));
    Ok(Options { method: None, keep_alive: true, headers, ..options.clone() })
}
