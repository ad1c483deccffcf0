//! A response as frames of HTTP/3 (RFC 9114, section 4.1).

use super::outgoing::{Outgoing, ResponseEnd};
use crate::conn::handover::noted_body::NotedBody;
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, DATE};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use std::rc::Rc;
use std::time::SystemTime;
use torr_wire::http3::{kind, qpack, write_header};

/// Sends a response, as fast as the client takes it.
pub(super) async fn send(response: impl Future<Output = Response<NotedBody>>, to_head: bool, out: Rc<Outgoing>) {
    let (mut parts, mut body) = response.await.into_parts();
    let has_content = !to_head && !matches!(parts.status.as_u16(), 204 | 304);
    let length = body.size_hint().exact().filter(|&length| has_content && length > 0);
    if let Some(length) = length {
        parts.headers.entry(CONTENT_LENGTH).or_insert_with(|| length.into());
    }
    if !parts.headers.contains_key(DATE) {
        parts.headers.insert(DATE, now());
    }
    out.push(section(|section| qpack::encode_response(parts.status, &parts.headers, section)));
    if !has_content {
        return out.end(ResponseEnd::Complete);
    }
    loop {
        let frame = match body.frame().await {
            Some(Ok(frame)) => frame,
            Some(Err(_)) => return out.end(ResponseEnd::Failed),
            None => return out.end(ResponseEnd::Complete),
        };
        match frame.into_data() {
            Ok(data) if data.is_empty() => {}
            Ok(data) => {
                out.push(header(kind::DATA, data.len()));
                out.push(data);
                out.has_room().await;
            }
            Err(frame) => {
                if let Ok(trailers) = frame.into_trailers() {
                    out.push(section(|section| qpack::encode_trailers(&trailers, section)));
                }
            }
        }
    }
}

/// Queues the interim response by which a client learns that its content is awaited (RFC 9110, section 15.2.1).
pub(super) fn send_continue(out: &Outgoing) {
    out.push(section(|section| qpack::encode_response(StatusCode::CONTINUE, &HeaderMap::new(), section)));
}

/// Queues a response of the server's own.
pub(super) fn send_own(status: StatusCode, text: &'static str, out: &Outgoing) {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CONTENT_LENGTH, text.len().into());
    headers.insert(DATE, now());
    out.push(section(|section| qpack::encode_response(status, &headers, section)));
    out.push(header(kind::DATA, text.len()));
    out.push(Bytes::from_static(text.as_bytes()));
    out.end(ResponseEnd::Complete);
}

fn now() -> HeaderValue {
    HeaderValue::from_str(&httpdate::fmt_http_date(SystemTime::now())).expect("a date is visible ASCII")
}

fn header(kind: u64, length: usize) -> Bytes {
    let mut header = Vec::with_capacity(16);
    write_header(kind, length as u64, &mut header);
    header.into()
}

/// Returns a HEADERS frame.
fn section(encode: impl FnOnce(&mut Vec<u8>)) -> Bytes {
    let (mut section, mut frame) = (Vec::with_capacity(256), Vec::new());
    encode(&mut section);
    frame.reserve_exact(section.len() + 16);
    write_header(kind::HEADERS, section.len() as u64, &mut frame);
    frame.extend_from_slice(&section);
    frame.into()
}
