//! Requests of sessions as HTTP/1.1 bytes, and in parts for HTTP/2.

use crate::request::Outgoing;
use bytes::Bytes;
use chrono::Utc;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, UPGRADE};
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use torr_press::request::SentContent;
use torr_press::request::sigv4::Signable;
use torr_press::{Keep, RequestInfo, RequestParts};

/// The field of a client that has no better name.
const USER_AGENT: (&str, &str) = ("User-Agent", concat!("torr/", env!("CARGO_PKG_VERSION")));
/// What every client of HTTP sends.
const ACCEPT: (&str, &str) = ("Accept", "*/*");

/// Returns the authority of a request's URL.
fn authority(request: &Outgoing) -> &str {
    &request.url[url::Position::BeforeHost..url::Position::AfterPort]
}

/// Returns the fields by which a request is signed now; none for one without a key.
fn signed(request: &Outgoing) -> Vec<(String, String)> {
    let Some(signing) = &request.signing else { return Vec::new() };
    let own_host = request.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    let signable = Signable {
        method: &request.method,
        path: request.path(),
        query: request.url.query(),
        host: own_host.map_or_else(|| authority(request), |(_, value)| value),
        fields: &request.fields,
        content: request.sent_content().map(|content| &**content).unwrap_or_default(),
    };
    signing.fields(&signable, &Utc::now().format("%Y%m%dT%H%M%SZ").to_string())
}

/// Returns the facts of a request of which this much of the response is kept.
fn info(request: &Outgoing, keep: Keep) -> RequestInfo {
    RequestInfo { is_head: request.method == "HEAD", keep, ..RequestInfo::default() }
}

fn has(request: &Outgoing, name: &str) -> bool {
    request.fields.iter().any(|(field, _)| field.eq_ignore_ascii_case(name))
}

/// Returns the fields that a request has unless it names them itself.
fn by_themselves(request: &Outgoing) -> impl Iterator<Item = (&str, &str)> {
    let is_left_out = |name: &str| request.without.iter().any(|other| other.eq_ignore_ascii_case(name));
    [USER_AGENT, ACCEPT].into_iter().filter(move |(name, _)| !has(request, name) && !is_left_out(name))
}

/// Whether a request has a length of its content to tell: with content, and where a server expects some (RFC 9110, section
/// 8.6).
fn length(request: &Outgoing) -> Option<usize> {
    // Content that is withheld is of no length, which is said.
    let content = request.content.as_ref().map(|_| request.sent_content().map_or(0, Bytes::len));
    content.or_else(|| matches!(request.method.as_str(), "POST" | "PUT" | "PATCH").then_some(0))
}

/// Appends a request in HTTP/1.1. `keep_alive` tells whether another may follow on the connection.
pub fn write(request: &Outgoing, keep: Keep, keep_alive: bool, out: &mut Vec<u8>) -> RequestInfo {
    let info = write_head(request, keep, keep_alive, out);
    out.extend_from_slice(request.sent_content().map(|content| &**content).unwrap_or_default());
    info
}

/// Appends the header section of a request in HTTP/1.1. `keep_alive` tells whether another may follow on the connection.
pub fn write_head(request: &Outgoing, keep: Keep, keep_alive: bool, out: &mut Vec<u8>) -> RequestInfo {
    let field = |name: &str, value: &str, out: &mut Vec<u8>| {
        for part in [name, ": ", value, "\r\n"] {
            out.extend_from_slice(part.as_bytes());
        }
    };
    for part in [request.method.as_str(), " ", request.path()] {
        out.extend_from_slice(part.as_bytes());
    }
    if let Some(query) = request.url.query() {
        out.push(b'?');
        out.extend_from_slice(query.as_bytes());
    }
    out.extend_from_slice(if request.is_http10 { b" HTTP/1.0\r\n" } else { b" HTTP/1.1\r\n" });
    if !has(request, "host") {
        field("Host", authority(request), out);
    }
    for (name, value) in by_themselves(request) {
        field(name, value, out);
    }
    if !keep_alive && !has(request, "connection") {
        field("Connection", "close", out);
    }
    let signed = signed(request);
    for (name, value) in request.fields.iter().chain(&signed).filter(|(name, _)| !is_framing(name)) {
        field(name, value, out);
    }
    if let Some(length) = length(request) {
        field("Content-Length", itoa::Buffer::new().format(length), out);
    }
    out.extend_from_slice(b"\r\n");
    info(request, keep)
}

/// Whether a field frames content, which is not a file's to say.
fn is_framing(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length") || name.eq_ignore_ascii_case("transfer-encoding")
}

/// Whether a field is specific to an HTTP/1.1 connection (RFC 9113, section 8.2.2).
fn belongs_to_http1(name: &HeaderName) -> bool {
    [CONNECTION, HOST, UPGRADE].contains(name) || ["keep-alive", "proxy-connection", "te"].contains(&name.as_str())
}

/// Returns a request in parts.
pub fn parts(request: &Outgoing, keep: Keep) -> RequestParts {
    let mut head = Request::new(());
    *head.method_mut() = Method::from_bytes(request.method.as_bytes()).unwrap_or_default();
    let (before, after) = (&request.url[..url::Position::BeforePath], &request.url[url::Position::AfterPath..]);
    *head.uri_mut() = Uri::try_from([before, request.path(), after].concat()).unwrap_or_default();
    let signed = signed(request);
    let own = request.fields.iter().chain(&signed).map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in by_themselves(request).chain(own) {
        // A request is built only of fields that are fields.
        let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) else { continue };
        if !belongs_to_http1(&name) && !is_framing(name.as_str()) {
            head.headers_mut().append(name, value);
        }
    }
    if let Some(length) = length(request) {
        head.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
    }
    RequestParts { head, body: request.sent_content().cloned().map(SentContent::from), begun: info(request, keep) }
}
