//! HPACK of the load side (RFC 7541), against a second implementation.
//!
//! Option: the lowest bit decides which way. 0: each piece is a field block of a server, which is decoded. 1: each piece is a
//! request, which is encoded and decoded by the second implementation; bit 1 says that the server allows no dynamic table
//! once a marked piece has come.

use crate::input::{Input, Piece};
use http::Request;
use loona_hpack::Decoder;
use loona_hpack::decoder::DecoderError;
use torr_press::fuzzing::{Fault, Field, FieldDecoder, FieldEncoder, LARGEST_SECTION, TABLE};

/// The size of a field in a table, beside its name and value (RFC 7541, section 4.1).
const OVERHEAD: usize = 32;

/// Checks one input.
pub fn check(bytes: &[u8]) {
    let input = Input::binary(bytes);
    match input.option & 1 {
        0 => decode(&input.pieces()),
        _ => encode(&input.pieces(), input.option & 2 == 2),
    }
}

/// A decoder of the second implementation, for a table of the default size.
fn second() -> Decoder<'static> {
    let mut decoder = Decoder::new();
    decoder.set_max_allowed_table_size(TABLE);
    decoder
}

fn decode(blocks: &[Piece<'_>]) {
    let (mut decoder, mut second) = (FieldDecoder::default(), second());
    for &Piece { bytes, .. } in blocks {
        let (got, expected) = (decoder.decode(bytes), second.decode(bytes));
        let shown = bytes.escape_ascii();
        match (got, expected) {
            (Ok(fields), Ok(expected)) => {
                assert_eq!(fields, expected, "fields of {shown}");
                let size: usize = fields.iter().map(|(name, value)| name.len() + value.len() + OVERHEAD).sum();
                assert!(size <= LARGEST_SECTION, "a section of {size} bytes");
            }
            // RFC 7541, section 4.2 does not forbid a block of nothing but a resize.
            (Ok(fields), Err(DecoderError::SizeUpdateAtEnd)) => assert_eq!(fields, [], "fields of {shown}"),
            (Err(Fault::Malformed), Err(_)) | (Err(Fault::Resize | Fault::Limit), _) => return,
            (got, expected) => panic!("{got:?}, not {expected:?}, of {shown}"),
        }
        assert!(decoder.held() <= 2 * TABLE, "{} bytes are held after {shown}", decoder.held());
    }
}

fn encode(pieces: &[Piece<'_>], without_table: bool) {
    let (mut encoder, mut decoder, mut second) = (FieldEncoder::default(), FieldDecoder::default(), second());
    let mut is_limited = false;
    for piece in pieces {
        let Some(request) = request(piece.bytes) else { continue };
        let mut block = Vec::new();
        encoder.encode(&request, &mut block);
        let decoded = second.decode(&block).expect("what is encoded can be decoded");
        assert_eq!(decoded, sent(&request), "in {}", block.escape_ascii());
        let size: usize = decoded.iter().map(|(name, value)| name.len() + value.len() + OVERHEAD).sum();
        match decoder.decode(&block) {
            Ok(fields) => assert_eq!(fields, decoded),
            Err(fault) => {
                assert!(fault == Fault::Limit && size > LARGEST_SECTION, "{fault:?}");
                return;
            }
        }
        if is_limited {
            // A field of a table that has no room would be a bad index from here on.
            second.set_max_table_size(0);
        }
        if piece.marked && without_table && !is_limited {
            encoder.limit(0);
            is_limited = true;
        }
    }
}

/// A request whose path is the piece's first line, and whose fields are the others.
fn request(bytes: &[u8]) -> Option<Request<()>> {
    let mut lines = bytes.split(|&byte| byte == b'\n');
    let path = std::str::from_utf8(lines.next()?).ok()?;
    let mut request = Request::get(format!("https://a.test/{path}"));
    for line in lines {
        let colon = line.iter().position(|&byte| byte == b':')?;
        request = request.header(&line[..colon], &line[colon + 1..]);
    }
    request.body(()).ok()
}

/// The fields that HTTP/2 has of a request (RFC 9113, sections 8.2.2 and 8.3.1).
fn sent(request: &Request<()>) -> Vec<Field> {
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
