//! HTTP/3 of both sides (RFC 9114, RFC 9204): frames, settings and field sections, in whatever pieces they come.
//!
//! Option: the lowest two bits decide what the bytes are. 0: the stream of a response. 1: a unidirectional stream of a server.
//! 2: a field section, as far as it is one. 3: lines of a request, which is encoded and decoded.
//! With the next bit a client has sent them: a request, a stream of the client, the fields of a request.

use crate::input::{Input, Piece};
use http::Request;
use torr_wire::http3::{
    ControlEvent, ErrorCode, Http3Error, LARGEST_SECTION, MessagePiece, MessageStream, RequestFields, Sender,
    StreamType, TrailerFields, UnidirectionalStream, content_length, qpack,
};

/// The size of a field beside its name and value (RFC 9114, section 4.2.2).
const OVERHEAD: usize = 32;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::binary(bytes);
    let sender = if input.option & 4 == 0 { Sender::Server } else { Sender::Client };
    let (pieces, whole) = (input.pieces(), input.whole());
    match input.option & 3 {
        0 => assert_eq!(message(sender, &pieces), message(sender, &whole), "in {}", input.wire.escape_ascii()),
        1 => assert_eq!(stream(sender, &pieces), stream(sender, &whole), "in {}", input.wire.escape_ascii()),
        2 if sender == Sender::Client => fields(&input.wire),
        2 => drop(section(&input.wire)),
        _ => request(&input.wire),
    }
}

/// What is read of a message: its sections, and the content between them, put together.
#[derive(Debug, Default, PartialEq)]
struct Message {
    pieces: Vec<(bool, Vec<u8>)>,
    is_between: bool,
    error: Option<Http3Error>,
}

fn message(sender: Sender, pieces: &[Piece<'_>]) -> Message {
    let (mut stream, mut read) = (MessageStream::new(sender, LARGEST_SECTION), Message::default());
    for &Piece { mut bytes, .. } in pieces {
        loop {
            match stream.next(&mut bytes) {
                Ok(Some(MessagePiece::Section(section))) => {
                    assert!(section.as_ref().len() <= LARGEST_SECTION);
                    read.pieces.push((true, section.as_ref().to_vec()));
                }
                Ok(Some(MessagePiece::Content(content))) => match read.pieces.last_mut() {
                    Some((false, before)) => before.extend_from_slice(content),
                    _ => read.pieces.push((false, content.to_vec())),
                },
                Ok(Some(MessagePiece::TooLarge)) => read.pieces.push((true, Vec::new())),
                Ok(None) => break,
                Err(error) => return Message { error: Some(error), ..read },
            }
        }
        assert!(bytes.is_empty(), "all is read");
    }
    read.is_between = stream.is_between();
    read
}

/// What is read of a unidirectional stream of a peer.
#[derive(Debug, Default, PartialEq)]
struct Stream {
    events: Vec<ControlEvent>,
    kind: Option<StreamType>,
    error: Option<Http3Error>,
}

fn stream(sender: Sender, pieces: &[Piece<'_>]) -> Stream {
    let (mut stream, mut read) = (UnidirectionalStream::new(sender), Stream::default());
    for &Piece { mut bytes, .. } in pieces {
        loop {
            match stream.next(&mut bytes) {
                Ok(Some(event)) => read.events.push(event),
                Ok(None) => break,
                Err(error) => return Stream { error: Some(error), ..read },
            }
        }
        assert!(bytes.is_empty(), "all is read");
    }
    read.kind = stream.kind();
    read
}

/// Decodes a section within its limit.
fn section(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let (mut fields, mut size) = (Vec::new(), 0);
    let decoded = qpack::decode(bytes, &mut Vec::new(), |name, value| {
        size += name.len() + value.len() + OVERHEAD;
        fields.push((name.to_vec(), value.to_vec()));
    });
    assert!(size <= LARGEST_SECTION, "a section of {size} bytes");
    if let Err(error) = decoded {
        let code = Http3Error::from(error).code;
        assert!([ErrorCode::QPACK_DECOMPRESSION_FAILED, ErrorCode::EXCESSIVE_LOAD].contains(&code));
        return None;
    }
    Some(fields)
}

/// Reads a section as that of a request and as that of trailers, of which it is one at most.
fn fields(bytes: &[u8]) {
    let (mut head, mut trailers) = (RequestFields::default(), TrailerFields::default());
    for (name, value) in section(bytes).iter().flatten() {
        head.take(name, value);
        trailers.take(name, value);
    }
    let (head, trailers) = (head.finish(), trailers.finish());
    assert!(head.is_err() || trailers.is_err(), "{}", bytes.escape_ascii());
    if let Ok(head) = head {
        let announced = content_length(&head.headers);
        assert!(announced.is_ok_and(|announced| announced.is_none()) || head.headers.contains_key("content-length"));
        let is_connect = head.method == http::Method::CONNECT;
        assert!(is_connect || head.uri.path() == "*" || head.uri.path().starts_with('/'), "{}", head.uri);
    }
}

/// Encodes a request whose path is the first line, and whose fields are the others. What is decoded is the same.
fn request(bytes: &[u8]) {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let path = lines.next().and_then(|path| std::str::from_utf8(path).ok()).unwrap_or_default();
    let mut request = Request::get(format!("https://a.test/{path}"));
    for line in lines {
        let Some(colon) = line.iter().position(|&byte| byte == b':') else { return };
        request = request.header(&line[..colon], &line[colon + 1..]);
    }
    let Ok(request) = request.body(()) else { return };
    let mut encoded = Vec::new();
    qpack::encode(&request, &mut encoded);
    let size = |fields: &[(Vec<u8>, Vec<u8>)]| {
        fields.iter().map(|(name, value)| name.len() + value.len() + OVERHEAD).sum::<usize>()
    };
    let expected = sent(&request);
    match section(&encoded) {
        Some(fields) => assert_eq!(fields, expected),
        None => assert!(size(&expected) > LARGEST_SECTION, "{}", encoded.escape_ascii()),
    }
}

/// The fields that HTTP/3 has of a request (RFC 9114, sections 4.2 and 4.3.1).
fn sent(request: &Request<()>) -> Vec<(Vec<u8>, Vec<u8>)> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let pseudo = [(":method", "GET"), (":scheme", "https"), (":authority", "a.test"), (":path", path)];
    let pseudo = pseudo.map(|(name, value)| (name.as_bytes().to_vec(), value.as_bytes().to_vec()));
    let regular = request.headers().iter().filter(|(name, value)| match name.as_str() {
        "connection" | "host" | "keep-alive" | "proxy-connection" | "transfer-encoding" | "upgrade" => false,
        "te" => value.as_bytes().eq_ignore_ascii_case(b"trailers"),
        _ => true,
    });
    let regular = regular.map(|(name, value)| (name.as_str().as_bytes().to_vec(), value.as_bytes().to_vec()));
    pseudo.into_iter().chain(regular).collect()
}
