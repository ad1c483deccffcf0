//! Requests and responses as `torr once` shows them.

use torr_gauge::{GrpcStatus, Secrets, redact};
use torr_grpc::{Coding, Method};
use torr_press::request::SentContent;
use torr_press::users::ReceivedBy;
use torr_press::{Plan, RequestParts};

/// The longest content that is shown, in bytes.
const MAX_SHOWN: usize = 4096;

/// Returns bytes as lines that begin with a mark, as far as they are text. Secrets are masked before anything is cut or replaced.
pub fn lines(mark: &str, bytes: &[u8], secrets: &Secrets) -> String {
    let bytes = &*secrets.mask_bytes(bytes);
    let shown = &bytes[..bytes.len().min(MAX_SHOWN)];
    if shown.contains(&0) {
        return format!("{mark} ({} bytes that are not text)\n", bytes.len());
    }
    let text = String::from_utf8_lossy(shown);
    // A terminal obeys what other control characters say.
    let clean = |line: &str| line.replace(|c: char| c.is_control() && c != '\t', "\u{fffd}");
    let mut lines: String = text.lines().map(|line| format!("{mark} {}\n", clean(line)).replace(" \n", "\n")).collect();
    if shown.len() < bytes.len() {
        lines.push_str(&format!("{mark} ... ({} bytes in all)\n", bytes.len()));
    }
    lines
}

/// Returns the lines of a request, without secrets and the values of secret fields.
pub fn request(request: &[u8], secrets: &Secrets) -> String {
    let end = request.windows(4).position(|window| window == b"\r\n\r\n" || window.starts_with(b"\n\n"));
    let (head, content) = request.split_at(end.unwrap_or(request.len()));
    let mut shown = redact::header_section(&String::from_utf8_lossy(head)).into_bytes();
    shown.extend_from_slice(content);
    lines(">", &shown, secrets)
}

/// Returns a call as the text that it would be in HTTP/1.1, its messages as JSON.
pub fn of_call(parts: &RequestParts, method: &Method, coding: Coding) -> Vec<u8> {
    let content: Vec<u8> = parts.body.iter().flat_map(SentContent::pieces).flatten().copied().collect();
    let mut text = of_parts(&RequestParts { body: None, ..parts.clone() }, "2");
    let shown = method.show_request(&content, Some(coding));
    text.extend_from_slice(shown.unwrap_or_else(|error| format!("({error})\n")).as_bytes());
    text
}

/// Returns the version of requests that have no text of their own: 2 or 3.
pub fn version(plan: &Plan) -> &'static str {
    if plan.protocol.http3 { "3" } else { "2" }
}

/// Returns a request of HTTP/2 or HTTP/3 as the text that it would be in HTTP/1.1.
pub fn of_parts(parts: &RequestParts, version: &str) -> Vec<u8> {
    let mut text = format!("{} {} HTTP/{version}\r\n", parts.head.method(), parts.head.uri()).into_bytes();
    for (name, value) in parts.head.headers() {
        text.extend_from_slice(format!("{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes())).as_bytes());
    }
    text.extend_from_slice(b"\r\n");
    parts.body.iter().flat_map(SentContent::pieces).for_each(|piece| text.extend_from_slice(piece));
    text
}

/// Returns the lines of a response without secrets, the last of which is the response time.
pub fn response(by: &ReceivedBy<'_>, secrets: &Secrets) -> String {
    let line = format!("HTTP/{} {}", by.response.version, by.response.status);
    response_with(by, &line, &by.response.decoded(), secrets)
}

/// Returns the lines of a call's response without secrets: its messages as JSON, or why they are none.
pub fn call_response(by: &ReceivedBy<'_>, method: &Method, secrets: &Secrets) -> String {
    let response = by.response;
    let field = |name: &str| response.fields().find(|(known, _)| *known == name).map(|(_, value)| value);
    let coding = field("grpc-encoding").map_or(Some(Coding::Identity), Coding::of);
    let status = field("grpc-status").and_then(GrpcStatus::of_field);
    let http = format!("HTTP/{} {}", response.version, GrpcStatus::http(response.status));
    match status {
        None => response_with(by, &http, &response.decoded(), secrets),
        Some(status) => {
            let shown = method.show_response(response.content(), coding);
            let content = shown.unwrap_or_else(|error| format!("({error})\n"));
            let line = format!("{http}, gRPC status {} ({})", status.code(), status.name());
            response_with(by, &line, content.as_bytes(), secrets)
        }
    }
}

fn response_with(by: &ReceivedBy<'_>, line: &str, content: &[u8], secrets: &Secrets) -> String {
    let response = by.response;
    let mut text = format!("< {line}\n");
    for (name, value) in response.fields() {
        text.push_str(&lines("<", format!("{name}: {}", String::from_utf8_lossy(value)).as_bytes(), secrets));
    }
    if !content.is_empty() {
        text.push_str("<\n");
        text.push_str(&lines("<", content, secrets));
    }
    text.push_str(&format!("  {:.1} ms\n", by.took as f64 / 1e6));
    text
}
