//! The bytes of a failed response, until it is complete and kept for the report.

use super::decode::Encoding;
use torr_gauge::failed_response::FailedResponse;
use torr_gauge::secrets::Haystack;
use torr_gauge::{GrpcStatus, Secrets};
use torr_wire::Header;
use torr_wire::response::{HeadCache, Observer, ResponseReader};

/// The number of bytes that are kept of one response.
const MOST: usize = 16 * 1024;
/// The largest size of decoded content, in bytes.
const MOST_DECODED: usize = 256 * 1024;
/// The position of the status code's first digit in a status line, behind `HTTP/1.1 `.
const STATUS: usize = 9;

/// The beginning of a response that may be, or is, a failed one.
#[derive(Debug, Default)]
pub struct FailedResponseBuffer {
    /// The bytes of HTTP/1.1.
    raw: Vec<u8>,
    /// The response of HTTP/2 or HTTP/3.
    parts: Option<ParsedResponse>,
}

/// A parsed response.
#[derive(Debug, Default)]
pub(crate) struct ParsedResponse {
    pub status: u16,
    pub fields: Vec<(String, Vec<u8>)>,
    pub content: Vec<u8>,
    /// Some of the content was not kept.
    pub cut: bool,
    /// The version of HTTP, for those without a status line; empty for HTTP/2.
    pub version: &'static str,
}

impl FailedResponseBuffer {
    /// Takes a piece of a response that is not the last one. A first piece is taken only if the status in it is of no
    /// final response below 400; so most responses cost nothing here.
    #[inline]
    pub(crate) fn piece(&mut self, piece: &[u8], is_first: bool) {
        if is_first {
            self.raw.clear();
        }
        // An interim response may stand before a failed one.
        if !self.raw.is_empty() || (is_first && piece.get(STATUS).is_none_or(|&digit| digit == b'1' || digit >= b'4')) {
            self.take(piece);
        }
    }

    /// Takes the last piece, or all, of a failed response.
    #[cold]
    pub(crate) fn last_piece(&mut self, piece: &[u8], is_first: bool) {
        if is_first {
            self.raw.clear();
        }
        if is_first || !self.raw.is_empty() {
            self.take(piece);
        }
    }

    fn take(&mut self, piece: &[u8]) {
        let room = MOST - self.raw.len();
        self.raw.extend_from_slice(&piece[..piece.len().min(room)]);
    }

    /// Takes a whole response of HTTP/2 or HTTP/3.
    pub(crate) fn set(&mut self, parts: ParsedResponse) {
        self.parts = Some(parts);
    }

    /// Returns the failed response, if it was gathered from its beginning.
    pub(crate) fn response(self) -> Option<GatheredResponse> {
        let (status_line, parts) = match self.parts {
            Some(parts) => {
                let line = match GrpcStatus::of_count(parts.status) {
                    Some(status) => format!("gRPC status {} ({})", status.code(), status.name()),
                    None if parts.version.is_empty() => format!("HTTP/2 {}", parts.status),
                    None => format!("{} {}", parts.version, parts.status),
                };
                (line, parts)
            }
            None => {
                let mut parts = ParsedResponse { cut: self.raw.len() == MOST, ..ParsedResponse::default() };
                // Its framing was found sound before; if some of it is missing, the rest is shown as far as it goes.
                let _ = ResponseReader::default().observe(&self.raw, false, &mut HeadCache::default(), &mut parts);
                (status_line(&self.raw, parts.status)?, parts)
            }
        };
        let coding = parts.fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-encoding"));
        let coding = coding.and_then(|(_, value)| Encoding::of(value));
        let whole = (!parts.cut).then_some(&parts.content);
        let (content, complete) = match coding {
            None => (parts.content, !parts.cut),
            Some(coding) => match whole.and_then(|content| coding.decode(content, MOST_DECODED)) {
                Some(decoded) => (decoded, true),
                // Bytes of another coding would not be readable.
                None => (Vec::new(), parts.content.is_empty()),
            },
        };
        let ParsedResponse { status, fields, .. } = parts;
        (status >= 400).then_some(GatheredResponse { status, status_line, fields, content, complete })
    }
}

/// A failed response as the server sent it, which may hold secrets that the server was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GatheredResponse {
    status: u16,
    status_line: String,
    fields: Vec<(String, Vec<u8>)>,
    content: Vec<u8>,
    /// Whether `content` is all of the content.
    complete: bool,
}

impl GatheredResponse {
    /// Returns all of the response, to look for secrets in.
    pub fn haystack(&self) -> Haystack {
        let fields = self.fields.iter().flat_map(|(name, value)| [name.as_bytes(), value]);
        let parts = [self.status_line.as_bytes()].into_iter().chain(fields).chain([&*self.content]);
        let text = parts.collect::<Vec<_>>().join(&b'\n');
        if self.complete { Haystack::new(text) } else { Haystack::of_beginning(&text) }
    }

