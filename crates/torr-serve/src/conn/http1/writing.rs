//! Answers as bytes.

use super::*;
use crate::callbacks;

/// The name of the field for ids.
const FIELD_NAME: HeaderName = HeaderName::from_static(FIELD);

/// Writes an answer. `None` if the next request may follow.
#[inline]
pub(super) fn write(
    mut response: Response,
    shape: Shape,
    note: Option<&mut Note>,
    cx: &Context,
    out: &mut Vec<u8>,
) -> Option<Next> {
    let mut framing = response.body.framing();
    if let (stream::Framing::Chunked, false, Body::Stream(stream)) = (framing, shape.http_1_1, &mut response.body) {
        stream.until_close();
        framing = stream.framing();
    }
    let until_close = framing == stream::Framing::UntilClose;
    let keep_alive = shape.keep_alive
        && !shape.last
        && !cx.leaving
        && !response.closes
        && !until_close
        && shape.rest != Rest::Unwanted;
    cx.meter.answered(response.status);
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
    response.headers.each(|name, value| match *name {
        // The server's own business, whatever a router's answer says of it.
        CONTENT_LENGTH | TRANSFER_ENCODING | CONNECTION => {}
        _ => encode::header(out, name.as_str(), value.as_bytes()),
    });
    if let Some(note) = note {
        let sends_body = has_body && !shape.to_head;
        note.answered(response.status, if sends_body { response.body.at_once() } else { 0 });
        if let Some(id) = note.id.as_ref().filter(|_| !response.headers.has(&FIELD_NAME)) {
            encode::header(out, "X-Request-Id", id.to_string().as_bytes());
        }
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
        (false, false) if shape.rest == Rest::Nothing => After::Close,
        // The client does not know yet, and may be sending further requests, or the rest of this one.
        _ => After::CloseGently,
    };
    match response.body {
        body if !has_body || shape.to_head => callbacks::dispose("a body", body),
        Body::Empty => {}
        Body::Static(bytes) if bytes.len() <= SMALL => out.extend_from_slice(bytes),
        Body::Bytes(bytes) if bytes.len() <= SMALL => {
            out.extend_from_slice(&bytes);
            callbacks::dispose("the bytes of a body", bytes);
        }
        body => return Some(Next::Send(long(body), after)),
    }
    match after {
        After::GoOn => None,
        After::Close => Some(Next::Close),
        After::CloseGently | After::HandOver(_) => Some(Next::CloseGently),
    }
}

/// A long body, to be sent as the client takes it.
#[cold]
fn long(body: Body) -> Long {
    let mut whole = match body {
        Body::Stream(stream) => return Long::Stream(*stream),
        Body::Pieces(pieces) => return Long::Pieces(pieces),
        Body::Empty => Bytes::new(),
        Body::Static(bytes) => Bytes::from_static(bytes),
        Body::Bytes(bytes) => bytes,
    };
    let length = whole.len() as u64;
    let piece = move || (!whole.is_empty()).then(|| whole.split_to(whole.len().min(SMALL)));
    Long::Pieces(Pieces { length, next: Box::new(std::iter::from_fn(piece)) })
}

/// As RFC 9112 and RFC 6585 order.
pub(super) fn status_of(error: WireError) -> u16 {
    match error {
        WireError::TargetTooLong => 414,
        WireError::HeadTooLarge | WireError::TooManyHeaders => 431,
        WireError::Version => 505,
        WireError::TransferCoding => 501,
        _ => 400,
    }
}
