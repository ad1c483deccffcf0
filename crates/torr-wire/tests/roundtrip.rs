//! Messages that are encoded and decoded again are unchanged.

use proptest::collection::vec;
use proptest::prelude::*;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::encode;
use torr_wire::request::{self, Limits, header_buffer};
use torr_wire::response::{Response, ResponseReader};

const LIMITS: Limits = Limits { head: 16 * 1024, headers: 64 };
/// Names of the fields that concern framing and connection reuse, which cannot have arbitrary values.
const DECISIVE: [&str; 5] = ["host", "content-length", "transfer-encoding", "connection", "expect"];

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) }
}

/// Generates a token (RFC 9110, section 5.6.2).
fn token() -> impl Strategy<Value = String> {
    "[!#$%&'*+.^_`|~0-9A-Za-z-]{1,40}"
}

fn name() -> impl Strategy<Value = String> {
    token().prop_filter("decides on framing", |name| !DECISIVE.contains(&&*name.to_ascii_lowercase()))
}

/// Generates a field value: white space within, none at the ends (RFC 9110, section 5.5).
fn value() -> impl Strategy<Value = Vec<u8>> {
    let inside = prop_oneof![b'!'..=b'~', 0x80..=0xffu8, Just(b' '), Just(b'\t')];
    vec(inside, 0..80).prop_map(|value| value.trim_ascii().to_vec())
}

fn fields() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    vec((name(), value()), 0..8)
}

fn host() -> impl Strategy<Value = String> {
    let name = prop_oneof![r"[a-zA-Z0-9_~!$&'()*+,;=.-]{1,30}", "%[0-9a-fA-F]{2}", r"\[[0-9a-f]{1,4}::[0-9a-f]{1,4}\]"];
    (name, "(:(|[0-9]{1,4}|[1-5][0-9]{4}|6553[0-5]))?").prop_map(|(name, port)| name + &port)
}

/// Generates a method with a target of a form that the method allows (RFC 9112, section 3.2).
fn line() -> impl Strategy<Value = (String, String)> {
    let method = || token().prop_filter("has a form of its own", |method| method != "CONNECT");
    prop_oneof![
        4 => (method(), r#"/[!"$-~]{0,60}"#),
        2 => (method(), (r"(http|https|HTTP)://", host(), r"([/?][!$-~]{0,40})?").prop_map(|(s, h, p)| s + &h + &p)),
        1 => Just(("OPTIONS".to_owned(), "*".to_owned())),
        1 => (Just("CONNECT".to_owned()), r"([a-z.-]{1,20}|\[::1\]):[1-9][0-9]{0,3}"),
    ]
}

fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    vec(vec(any::<u8>(), 0..70), 0..6)
}

fn borrow(fields: &[(String, Vec<u8>)]) -> Vec<(&str, &[u8])> {
    fields.iter().map(|(name, value)| (name.as_str(), value.as_slice())).collect()
}

