//! Decoding of responses on the client's side: lenient, as long as the end of the message is certain.

use crate::WireError;
use crate::body::{BodyReader, Framing};
use crate::controls;
use crate::fields::Fields;
use std::mem::MaybeUninit;

/// The limit of a response's head in bytes.
pub const MAX_HEAD: usize = 64 * 1024;
/// The limit of the number of header fields of a response.
const MAX_HEADERS: usize = 256;

/// A complete response, whose body was counted and not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// The status code: 101, or 200 and above, since other interim responses are skipped.
    pub status: u16,
    /// Whether the connection can carry another request (RFC 9112, section 9.3).
    pub keep_alive: bool,
    /// The length of the content in bytes, without chunked framing.
    pub body: u64,
}

/// A receiver of the parts of responses, for callers that need more than counts.
pub trait Observer {
    /// Whether [`Observer::head`] has to be called for every head; otherwise a head that equals the one before may be
    /// skipped.
    const SEES_HEADS: bool = true;

    /// Receives the minor version (`1` for HTTP/1.1) and the reason phrase of a response, before its header section.
    #[inline]
    fn status_line(&mut self, _minor: u8, _reason: &str) {}

    /// Receives status code and header fields of a response, also of an interim one (1xx).
    #[inline]
    fn head(&mut self, _status: u16, _fields: &[httparse::Header<'_>]) {}

    /// Receives a piece of the content, without chunked framing.
    #[inline]
    fn body(&mut self, _piece: &[u8]) {}
}

/// Ignores all parts at no cost.
impl Observer for () {
    const SEES_HEADS: bool = false;
}

/// An observer that ignores every head and disables the cache.
struct Uncached;

impl Observer for Uncached {}

/// A cache of the last parsed head.
///
/// Servers mostly repeat the head of the response before, and a comparison takes a tenth of the time of parsing. One cache
/// serves all connections of a thread.
#[derive(Debug, Default)]
pub struct HeadCache {
    bytes: Vec<u8>,
    to_head: bool,
    head: Option<Head>,
    /// The number of misses since the last hit.
    misses: u32,
}

/// The limit of a cached head in bytes, above which a comparison gains little.
const MAX_CACHED: usize = 1024;
/// The number of misses in a row after which only every 32nd head is cached, so that a server whose heads all differ costs
/// few copies.
const SPARSE_AFTER: u32 = 32;

impl HeadCache {
    /// Returns the cached head if `input` begins with its bytes.
    #[inline]
    fn lookup(&self, input: &[u8], to_head: bool) -> Option<Head> {
        let same = self.to_head == to_head && input.get(..self.bytes.len()) == Some(&self.bytes);
        self.head.filter(|_| same)
    }

    /// Returns the bytes of the cached head: one of the latest responses, though not of a certain connection.
    pub fn head(&self) -> Option<&[u8]> {
        self.head.map(|_| self.bytes.as_slice())
    }

    #[inline]
    fn store(&mut self, input: &[u8], to_head: bool, head: Head) {
        self.misses = self.misses.wrapping_add(1);
        if head.len <= MAX_CACHED && (self.misses < SPARSE_AFTER || self.misses.is_multiple_of(SPARSE_AFTER)) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&input[..head.len]);
            (self.to_head, self.head) = (to_head, Some(head));
        }
    }
}

/// The properties of a response that its head determines.
#[derive(Debug, Clone, Copy)]
struct Head {
    len: usize,
    status: u16,
    keep_alive: bool,
    framing: Framing,
}

/// A decoder of the responses of one connection, which arrive one after another and in pieces of any size.
#[derive(Debug, Default)]
pub struct ResponseReader {
    /// The incomplete response; `None`, and so no memory beyond this pointer, while each response arrives in one piece.
    unfinished: Option<Box<Unfinished>>,
}

/// A response that has arrived in part.
#[derive(Debug)]
enum Unfinished {
    /// Part of the head.
    Head(Vec<u8>),
    /// The head, and the body so far.
    Body(Response, BodyReader),
}

/// The result of appending a piece to an incomplete head.
enum Completed {
    /// The head is complete; with the number of bytes consumed of the last piece.
    Head(Head, usize),
    /// The head is still incomplete.
    Partial(Vec<u8>),
    /// The bytes were a blank line before a response; with the number of bytes consumed of the last piece.
    Blank(usize),
}