    /// Returns the part of the response that is shown, without secrets.
    pub fn shown(&self, at_s: f64, secrets: &Secrets) -> FailedResponse {
        let Self { status, status_line, fields, content, complete } = self;
        let fields = fields.iter().map(|(name, value)| (name.as_str(), value.as_slice()));
        FailedResponse {
            at_s,
            ..FailedResponse::new(GrpcStatus::http(*status), status_line, fields, content, *complete, secrets)
        }
    }
}

impl ParsedResponse {
    /// Takes a piece of the content, as much as there is room for.
    pub fn content(&mut self, piece: &[u8]) {
        let room = MOST.saturating_sub(self.content.len());
        self.cut |= piece.len() > room;
        self.content.extend_from_slice(&piece[..piece.len().min(room)]);
    }
}

impl Observer for ParsedResponse {
    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        self.status = status;
        self.fields = fields.iter().map(|field| (field.name.to_owned(), field.value.to_vec())).collect();
    }

    fn body(&mut self, piece: &[u8]) {
        self.content(piece);
    }
}

/// The line of that status: an interim response may stand before it.
fn status_line(raw: &[u8], status: u16) -> Option<String> {
    let status = status.to_string();
    let lines = raw.split(|&byte| byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let is_it = |line: &&[u8]| line.starts_with(b"HTTP/") && line.get(STATUS..STATUS + 3) == Some(status.as_bytes());
    lines.into_iter().find(is_it).map(|line| String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAILED: &[u8] =
        b"HTTP/1.1 503 No room\r\nTransfer-Encoding: chunked\r\nRetry-After: 1\r\n\r\n4\r\nfull\r\n3\r\n up\r\n0\r\n\r\n";

    fn shown(gathered: FailedResponseBuffer) -> Option<FailedResponse> {
        gathered.response().map(|response| response.shown(0.0, &Secrets::default()))
    }

    fn gathered(pieces: &[&[u8]]) -> Option<FailedResponse> {
        let mut gathered = FailedResponseBuffer::default();
        for (at, piece) in pieces.iter().enumerate() {
            match at + 1 == pieces.len() {
                false => gathered.piece(piece, at == 0),
                true => gathered.last_piece(piece, at == 0),
            }
        }
        shown(gathered)
    }

    #[test]
    fn a_failed_response_is_the_same_in_whatever_pieces_it_came() {
        let whole = gathered(&[FAILED]).unwrap();
        assert_eq!((whole.status, whole.status_line.as_str()), (503, "HTTP/1.1 503 No room"));
        assert_eq!((whole.content.as_str(), whole.complete), ("full up", true));
        assert_eq!(whole.fields[1].name, "Retry-After");
        for cut in 1..FAILED.len() {
            let (one, other) = FAILED.split_at(cut);
            assert_eq!(gathered(&[one, other]).as_ref(), Some(&whole), "cut at {cut}");
        }
        let early = [b"HTTP/1.1 103 Early Hints\r\n\r\n", FAILED].concat();
        assert_eq!(gathered(&[&early[..40], &early[40..]]), Some(whole));
    }

    #[test]
    fn responses_that_did_not_fail_take_no_room() {
        let mut gathered = FailedResponseBuffer::default();
        gathered.piece(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", true);
        gathered.piece(&[b'x'; 50_000], false);
        assert_eq!(gathered.raw.capacity(), 0);
        // What came before on this connection does not mix with it.
        gathered.piece(b"HTTP/1.1 500 Oh\r\nContent-Length: 9\r\n\r\n", true);
        gathered.piece(b"HTTP/1.1 404 Nothing\r\nContent-Length: 2\r\n\r\n", true);
        gathered.last_piece(b"no", false);
        let kept = shown(gathered).unwrap();
        assert_eq!((kept.status, kept.content.as_str()), (404, "no"));
    }

    #[test]
    fn compressed_content_is_shown_decoded_and_a_part_of_it_not_at_all() {
        use std::io::Write;
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(b"too many connections").unwrap();
        let content = encoder.finish().unwrap();
        let head = format!("HTTP/1.1 500 X\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", content.len());
        let kept = gathered(&[head.as_bytes(), &content]).unwrap();
        assert_eq!((kept.content.as_str(), kept.complete), ("too many connections", true));
        let kept = gathered(&[head.as_bytes(), &content[..content.len() / 2]]).unwrap();
        assert_eq!((kept.content.as_str(), kept.complete), ("", false));
        let large = [b"HTTP/1.1 500 X\r\nContent-Length: 99999\r\n\r\n", &[b'x'; 99_999][..]].concat();
        let kept = gathered(&[&large]).unwrap();
        assert_eq!((kept.content.len(), kept.complete), (1024, false));
    }
}
