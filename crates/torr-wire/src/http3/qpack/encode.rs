//! The encoding of field sections (RFC 9204, section 4.5).

use super::statics::STATICS;
use crate::packed::{write_number, write_string};
use http::{HeaderMap, HeaderName, Request, StatusCode};

/// Appends the header section of a request. Fields that HTTP/3 does not have are left out.
pub fn encode(head: &Request<()>, out: &mut Vec<u8>) {
    // No insertion into the dynamic table is required.
    out.extend_from_slice(&[0, 0]);
    let uri = head.uri();
    field(b":method", head.method().as_str().as_bytes(), out);
    field(b":scheme", uri.scheme_str().unwrap_or("https").as_bytes(), out);
    if let Some(authority) = uri.authority() {
        field(b":authority", authority.as_str().as_bytes(), out);
    }
    field(b":path", uri.path_and_query().map_or("/", |path| path.as_str()).as_bytes(), out);
    fields(head.headers(), out);
}

/// Appends the header section of a response. Fields that HTTP/3 does not have are left out.
pub fn encode_response(status: StatusCode, headers: &HeaderMap, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
    field(b":status", status.as_str().as_bytes(), out);
    fields(headers, out);
}

/// Appends a trailer section.
pub fn encode_trailers(trailers: &HeaderMap, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0, 0]);
    fields(trailers, out);
}

fn fields(headers: &HeaderMap, out: &mut Vec<u8>) {
    for (name, value) in headers {
        if belongs(name, value.as_bytes()) {
            field(name.as_str().as_bytes(), value.as_bytes(), out);
        }
    }
}

fn field(name: &[u8], value: &[u8], out: &mut Vec<u8>) {
    let statics = || STATICS.iter().enumerate().map(|(index, (n, v))| (index, n.as_bytes(), v.as_bytes()));
    if let Some((index, ..)) = statics().find(|&(_, n, v)| n == name && v == value) {
        return write_number(out, 6, 0xc0, index);
    }
    match statics().find(|&(_, n, _)| n == name) {
        Some((index, ..)) => write_number(out, 4, 0x50, index),
        None => write_string(name, 3, 0x20, out),
    }
    write_string(value, 7, 0, out);
}

/// Whether a field is about more than one connection of HTTP/1.1 (RFC 9114, section 4.2).
fn belongs(name: &HeaderName, value: &[u8]) -> bool {
    match name.as_str() {
        "connection" | "host" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" => false,
        "te" => value.eq_ignore_ascii_case(b"trailers"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http3::qpack::decode;
    use proptest::prelude::*;

    fn decoded(section: &[u8]) -> Vec<(String, String)> {
        let mut fields = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        decode(section, &mut Vec::new(), |name, value| fields.push((text(name), text(value)))).expect("it is sound");
        fields
    }

    #[test]
    fn a_request_is_short_and_has_what_belongs_to_it() {
        let head = Request::get("https://example.com/a?b=c")
            .header("User-Agent", "torr")
            .header("Accept", "*/*")
            .header("X-Mine", "1")
            .header("Connection", "close")
            .header("Host", "other")
            .header("TE", "gzip")
            .body(())
            .expect("it is a request");
        let mut section = Vec::new();
        encode(&head, &mut section);
        assert_eq!(section, b"\x00\x00\xd1\xd7\x50\x0bexample.com\x51\x06/a?b=c\x5f\x50\x04torr\xdd\x26x-mine\x011");
    }

    proptest! {
        #[test]
        fn a_section_is_decoded_as_it_was_encoded(
            method in prop::sample::select(vec!["GET", "POST", "HEAD", "PURGE"]),
            path in "/[!-;=?-\\[\\]^-z~]{0,200}",
            fields in prop::collection::vec(("x-[a-z0-9-]{0,40}", "[ -~]{0,300}"), 0..20),
        ) {
            let uri = format!("https://a.test{path}");
            prop_assume!(uri.parse::<http::Uri>().is_ok());
            let mut head = Request::builder().method(method).uri(uri);
            for (name, value) in &fields {
                head = head.header(name, value);
            }
            let head = head.body(()).expect("it is a request");
            let path = head.uri().path_and_query().expect("it has a path").as_str();
            let pseudo = [(":method", method), (":scheme", "https"), (":authority", "a.test"), (":path", path)];
            let pseudo = pseudo.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let regular = head.headers().iter().map(|(name, value)| {
                (name.as_str().to_owned(), value.to_str().expect("it is text").to_owned())
            });
            let expected: Vec<_> = pseudo.into_iter().chain(regular).collect();
            let mut section = Vec::new();
            encode(&head, &mut section);
            prop_assert_eq!(decoded(&section), expected);
        }
    }
}
