//! The decoders' results do not depend on how the bytes of a connection are split into pieces.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use torr_wire::WireError;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::response::{HeadCache, Response, ResponseReader};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Splits `bytes` at the given offsets. Pieces may be empty.
fn cut<'a>(bytes: &'a [u8], offsets: &[Index]) -> Vec<&'a [u8]> {
    let mut offsets: Vec<usize> = offsets.iter().map(|offset| offset.index(bytes.len() + 1)).collect();
    offsets.extend([0, bytes.len()]);
    offsets.sort_unstable();
    offsets.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..12)
}

/// Generates content that looks like framing.
const MISLEADING: &[&[u8]] = &[b"\r\n\r\n", b"0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"\n", b"\r"];

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => vec(any::<u8>(), 0..40), 1 => select(MISLEADING).prop_map(<[u8]>::to_vec)]
}

/// Generates a chunked body, and its content.
fn chunked() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    let extension = select(&["", ";a", " ; a=\"b;c\"", ";a=b;c"][..]);
    let chunk = (content(), 1..5usize, extension.clone());
    let trailers = select(&["", "A: b\r\n", "A:\r\nX-Sum: 1 2\r\nContent-Length: 9\r\n"][..]);
    (vec(chunk, 0..4), extension, trailers).prop_map(|(chunks, last, trailers)| {
        let (mut wire, mut all) = (Vec::new(), Vec::new());
        for (content, digits, extension) in chunks.into_iter().filter(|chunk| !chunk.0.is_empty()) {
            wire.extend_from_slice(format!("{:0digits$X}{extension}\r\n", content.len()).as_bytes());
            wire.extend_from_slice(&content);
            wire.extend_from_slice(b"\r\n");
            all.extend(content);
        }
        wire.extend_from_slice(format!("0{last}\r\n{trailers}\r\n").as_bytes());
        (wire, all)
    })
}

/// A response as a server may send it, and the expected result.
#[derive(Debug, Clone)]
struct TestResponse {
    to_head: bool,
    wire: Vec<u8>,
    expect: Response,
}

/// Generates the parts of a response that depend on its framing: status, fields, the bytes after the head, and whether
/// those extend to the end of the connection.
type Framed = (u16, String, Vec<u8>, u64, bool);

fn framed() -> impl Strategy<Value = (bool, Framed)> {
    let status = select(&[200u16, 201, 404, 503][..]);
    let sized = (status.clone(), content()).prop_map(|(status, content)| {
        let len = content.len();
        (false, (status, format!("Content-Length: {len}\r\n"), content, len as u64, false))
    });
    let chunked = (status.clone(), chunked()).prop_map(|(status, (wire, content))| {
        (false, (status, "Transfer-Encoding: chunked\r\n".to_owned(), wire, content.len() as u64, false))
    });
    let fields = select(&["", "Content-Length: 9\r\n", "Transfer-Encoding: chunked\r\n"][..]);
    let empty = (select(&[204u16, 304][..]), fields.clone())
        .prop_map(|(status, fields)| (false, (status, fields.to_owned(), vec![], 0, false)));
    let to_head = (status, fields).prop_map(|(status, fields)| (true, (status, fields.to_owned(), vec![], 0, false)));
    prop_oneof![sized, chunked, empty, to_head]
}

fn until_close() -> impl Strategy<Value = (bool, Framed)> {
    content().prop_map(|content| {
        let len = content.len() as u64;
        (false, (200, String::new(), content, len, true))
    })
}

fn response(framed: impl Strategy<Value = (bool, Framed)>) -> impl Strategy<Value = TestResponse> {
    let interim = select(
        &["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\nLink: </a>\n\n", "HTTP/1.1 199\r\n\r\n"][..],
    );
    let field = select(&["Server: x\r\n", "A:\r\n", "A: b\r\n  c\r\n", "A : b\r\n", "A: \r\n \r\n", "A: b\n"][..]);
    let end = select(&["\r\n", "\n"][..]);
    (vec(interim, 0..3), vec(field, 0..3), any::<bool>(), end, framed).prop_map(
        |(interim, fields, close, end, (to_head, (status, framing, body, len, until_close)))| {
            let (interim, fields) = (interim.concat(), fields.concat());
            let close = if close { "Connection: close\r\n" } else { "" };
            let head = format!("{interim}HTTP/1.1 {status} Some reason{end}{fields}{close}{framing}{end}");
            let keep_alive = close.is_empty() && !until_close;
            let expect = Response { status, keep_alive, body: len };
            TestResponse { to_head, wire: [head.into_bytes(), body].concat(), expect }
        },
    )
}

/// Generates the responses of one connection, and the one that the connection's end completes, if any.
fn connection() -> impl Strategy<Value = (Vec<TestResponse>, Option<TestResponse>)> {
    (vec(response(framed()), 0..4), proptest::option::weighted(0.3, response(until_close())))
}