impl ResponseReader {
    /// Returns whether a response is incomplete, so that the end of the connection would truncate it.
    pub fn is_mid_response(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Discards the incomplete response, for use on another connection.
    pub fn reset(&mut self) {
        self.unfinished = None;
    }

    /// Decodes `input` up to the end of one response.
    ///
    /// Returns the number of bytes consumed, and the response if it is complete; otherwise all of `input` was consumed.
    /// `to_head` tells that the request was a HEAD, whose response has no body whatever its fields announce.
    ///
    /// # Errors
    /// Any [`WireError`] of a response, after which the connection cannot be used.
    #[inline]
    pub fn read(&mut self, input: &[u8], to_head: bool) -> Result<(usize, Option<Response>), WireError> {
        self.observe(input, to_head, &mut HeadCache::default(), &mut Uncached)
    }

    /// Decodes as [`ResponseReader::read`] does, passes the parts to `observer`, and looks heads up in `cache` where the
    /// observer allows.
    ///
    /// # Errors
    /// Returns the errors of [`ResponseReader::read`].
    #[inline]
    pub fn observe(
        &mut self,
        input: &[u8],
        to_head: bool,
        cache: &mut HeadCache,
        observer: &mut impl Observer,
    ) -> Result<(usize, Option<Response>), WireError> {
        let mut at = 0;
        let mut current = None;
        match self.unfinished.take().map(|unfinished| *unfinished) {
            None => {}
            Some(Unfinished::Body(response, body)) => current = Some((response, body)),
            Some(Unfinished::Head(partial)) => match complete(partial, input, to_head, observer)? {
                Completed::Head(head, used) => (current, at) = (Some(begin(head)), used),
                Completed::Blank(used) => at = used,
                Completed::Partial(partial) => {
                    self.unfinished = Some(Box::new(Unfinished::Head(partial)));
                    return Ok((input.len(), None));
                }
            },
        }
        loop {
            let (mut response, mut body) = match current.take() {
                Some(current) => current,
                None => {
                    at += blank_lines(&input[at..]);
                    match parse_cached(&input[at..], to_head, cache, observer)? {
                        Some(head) => {
                            at += head.len;
                            begin(head)
                        }
                        None => {
                            if at < input.len() {
                                self.unfinished = Some(Box::new(Unfinished::Head(input[at..].to_vec())));
                            }
                            return Ok((input.len(), None));
                        }
                    }
                }
            };
            at += body.read(&input[at..], |piece| {
                response.body += piece.len() as u64;
                observer.body(piece);
            })?;
            if !body.is_done() {
                self.unfinished = Some(Box::new(Unfinished::Body(response, body)));
                return Ok((at, None));
            }
            if response.status >= 200 || response.status == 101 {
                return Ok((at, Some(response)));
            }
            if at == input.len() {
                return Ok((at, None));
            }
        }
    }

    /// Ends the decoding when the server has ended the connection. Returns the response that the end completes, if any.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if a response is incomplete.
    pub fn end(&mut self) -> Result<Option<Response>, WireError> {
        match self.unfinished.take().map(|unfinished| *unfinished) {
            None => Ok(None),
            Some(Unfinished::Body(response, body)) if body.ends_with_connection() => Ok(Some(response)),
            Some(_) => Err(WireError::Truncated),
        }
    }
}

#[inline]
fn begin(head: Head) -> (Response, BodyReader) {
    let response = Response { status: head.status, keep_alive: head.keep_alive, body: 0 };
    (response, BodyReader::new(head.framing))
}

/// Appends a piece to an incomplete head, and parses the head once the piece holds its end. Without that check a server
/// that sends single bytes would cost a parse for each.
#[cold]
fn complete(
    mut partial: Vec<u8>,
    input: &[u8],
    to_head: bool,
    observer: &mut impl Observer,
) -> Result<Completed, WireError> {
    let before = partial.len();
    let room = (MAX_HEAD + 1).saturating_sub(before).min(input.len());
    partial.extend_from_slice(&input[..room]);
    let blank = blank_lines(&partial);
    if blank > 0 {
        // The incomplete head was only the CR of a blank line.
        return Ok(Completed::Blank(blank - before));
    }
    if !has_blank_line(&partial[before.saturating_sub(3)..]) && partial.len() <= MAX_HEAD {
        return Ok(Completed::Partial(partial));
    }
    Ok(match parse(&partial, to_head, observer)? {
        Some(head) => Completed::Head(head, head.len - before),
        None => Completed::Partial(partial),
    })
}

/// Returns the length of the blank lines at the front, which some servers send between responses.
#[inline]
fn blank_lines(bytes: &[u8]) -> usize {
    let mut len = 0;
    loop {
        len += match bytes[len..] {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return len,
        };
    }
}

fn has_blank_line(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|w| w == b"\n\n") || bytes.windows(3).any(|w| w == b"\n\r\n")
}

/// Parses one head, or finds it in the cache.
#[inline]
fn parse_cached<O: Observer>(
    input: &[u8],
    to_head: bool,
    cache: &mut HeadCache,
    observer: &mut O,
) -> Result<Option<Head>, WireError> {
    if O::SEES_HEADS {
        return parse(input, to_head, observer);
    }
    if let Some(head) = cache.lookup(input, to_head) {
        cache.misses = 0;
        return Ok(Some(head));
    }
    let parsed = parse(input, to_head, observer)?;
    if let Some(head) = parsed {
        cache.store(input, to_head, head);
    }
    Ok(parsed)
}

