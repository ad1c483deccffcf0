//! However the bytes of a connection are cut into pieces on their way, the readers give what they give for the whole.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use torr_wire::WireError;
use torr_wire::body::{BodyReader, Framing};
use torr_wire::response::{HeadCache, Response, ResponseReader};

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Cuts `bytes` at the given places. Pieces may be empty.
fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..12)
}

/// Content that would be framing in another place.
const MISLEADING: &[&[u8]] = &[b"\r\n\r\n", b"0\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n", b"\n", b"\r"];

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![3 => vec(any::<u8>(), 0..40), 1 => select(MISLEADING).prop_map(<[u8]>::to_vec)]
}

/// The body of a chunked message, and its content.
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

/// An answer as a server might send it, and what must be read from it.
#[derive(Debug, Clone)]
struct Answer {
    to_head: bool,
    wire: Vec<u8>,
    expect: Response,
}

/// What the framing of an answer adds to it: its status, its fields, what stands after its head, and whether that is
/// all up to the end of the connection.
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

fn answer(framed: impl Strategy<Value = (bool, Framed)>) -> impl Strategy<Value = Answer> {
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
            Answer { to_head, wire: [head.into_bytes(), body].concat(), expect }
        },
    )
}

/// The answers of one connection, and the one at its end if that is what completes it.
fn connection() -> impl Strategy<Value = (Vec<Answer>, Option<Answer>)> {
    (vec(answer(framed()), 0..4), proptest::option::weighted(0.3, answer(until_close())))
}

fn wire((answers, last): &(Vec<Answer>, Option<Answer>)) -> (Vec<u8>, Vec<bool>) {
    let all = || answers.iter().chain(last);
    (all().flat_map(|answer| answer.wire.clone()).collect(), all().map(|answer| answer.to_head).collect())
}

/// All that a connection gave.
#[derive(Debug, PartialEq)]
struct Got {
    /// The answers, and where in the stream each ended.
    answers: Vec<(Response, usize)>,
    /// What the end of the connection gave, or the error before it.
    end: Result<Option<Response>, WireError>,
}

/// Reads a connection as an engine does: bytes that an answer has left wait in a buffer. An eager engine reads that to
/// its end before it receives again; one that is not receives another piece after every answer.
fn read(pieces: &[&[u8]], to_head: &[bool], eager: bool) -> Got {
    let (mut reader, mut buffer, mut consumed, mut answers) = (ResponseReader::default(), Vec::new(), 0, Vec::new());
    let mut pieces = pieces.iter();
    loop {
        if buffer.is_empty() || !eager {
            match pieces.next() {
                Some(piece) => buffer.extend_from_slice(piece),
                None if buffer.is_empty() => break,
                None => {}
            }
        }
        match reader.read(&buffer, to_head.get(answers.len()).copied().unwrap_or_default()) {
            Ok((used, answer)) => {
                consumed += used;
                buffer.drain(..used);
                match answer {
                    Some(answer) => answers.push((answer, consumed)),
                    None => assert!(buffer.is_empty(), "left without an answer: {}", buffer.escape_ascii()),
                }
            }
            Err(error) => return Got { answers, end: Err(error) },
        }
    }
    let was_inside = reader.is_mid_response();
    let end = reader.end();
    assert_eq!(was_inside, end != Ok(None), "whether the end was inside an answer");
    Got { answers, end }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn answers_do_not_depend_on_the_pieces(sent in connection(), cuts in cuts(), eager: bool) {
        let (stream, to_head) = wire(&sent);
        let (answers, last) = sent;
        let ends = answers.iter().scan(0, |at, answer| {
            *at += answer.wire.len();
            Some((answer.expect, *at))
        });
        let expect = Got { answers: ends.collect(), end: Ok(last.map(|answer| answer.expect)) };
        let text = stream.escape_ascii();
        prop_assert_eq!(&read(&[&stream], &to_head, eager), &expect, "whole: {}", text);
        let pieces = cut(&stream, &cuts);
        prop_assert_eq!(&read(&pieces, &to_head, eager), &expect, "in pieces: {:?}", pieces);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        prop_assert_eq!(&read(&bytes, &to_head, eager), &expect, "byte by byte: {}", text);
    }

    /// A fault shows as the same error, or, if it is in a head whose end never comes, as a head cut short.
    #[test]
    fn faults_do_not_depend_on_the_pieces(
        sent in connection(),
        cuts in cuts(),
        eager: bool,
        place: Index,
        byte in prop_oneof![any::<u8>(), select(&b"\r\n :;0,"[..])],
        insert: bool,
    ) {
        let (mut stream, to_head) = wire(&sent);
        let place = place.index(stream.len() + 1);
        let end = if insert { place } else { stream.len().min(place + 1) };
        stream.splice(place..end, [byte]);
        let whole = read(&[&stream], &to_head, true);
        let pieces = cut(&stream, &cuts);
        let got = read(&pieces, &to_head, eager);
        let unseen = matches!(whole.end, Err(WireError::Syntax(_))) && got.end == Err(WireError::Truncated);
        prop_assert_eq!(&got.answers, &whole.answers, "in pieces: {:?}", pieces);
        prop_assert!(got.end == whole.end || unseen, "{:?}, not {:?}, in pieces: {:?}", got.end, whole.end, pieces);
    }
}

/// A fixed connection with every kind of answer, cut in two at every place.
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
    let statuses: Vec<u16> = whole.answers.iter().map(|(answer, _)| answer.status).collect();
    assert_eq!(statuses, [200, 204, 200, 304, 404, 200]);
    assert_eq!(whole.end, Ok(Some(Response { status: 500, keep_alive: false, body: 13 })));
    for place in 0..=stream.len() {
        let (before, after) = stream.split_at(place);
        for eager in [true, false] {
            let got = read(&[before, after], &to_head, eager);
            assert_eq!(got, whole, "after {}", before.escape_ascii());
        }
    }
}

/// What one body gave: its content, the bytes taken, whether it is complete, whether it may end with the connection.
type Body = (Vec<u8>, usize, bool, bool);

/// Reads a body from pieces. Nothing may be taken after its end.
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
    // Of the piece that is broken, no count is given.
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

    /// Anything made of what chunked framing is made of.
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

/// Heads that are alike, in part alike, and not alike at all, to requests that are alike and not.
#[test]
fn what_is_remembered_of_heads_changes_no_answer() {
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
    let mut memory = HeadCache::default();
    let mut random = 12_345_u32;
    for _ in 0..20_000 {
        // A small generator of one's own is random enough.
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (head, to_head) = (heads[random as usize >> 8 & 7], random >> 16 & 7 == 0);
        let cut = if random >> 20 & 3 == 0 { (random >> 24) as usize % head.len() } else { head.len() };
        let input = [&head.as_bytes()[..cut], &b"1\r\n2\r\n0\r\n\r\n"[..(random >> 28) as usize % 12]].concat();
        let (mut plain, mut remembering) = (ResponseReader::default(), ResponseReader::default());
        let expected = plain.read(&input, to_head);
        let got = remembering.observe(&input, to_head, &mut memory, &mut ());
        assert_eq!(got, expected, "{:?} to a HEAD: {to_head}", input.escape_ascii().to_string());
        assert_eq!(remembering.is_mid_response(), plain.is_mid_response());
    }
}