fn wire((responses, last): &(Vec<TestResponse>, Option<TestResponse>)) -> (Vec<u8>, Vec<bool>) {
    let all = || responses.iter().chain(last);
    (all().flat_map(|response| response.wire.clone()).collect(), all().map(|response| response.to_head).collect())
}

/// The decoded connection.
#[derive(Debug, PartialEq)]
struct Got {
    /// The responses, and the offset at which each one ended.
    responses: Vec<(Response, usize)>,
    /// The result at the end of the connection, or the error before it.
    end: Result<Option<Response>, WireError>,
}

/// Decodes a connection as an engine does: the bytes after a response wait in a buffer. An eager engine decodes the whole
/// buffer before it receives again; another one receives a piece after every response.
fn read(pieces: &[&[u8]], to_head: &[bool], eager: bool) -> Got {
    let (mut reader, mut buffer, mut consumed, mut responses) = (ResponseReader::default(), Vec::new(), 0, Vec::new());
    let mut pieces = pieces.iter();
    loop {
        if buffer.is_empty() || !eager {
            match pieces.next() {
                Some(piece) => buffer.extend_from_slice(piece),
                None if buffer.is_empty() => break,
                None => {}
            }
        }
        match reader.read(&buffer, to_head.get(responses.len()).copied().unwrap_or_default()) {
            Ok((used, response)) => {
                consumed += used;
                buffer.drain(..used);
                match response {
                    Some(response) => responses.push((response, consumed)),
                    None => assert!(buffer.is_empty(), "left without an response: {}", buffer.escape_ascii()),
                }
            }
            Err(error) => return Got { responses, end: Err(error) },
        }
    }
    let was_inside = reader.is_mid_response();
    let end = reader.end();
    assert_eq!(was_inside, end != Ok(None), "whether the end was inside an response");
    Got { responses, end }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn responses_do_not_depend_on_the_pieces(sent in connection(), cuts in cuts(), eager: bool) {
        let (stream, to_head) = wire(&sent);
        let (responses, last) = sent;
        let ends = responses.iter().scan(0, |at, response| {
            *at += response.wire.len();
            Some((response.expect, *at))
        });
        let expect = Got { responses: ends.collect(), end: Ok(last.map(|response| response.expect)) };
        let text = stream.escape_ascii();
        prop_assert_eq!(&read(&[&stream], &to_head, eager), &expect, "whole: {}", text);
        let pieces = cut(&stream, &cuts);
        prop_assert_eq!(&read(&pieces, &to_head, eager), &expect, "in pieces: {:?}", pieces);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&read(&bytes, &to_head, eager), &expect, "byte by byte: {}", text);
    }

    /// A fault causes the same error, or a truncation if it is in a head whose end never arrives.
    #[test]
    fn faults_do_not_depend_on_the_pieces(
        sent in connection(),
        cuts in cuts(),
        eager: bool,
        offset: Index,
        byte in prop_oneof![any::<u8>(), select(&b"\r\n :;0,"[..])],
        insert: bool,
    ) {
        let (mut stream, to_head) = wire(&sent);
        let offset = offset.index(stream.len() + 1);
        let end = if insert { offset } else { stream.len().min(offset + 1) };
        stream.splice(offset..end, [byte]);
        let whole = read(&[&stream], &to_head, true);
        let pieces = cut(&stream, &cuts);
        let got = read(&pieces, &to_head, eager);
        let unseen = matches!(whole.end, Err(WireError::Syntax(_))) && got.end == Err(WireError::Truncated);
        prop_assert_eq!(&got.responses, &whole.responses, "in pieces: {:?}", pieces);
        prop_assert!(got.end == whole.end || unseen, "{:?}, not {:?}, in pieces: {:?}", got.end, whole.end, pieces);
    }
}

/// A fixed connection with every kind of response, split in two at every offset.
#[test]
fn no_single_cut_matters() {
    let stream = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\
        HTTP/1.1 100 Continue\n\nHTTP/1.1 103 \r\nA: b\r\n c\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\
        HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\
        5;a=b\r\nhello\r\n00b ; c\r\nhello world\r\n0\r\nA: b\r\n\r\n\
        \r\nHTTP/1.1 304\r\nContent-Length: 5\r\n\r\n\
        HTTP/1.0 404 \r\nConnection: keep-alive\r\nContent-Length: 0\n\r\n\
        HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\
        HTTP/1.1 500 Why\r\n\r\nuntil the end";
    let to_head = [false, false, false, false, false, true];
    let whole = read(&[stream], &to_head, true);
    let statuses: Vec<u16> = whole.responses.iter().map(|(response, _)| response.status).collect();
    assert_eq!(statuses, [200, 204, 200, 304, 404, 200]);
    assert_eq!(whole.end, Ok(Some(Response { status: 500, keep_alive: false, body: 13 })));
    for offset in 0..=stream.len() {
        let (before, after) = stream.split_at(offset);
        for eager in [true, false] {
            let got = read(&[before, after], &to_head, eager);
            assert_eq!(got, whole, "after {}", before.escape_ascii());
        }
    }
}

