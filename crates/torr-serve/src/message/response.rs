//! A response, as a handler makes it.

use super::file_part::FilePart;
use crate::callbacks;
use crate::message::stream::{BodyFailed, Framing, Stream};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use hyper::ext::ReasonPhrase;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The size in bytes up to which content is sent together with its header section.
pub(crate) const SMALL: usize = 64 * 1024;

/// A response. The server adds `Content-Length`, `Server`, `Date` and, where needed, `Connection`.
#[derive(Debug)]
pub struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Fields,
    pub(crate) body: Body,
    /// Whether the connection ends after this response.
    pub(crate) closes: bool,
    /// Whether the fields have a `Date`.
    pub(crate) dated: bool,
    /// Whether the fields have a `Server`.
    pub(crate) named: bool,
    /// The reason phrase of a router's response that has one of its own.
    pub(crate) reason: Option<Box<ReasonPhrase>>,
}

/// Header fields: a few that a handler has added, or those of a router's response.
#[derive(Debug)]
pub(crate) enum Fields {
    List(Vec<(HeaderName, HeaderValue)>),
    Map(HeaderMap),
}

impl Default for Fields {
    fn default() -> Self {
        Self::List(Vec::new())
    }
}

impl Fields {
    fn push(&mut self, name: HeaderName, value: HeaderValue) {
        match self {
            Self::List(fields) => fields.push((name, value)),
            Self::Map(fields) => drop(fields.append(name, value)),
        }
    }

    fn remove_content_type(&mut self) {
        match self {
            Self::List(fields) => fields.retain(|(name, _)| name != CONTENT_TYPE),
            Self::Map(fields) => drop(fields.remove(CONTENT_TYPE)),
        }
    }

    /// Calls `see` with each field. Fields of one name keep their order.
    #[inline]
    pub fn each(&self, mut see: impl FnMut(&HeaderName, &HeaderValue)) {
        match self {
            Self::List(fields) => fields.iter().for_each(|(name, value)| see(name, value)),
            Self::Map(fields) => fields.iter().for_each(|(name, value)| see(name, value)),
        }
    }

    pub fn has(&self, name: &HeaderName) -> bool {
        match self {
            Self::List(fields) => fields.iter().any(|(known, _)| known == name),
            Self::Map(fields) => fields.contains_key(name),
        }
    }
}

/// The content of a response.
pub enum Body {
    /// No content.
    Empty,
    /// Static bytes, without an allocation.
    Static(&'static [u8]),
    /// Bytes in memory.
    Bytes(Bytes),
    /// Pieces of a known total length, each made once the client has received those before.
    Pieces(Pieces),
    /// A part of a file.
    File(FilePart),
    /// A stream of frames, polled once the client has received those before.
    Stream(Box<Stream>),
}

/// The pieces of a body of known length.
pub struct Pieces {
    pub(crate) length: u64,
    pub(crate) next: Box<dyn Iterator<Item = Bytes> + Send>,
}

impl Drop for Pieces {
    fn drop(&mut self) {
        // An iterator without items takes no memory.
        callbacks::dispose("the iterator of a body", std::mem::replace(&mut self.next, Box::new(std::iter::empty())));
    }
}

impl From<FilePart> for Pieces {
    fn from(mut part: FilePart) -> Self {
        let length = part.length();
        let next = move || {
            let mut piece = Vec::new();
            // A file that has become shorter ends the response early, and with it the connection.
            part.read(&mut piece, SMALL).ok().filter(|()| !piece.is_empty()).map(|()| Bytes::from(piece))
        };
        Self { length, next: Box::new(std::iter::from_fn(next)) }
    }
}

impl Pieces {
    /// Returns the next piece, cut to the announced length; an error if the handler makes less than it announced.
    pub(crate) fn take(&mut self) -> Option<Result<Bytes, BodyFailed>> {
        if self.length == 0 {
            return None;
        }
        // Only the handler's own state can be inconsistent after a panic.
        let next = catch_unwind(AssertUnwindSafe(|| self.next.next()));
        let Ok(Some(mut piece)) = next else { return Some(Err(BodyFailed)) };
        piece.truncate(usize::try_from(self.length).unwrap_or(usize::MAX));
        self.length -= piece.len() as u64;
        Some(Ok(piece))
    }
}

impl Body {
    /// Returns the number of bytes that are sent together with the header section.
    pub(crate) fn at_once(&self) -> u64 {
        match self {
            Self::Static(bytes) if bytes.len() <= SMALL => bytes.len() as u64,
            Self::Bytes(bytes) if bytes.len() <= SMALL => bytes.len() as u64,
            _ => 0,
        }
    }

