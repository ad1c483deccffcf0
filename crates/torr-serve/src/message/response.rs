//! An answer, as a handler makes it.

use crate::callbacks;
use crate::message::stream::{BodyFailed, Framing, Stream};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Bodies up to this size are sent together with their head.
pub(crate) const SMALL: usize = 64 * 1024;

/// One answer. The server adds `Content-Length`, `Server`, `Date` and, where needed, `Connection` by itself.
#[derive(Debug)]
pub struct Response {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) headers: Fields,
    pub(crate) body: Body,
    /// The connection ends with this answer.
    pub(crate) closes: bool,
    /// It has a `Date` of its own.
    pub(crate) dated: bool,
    /// It has a `Server` of its own.
    pub(crate) named: bool,
}

/// Header fields: a few that a handler has added, or those of a router's answer as they came.
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

    /// Shows each, in an order that keeps those of one name in theirs.
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

/// The content of an answer.
pub enum Body {
    /// None.
    Empty,
    /// Bytes that live as long as the program: nothing is allocated.
    Static(&'static [u8]),
    /// Bytes in memory.
    Bytes(Bytes),
    /// So many bytes in pieces, each made only when the client has taken those before.
    Pieces(Pieces),
    /// Frames that may have to be waited for.
    Stream(Box<Stream>),
}

/// The pieces of a body whose whole length is known.
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

impl Pieces {
    /// The next one, cut to what may still come; a failure if the handler gives less than it announced.
    pub(crate) fn take(&mut self) -> Option<Result<Bytes, BodyFailed>> {
        if self.length == 0 {
            return None;
        }
        // A panic is the handler's failure; what it leaves behind is the handler's own state only.
        let next = catch_unwind(AssertUnwindSafe(|| self.next.next()));
        let Ok(Some(mut piece)) = next else { return Some(Err(BodyFailed)) };
        piece.truncate(usize::try_from(self.length).unwrap_or(usize::MAX));
        self.length -= piece.len() as u64;
        Some(Ok(piece))
    }
}

impl Body {
    /// Bytes that are sent together with the head.
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
    /// An answer without body or content type.
    ///
    /// # Panics
    /// If the status is not 200 to 999: interim answers are the server's business.
    pub fn new(status: u16) -> Self {
        assert!((200..1000).contains(&status), "{status} is no final status");
        Self {
            status,
            content_type: "",
            headers: Fields::default(),
            body: Body::Empty,
            closes: false,
            dated: false,
            named: false,
        }
    }

    /// Status 200 and a body of this content type. A type that no header field can hold, one with a line end for example, is
    /// sent as `application/octet-stream`: whatever it is made of, it adds no field and no response.
    pub fn ok(content_type: &'static str, body: impl Into<Body>) -> Self {
        let is_sound = content_type.bytes().all(|byte| byte == b'\t' || (b' '..=b'~').contains(&byte));
        Self::known(if is_sound { content_type } else { "application/octet-stream" }, body)
    }

    /// Status 200 and a body of a content type that is known to be sound.
    fn known(content_type: &'static str, body: impl Into<Body>) -> Self {
        Self { content_type, body: body.into(), ..Self::new(200) }
    }

    /// `text/html`.
    pub fn html(body: impl Into<Body>) -> Self {
        Self::known("text/html", body)
    }

    /// `text/plain`.
    pub fn text(body: impl Into<Body>) -> Self {
        Self::known("text/plain", body)
    }

    /// `application/json`, of a text that is JSON already.
    pub fn json(body: impl Into<Body>) -> Self {
        Self::known("application/json", body)
    }

    /// A failure explained in one line of plain text.
    ///
    /// # Panics
    /// As [`Response::new`].
    pub fn error(status: u16, why: impl Into<Body>) -> Self {
        Self { content_type: "text/plain", body: why.into(), ..Self::new(status) }
    }

    /// A body of exactly `length` bytes, in pieces: should the iterator give fewer, the connection is closed, since the
    /// client would wait for ever; what is more is cut off.
    pub fn pieces(
        content_type: &'static str,
        length: u64,
        pieces: impl Iterator<Item = Bytes> + Send + 'static,
    ) -> Self {
        // Large ones go in parts, as the client takes them.
        let part = |mut piece: Bytes| {
            std::iter::from_fn(move || (!piece.is_empty()).then(|| piece.split_to(piece.len().min(SMALL))))
        };
        Self::ok(content_type, Body::Pieces(Pieces { length, next: Box::new(pieces.flat_map(part)) }))
    }

    /// A body whose frames may have to be waited for, such as one of the `http-body-util` crate: sent with its length if
    /// that is known, else in chunks.
    pub fn stream(content_type: &'static str, body: impl http_body::Body + Send + 'static) -> Self {
        Self::ok(content_type, Stream::new(body, None))
    }

    /// The same with another status: `Response::json(body).status(201)`.
    ///
    /// # Panics
    /// As [`Response::new`].
    pub fn status(self, status: u16) -> Self {
        assert!((200..1000).contains(&status), "{status} is no final status");
        Self { status, ..self }
    }

    /// Ends the connection after this answer.
    pub fn closing(self) -> Self {
        Self { closes: true, ..self }
    }

    /// Adds a header field. `Content-Type` replaces the one that there is.
    ///
    /// # Panics
    /// On a field that the server adds by itself: `Content-Length`, `Transfer-Encoding`, `Connection`, `Server`, `Date`.
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        use http::header::{CONNECTION, CONTENT_LENGTH, DATE, SERVER, TRANSFER_ENCODING};
        let own = [CONTENT_LENGTH, TRANSFER_ENCODING, CONNECTION, SERVER, DATE];
        assert!(!own.contains(&name), "the server itself sets {name}");
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