/// The decoded body: its content, the bytes consumed, whether it is complete, whether the connection's end completes it.
type Body = (Vec<u8>, usize, bool, bool);

/// Decodes a body from pieces. The decoder must consume nothing after the end.
fn read_body(framing: Framing, pieces: &[&[u8]]) -> (Body, Option<WireError>) {
    let (mut reader, mut content, mut consumed) = (BodyReader::new(framing), Vec::new(), 0);
    let mut error = None;
    for piece in pieces {
        let was_done = reader.is_done();
        match reader.read(piece, |piece| content.extend_from_slice(piece)) {
            Ok(used) => {
                assert!(!was_done || used == 0, "{used} bytes after the end");
                assert!(reader.is_done() || used == piece.len(), "took {used} of {}", piece.escape_ascii());
                consumed += used;
            }
            Err(broken) => {
                error = Some(broken);
                break;
            }
        }
    }
    // There is no count of bytes consumed for the malformed piece.
    let consumed = if error.is_some() { 0 } else { consumed };
    ((content, consumed, reader.is_done(), reader.ends_with_connection()), error)
}

const CHUNK_PARTS: &[&str] =
    &["\r\n", "\r", "\n", "0", "1", "2", "a", ";", " ", ":", "A: b\r\n", "1\r\nx\r\n", "0\r\n\r\n"];

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn chunked_bodies_do_not_depend_on_the_pieces((mut wire, content) in chunked(), rest in content(), cuts in cuts()) {
        let expect = ((content, wire.len(), true, true), None);
        wire.extend(rest);
        let pieces = cut(&wire, &cuts);
        prop_assert_eq!(&read_body(Framing::Chunked, &pieces), &expect, "{:?}", pieces);
        let bytes: Vec<&[u8]> = wire.chunks(1).collect();
        prop_assert_eq!(&read_body(Framing::Chunked, &bytes), &expect, "byte by byte: {}", wire.escape_ascii());
    }

    #[test]
    fn sized_bodies_do_not_depend_on_the_pieces(wire in content(), len in 0..50usize, cuts in cuts()) {
        let (taken, done) = (len.min(wire.len()), len <= wire.len());
        let expect = ((wire[..taken].to_vec(), taken, done, done), None);
        let pieces = cut(&wire, &cuts);
        prop_assert_eq!(read_body(Framing::Length(len as u64), &pieces), expect, "{} of {:?}", len, pieces);
    }

    #[test]
    fn all_up_to_the_end_does_not_depend_on_the_pieces(wire in content(), cuts in cuts()) {
        let pieces = cut(&wire, &cuts);
        prop_assert_eq!(read_body(Framing::UntilClose, &pieces), ((wire.clone(), wire.len(), false, true), None));
        prop_assert_eq!(read_body(Framing::None, &pieces), ((vec![], 0, true, true), None));
    }

    /// Arbitrary strings over the bytes of chunked framing.
    #[test]
    fn broken_chunks_do_not_depend_on_the_pieces(
        parts in vec(select(CHUNK_PARTS), 0..12),
        cuts in cuts(),
    ) {
        let wire = parts.concat().into_bytes();
        let pieces = cut(&wire, &cuts);
        prop_assert_eq!(read_body(Framing::Chunked, &pieces), read_body(Framing::Chunked, &[&wire]), "{:?}", pieces);
    }
}

/// Heads that are equal, equal in part, and different, in response to GET and to HEAD.
#[test]
fn the_head_cache_changes_no_result() {
    let heads = [
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: 1\r\n\r\n",
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "nonsense\r\n\r\n",
    ];
    let mut cache = HeadCache::default();
    let mut random = 12_345_u32;
    for _ in 0..20_000 {
        // A linear congruential generator is random enough.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (head, to_head) = (heads[random as usize >> 8 & 7], random >> 16 & 7 == 0);
        let cut = if random >> 20 & 3 == 0 { (random >> 24) as usize % head.len() } else { head.len() };
        let input = [&head.as_bytes()[..cut], &b"1\r\n2\r\n0\r\n\r\n"[..(random >> 28) as usize % 12]].concat();
        let (mut plain, mut cached) = (ResponseReader::default(), ResponseReader::default());
        let expected = plain.read(&input, to_head);
        let got = cached.observe(&input, to_head, &mut cache, &mut ());
        assert_eq!(got, expected, "{:?} to a HEAD: {to_head}", input.escape_ascii().to_string());
        assert_eq!(cached.is_mid_response(), plain.is_mid_response());
    }
}
