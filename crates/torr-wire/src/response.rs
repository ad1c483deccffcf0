//! Answers, as a client reads them: whatever servers really send, as long as its end is certain.

use crate::WireError;
use crate::body::{BodyReader, Framing};
use crate::fields::Fields;
use std::mem::MaybeUninit;

/// The most bytes of one head that a client reads.
pub const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 256;

/// A complete answer. Its body has been counted, not kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Response {
    /// The status code, 101 or from 200 up: interim answers are passed over.
    pub status: u16,
    /// Whether the connection may carry another request (RFC 9112, section 9.3).
    pub keep_alive: bool,
    /// Bytes of the body's content, without chunk framing.
    pub body: u64,
}

/// Sees what an answer is made of, where counting it is not enough.
pub trait Observer {
    /// Whether it has to see every head, also one that is the same as the last.
    const SEES_HEADS: bool = true;

    /// The head of an answer, an interim one (1xx) too.
    #[inline]
    fn head(&mut self, _status: u16, _fields: &[httparse::Header<'_>]) {}

    /// Some of the body's content, without chunk framing.
    #[inline]
    fn body(&mut self, _piece: &[u8]) {}
}

/// Sees nothing, at no cost.
impl Observer for () {
    const SEES_HEADS: bool = false;
}

/// Sees every head and looks at none, so that none is remembered.
struct Forgetful;

impl Observer for Forgetful {}

/// Remembers the last head that was parsed, since servers mostly send the same one again: to compare it takes a tenth of
/// the time that it takes to parse it. One for all connections of a thread serves best.
#[derive(Debug, Default)]
pub struct HeadCache {
    bytes: Vec<u8>,
    to_head: bool,
    head: Option<Head>,
    /// Heads in a row that were not the same.
    misses: u32,
}

/// The longest head that is remembered.
const MEMORABLE: usize = 1024;
/// After so many heads in a row that were all different, only each so-many-th is remembered.
const VARIED: u32 = 32;

impl HeadCache {
    /// What is known of a head that `input` begins with.
    #[inline]
    fn recall(&self, input: &[u8], to_head: bool) -> Option<Head> {
        let same = self.to_head == to_head && input.get(..self.bytes.len()) == Some(&self.bytes);
        self.head.filter(|_| same)
    }

    #[inline]
    fn remember(&mut self, input: &[u8], to_head: bool, head: Head) {
        self.misses = self.misses.wrapping_add(1);
        if head.len <= MEMORABLE && (self.misses < VARIED || self.misses.is_multiple_of(VARIED)) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&input[..head.len]);
            (self.to_head, self.head) = (to_head, Some(head));
        }
    }
}

/// What a head settles before the body is read.
#[derive(Debug, Clone, Copy)]
struct Head {
    len: usize,
    status: u16,
    keep_alive: bool,
    framing: Framing,
}

/// Reads the answers of one connection, one after another, from bytes that arrive in any pieces.
#[derive(Debug, Default)]
pub struct ResponseReader {
    /// Nothing, and so no memory to touch, for as long as answers arrive whole.
    unfinished: Option<Box<Unfinished>>,
}

/// An answer that has arrived in part.
#[derive(Debug)]
enum Unfinished {
    /// Some of its head.
    Head(Vec<u8>),
    /// All of its head.
    Body(Response, BodyReader),
}

/// What became of a head that came in pieces.
enum Completed {
    /// It is whole, and took so many bytes of the last piece.
    Head(Head, usize),
    /// It is not.
    Not(Vec<u8>),
    /// It was only a blank line.
    Blank(usize),
}

impl ResponseReader {
    /// Whether part of an answer has been read, so that the end of the connection would cut it short.
    pub fn is_mid_response(&self) -> bool {
        self.unfinished.is_some()
    }

    /// Forgets what was read, to begin anew on another connection.
    pub fn reset(&mut self) {
        self.unfinished = None;
    }

    /// Reads from the front of `input`, up to the end of one answer. Returns the bytes taken, and the answer if it is
    /// complete; without one, all of `input` was taken. `to_head` says that the request was a HEAD, whose answer has
    /// no body whatever its fields say.
    ///
    /// # Errors
    /// Each [`WireError`] that an answer can have. The connection is of no more use then.
    #[inline]
    pub fn read(&mut self, input: &[u8], to_head: bool) -> Result<(usize, Option<Response>), WireError> {
        self.observe(input, to_head, &mut HeadCache::default(), &mut Forgetful)
    }

