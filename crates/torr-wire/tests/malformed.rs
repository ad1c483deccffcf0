//! What must be refused, and why; and what looks odd but must be accepted.

use std::iter::once;
use torr_wire::WireError::{self, Chunk, HeadTooLarge, Length, Syntax, TargetTooLong, TooManyHeaders, Truncated, Version};
use torr_wire::body::Framing;
use torr_wire::request::{self, Limits, slots};
use torr_wire::response::{MAX_HEAD, Response, ResponseReader};

const HOST: WireError = WireError::Host;
const ENCODING: WireError = WireError::TransferEncoding;
const CODING: WireError = WireError::TransferCoding;
const LINE: WireError = Syntax("the request line");
const VERSIONLESS: WireError = Syntax("the request line has no HTTP version");
const TARGET: WireError = Syntax("the request target has no known form");
const BARE_LF: WireError = Syntax("a line ends in a bare LF");
const LINE_END: WireError = Syntax("the end of a line");
const NAME: WireError = Syntax("a header name");
const VALUE: WireError = Syntax("a header value");
const STATUS: WireError = Syntax("the status code");
const NOT_HTTP: WireError = Syntax("not an HTTP/1.x answer");

const LIMITS: Limits = Limits { head: 1024, headers: 10 };

/// Requests that break one rule each: the section of RFC 9112 (or another, if named) that has the rule, and the bytes.
const REFUSED_REQUESTS: &[(&str, WireError, &[u8])] = &[
    // Line ends: a server that takes a lone CR or LF sees other lines than one that does not.
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
    // RFC 9110, section 2.5 would rather have it read as HTTP/1.1, but nobody sends it.
    ("2.3", Version, b"GET / HTTP/1.2\r\nHost: x\r\n\r\n"),
    // Targets.
    ("3.2", TARGET, b"GET index.html HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", TARGET, b"GET ?q HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", TARGET, b"GET x:80 HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", LINE, b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.1", TARGET, b"GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http:/x HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET mailto:x@x HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x/#b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x#b HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2.2", TARGET, b"GET http://x:y/ HTTP/1.1\r\nHost: x\r\n\r\n"),
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
    ("9110 9.3.6", TARGET, b"CONNECT x: HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x:https HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("9110 9.3.6", TARGET, b"CONNECT x:+443 HTTP/1.1\r\nHost: x\r\n\r\n"),
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
    ("9110 5.5", VALUE, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \x0bchunked\r\n\r\n"),
    ("9110 5.5", VALUE, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\x0c\r\n\r\n"),
    // Host: exactly one, of valid content, or the same request can be for two sites.
    ("3.2", HOST, b"GET / HTTP/1.1\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nA: b\r\n\r\n"),
    ("3.2", HOST, b"GET http://x/ HTTP/1.1\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x, y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x/y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x?y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x#y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: x\\y\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: \"x\"\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.1\r\nHost: \xc3\xa9\r\n\r\n"),
    ("3.2", HOST, b"GET / HTTP/1.0\r\nHost: x y\r\n\r\n"),
    ("9110 7.2", HOST, b"GET / HTTP/1.1\r\nHost: http://x\r\n\r\n"),
    ("9110 7.2", HOST, b"GET / HTTP/1.1\r\nHost: u@x\r\n\r\n"),
    ("9110 7.2", HOST, b"GET / HTTP/1.1\r\nHost: x:y\r\n\r\n"),
    ("9110 7.2", HOST, b"GET / HTTP/1.1\r\nHost: x:80:80\r\n\r\n"),
    ("9110 7.2", HOST, b"GET / HTTP/1.1\r\nHost: x:-1\r\n\r\n"),
    ("3986 3.2.2", HOST, b"GET / HTTP/1.1\r\nHost: ::1\r\n\r\n"),
    ("3986 3.2.2", HOST, b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n"),
    ("3986 3.2.2", HOST, b"GET / HTTP/1.1\r\nHost: [::1]x\r\n\r\n"),
    ("3986 3.2.2", HOST, b"GET / HTTP/1.1\r\nHost: [x]\r\n\r\n"),
    ("3986 3.2.2", HOST, b"GET / HTTP/1.1\r\nHost: x[::1]\r\n\r\n"),
    ("3986 2.1", HOST, b"GET / HTTP/1.1\r\nHost: x%\r\n\r\n"),
    ("3986 2.1", HOST, b"GET / HTTP/1.1\r\nHost: %4g\r\n\r\n"),
    // Content-Length.
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x1\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1f\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1 2\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1.0\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1e3\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1_000\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \"1\"\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \xef\xbc\x91\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.0\r\nContent-Length: -1\r\n\r\n"),
    ("9110 8.6", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551616\r\n\r\n"),
    ("9110 8.6", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 2\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, x\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1,\r\n\r\n"),
    // Equal lengths may be taken as one, or refused: a server that others stand before refuses.
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n"),
    ("6.3", Length, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\ncontent-length: 1\r\n\r\n"),
    // Transfer-Encoding: 400 where the end of the body is uncertain, 501 for a coding that is only unknown.
    ("6.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\nContent-Length: 1\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.0\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
    ("6.1", ENCODING, b"POST / HTTP/1.0\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunkedx\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked chunked\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"),
    ("6.3", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"),
    ("7.1", ENCODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked;q=1\r\n\r\n"),
    ("6.1", CODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
    ("6.1", CODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("6.1", CODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n"),
    ("6.1", CODING, b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"),
];

fn parse(input: &[u8], limits: Limits) -> Result<Option<Framing>, WireError> {
    request::parse(input, &mut slots(), limits).map(|head| head.map(|head| head.framing))
}

/// Checks that a request is refused in this way, however much has arrived: a shorter part of it is either not
/// complete or wrong for the same reason, and what follows changes nothing.
#[track_caller]
fn refuse(rule: &str, error: WireError, input: &[u8]) {
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
fn requests_that_break_a_rule_are_refused() {
    for (rule, error, input) in REFUSED_REQUESTS {
        refuse(rule, *error, input);
    }
}

/// Bytes are checked in blocks of 8, 16 and 32, so each is tried at each place of a long string.
#[test]
fn control_characters_are_refused_at_every_place() {
    for byte in (0..=0x1f).chain(once(0x7f)) {
        for place in 0..40 {
            let mut text = [b'a'; 40];
            text[place] = byte;
            let line = |before: &str, after: &str| [before.as_bytes(), &text, after.as_bytes()].concat();
            refuse("9112 3.2", LINE, &line("GET /", " HTTP/1.1\r\nHost: x\r\n\r\n"));
            refuse("9110 5.1", NAME, &line("GET / HTTP/1.1\r\nHost: x\r\n", ": b\r\n\r\n"));
            match byte {
                b'\t' => {}
                // It ends the line, and the rest is a field without a colon; or nothing.
                b'\n' if place < 39 => refuse("9112 5", NAME, &line("GET / HTTP/1.1\r\nHost: x\r\nA: ", "\r\n\r\n")),
                b'\n' => refuse("9112 2.2", BARE_LF, &line("GET / HTTP/1.1\r\nHost: x\r\nA: ", "\r\n\r\n")),
                _ => refuse("9110 5.5", VALUE, &line("GET / HTTP/1.1\r\nHost: x\r\nA: ", "\r\n\r\n")),
            }
        }
    }
}

#[test]
fn names_and_methods_are_tokens() {
    let is_token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    // A colon would end the name.
    for byte in (b'!'..=0xff).filter(|&b| b != b':' && !is_token(b)) {
        refuse("9110 5.1", NAME, &[b"GET / HTTP/1.1\r\nHost: x\r\nA", &[byte][..], b": b\r\n\r\n"].concat());
        refuse("9110 9.1", LINE, &[b"GET", &[byte][..], b" / HTTP/1.1\r\nHost: x\r\n\r\n"].concat());
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
    let room = LIMITS.head - head(0, 0).len();
    assert_eq!(parse(&head(room, 0), LIMITS), Ok(Some(Framing::None)));
    assert_eq!(parse(&head(0, room), LIMITS), Ok(Some(Framing::None)));
    assert_eq!(parse(&head(room + 1, 0), LIMITS), Err(HeadTooLarge));
    assert_eq!(parse(&head(0, room + 1), LIMITS), Err(HeadTooLarge));
    // The line alone is longer than a head may be: 414 rather than 431 (RFC 9110, section 15.5.15).
    assert_eq!(parse(&head(LIMITS.head, 0), LIMITS), Err(TargetTooLong));
    // And before its end has come.
    let (line, value) = (head(LIMITS.head, 0), head(0, LIMITS.head));
    assert_eq!(parse(&line[..LIMITS.head - 1], LIMITS), Ok(None));
    assert_eq!(parse(&line[..LIMITS.head], LIMITS), Err(TargetTooLong));
    assert_eq!(parse(&value[..LIMITS.head - 1], LIMITS), Ok(None));
    assert_eq!(parse(&value[..LIMITS.head], LIMITS), Err(HeadTooLarge));

    let fields = |count: usize| format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(count)).into_bytes();
    assert_eq!(parse(&fields(LIMITS.headers - 1), LIMITS), Ok(Some(Framing::None)));
    refuse("6585 5", TooManyHeaders, &fields(LIMITS.headers));
    // No limit goes beyond the room that there is.
    let wide = Limits { head: 64 * 1024, headers: usize::MAX };
    assert_eq!(parse(&fields(request::MAX_HEADERS - 1), wide), Ok(Some(Framing::None)));
    assert_eq!(parse(&fields(request::MAX_HEADERS), wide), Err(TooManyHeaders));
}

/// What a strict server must still take: the section that allows it, and the bytes.
const ACCEPTED_REQUESTS: &[(&str, Framing, &[u8])] = &[
    ("2.2", Framing::None, b"\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.1", Framing::None, b"x!#$%&'*+-.^_`|~9 / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ("3.2", Framing::None, b"GET / HTTP/1.0\r\n\r\n"),
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

/// Reads a connection from these pieces to its end: its answers, and the error if it came to one.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, to_head: bool) -> (Vec<Response>, Option<WireError>) {
    let (mut reader, mut answers) = (ResponseReader::default(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            match reader.read(piece, to_head) {
                Ok((used, answer)) => {
                    answers.extend(answer);
                    piece = &piece[used..];
                }
                Err(error) => return (answers, Some(error)),
            }
        }
    }
    match reader.end() {
        Ok(answer) => {
            answers.extend(answer);
            (answers, None)
        }
        Err(error) => (answers, Some(error)),
    }
}

/// Answers that no client can read: the section of RFC 9112 (or another, if named), and the bytes.
const REFUSED_RESPONSES: &[(&str, WireError, &[u8])] = &[
    // Other protocols.
    ("4", NOT_HTTP, b"SSH-2.0-OpenSSH_9.6\r\n"),
    ("4", NOT_HTTP, b"<html><body>hello</body></html>\n"),
    ("4", NOT_HTTP, b"ICY 200 OK\r\n\r\n"),
    ("4", NOT_HTTP, b"\x15\x03\x01\x00\x02\x02\x46"),
    ("4", NOT_HTTP, b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    ("4", NOT_HTTP, b"HELO\r\n\r\n"),
    ("2.3", NOT_HTTP, b"HTTP/2.0 200 OK\r\n\r\n"),
    ("2.3", NOT_HTTP, b"HTTP/2 200\r\n\r\n"),
    ("2.3", NOT_HTTP, b"http/1.1 200 OK\r\n\r\n"),
    ("4", NOT_HTTP, b"HTTP/1.1\r\n\r\n"),
    ("4", NOT_HTTP, b"HTTP/1.1\t200 OK\r\n\r\n"),
    // The status line.
    ("4", STATUS, b"HTTP/1.1 OK\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 20 OK\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 20x OK\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 2000 OK\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 -20 OK\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 200\tOK\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 200 O\0K\r\n\r\n"),
    ("4", STATUS, b"HTTP/1.1 200 OK\rContent-Length: 0\r\n\r\n"),
    ("9110 15", STATUS, b"HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n"),
    ("9110 15", STATUS, b"HTTP/1.1 000 None\r\n\r\n"),
    // Fields.
    ("5", NAME, b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"),
    ("5", NAME, b"HTTP/1.1 200 OK\r\n: a\r\n\r\n"),
    ("5.2", NAME, b"HTTP/1.1 200 OK\r\n folded: onto nothing\r\n\r\n"),
    ("9110 5.5", VALUE, b"HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"),
    ("2.2", VALUE, b"HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n"),
    ("2.2", LINE_END, b"HTTP/1.1 200 OK\r\nA: b\r\n\rC: d\r\n\r\n"),
    // Lengths.
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nabc"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"),
    ("9110 8.6", Length, b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n"),
    // Chunks.
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n;a=b\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0x2\r\nok\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n 2\r\nok\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\n0\r\n\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok0\r\n\r\n"),
    ("7.1", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000000\r\n"),
    ("7.1.2", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ("7.1.2", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno-colon\r\n\r\n"),
    ("7.1.2", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n: x\r\n\r\n"),
    ("7.1.2", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA : b\r\n\r\n"),
    ("7.1.2", Chunk, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n c\r\n\r\n"),
    // Cut short.
    ("8", Truncated, b"HTTP/1.1 200"),
    ("8", Truncated, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"),
    ("8", Truncated, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"),
    ("8", Truncated, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
    ("8", Truncated, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: b\r\n"),
    ("8", Truncated, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
];

#[test]
fn responses_that_cannot_be_read_are_refused() {
    for (rule, error, input) in REFUSED_RESPONSES {
        let text = input.escape_ascii();
        assert_eq!(read([*input], false), (vec![], Some(*error)), "RFC {rule}: {text}");
        // A head in pieces is looked at when its end is in sight, so without one the end of the connection shows it.
        let (answers, got) = read(input.chunks(1), false);
        assert_eq!(answers, [], "byte by byte, RFC {rule}: {text}");
        assert!(got == Some(*error) || got == Some(Truncated), "byte by byte: {got:?}, RFC {rule}: {text}");
    }
}

#[test]
fn every_part_of_a_framed_response_is_cut_short() {
    for whole in [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nok\r\n0\r\nA: b\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
    ] {
        for len in 1..whole.len() {
            let mut reader = ResponseReader::default();
            let got = reader.read(&whole.as_bytes()[..len], false);
            assert_eq!(got, Ok((len, None)), "the first {len} bytes of {whole:?}");
            assert!(reader.is_inside(), "the first {len} bytes of {whole:?}");
            assert_eq!(reader.end(), Err(Truncated), "the first {len} bytes of {whole:?}");
            // The end is the end: what was cut short does not reach into the next connection.
            assert!(!reader.is_inside(), "after the end, the first {len} bytes of {whole:?}");
        }
    }
}

#[test]
fn an_endless_head_is_given_up() {
    for piece in ["A: b\r\n", "A: ", "\r\n b", "x"] {
        let mut reader = ResponseReader::default();
        let start = "HTTP/1.1 200 OK\r\nA: ";
        assert_eq!(reader.read(start.as_bytes(), false), Ok((start.len(), None)));
        let fits = (MAX_HEAD - start.len()) / piece.len();
        for n in 0..fits {
            assert_eq!(reader.read(piece.as_bytes(), false), Ok((piece.len(), None)), "{n} pieces of {piece:?}");
        }
        let error = reader.read(piece.as_bytes(), false).expect_err(piece);
        // Short fields become too many before they become too large.
        assert!(matches!(error, HeadTooLarge | TooManyHeaders), "{error:?} for {piece:?}");
        let whole = format!("{start}{}", piece.repeat(fits + 1));
        assert_eq!(ResponseReader::default().read(whole.as_bytes(), false), Err(error), "whole, of {piece:?}");
    }
}

#[test]
fn the_largest_head_is_read_whole_and_in_pieces() {
    let head = |len: usize| {
        let (start, end) = ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: ", "\r\n\r\n");
        format!("{start}{}{end}", "b".repeat(len - start.len() - end.len())).into_bytes()
    };
    let answer = Response { status: 200, keep_alive: true, body: 0 };
    for size in [1, 7, MAX_HEAD, usize::MAX] {
        let (fits, too_large) = (head(MAX_HEAD), head(MAX_HEAD + 1));
        assert_eq!(read(fits.chunks(size), false), (vec![answer], None), "in pieces of {size}");
        assert_eq!(read(too_large.chunks(size), false), (vec![], Some(HeadTooLarge)), "in pieces of {size}");
    }
    let fields = |n: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", "A: b\r\n".repeat(n - 1));
    assert_eq!(read([fields(256).as_bytes()], false), (vec![answer], None));
    assert_eq!(read([fields(257).as_bytes()], false), (vec![], Some(TooManyHeaders)));
}

/// Some servers send a line too many. That is not the beginning of an answer, and costs no memory (RFC 9112,
/// section 2.2 tells servers the same of requests).
#[test]
fn blank_lines_between_responses_are_nothing() {
    let answer = (Response { status: 200, keep_alive: true, body: 2 }, &b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"[..]);
    for size in [1, 2, 3, 1000, usize::MAX] {
        for line in ["\r\n", "\n"] {
            let blank = line.repeat(MAX_HEAD).into_bytes();
            let mut reader = ResponseReader::default();
            for piece in blank.chunks(size) {
                assert_eq!(reader.read(piece, false), Ok((piece.len(), None)), "{line:?} in pieces of {size}");
            }
            assert!(!reader.is_inside(), "{line:?} in pieces of {size}");
            assert_eq!(reader.end(), Ok(None), "{line:?} in pieces of {size}");
            let stream = [answer.1, &blank[..12], answer.1, &blank[..4]].concat();
            assert_eq!(read(stream.chunks(size), false), (vec![answer.0; 2], None), "{line:?} in pieces of {size}");
        }
    }
}

const KEEPS: bool = true;
const CLOSES: bool = false;

/// Odd answers that clients must read, or that servers really send: why, to a HEAD or not, the answer, the bytes.
const ACCEPTED_RESPONSES: &[(&str, bool, (u16, bool, u64), &str)] = &[
    ("bare LF, 2.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
    ("mixed line ends, 2.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\nContent-Length: 2\r\n\nok"),
    ("blank lines before", false, (200, KEEPS, 2), "\r\n\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ("obs-fold, 5.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n d\r\nContent-Length: 2\r\n\r\nok"),
    ("obs-fold of nothing, 5.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n \r\n\r\nok"),
    ("obs-fold at once, 5.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok"),
    ("space before colon, 5.1", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"),
    ("no space after it, 5.1", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok"),
    ("empty reason, 4", false, (200, KEEPS, 0), "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"),
    ("no reason, 4", false, (200, KEEPS, 0), "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
    ("reason in UTF-8, 4", false, (404, KEEPS, 0), "HTTP/1.1 404 non trouvé\r\nContent-Length: 0\r\n\r\n"),
    ("unknown class, 9110 15", false, (999, KEEPS, 0), "HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"),
    ("HTTP/1.0, 9.3", false, (200, CLOSES, 2), "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ("HTTP/1.0 that keeps, 9.3", false, (200, KEEPS, 0), "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"),
    ("HTTP/1.0 without length, 9.3", false, (200, CLOSES, 2), "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok"),
    ("close, 9.3", false, (200, CLOSES, 0), "HTTP/1.1 200 OK\r\nConnection: a, CLOSE ,\r\nContent-Length: 0\r\n\r\n"),
    ("close wins, 9.3", false, (200, CLOSES, 0), "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"),
    ("no framing, 6.3", false, (200, CLOSES, 6), "HTTP/1.1 200 OK\r\n\r\n0\r\n\r\n."),
    ("empty until close, 6.3", false, (200, CLOSES, 0), "HTTP/1.1 200 OK\r\n\r\n"),
    ("equal lengths, 6.3", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nok"),
    ("list of lengths, 6.3", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length: 2 ,2\r\n\r\nok"),
    ("TE and length, 6.3", false, (200, CLOSES, 2), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    ("TE in HTTP/1.0, 6.1", false, (200, CLOSES, 2), "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    ("TE ends in chunked, 6.3", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    ("TE twice, 6.3", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    ("TE folded, 5.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
    ("TE not chunked, 6.3", false, (200, CLOSES, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok"),
    ("TE not chunked, and length, 6.3", false, (200, CLOSES, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1\r\n\r\nok"),
    ("TE not at last chunked, 6.3", false, (200, CLOSES, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nok"),
    ("sizes in any case, 7.1", false, (200, KEEPS, 11), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n000B\r\nhello world\r\n00\r\n\r\n"),
    ("extensions, 7.1.1", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 ; a=\"b;c\" ;d\r\nok\r\n0;e\r\n\r\n"),
    ("trailers, 7.1.2", false, (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA:\r\nContent-Length: 9\r\n\r\n"),
    ("to HEAD, with length, 6.3", true, (200, KEEPS, 0), "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
    ("to HEAD, with TE, 6.3", true, (200, KEEPS, 0), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ("to HEAD, with neither, 6.3", true, (200, KEEPS, 0), "HTTP/1.1 200 OK\r\n\r\n"),
    ("204 with length, 6.3", false, (204, KEEPS, 0), "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"),
    ("304 with length, 6.3", false, (304, KEEPS, 0), "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
    ("interim with length, 6.3", false, (201, KEEPS, 0), "HTTP/1.1 100 Continue\r\nContent-Length: 9\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n"),
    ("many interim, 9110 15.2", false, (200, KEEPS, 2), "HTTP/1.1 100 \r\n\r\nHTTP/1.1 103 \r\nA: b\r\n\r\nHTTP/1.1 199 \r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ("101, 9110 15.2.2", false, (101, CLOSES, 0), "HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: upgrade\r\n\r\n"),
];

#[test]
fn odd_responses_are_read() {
    for &(why, to_head, (status, keep_alive, body), wire) in ACCEPTED_RESPONSES {
        let answer = Response { status, keep_alive, body };
        assert_eq!(read([wire.as_bytes()], to_head), (vec![answer], None), "{why}: {wire:?}");
        assert_eq!(read(wire.as_bytes().chunks(1), to_head), (vec![answer], None), "{why}, byte by byte: {wire:?}");
    }
}

/// After 101 the bytes are another protocol's.
#[test]
fn what_follows_an_upgrade_is_left() {
    let head = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";
    let answer = Response { status: 101, keep_alive: false, body: 0 };
    let got = ResponseReader::default().read(&[&head[..], b"\x81\x05hello"].concat(), false);
    assert_eq!(got, Ok((head.len(), Some(answer))));
}

/// An interim answer is complete in itself: a connection that ends after one has cut nothing short.
#[test]
fn the_end_after_an_interim_response_gives_nothing() {
    let mut reader = ResponseReader::default();
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(reader.read(interim, false), Ok((interim.len(), None)));
    assert!(!reader.is_inside());
    assert_eq!(reader.end(), Ok(None));
}