/// Parses one head; `None` if it is incomplete. Folded fields, spaces before a colon and bare LFs are valid, as RFC 9112
/// allows a user agent.
#[inline]
fn parse(input: &[u8], to_head: bool, observer: &mut impl Observer) -> Result<Option<Head>, WireError> {
    // Bytes beyond the limit are cut off: the result must not depend on how much of them has arrived.
    let input = &input[..input.len().min(MAX_HEAD + 1)];
    match parse_strictly(input, input, to_head, observer) {
        Err(Refused::Syntax(httparse::Error::HeaderValue | httparse::Error::Status)) => {
            parse_with_controls(input, to_head, observer)
        }
        parsed => parsed.or_else(|refused| refused.into_result(input)),
    }
}

/// Parses one head with control characters in its values, which browsers, curl and other load generators accept. Only NUL is an
/// error, as it is for curl. `Observer::head` receives the bytes as they are.
#[cold]
fn parse_with_controls(input: &[u8], to_head: bool, observer: &mut impl Observer) -> Result<Option<Head>, WireError> {
    let replaced = controls::replaced(input);
    parse_strictly(&replaced, input, to_head, observer).or_else(|refused| refused.into_result(input))
}

/// The reason for which a head was refused.
enum Refused {
    Syntax(httparse::Error),
    Other(WireError),
}

impl Refused {
    /// Returns the error, or `None` if a part of the head that is still to come decides which error it is.
    #[cold]
    fn into_result(self, input: &[u8]) -> Result<Option<Head>, WireError> {
        match self {
            Self::Syntax(httparse::Error::TooManyHeaders) => match count_fields(input) {
                Some(found) => Err(WireError::TooManyFields { found, limit: MAX_HEADERS }),
                None if input.len() > MAX_HEAD => Err(WireError::HeadTooLarge),
                None => Ok(None),
            },
            Self::Syntax(error) => Err(syntax(error)),
            Self::Other(error) => Err(error),
        }
    }
}

/// Parses one head from `input`. Values are passed on as they stand in `original`, whose bytes have the same positions.
#[inline]
fn parse_strictly<'b>(
    input: &'b [u8],
    original: &'b [u8],
    to_head: bool,
    observer: &mut impl Observer,
) -> Result<Option<Head>, Refused> {
    let mut headers = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true).allow_spaces_after_header_name_in_responses(true);
    let len = match config.parse_response_with_uninit_headers(&mut response, input, &mut headers) {
        Ok(httparse::Status::Complete(len)) if len <= MAX_HEAD => len,
        Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD => return Ok(None),
        Ok(_) => return Err(Refused::Other(WireError::HeadTooLarge)),
        Err(error) => return Err(Refused::Syntax(error)),
    };
    let invariant = "httparse sets it in every complete response";
    let (status, minor) = (response.code.expect(invariant), response.version.expect(invariant));
    if status < 100 {
        return Err(Refused::Other(WireError::Syntax("invalid status code")));
    }
    if !std::ptr::eq(input, original) {
        controls::restore(response.headers, input, original);
    }
    let fields = Fields::scan(response.headers).map_err(Refused::Other)?;
    observer.status_line(minor, response.reason.unwrap_or_default());
    observer.head(status, response.headers);
    let framing = framing(&fields, status, to_head);
    // Contradictory framing is decoded as RFC 9112, section 6.3 orders, and the connection is not reused.
    let ambiguous = (fields.chunked || fields.other_coding) && (fields.content_length.is_some() || minor == 0);
    let keep_alive = !fields.close
        && (minor >= 1 || fields.keep_alive)
        && framing != Framing::UntilClose
        && status != 101
        && !ambiguous;
    Ok(Some(Head { len, status, keep_alive, framing }))
}

/// Returns the number of field lines of a head; `None` if it has no end. A folded line belongs to the line before it.
fn count_fields(head: &[u8]) -> Option<usize> {
    let mut lines = head[blank_lines(head)..].split_inclusive(|&b| b == b'\n').skip(1);
    let mut found = 0;
    loop {
        match lines.next()? {
            b"\n" | b"\r\n" => return Some(found),
            [b' ' | b'\t', ..] => {}
            line if line.ends_with(b"\n") => found += 1,
            _ => return None,
        }
    }
}

/// Returns the framing of a response's body (RFC 9112, section 6.3).
#[inline]
fn framing(fields: &Fields, status: u16, to_head: bool) -> Framing {
    if to_head || status < 200 || status == 204 || status == 304 {
        Framing::None
    } else if fields.chunked {
        Framing::Chunked
    } else if fields.other_coding {
        Framing::UntilClose
    } else {
        fields.content_length.map_or(Framing::UntilClose, Framing::Length)
    }
}

#[cold]
fn syntax(error: httparse::Error) -> WireError {
    use httparse::Error;
    match error {
        Error::Version => WireError::Syntax("not an HTTP/1.x response"),
        Error::Status => WireError::Syntax("invalid status code"),
        Error::HeaderName => WireError::Syntax("invalid field name"),
        Error::HeaderValue => WireError::Syntax("invalid field value"),
        Error::NewLine => WireError::Syntax("invalid line ending"),
        _ => WireError::Syntax("invalid header section"),
    }
}