    /// The same, and shows the observer what is read.
    ///
    /// # Errors
    /// As [`ResponseReader::read`].
    #[inline]
    pub fn observe(
        &mut self,
        input: &[u8],
        to_head: bool,
        memory: &mut HeadCache,
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
                Completed::Not(partial) => {
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
                    match parse_unless_known(&input[at..], to_head, memory, observer)? {
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

    /// The server has ended the connection. Gives the answer that this completes, if there is one.
    ///
    /// # Errors
    /// [`WireError::Truncated`] if it cuts an answer short.
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

/// Adds to a head that came in part, and parses it once its end is in sight, so that a server which sends single bytes
/// costs no more than its bytes.
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
        // All that had come was the CR of a blank line.
        return Ok(Completed::Blank(blank - before));
    }
    if !has_blank_line(&partial[before.saturating_sub(3)..]) && partial.len() <= MAX_HEAD {
        return Ok(Completed::Not(partial));
    }
    Ok(match parse(&partial, to_head, observer)? {
        Some(head) => Completed::Head(head, head.len - before),
        None => Completed::Not(partial),
    })
}

/// The length of the blank lines before an answer, which some servers send and which are no part of it.
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

/// Parses one head, unless it is the last one again.
#[inline]
fn parse_unless_known<O: Observer>(
    input: &[u8],
    to_head: bool,
    memory: &mut HeadCache,
    observer: &mut O,
) -> Result<Option<Head>, WireError> {
    if O::SEES_HEADS {
        return parse(input, to_head, observer);
    }
    if let Some(head) = memory.recall(input, to_head) {
        memory.misses = 0;
        return Ok(Some(head));
    }
    let parsed = parse(input, to_head, observer)?;
    if let Some(head) = parsed {
        memory.remember(input, to_head, head);
    }
    Ok(parsed)
}

/// Parses one head. Folded fields, spaces before a colon and bare LFs are taken, as RFC 9112 allows a user agent.
#[inline]
fn parse(input: &[u8], to_head: bool, observer: &mut impl Observer) -> Result<Option<Head>, WireError> {
    // What lies beyond the limit may not have come yet, and must not change the answer.
    let input = &input[..input.len().min(MAX_HEAD + 1)];
    let mut slots = [const { MaybeUninit::uninit() }; MAX_HEADERS];
    let mut response = httparse::Response::new(&mut []);
    let mut config = httparse::ParserConfig::default();
    config.allow_obsolete_multiline_headers_in_responses(true).allow_spaces_after_header_name_in_responses(true);
    let len = match config.parse_response_with_uninit_headers(&mut response, input, &mut slots) {
        Ok(httparse::Status::Complete(len)) if len <= MAX_HEAD => len,
        Ok(httparse::Status::Partial) if input.len() <= MAX_HEAD => return Ok(None),
        Ok(_) => return Err(WireError::HeadTooLarge),
        Err(error) => return Err(syntax(error)),
    };
    let invariant = "httparse sets it in every complete response";
    let (status, minor) = (response.code.expect(invariant), response.version.expect(invariant));
    if status < 100 {
        return Err(WireError::Syntax("the status code"));
    }
    let fields = Fields::scan(response.headers)?;
    observer.head(status, response.headers);
    let framing = framing(&fields, status, to_head);
    // Framing that contradicts itself is read as RFC 9112, section 6.3 orders, and the connection not trusted again.
    let doubtful = (fields.chunked || fields.other_coding) && (fields.content_length.is_some() || minor == 0);
    let keep_alive = !fields.close
        && (minor >= 1 || fields.keep_alive)
        && framing != Framing::UntilClose
        && status != 101
        && !doubtful;
    Ok(Some(Head { len, status, keep_alive, framing }))
}

/// RFC 9112, section 6.3.
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
        Error::TooManyHeaders => WireError::TooManyHeaders,
        Error::Version => WireError::Syntax("not an HTTP/1.x answer"),
        Error::Status => WireError::Syntax("the status code"),
        Error::HeaderName => WireError::Syntax("a header name"),
        Error::HeaderValue => WireError::Syntax("a header value"),
        Error::NewLine => WireError::Syntax("the end of a line"),
        _ => WireError::Syntax("the head"),
    }
}