/// Decodes one body, and checks that the decoder consumes all of `wire`.
fn read_body(framing: Framing, wire: &[u8]) -> Vec<u8> {
    let (mut reader, mut content) = (BodyReader::new(framing), Vec::new());
    let used = reader.read(wire, |piece| content.extend_from_slice(piece));
    assert_eq!((used, reader.is_done()), (Ok(wire.len()), true), "{framing:?}: {}", wire.escape_ascii());
    content
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_request_is_read_back(
        (method, target) in line(),
        host in host(),
        fields in fields(),
        body in proptest::option::of(vec(any::<u8>(), 0..200)),
    ) {
        let fields = borrow(&fields);
        let mut wire = b"what was there before".to_vec();
        let start = wire.len();
        encode::request(&mut wire, &method, &target, host.as_bytes(), &fields, body.as_deref());
        prop_assert!(wire.starts_with(b"what was there before"), "{}", wire.escape_ascii());
        let (wire, text) = (&wire[start..], wire[start..].escape_ascii());

        let mut headers = header_buffer();
        let head = request::parse(wire, &mut headers, LIMITS);
        let Ok(Some(head)) = head else { return Err(TestCaseError::fail(format!("{head:?} for {text}"))) };
        prop_assert_eq!((head.method, head.target), (&*method, &*target), "{}", text);
        prop_assert!(head.http_1_1 && head.keep_alive && !head.expect_continue && !head.upgrade, "{}", text);

        let length = body.as_ref().map(|body| body.len().to_string());
        // The host of a target in absolute form replaces `Host` (RFC 9112, section 3.2.2).
        let absolute = target.split_once("://").filter(|_| !target.starts_with('/')).map(|(_, rest)| rest);
        let named = absolute.map_or(&*host, |rest| rest.split(['/', '?']).next().expect("a text has a first part"));
        let mut expect = vec![("Host", named.as_bytes())];
        expect.extend(&fields);
        expect.extend(length.as_ref().map(|length| ("Content-Length", length.as_bytes())));
        let got: Vec<_> = head.headers.iter().map(|header| (header.name, header.value)).collect();
        prop_assert_eq!(got, expect, "{}", text);

        let framing = body.as_ref().map_or(Framing::None, |body| Framing::Length(body.len() as u64));
        prop_assert_eq!(head.framing, framing, "{}", text);
        prop_assert_eq!(read_body(framing, &wire[head.len..]), body.unwrap_or_default(), "{}", text);
    }

    #[test]
    fn a_chunked_request_is_read_back(fields in fields(), pieces in pieces()) {
        let mut wire = Vec::new();
        let mut all = borrow(&fields);
        all.push(("Transfer-Encoding", b"chunked"));
        encode::request(&mut wire, "POST", "/", b"x", &all, None);
        pieces.iter().for_each(|piece| encode::chunk(&mut wire, piece));
        encode::last_chunk(&mut wire);
        let text = wire.escape_ascii();

        let mut headers = header_buffer();
        let head = request::parse(&wire, &mut headers, LIMITS);
        let Ok(Some(head)) = head else { return Err(TestCaseError::fail(format!("{head:?} for {text}"))) };
        prop_assert_eq!(head.framing, Framing::Chunked, "{}", text);
        prop_assert_eq!(read_body(head.framing, &wire[head.len..]), pieces.concat(), "{}", text);
    }

    #[test]
    fn any_length_is_read_back(length: u64) {
        let mut wire = b"PUT / HTTP/1.1\r\nHost: x\r\n".to_vec();
        encode::content_length(&mut wire, length);
        wire.extend_from_slice(b"\r\n");
        let framing = request::parse(&wire, &mut header_buffer(), LIMITS).map(|head| head.map(|head| head.framing));
        prop_assert_eq!(framing, Ok(Some(Framing::Length(length))), "{}", wire.escape_ascii());
    }

    /// Two responses in a row, so that the first one has to end at the right byte.
    #[test]
    fn responses_are_read_back(
        status in (200..1000u16).prop_filter("has no body", |status| ![204, 304].contains(status)),
        fields in fields(),
        pieces in pieces(),
    ) {
        let (mut wire, content) = (Vec::new(), pieces.concat());
        encode::status_line(&mut wire, status);
        fields.iter().for_each(|(name, value)| encode::header(&mut wire, name, value));
        encode::content_length(&mut wire, content.len() as u64);
        wire.extend_from_slice(b"\r\n");
        wire.extend_from_slice(&content);
        let first = wire.len();
        encode::status_line(&mut wire, status);
        fields.iter().for_each(|(name, value)| encode::header(&mut wire, name, value));
        encode::header(&mut wire, "Transfer-Encoding", b"chunked");
        encode::header(&mut wire, "Connection", b"close");
        wire.extend_from_slice(b"\r\n");
        pieces.iter().for_each(|piece| encode::chunk(&mut wire, piece));
        encode::last_chunk(&mut wire);

        let (mut reader, text) = (ResponseReader::default(), wire.escape_ascii());
        let sized = Response { status, keep_alive: true, body: content.len() as u64 };
        prop_assert_eq!(reader.read(&wire, false), Ok((first, Some(sized))), "sized, first of {}", text);
        let chunked = Response { keep_alive: false, ..sized };
        let got = reader.read(&wire[first..], false);
        prop_assert_eq!(got, Ok((wire.len() - first, Some(chunked))), "chunked, second of {}", text);
    }
}

#[test]
fn every_status_line_is_read_back() {
    for status in (101..=101).chain(200..1000) {
        let mut wire = Vec::new();
        encode::status_line(&mut wire, status);
        assert_eq!(wire, format!("HTTP/1.1 {status} {}\r\n", encode::reason(status)).into_bytes());
        encode::content_length(&mut wire, 0);
        wire.extend_from_slice(b"\r\n");
        let response = Response { status, keep_alive: status != 101, body: 0 };
        let got = ResponseReader::default().read(&wire, false);
        assert_eq!(got, Ok((wire.len(), Some(response))), "{}", wire.escape_ascii());
    }
}
