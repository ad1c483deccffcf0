//! Responses that a client must reject, and unusual ones that servers really send and a client must accept.

use torr_wire::WireError::{self, Chunk, HeadTooLarge, Length, Syntax, TooManyFields, Truncated};
use torr_wire::response::{HeadCache, MAX_HEAD, Observer, Response, ResponseReader};

const NOT_HTTP: WireError = Syntax("not an HTTP/1.x response");
const STATUS: WireError = Syntax("invalid status code");
const LINE_END: WireError = Syntax("invalid line ending");
const NAME: WireError = Syntax("invalid field name");
const VALUE: WireError = Syntax("invalid field value");

/// Complete heads that are rejected: the section of RFC 9112 (or of another RFC, if named) and the bytes.
const REJECTED: &[(&str, WireError, &[u8])] = &[
    // Other protocols.
    ("4", NOT_HTTP, b"SSH-2.0-OpenSSH_9.6\r\n"),
    ("4", NOT_HTTP, b"<html><body>hello</body></html>\n"),
    ("4", NOT_HTTP, b"ICY 200 OK\r\n\r\n"),
    ("4", NOT_HTTP, b"HELO\r\n\r\n"),
    ("4", NOT_HTTP, b"\x15\x03\x01\x00\x02\x02\x46"),
    ("4", NOT_HTTP, b"\x00\x00\x12\x04\x00\x00\x00\x00\x00"),
    ("2.3", NOT_HTTP, b"HTTP/2.0 200 OK\r\n\r\n"),
    ("2.3", NOT_HTTP, b"HTTP/2 200\r\n\r\n"),
    ("2.3", NOT_HTTP, b"http/1.1 200 OK\r\n\r\n"),
    // The status line.
    ("4", NOT_HTTP, b"HTTP/1.1\r\n\r\n"),
    ("4", NOT_HTTP, b"HTTP/1.1\t200 OK\r\n\r\n"),
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
    ("2.2", LINE_END, b"HTTP/1.1 200 OK\r\nA: b\r\n\rC: d\r\n\r\n"),
    // Lengths.
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nabc"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\n"),
    ("6.3", Length, b"HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\n"),
    ("9110 8.6", Length, b"HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\n"),
    // Cut short.
    ("8", Truncated, b"HTTP/1.1 200"),
    ("8", Truncated, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"),
    ("8", Truncated, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"),
    ("8", Truncated, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
];

/// Malformed chunked bodies: the section and the bytes after the head.
const REFUSED_CHUNKS: &[(&str, WireError, &[u8])] = &[
    ("7.1", Chunk, b"hello"),
    ("7.1", Chunk, b"\r\n"),
    ("7.1", Chunk, b";a=b\r\n"),
    ("7.1", Chunk, b"-1\r\n"),
    ("7.1", Chunk, b"0x2\r\nok\r\n"),
    ("7.1", Chunk, b" 2\r\nok\r\n"),
    ("7.1", Chunk, b"2\nok\r\n"),
    ("7.1", Chunk, b"2\r\nokay\r\n"),
    ("7.1", Chunk, b"2\r\nok\n0\r\n\r\n"),
    ("7.1", Chunk, b"2\r\nok0\r\n\r\n"),
    ("7.1", Chunk, b"2\r\nok\n\n0\r\n\r\n"),
    ("7.1", Chunk, b"2 \r\nok\r\n0\r\n\r\n"),
    ("7.1", Chunk, b"0\r\n\r\r"),
    ("7.1", Chunk, b"0\r\n\n"),
    ("7.1", Chunk, b"10000000000000000\r\n"),
    ("7.1.1", Chunk, b"2;a\nb\r\nok\r\n"),
    // The final blank line is missing, so that the next response is parsed as trailers.
    ("7.1.2", Chunk, b"0\r\nHTTP/1.1 200 OK\r\n\r\n"),
    ("7.1.2", Chunk, b"0\r\nno-colon\r\n\r\n"),
    ("7.1.2", Chunk, b"0\r\n: x\r\n\r\n"),
    ("7.1.2", Chunk, b"0\r\nA : b\r\n\r\n"),
    ("7.1.2", Chunk, b"0\r\nA: b\r\n c\r\n\r\n"),
    ("8", Truncated, b""),
    ("8", Truncated, b"2\r\nok\r\n"),
    ("8", Truncated, b"2\r\nok\r\n0\r\n"),
    ("8", Truncated, b"2\r\nok\r\n0\r\nA: b\r\n"),
];

/// Decodes a connection from these pieces to its end: the responses, and the error if there is one.
fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>, to_head: bool) -> (Vec<Response>, Option<WireError>) {
    let (mut reader, mut responses) = (ResponseReader::default(), Vec::new());
    for mut piece in pieces {
        while !piece.is_empty() {
            match reader.read(piece, to_head) {
                Ok((used, response)) => {
                    responses.extend(response);
                    piece = &piece[used..];
                }
                Err(error) => return (responses, Some(error)),
            }
        }
    }
    match reader.end() {
        Ok(response) => {
            responses.extend(response);
            (responses, None)
        }
        Err(error) => (responses, Some(error)),
    }
}

#[track_caller]
fn reject(rule: &str, error: WireError, input: &[u8]) {
    let text = input.escape_ascii();
    assert_eq!(read([input], false), (vec![], Some(error)), "RFC {rule}: {text}");
    // A head in pieces is parsed once its end has arrived; otherwise the end of the connection shows the error.
    let (responses, got) = read(input.chunks(1), false);
    assert_eq!(responses, [], "byte by byte, RFC {rule}: {text}");
    assert!(got == Some(error) || got == Some(Truncated), "byte by byte: {got:?}, RFC {rule}: {text}");
}

#[test]
fn malformed_responses_are_rejected() {
    for (rule, error, input) in REJECTED {
        reject(rule, *error, input);
    }
    for (rule, error, body) in REFUSED_CHUNKS {
        reject(rule, *error, &[b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", *body].concat());
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
            assert!(reader.is_mid_response(), "the first {len} bytes of {whole:?}");
            assert_eq!(reader.end(), Err(Truncated), "the first {len} bytes of {whole:?}");
            // A truncated response does not affect the next connection.
            assert!(!reader.is_mid_response(), "after the end, the first {len} bytes of {whole:?}");
        }
    }
}

#[test]
fn an_endless_head_is_given_up() {
    for (piece, expect) in
        [("x", HeadTooLarge), ("A: ", HeadTooLarge), ("\r\n b", HeadTooLarge), ("\r\nA: b", HeadTooLarge)]
    {
        let mut reader = ResponseReader::default();
        let start = "HTTP/1.1 200 OK\r\nA: ";
        assert_eq!(reader.read(start.as_bytes(), false), Ok((start.len(), None)));
        let fits = (MAX_HEAD - start.len()) / piece.len();
        for n in 0..fits {
            assert_eq!(reader.read(piece.as_bytes(), false), Ok((piece.len(), None)), "{n} pieces of {piece:?}");
        }
        assert_eq!(reader.read(piece.as_bytes(), false), Err(expect), "pieces of {piece:?}");
        let whole = format!("{start}{}", piece.repeat(fits + 1));
        assert_eq!(ResponseReader::default().read(whole.as_bytes(), false), Err(expect), "whole, of {piece:?}");
    }
}

#[test]
fn the_largest_head_is_read_whole_and_in_pieces() {
    let head = |len: usize| {
        let (start, end) = ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA: ", "\r\n\r\n");
        format!("{start}{}{end}", "b".repeat(len - start.len() - end.len())).into_bytes()
    };
    let (fits, too_large) = (head(MAX_HEAD), head(MAX_HEAD + 1));
    let response = Response { status: 200, keep_alive: true, body: 0 };
    for size in [1, 7, MAX_HEAD, MAX_HEAD + 1] {
        assert_eq!(read(fits.chunks(size), false), (vec![response], None), "in pieces of {size}");
        assert_eq!(read(too_large.chunks(size), false), (vec![], Some(HeadTooLarge)), "in pieces of {size}");
    }
    let fields = |n: usize| format!("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n{}\r\n", "A: b\r\n".repeat(n - 1));
    assert_eq!(read([fields(256).as_bytes()], false), (vec![response], None));
    assert_eq!(read([fields(257).as_bytes()], false), (vec![], Some(TooManyFields { found: 257, limit: 256 })));
}

/// Bytes beyond the limit do not change the result, whether they have arrived or not.
#[test]
fn a_head_that_is_too_large_is_so_whatever_follows() {
    let start = "HTTP/1.1 200 OK\r\nA: ";
    let head = format!("{start}{}", "b".repeat(MAX_HEAD + 1 - start.len()));
    for more in ["", "\0", "\r\r", "\r\nno colon\r\n\r\n", "\r\n\r\n"] {
        let wire = format!("{head}{more}").into_bytes();
        for size in [1000, wire.len()] {
            assert_eq!(read(wire.chunks(size), false), (vec![], Some(HeadTooLarge)), "{more:?}, in pieces of {size}");
        }
    }
}

/// Some servers send blank lines between responses. They are no part of a response, and many of them cost only their bytes.
#[test]
fn blank_lines_between_responses_are_nothing() {
    let wire = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    let response = Response { status: 200, keep_alive: true, body: 2 };
    for line in ["\r\n", "\n"] {
        let blank = line.repeat(MAX_HEAD).into_bytes();
        for size in [1, 2, 3, 1000, blank.len()] {
            let mut reader = ResponseReader::default();
            for piece in blank.chunks(size) {
                assert_eq!(reader.read(piece, false), Ok((piece.len(), None)), "{line:?} in pieces of {size}");
            }
            assert!(!reader.is_mid_response(), "{line:?} in pieces of {size}");
            assert_eq!(reader.end(), Ok(None), "{line:?} in pieces of {size}");
            for lines in 0..4 {
                let some = line.repeat(lines).into_bytes();
                let stream = [&some, &wire[..], &some, wire, &some].concat();
                assert_eq!(read(stream.chunks(size), false), (vec![response; 2], None), "{lines} {line:?} by {size}");
            }
        }
    }
}

const KEEPS: bool = true;
const CLOSES: bool = false;

/// Unusual responses that must be accepted: the reason (with the section of RFC 9112, or of another RFC, if named), the
/// response, the bytes.
const ACCEPTED: &[(&str, (u16, bool, u64), &str)] = &[
    ("bare LF, 2.2", (200, KEEPS, 2), "HTTP/1.1 200 OK\nContent-Length: 2\n\nok"),
    ("mixed line ends, 2.2", (200, KEEPS, 2), "HTTP/1.1 200 OK\nContent-Length: 2\r\n\nok"),
    ("obs-fold, 5.2", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nA: b\r\n\tc\r\n d\r\nContent-Length: 2\r\n\r\nok"),
    ("obs-fold of nothing, 5.2", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n \r\n\r\nok"),
    ("obs-fold at once, 5.2", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length:\r\n 2\r\n\r\nok"),
    ("space before the colon, 5.1", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length : 2\r\n\r\nok"),
    ("no space after it, 5.1", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length:2\r\n\r\nok"),
    ("empty reason, 4", (200, KEEPS, 0), "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n"),
    ("no reason, 4", (200, KEEPS, 0), "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"),
    ("reason in UTF-8, 4", (404, KEEPS, 0), "HTTP/1.1 404 non trouvé\r\nContent-Length: 0\r\n\r\n"),
    ("status of no class, 9110 15", (999, KEEPS, 0), "HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n"),
    ("equal lengths, 6.3", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 02\r\n\r\nok"),
    ("a list of lengths, 6.3", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nContent-Length: 2 ,2\r\n\r\nok"),
    ("no framing, 6.3", (200, CLOSES, 6), "HTTP/1.1 200 OK\r\n\r\n0\r\n\r\n."),
    ("nothing until close, 6.3", (200, CLOSES, 0), "HTTP/1.1 200 OK\r\n\r\n"),
    ("204 with length, 6.3", (204, KEEPS, 0), "HTTP/1.1 204 No Content\r\nContent-Length: 9\r\n\r\n"),
    ("304 with length, 6.3", (304, KEEPS, 0), "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
    ("304 with coding, 6.1", (304, KEEPS, 0), "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n"),
    // Interim responses.
    ("100 with length, 6.3", (201, CLOSES, 0), "HTTP/1.1 100 \r\nContent-Length: 9\r\n\r\nHTTP/1.1 201 \r\n\r\n"),
    ("some, 9110 15.2", (404, CLOSES, 0), "HTTP/1.1 103 \r\nA: b\r\n\r\nHTTP/1.1 199 \r\n\r\nHTTP/1.1 404 \r\n\r\n"),
    ("101 ends HTTP, 9110 15.2.2", (101, CLOSES, 0), "HTTP/1.1 101 \r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n"),
    // Persistence.
    ("HTTP/1.0, 9.3", (200, CLOSES, 2), "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok"),
    ("that keeps, 9.3", (404, KEEPS, 0), "HTTP/1.0 404 \r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"),
    ("but has no length, 9.3", (200, CLOSES, 2), "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok"),
    ("close in a list, 9.3", (404, CLOSES, 0), "HTTP/1.1 404 \r\nConnection: a, CLOSE ,\r\nContent-Length: 0\r\n\r\n"),
    ("close wins, 9.3", (204, CLOSES, 0), "HTTP/1.1 204 \r\nConnection: keep-alive\r\nConnection: close\r\n\r\n"),
];

/// Transfer codings of a body of 12 bytes, whose content has 2 bytes if it is chunked.
const ACCEPTED_CODINGS: &[(&str, (u16, bool, u64), &str)] = &[
    ("any case, 7", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKed"),
    ("folded, 5.2", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked"),
    ("chunked last, 6.3", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked"),
    ("chunked twice, 6.3", (200, KEEPS, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked"),
    ("chunked not last, 6.3", (200, CLOSES, 12), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip"),
    ("not chunked, 6.3", (200, CLOSES, 12), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip"),
    ("that and a length, 6.3", (200, CLOSES, 12), "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nContent-Length: 1"),
    ("length too, 6.3", (200, CLOSES, 2), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1"),
    ("length before, 6.3", (200, CLOSES, 2), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked"),
    ("HTTP/1.0, 6.1", (200, CLOSES, 2), "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive"),
];

/// Valid chunked bodies: the reason, the length of the content, and the body.
const ACCEPTED_CHUNKS: &[(&str, u64, &str)] = &[
    ("sizes in any case, 7.1", 21, "000B\r\nhello world\r\na\r\n0123456789\r\n00\r\n\r\n"),
    ("extensions, 7.1.1", 2, "2 ; a=\"b;c\" ;d\r\nok\r\n0;e\r\n\r\n"),
    ("trailers, 7.1.2", 2, "2\r\nok\r\n0\r\nA:\r\nContent-Length: 9\r\n\r\n"),
    ("chunks within a chunk, 7.1", 7, "7\r\n0\r\n\r\n\r\n\r\n0\r\n\r\n"),
];

#[track_caller]
fn accept(why: &str, to_head: bool, response: (u16, bool, u64), wire: &str) {
    let (status, keep_alive, body) = response;
    let expect = (vec![Response { status, keep_alive, body }], None);
    assert_eq!(read([wire.as_bytes()], to_head), expect, "{why}: {wire:?}");
    assert_eq!(read(wire.as_bytes().chunks(1), to_head), expect, "{why}, byte by byte: {wire:?}");
}

#[test]
fn odd_responses_are_read() {
    for &(why, response, wire) in ACCEPTED {
        accept(why, false, response, wire);
    }
    for &(why, response, head) in ACCEPTED_CODINGS {
        accept(why, false, response, &format!("{head}\r\n\r\n2\r\nok\r\n0\r\n\r\n"));
    }
    for &(why, len, body) in ACCEPTED_CHUNKS {
        let wire = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}");
        accept(why, false, (200, KEEPS, len), &wire);
    }
}

/// The fields of a response to HEAD describe the response to a GET (RFC 9112, section 6.3).
#[test]
fn the_response_to_head_has_no_body() {
    for fields in ["", "Content-Length: 9\r\n", "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: gzip\r\n"] {
        accept("to HEAD", true, (200, KEEPS, 0), &format!("HTTP/1.1 200 OK\r\n{fields}\r\n"));
    }
}

/// The bytes after a 101 belong to another protocol.
#[test]
fn what_follows_an_upgrade_is_left() {
    let head = b"HTTP/1.1 101 Switching Protocols\r\n\r\n";
    let response = Response { status: 101, keep_alive: false, body: 0 };
    let got = ResponseReader::default().read(&[&head[..], b"\x81\x05hello"].concat(), false);
    assert_eq!(got, Ok((head.len(), Some(response))));
}

/// An interim response is complete: a connection that ends after one has truncated nothing.
#[test]
fn the_end_after_an_interim_response_gives_nothing() {
    let mut reader = ResponseReader::default();
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n";
    assert_eq!(reader.read(interim, false), Ok((interim.len(), None)));
    assert!(!reader.is_mid_response());
    assert_eq!(reader.end(), Ok(None));
}

#[test]
fn a_reset_forgets_what_was_read() {
    for start in ["HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"] {
        let mut reader = ResponseReader::default();
        assert_eq!(reader.read(start.as_bytes(), false), Ok((start.len(), None)), "{start:?}");
        reader.reset();
        assert!(!reader.is_mid_response(), "{start:?}");
        let (wire, response) = (b"HTTP/1.1 204 \r\n\r\n", Response { status: 204, keep_alive: true, body: 0 });
        assert_eq!(reader.read(wire, false), Ok((wire.len(), Some(response))), "{start:?}");
    }
}

/// Records the fields of heads.
#[derive(Default)]
struct Values(Vec<Vec<u8>>);

impl Observer for Values {
    fn head(&mut self, _status: u16, fields: &[torr_wire::Header<'_>]) {
        self.0 = fields.iter().map(|field| field.value.to_vec()).collect();
    }
}

#[test]
fn control_characters_in_values_are_passed_on_as_they_are_whatever_the_pieces() {
    for byte in (1..=0x1f_u8).chain([0x7f]).filter(|&byte| byte != b'\n') {
        let value = [b"a", &[byte][..], b"b", &[byte], b"c"].concat();
        // A CR may not end the first line.
        let in_reason = if byte == b'\r' { b' ' } else { byte };
        let head =
            [b"HTTP/1.1 200 O", &[in_reason][..], b"K\r\nA: ", &value, b"\r\nB: plain\r\nContent-Length: 2\r\n\r\nok"]
                .concat();
        for cut in 0..head.len() {
            let (mut reader, mut values) = (ResponseReader::default(), Values::default());
            let mut read = |piece: &[u8]| reader.observe(piece, false, &mut HeadCache::default(), &mut values);
            assert_eq!(read(&head[..cut]), Ok((cut, None)), "{byte:#04x}, the first {cut} bytes");
            let response = Response { status: 200, keep_alive: true, body: 2 };
            assert_eq!(read(&head[cut..]), Ok((head.len() - cut, Some(response))), "{byte:#04x}, cut at {cut}");
            assert_eq!(values.0, [&value[..], b"plain", b"2"], "{byte:#04x}, cut at {cut}");
        }
    }
    for bad in [
        &b"HTTP/1.1 200 OK\r\nA: a\0b\r\n\r\n"[..],
        b"HTTP/1.1 200 OK\r\nA\x01: b\r\n\r\n",
        b"HTTP/1.1 2\x0100 OK\r\n\r\n",
    ] {
        assert!(matches!(read([bad], false).1, Some(Syntax(_))), "{:?} was taken", String::from_utf8_lossy(bad));
    }
}

#[test]
fn fields_beyond_the_limit_are_counted_whatever_the_pieces() {
    let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n folded\r\n".repeat(300));
    for size in [1, 100, 10_000] {
        let error = Some(TooManyFields { found: 300, limit: 256 });
        assert_eq!(read(head.as_bytes().chunks(size), false), (vec![], error), "in pieces of {size}");
    }
}
