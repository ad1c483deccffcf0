//! Requests that a strict server must reject, with the reasons, and unusual ones that it must accept.

use std::iter::once;
use torr_wire::WireError::{self, HeadTooLarge, Length, Syntax, TargetTooLong, TooManyHeaders, Version};
use torr_wire::body::Framing;
use torr_wire::request::{self, Limits, header_buffer};

const HOST: WireError = WireError::Host;
const ENCODING: WireError = WireError::TransferEncoding;
const CODING: WireError = WireError::TransferCoding;
const LINE: WireError = Syntax("invalid request line");
const VERSIONLESS: WireError = Syntax("no HTTP version in the request line");
const TARGET: WireError = Syntax("invalid request target");
const BARE_LF: WireError = Syntax("a line ends in a bare LF");
const LINE_END: WireError = Syntax("invalid line ending");
const NAME: WireError = Syntax("invalid field name");
const VALUE: WireError = Syntax("invalid field value");

const LIMITS: Limits = Limits { head: 1024, headers: 10 };

/// Requests that violate one rule each: the section of RFC 9112 (or of another RFC, if named) and the bytes.
const REFUSED_REQUESTS: &[(&str, WireError, &[u8])] = &[
    // Line ends: servers that accept a lone CR or LF find other lines than servers that do not.
    ("2.2", LINE_END, b"GET / HTTP/1.1\rHost: x\r\n\r\n"),
    ("2.2", LINE_END, b"\rGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("2.2", LINE_END, b"GET / HTTP/1.1\r\r\nHost: x\r\n\r\n"),
    ("2.2", LINE_END, b"GET / HTTP/1.1\r\nHost: x\r\n\rA: b\r\n\r\n"),
    ("2.2", LINE_END, b"GET / HTTP/1.1\n\rHost: x\n\r\n\r"),
    ("2.2", LINE, b"GET /\rHTTP/1.1\r\nHost: x\r\n\r\n"),
    ("2.2", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA\r: b\r\n\r\n"),
    ("2.2", VALUE, b"GET / HTTP/1.1\r\nHost: x\rA: b\r\n\r\n"),
    ("2.2", VALUE, b"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n"),
    ("2.2", VALUE, b"GET / HTTP/1.1\r\nHost: x\r\nA:\rb\r\n\r\n"),
    ("2.2", BARE_LF, b"\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("2.2", BARE_LF, b"GET / HTTP/1.1\nHost: x\r\n\r\n"),
    ("2.2", BARE_LF, b"GET / HTTP/1.1\r\nHost: x\n\r\n"),
    ("2.2", BARE_LF, b"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n"),
    ("2.2", BARE_LF, b"GET / HTTP/1.1\r\nHost: x\r\n\n"),
    ("2.2", BARE_LF, b"GET / HTTP/1.1\nHost: x\n\n"),
    ("2.2", NAME, b"GET / HTTP/1.1\r\n Host: x\r\n\r\n"),
    ("2.2", NAME, b"GET / HTTP/1.1\r\n\tA: b\r\nHost: x\r\n\r\n"),
    ("2.2", NAME, b"GET / HTTP/1.1\r\n \r\nHost: x\r\n\r\n"),
    // The request line: two single spaces between three words.
    ("3", LINE, b" GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"\tGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"GET /\tHTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"GET HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"GET\r\nHost: x\r\n\r\n"),
    ("3", LINE, b"GET /\r\n"),
    ("3", VERSIONLESS, b"GET / \r\nHost: x\r\n\r\n"),
    ("3", VERSIONLESS, b"GET /  HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", VERSIONLESS, b"GET / \tHTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", VERSIONLESS, b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3", VERSIONLESS, b"GET /a b HTTP/2.0\r\nHost: x\r\n\r\n"),
    ("3", LINE_END, b"GET / HTTP/1.1 \r\nHost: x\r\n\r\n"),
    ("3", LINE_END, b"GET / HTTP/1.1\t\r\nHost: x\r\n\r\n"),
    ("3.1", LINE, b" / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", LINE, b"/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", LINE, b"GET: / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", LINE, b"G(T / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", LINE, b"G\0T / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", LINE, b"G\xc3\x89T / HTTP/1.1\r\nHost: x\r\n\r\n"),
    // The version.
    ("2.3", VERSIONLESS, b"GET / http/1.1\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTP/1,1\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTP/11\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTP/1.\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTP/1.x\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTP/x.1\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTP/ 1.1\r\nHost: x\r\n\r\n"),
    ("2.3", VERSIONLESS, b"GET / HTTPS/1.1\r\nHost: x\r\n\r\n"),
    ("2.3", LINE_END, b"GET / HTTP/1.10\r\nHost: x\r\n\r\n"),
    ("2.3", Version, b"GET / HTTP/0.9\r\nHost: x\r\n\r\n"),
    ("2.3", Version, b"GET / HTTP/2.0\r\nHost: x\r\n\r\n"),
    ("2.3", Version, b"GET / HTTP/3.1\r\nHost: x\r\n\r\n"),
    ("9113 3.4", Version, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    // A server may take it for HTTP/1.1 (RFC 9110, section 2.5) by `request::as_http_1_1`.
    ("2.3", Version, b"GET / HTTP/1.2\r\nHost: x\r\n\r\n"),
    // Targets.
    ("3.2", TARGET, b"GET index.html HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", TARGET, b"GET ?q HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", TARGET, b"GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", LINE, b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", LINE, b"GET /\xc3 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", LINE, b"GET /?\xc0\xaf HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", TARGET, b"GET http://\xc3\xa9/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT \xc3\xa9:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.1", TARGET, b"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http:/x HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET mailto:x@x HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x/#b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x#b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x:y/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x:65536/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://[::1/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 4.2.1", TARGET, b"GET http:// HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 4.2.1", TARGET, b"GET http:///a HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 4.2.1", TARGET, b"GET http://?q HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 4.2.1", TARGET, b"GET http://:80/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 4.2.4", TARGET, b"GET http://u@x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 4.2.4", TARGET, b"GET https://u:p@x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT * HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT u@x:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT x:443/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT x?y:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT x:y:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT http://x:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", TARGET, b"CONNECT :443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT 443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT [::1] HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x: HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x:https HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x:+443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x:0 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x:65536 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.4", TARGET, b"GET * HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.4", TARGET, b"OPTIONS *x HTTP/1.1\r\nHost: x\r\n\r\n"),
    // Header fields.
    ("5", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA\r\n\r\n"),
    ("5", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n"),
    ("5", NAME, b"GET / HTTP/1.1\r\nHost: x\r\n: b\r\n\r\n"),
    ("5.1", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA : b\r\n\r\n"),
    ("5.1", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA\t: b\r\n\r\n"),
    ("5.1", NAME, b"GET / HTTP/1.1\r\nHost : x\r\n\r\n"),
    ("5.1", NAME, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n"),
    ("5.2", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n"),
    ("5.2", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n"),
    ("5.2", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA:\r\n b\r\n\r\n"),
    ("5.2", NAME, b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n \r\n\r\n"),
    ("5.2", NAME, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n"),
    ("9110 5.1", NAME, b"\r\nGET / HTTP/1.1\r\n\xef\xbb\xbfHost: x\r\n\r\n"),
    ("9110 5.5", VALUE, b"GET / HTTP/1.1\r\nHost: x\r\nA:\0\r\n\r\n"),
    ("9110 5.5", VALUE, b"GET / HTTP/1.1\r\nHost: x\0\r\n\r\n"),
    // Host: exactly one, or the same request can be for two sites.
    ("3.2", HOST, b"GET / HTTP/1.1\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nA: b\r\n\r\n"),
    ("3.2", HOST, b"GET http://x/ HTTP/1.1\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.0\r\nHost: x y\r\n\r\n"),
    // Framing that contradicts itself, or that HTTP/1.0 does not know.
    ("6.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 1\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.0\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.0\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n"),
];

/// Fields that make a POST with `Host: x` invalid: the section, the error and the field lines.
const REFUSED_FIELDS: &[(&str, WireError, &[u8])] = &[
    ("6.3", Length, b"Content-Length:"),
    ("6.3", Length, b"Content-Length: -1"),
    ("6.3", Length, b"Content-Length: +1"),
    ("6.3", Length, b"Content-Length: 0x1"),
    ("6.3", Length, b"Content-Length: 1f"),
    ("6.3", Length, b"Content-Length: 1 2"),
    ("6.3", Length, b"Content-Length: 1.0"),
    ("6.3", Length, b"Content-Length: 1e3"),
    ("6.3", Length, b"Content-Length: 1_000"),
    ("6.3", Length, b"Content-Length: 1;"),
    ("6.3", Length, b"Content-Length: \"1\""),
    ("6.3", Length, b"Content-Length: \xef\xbc\x91"),
    ("6.3", Length, b"Content-Length: 1,"),
    ("6.3", Length, b"Content-Length: 1, x"),
    ("6.3", Length, b"Content-Length: 1, 2"),
    ("6.3", Length, b"Content-Length: 1\r\nContent-Length: 2"),
    ("9110 8.6", Length, b"Content-Length: 18446744073709551616"),
    ("9110 8.6", Length, b"Content-Length: 99999999999999999999999"),
    // A server may accept or reject equal lengths (RFC 9112, section 6.3); behind a proxy only rejection is safe.
    ("6.3", Length, b"Content-Length: 1, 1"),
    ("6.3", Length, b"Content-Length: 1\r\ncontent-length: 1"),
    // Without a final `chunked` the end of the body is uncertain: 400.
    ("6.3", ENCODING, b"Transfer-Encoding:"),
    ("6.3", ENCODING, b"Transfer-Encoding: gzip"),
    ("6.3", ENCODING, b"Transfer-Encoding: identity"),
    ("6.3", ENCODING, b"Transfer-Encoding: xchunked"),
    ("6.3", ENCODING, b"Transfer-Encoding: chunkedx"),
    ("6.3", ENCODING, b"Transfer-Encoding: \"chunked\""),
    ("6.3", ENCODING, b"Transfer-Encoding: chunked chunked"),
    ("6.3", ENCODING, b"Transfer-Encoding: chunked, gzip"),
    ("6.3", ENCODING, b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
    ("7.1", ENCODING, b"Transfer-Encoding: chunked;q=1"),
    // With a final `chunked`, another coding is only unsupported: 501.
    ("6.1", CODING, b"Transfer-Encoding: gzip, chunked"),
    ("6.1", CODING, b"Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked"),
    ("6.1", CODING, b"Transfer-Encoding: chunked, chunked"),
    ("6.1", CODING, b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"),
    // Control characters that look like white space.
    ("9110 5.5", VALUE, b"Transfer-Encoding: \x0bchunked"),
    ("9110 5.5", VALUE, b"Content-Length: 1\x0c"),
];

/// Invalid values of `Host` (RFC 9112, section 3.2): everything but `uri-host [ ":" port ]` (RFC 9110, section 7.2).
const REFUSED_HOSTS: &[&[u8]] = &[
    b"x y",
    b"x, y",
    b"x\ty",
    b"x/y",
    b"x?y",
    b"x#y",
    b"x\\y",
    b"\"x\"",
    b"<x>",
    b"\xc3\xa9",
    b"http://x",
    b"u@x",
    b"x:y",
    b"x:80:80",
    b"x:-1",
    b"x:65536",
    b"x: 80",
    b"::1",
    b"[::1",
    b"::1]",
    b"[::1]x",
    b"[::1]80",
    b"x[::1]",
    b"[]",
    b"[x]",
    b"[1.2.3.4]",
    b"[::1%25lo]",
    b"%",
    b"x%4",
    b"%4g",
    b"%g4",
];

fn parse(input: &[u8], limits: Limits) -> Result<Option<Framing>, WireError> {
    request::parse(input, &mut header_buffer(), limits).map(|head| head.map(|head| head.framing))
}

/// Checks that a request is rejected with this error however much of it has arrived: a prefix is either incomplete or
/// rejected with the same error, and more bytes change nothing.
#[track_caller]
fn reject(rule: &str, error: WireError, input: &[u8]) {
    let text = input.escape_ascii();
    assert_eq!(parse(input, LIMITS), Err(error), "RFC {rule}: {text}");
    let more = [input, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
    assert_eq!(parse(&more, LIMITS), Err(error), "with more behind it, RFC {rule}: {text}");
    for len in 0..input.len() {
        let got = parse(&input[..len], LIMITS);
        assert!(got == Ok(None) || got == Err(error), "its first {len} bytes gave {got:?}, RFC {rule}: {text}");
    }
}

#[test]
fn requests_that_violate_a_rule_are_rejected() {
    for (rule, error, input) in REFUSED_REQUESTS {
        reject(rule, *error, input);
    }
    for (rule, error, fields) in REFUSED_FIELDS {
        reject(rule, *error, &[b"POST / HTTP/1.1\r\nHost: x\r\n", *fields, b"\r\n\r\n"].concat());
    }
    for host in REFUSED_HOSTS {
        reject("3.2", HOST, &[b"GET / HTTP/1.1\r\nHost: ", *host, b"\r\n\r\n"].concat());
    }
}

/// `httparse` checks bytes in blocks of 8, 16 and 32, so each byte is tried at each offset of a long string.
#[test]
fn control_characters_are_rejected_at_every_offset() {
    for byte in (0..=0x1f).chain(once(0x7f)) {
        for offset in 0..40 {
            let mut text = [b'a'; 40];
            text[offset] = byte;
            let line = |before: &str, after: &str| [before.as_bytes(), &text, after.as_bytes()].concat();
            reject("9112 3.2", LINE, &line("GET /", " HTTP/1.1\r\nHost: x\r\n\r\n"));
            reject("9110 5.1", NAME, &line("GET / HTTP/1.1\r\nHost: x\r\nA", ": b\r\n\r\n"));
            let value = line("GET / HTTP/1.1\r\nHost: x\r\nA: ", "\r\n\r\n");
            match byte {
                b'\t' => assert_eq!(parse(&value, LIMITS), Ok(Some(Framing::None)), "{}", value.escape_ascii()),
                // At the last offset it is the blank line; before that, the bytes after it are a field without a colon.
                b'\n' => reject("9112 2.2", if offset == 39 { BARE_LF } else { NAME }, &value),
                _ => reject("9110 5.5", VALUE, &value),
            }
        }
    }
}

#[test]
fn names_and_methods_are_tokens() {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    // A colon would end the name.
    for byte in (b'!'..=0xff).filter(|&b| b != b':' && !is_token(b)) {
        reject("9110 5.1", NAME, &[b"GET / HTTP/1.1\r\nHost: x\r\nA", &[byte][..], b": b\r\n\r\n"].concat());
        reject("9110 9.1", LINE, &[b"GET", &[byte][..], b" / HTTP/1.1\r\nHost: x\r\n\r\n"].concat());
    }
    for byte in (b'!'..=0xff).filter(|&b| is_token(b)) {
        let input = [b"M", &[byte][..], b" / HTTP/1.1\r\nHost: x\r\nA", &[byte], b": b\r\n\r\n"].concat();
        assert_eq!(parse(&input, LIMITS), Ok(Some(Framing::None)), "{}", input.escape_ascii());
    }
}

#[test]
fn limits_hold_to_the_byte() {
    let head = |target: usize, value: usize| {
        format!("GET /{} HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(target), "b".repeat(value)).into_bytes()
    };
    let line = head(0, 0).iter().position(|&b| b == b'\n').expect("it has a line") + 1;
    // The request line has as much room as the header section.
    let (target, value) = (LIMITS.head - line, LIMITS.head - (head(0, 0).len() - line));
    assert_eq!(parse(&head(target, value), LIMITS), Ok(Some(Framing::None)));
    assert_eq!(parse(&head(0, value + 1), LIMITS), Err(HeadTooLarge));
    assert_eq!(parse(&head(target, value + 1), LIMITS), Err(HeadTooLarge));
    // 414 rather than 431 (RFC 9110, section 15.5.15).
    assert_eq!(parse(&head(target + 1, 0), LIMITS), Err(TargetTooLong));
    assert_eq!(parse(&head(target + 1, value + 1), LIMITS), Err(TargetTooLong));
    // Both errors occur before the ends have arrived.
    let (long_line, long_value) = (head(LIMITS.head, 0), head(0, LIMITS.head));
    assert_eq!(parse(&long_line[..LIMITS.head - 1], LIMITS), Ok(None));
    assert_eq!(parse(&long_line[..LIMITS.head], LIMITS), Err(TargetTooLong));
    assert_eq!(parse(&long_value[..line + LIMITS.head - 1], LIMITS), Ok(None));
    assert_eq!(parse(&long_value[..line + LIMITS.head], LIMITS), Err(HeadTooLarge));

    let fields = |count: usize| format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(count)).into_bytes();
    assert_eq!(parse(&fields(LIMITS.headers - 1), LIMITS), Ok(Some(Framing::None)));
    reject("6585 5", TooManyHeaders, &fields(LIMITS.headers));
    // A limit above the buffer's capacity counts as the capacity.
    let wide = Limits { head: 64 * 1024, headers: usize::MAX };
    assert_eq!(parse(&fields(request::MAX_HEADERS - 1), wide), Ok(Some(Framing::None)));
    assert_eq!(parse(&fields(request::MAX_HEADERS), wide), Err(TooManyHeaders));
}

/// Unusual requests that a strict server must accept: the section that allows them, and the bytes.
const ACCEPTED_REQUESTS: &[(&str, Framing, &[u8])] = &[
    ("2.2", Framing::None, b"\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", Framing::None, b"x!#$%&'*+-.^_`|~9 / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.0\r\n\r\n"),
    ("3.2", Framing::None, b"GET /\xc3\xa9?\xe2\x82\xac HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost:\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nhOST:x\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost: a-b_c.d~e\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost: [fe80::1:2]:8080\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost: x:\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.1\r\nHost: %41.x:1\r\n\r\n"),
    ("3.2.1", Framing::None, b"GET //a/../%2e?b=/?c HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", Framing::None, b"GET HTTP://x:80?q HTTP/1.1\r\nHost: y\r\n\r\n"),
    ("3.2.2", Framing::None, b"GET https://[::1]/a HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.3", Framing::None, b"CONNECT [::1]:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.4", Framing::None, b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("5.1", Framing::None, b"GET / HTTP/1.1\r\nHost: \t x \t \r\nA:\r\nB: \t\r\nC:c\td\r\n\r\n"),
    ("9110 5.5", Framing::None, b"GET / HTTP/1.1\r\nHost: x\r\nA: \x80\xff \"\r\n\r\n"),
    ("6.2", Framing::Length(7), b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \t007 \r\n\r\n"),
    ("6.2", Framing::Length(7), b"POST / HTTP/1.0\r\nCONTENT-LENGTH: 7\r\n\r\n"),
    ("6.2", Framing::Length(u64::MAX), b"PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n"),
    ("7", Framing::Chunked, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: CHUNKed\r\n\r\n"),
];

#[test]
fn requests_that_keep_the_rules_are_accepted() {
    for (rule, framing, input) in ACCEPTED_REQUESTS {
        assert_eq!(parse(input, LIMITS), Ok(Some(*framing)), "RFC {rule}: {}", input.escape_ascii());
    }
}

/// HTTP/1.0 has neither upgrades nor `100 Continue`, and a server ignores both there (RFC 9110, sections 7.8 and 10.1.1).
/// Its connections close by default, and those of HTTP/1.1 persist by default (RFC 9112, section 9.3).
#[test]
fn what_a_head_says_of_its_connection() {
    for (version, fields, expect) in [
        ("1.1", "", (true, false, false)),
        ("1.0", "", (false, false, false)),
        ("1.1", "Connection: close\r\n", (false, false, false)),
        ("1.0", "Connection: keep-alive\r\n", (true, false, false)),
        ("1.0", "Connection: keep-alive\r\nConnection: close\r\n", (false, false, false)),
        ("1.1", "Connection: ,a ,\tUPGRADE\r\nUpgrade: b\r\n", (true, false, true)),
        ("1.0", "Connection: keep-alive, upgrade\r\nUpgrade: b\r\n", (true, false, false)),
        ("1.1", "Upgrade: b\r\nConnection: closed\r\n", (true, false, false)),
        ("1.1", "Expect: 100-Continue\r\n", (true, true, false)),
        ("1.0", "Expect: 100-continue\r\n", (false, false, false)),
        ("1.1", "Expect: 200-ok\r\n", (true, false, false)),
    ] {
        let input = format!("GET / HTTP/{version}\r\nHost: x\r\n{fields}\r\n");
        let mut headers = header_buffer();
        let head = request::parse(input.as_bytes(), &mut headers, LIMITS).unwrap().expect(&input);
        assert_eq!((head.keep_alive, head.expect_continue, head.upgrade), expect, "{input:?}");
    }
}