    pub(crate) fn framing(&self) -> Framing {
        match self {
            Self::Empty => Framing::Length(0),
            Self::Static(bytes) => Framing::Length(bytes.len() as u64),
            Self::Bytes(bytes) => Framing::Length(bytes.len() as u64),
            Self::Pieces(pieces) => Framing::Length(pieces.length),
            Self::File(part) => Framing::Length(part.length()),
            Self::Stream(stream) => stream.framing(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({:?})", self.framing())
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::Static(text.as_bytes())
    }
}

impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Self::Static(bytes)
    }
}

impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::Bytes(text.into())
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Bytes(bytes.into())
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Bytes(bytes)
    }
}

impl Response {
    /// Returns a response without content and content type.
    ///
    /// # Panics
    /// If the status is not 200 to 999: the server sends interim responses itself.
    pub fn new(status: u16) -> Self {
        assert!((200..1000).contains(&status), "{status} is not a final status");
        Self {
            status,
            content_type: "",
            headers: Fields::default(),
            body: Body::Empty,
            closes: false,
            dated: false,
            named: false,
            reason: None,
        }
    }

    /// Returns a response of status 200 with this content type. A type that is not valid in a header field, such as one with a line
    /// end, is sent as `application/octet-stream`, so that it cannot inject fields.
    pub fn ok(content_type: &'static str, body: impl Into<Body>) -> Self {
        let is_sound = content_type.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        Self::known(if is_sound { content_type } else { "application/octet-stream" }, body)
    }

    /// Returns a response of status 200 with a content type that is known to be valid.
    fn known(content_type: &'static str, body: impl Into<Body>) -> Self {
        Self { content_type, body: body.into(), ..Self::new(200) }
    }

    /// Returns a response of status 200 with content type `text/html`.
    pub fn html(body: impl Into<Body>) -> Self {
        Self::known("text/html", body)
    }

    /// Returns a response of status 200 with content type `text/plain`.
    pub fn text(body: impl Into<Body>) -> Self {
        Self::known("text/plain", body)
    }

    /// Returns a response of status 200 with content type `application/json`, of serialised JSON.
    pub fn json(body: impl Into<Body>) -> Self {
        Self::known("application/json", body)
    }

    /// Returns an error with this status, explained in one line of plain text.
    ///
    /// # Panics
    /// Panics where [`Response::new`] does.
    pub fn error(status: u16, why: impl Into<Body>) -> Self {
        Self { content_type: "text/plain", body: why.into(), ..Self::new(status) }
    }

    /// Returns a response of status 200 with exactly `length` bytes in pieces. If the iterator yields fewer, the connection is
    /// closed, since the client would wait for ever; if it yields more, the rest is cut off.
    pub fn pieces(
        content_type: &'static str,
        length: u64,
        pieces: impl Iterator<Item = Bytes> + Send + 'static,
    ) -> Self {
        // Large pieces are sent in parts.
        let part = |mut piece: Bytes| {
            std::iter::from_fn(move || (!piece.is_empty()).then(|| piece.split_to(piece.len().min(SMALL))))
        };
        Self::ok(content_type, Body::Pieces(Pieces { length, next: Box::new(pieces.flat_map(part)) }))
    }

    /// Returns a response of status 200 with a body of frames, such as one of the `http-body-util` crate: sent with its length if
    /// that is known, otherwise in chunks.
    pub fn stream(content_type: &'static str, body: impl http_body::Body + Send + 'static) -> Self {
        Self::ok(content_type, Stream::new(body, None))
    }

    /// Replaces the status: `Response::json(body).status(201)`.
    ///
    /// # Panics
    /// Panics where [`Response::new`] does.
    pub fn status(self, status: u16) -> Self {
        assert!((200..1000).contains(&status), "{status} is not a final status");
        Self { status, ..self }
    }

    /// Ends the connection after this response.
    pub fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// Adds a header field; `Content-Type` replaces the present one.
    ///
    /// # Panics
    /// For a field that the server adds: `Content-Length`, `Transfer-Encoding`, `Connection`, `Server`, `Date`.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        use http::header::{CONNECTION, CONTENT_LENGTH, DATE, SERVER, TRANSFER_ENCODING};
        let own = [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, SERVER, DATE];
        assert!(!own.contains(&name), "{name} is set by the server itself");
        if name == CONTENT_TYPE {
            self.content_type = "";
            self.headers.remove_content_type();
        }
        self.headers.push(name, value);
        self
    }
}

impl From<Stream> for Body {
    fn from(stream: Stream) -> Self {
        Self::Stream(Box::new(stream))
    }
}

impl<B: Into<Body>> From<B> for Response {
    fn from(body: B) -> Self {
        Self::text(body)
    }
}
