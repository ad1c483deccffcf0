//! Encoding of start lines, header sections and chunks, appended to a buffer.

/// Writes a request: request line, `Host`, the given fields in order, `Content-Length` and body.
///
/// `Some` body, even an empty one, is announced by `Content-Length`; `None` sends neither (RFC 9110, section 8.6). The
/// caller has validated names and values: nothing is escaped here.
pub fn request(
    out: &mut Vec<u8>,
    method: &str,
    target: &str,
    host: &[u8],
    headers: &[(&str, &[u8])],
    body: Option<&[u8]>,
) {
    for part in [method.as_bytes(), b" ", target.as_bytes(), b" HTTP/1.1\r\nHost: ", host, b"\r\n"] {
        out.extend_from_slice(part);
    }
    for (name, value) in headers {
        header(out, name, value);
    }
    if let Some(body) = body {
        content_length(out, body.len() as u64);
    }
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(body.unwrap_or_default());
}

/// Writes a status line of HTTP/1.1, which is also the version of a response to HTTP/1.0 (RFC 9112, section 2.3).
#[inline]
pub fn status_line(out: &mut Vec<u8>, status: u16) {
    if status == 200 {
        out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
        return;
    }
    status_line_with(out, status, reason(status).as_bytes());
}

/// Writes the status line with a reason phrase of the caller's, which has to be valid.
pub fn status_line_with(out: &mut Vec<u8>, status: u16, reason: &[u8]) {
    out.extend_from_slice(b"HTTP/1.1 ");
    decimal(out, status);
    out.push(b' ');
    out.extend_from_slice(reason);
    out.extend_from_slice(b"\r\n");
}

/// Writes one field line, whose name and value the caller has validated.
#[inline]
pub fn header(out: &mut Vec<u8>, name: &str, value: &[u8]) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

/// Writes the field line of `Content-Length`.
#[inline]
pub fn content_length(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"Content-Length: ");
    decimal(out, length);
    out.extend_from_slice(b"\r\n");
}

/// Writes the field line of `Content-Length` with its name in lower case.
#[inline]
pub fn content_length_in_lower_case(out: &mut Vec<u8>, length: u64) {
    out.extend_from_slice(b"content-length: ");
    decimal(out, length);
    out.extend_from_slice(b"\r\n");
}

/// Writes one chunk. An empty piece writes nothing, since an empty chunk ends the body (RFC 9112, section 7.1).
pub fn chunk(out: &mut Vec<u8>, piece: &[u8]) {
    if !piece.is_empty() {
        out.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        out.extend_from_slice(piece);
        out.extend_from_slice(b"\r\n");
    }
}

/// Writes the last chunk and an empty trailer section.
pub fn last_chunk(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n\r\n");
}

/// Writes the last chunk; field lines and an empty line have to follow.
pub fn last_chunk_before_trailers(out: &mut Vec<u8>) {
    out.extend_from_slice(b"0\r\n");
}

#[inline]
fn decimal(out: &mut Vec<u8>, number: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// Returns the reason phrase of a registered status code, and an empty one for any other code.
pub fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{reason, status_line};

    #[test]
    fn registered_codes_have_their_reasons() {
        for (status, phrase) in [
            (200, "OK"),
            (206, "Partial Content"),
            (226, "IM Used"),
            (402, "Payment Required"),
            (406, "Not Acceptable"),
            (410, "Gone"),
            (416, "Range Not Satisfiable"),
            (421, "Misdirected Request"),
            (425, "Too Early"),
            (428, "Precondition Required"),
            (451, "Unavailable For Legal Reasons"),
            (507, "Insufficient Storage"),
            (511, "Network Authentication Required"),
            (299, ""),
            (999, ""),
            (1000, ""),
        ] {
            assert_eq!(reason(status), phrase, "{status}");
        }
        let mut line = Vec::new();
        status_line(&mut line, 410);
        assert_eq!(line, b"HTTP/1.1 410 Gone\r\n");
    }
}
