//! Responses as bytes.

use super::content::Remainder;
use super::handled::{Handled, ResponseRules};
use super::long_body::LongBody;
use super::router_fields::{self, Persistence};
use crate::callbacks;
use crate::client::request_id::FIELD;
use crate::conn::context::EngineContext;
use crate::conn::next::Next;
use crate::conn::visit::Note;
use crate::message::response::{Body, Fields, Response, SMALL};
use crate::message::stream::Framing;
use bytes::Bytes;
use http::{HeaderName, HeaderValue};
use torr_wire::{WireError, encode};

/// The field that carries the request's id.
const REQUEST_ID: HeaderName = HeaderName::from_static(FIELD);

/// Appends a response to `out`.
#[inline]
pub(super) fn write(
    mut response: Response,
    rules: ResponseRules,
    remainder: Remainder,
    note: Option<&mut Note>,
    cx: &EngineContext,
    out: &mut Vec<u8>,
) -> Handled {
    let mut framing = response.body.framing();
    if let (Framing::Chunked, false, Body::Stream(stream)) = (framing, rules.http_1_1, &mut response.body) {
        stream.until_close();
        framing = stream.framing();
    }
    let keep_alive = rules.keep_alive
        && !rules.is_last
        && !cx.leaving
        && !response.closes
        && framing != Framing::UntilClose
        && remainder != Remainder::Unwanted;
    cx.worker.meter.answered(response.status);
    match &response.reason {
        None => encode::status_line(out, response.status),
        Some(reason) => encode::status_line_with(out, response.status, reason.as_bytes()),
    }
    // RFC 9110, section 8.6: neither of these has content, nor may announce any.
    let has_body = response.status != 204 && response.status != 304;
    let persistence = Persistence { keep_alive, http_1_1: rules.http_1_1 };
    match &response.headers {
        Fields::List(fields) => {
            let content_type = if has_body { response.content_type } else { "" };
            controller_fields(out, fields, has_body.then_some(framing), content_type);
        }
        Fields::Map(fields) => {
            let is_empty = matches!(response.body, Body::Empty) && !rules.to_head;
            router_fields::write(out, fields, has_body.then_some(framing), is_empty, persistence);
        }
    }
    if let Some(note) = note {
        let sends_body = has_body && !rules.to_head;
        note.answered(response.status, if sends_body { response.body.at_once() } else { 0 });
        if let Some(id) = note.id.as_ref().filter(|_| !response.headers.has(&REQUEST_ID)) {
            encode::header(out, "X-Request-Id", id.to_string().as_bytes());
        }
    }
    match &response.headers {
        Fields::List(_) => {
            if let Some(option) = persistence.option() {
                encode::header(out, "Connection", option);
            }
            out.extend_from_slice(cx.common_headers.missing(response.dated, response.named));
        }
        Fields::Map(_) => {
            out.extend_from_slice(cx.common_headers.missing_in_lower_case(response.dated, response.named));
        }
    }
    out.extend_from_slice(b"\r\n");
    let next = match (keep_alive, rules.keep_alive) {
        (true, _) => Next::Continue,
        (false, false) if remainder == Remainder::Nothing => Next::Close,
        // The client does not know yet, and may be sending further requests, or the rest of this one.
        _ => Next::Linger,
    };
    match response.body {
        body if !has_body || rules.to_head => callbacks::dispose("a body", body),
        Body::Empty => {}
        Body::Static(bytes) if bytes.len() <= SMALL => out.extend_from_slice(bytes),
        Body::Bytes(bytes) if bytes.len() <= SMALL => {
            out.extend_from_slice(&bytes);
            callbacks::dispose("the bytes of a body", bytes);
        }
        body => return Handled::Body(long(body), next),
    }
    Handled::Done(next)
}

/// Appends the fields of a controller's response and its framing. `None` stands for a response without content.
#[inline]
fn controller_fields(
    out: &mut Vec<u8>,
    fields: &[(HeaderName, HeaderValue)],
    framing: Option<Framing>,
    content_type: &str,
) {
    match framing {
        Some(Framing::Length(length)) => encode::content_length(out, length),
        Some(Framing::Chunked) => encode::header(out, "Transfer-Encoding", b"chunked"),
        Some(Framing::UntilClose | Framing::Nothing) | None => {}
    }
    if !content_type.is_empty() {
        encode::header(out, "Content-Type", content_type.as_bytes());
    }
    fields.iter().for_each(|(name, value)| encode::header(out, name.as_str(), value.as_bytes()));
}

/// Returns a body that is sent as the client takes it.
#[cold]
fn long(body: Body) -> LongBody {
    match body {
        Body::Stream(stream) => LongBody::Stream(stream),
        Body::Pieces(pieces) => LongBody::Pieces(pieces),
        Body::File(part) => LongBody::File(part),
        Body::Empty => LongBody::Whole(Bytes::new().into()),
        Body::Static(bytes) => LongBody::Whole(Bytes::from_static(bytes).into()),
        Body::Bytes(bytes) => LongBody::Whole(bytes.into()),
    }
}

/// Returns the status that RFC 9112 and RFC 6585 require for a request that is refused.
pub(super) fn status_of(error: WireError) -> u16 {
    match error {
        WireError::TargetTooLong => 414,
        WireError::HeadTooLarge | WireError::TooManyHeaders => 431,
        WireError::Version => 505,
        WireError::TransferCoding => 501,
        _ => 400,
    }
}
