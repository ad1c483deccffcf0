//! The writing of requests by one thread: the hot path.

use super::choice::Choice;
use super::draw::Draw;
use super::entry::{Entry, expects_content};
use super::numbers::Block;
use super::outgoing::{RequestInfo, RequestParts};
use super::request_set::RequestSet;
use super::sent_content::SentContent;
use super::signer::Signer;
use super::template::Template;
use fastrand::Rng;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, HeaderName, HeaderValue, UPGRADE};
use http::uri::{Authority, PathAndQuery};
use http::{Request, Uri};

/// The position of one thread in the requests of a run.
#[derive(Debug)]
pub struct Cursor<'r> {
    /// The bytes of the only request, where there is one without placeholders.
    constant: Option<(&'r [u8], RequestInfo)>,
    entries: &'r [Entry],
    /// A reference of its own: beside the choice lie numbers that other threads write to.
    choice: Option<&'r Choice>,
    draw: Draw<'r>,
    turns: Block<'r>,
    scratch: Vec<u8>,
    is_constant: bool,
    signer: Option<Signer<'r>>,
    /// Whether large content is left to [`Cursor::take_content`].
    content_apart: bool,
    /// The large content of the request that was written last.
    content: Option<SentContent>,
}

impl<'r> Cursor<'r> {
    pub(super) fn new(shared: &'r RequestSet, thread: usize, threads: usize) -> Self {
        // Through another generator, since seeds that are near each other begin alike.
        let seed = Rng::with_seed(shared.seed.wrapping_add(thread as u64)).u64(..);
        let begun = RequestInfo { is_head: shared.entries[0].is_head, ..RequestInfo::default() };
        Self {
            constant: shared.constant.as_ref().map(|bytes| (bytes.as_slice(), begun)),
            entries: &shared.entries,
            choice: shared.choice.as_ref(),
            draw: Draw {
                rng: Rng::with_seed(seed),
                columns: &shared.columns,
                records: shared.records,
                record_order: shared.record_order,
                numbers: shared.numbers.block(threads),
                record_numbers: shared.record_numbers.block(threads),
                number: 0,
                record: 0,
            },
            turns: shared.turns.block(threads),
            scratch: Vec::new(),
            is_constant: shared.is_constant(),
            signer: shared.signing.as_ref().map(|signing| Signer::new(signing, shared.is_same)),
            content_apart: false,
            content: None,
        }
    }

    /// Returns the cursor with large content left out of what [`Cursor::write`] appends, for [`Cursor::take_content`].
    #[must_use]
    pub(crate) fn with_content_apart(self) -> Self {
        Self { content_apart: true, ..self }
    }

    /// Takes the content that the latest request has behind the bytes appended, whose large pieces all requests share.
    #[inline]
    pub(crate) fn take_content(&mut self) -> Option<SentContent> {
        self.content.take()
    }

    /// Appends the next request in HTTP/1.1.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>) -> RequestInfo {
        if let Some((bytes, begun)) = self.constant {
            out.extend_from_slice(bytes);
            return begun;
        }
        self.write_varying(out)
    }

    fn write_varying(&mut self, out: &mut Vec<u8>) -> RequestInfo {
        if let Some(begun) = self.signer.as_ref().and_then(|signer| signer.write_again(out)) {
            return begun;
        }
        let ((entry, begun), start) = (self.next(), out.len());
        self.content = entry.write(&mut self.draw, &mut self.scratch, out, self.content_apart);
        if let Some(signer) = &mut self.signer {
            signer.sign(out, start, self.content.as_ref(), begun);
        }
        begun
    }

    /// Whether all requests have the same bytes.
    #[inline]
    pub fn is_constant(&self) -> bool {
        self.is_constant
    }

    /// Returns the next request in parts.
    pub fn parts(&mut self) -> RequestParts {
        let (entry, begun) = self.next();
        self.draw.begin(entry.needs);
        let draw = &mut self.draw;
        let written = |template: &Template, draw: &mut Draw<'_>| {
            let mut out = Vec::new();
            template.write(draw, &mut out);
            out
        };
        let path = PathAndQuery::try_from(written(&entry.path, draw)).expect("it was checked with every value encoded");
        let own = Authority::try_from(&*entry.authority).expect("it was a URL's");
        let own_host = entry.host.as_ref().map(|host| written(host, draw));
        let authority = own_host.and_then(|host| Authority::try_from(host).ok()).unwrap_or(own);
        let uri = Uri::builder().scheme(&*entry.scheme).authority(authority).path_and_query(path);
        let mut head = Request::new(());
        *head.method_mut() = entry.method.clone();
        *head.uri_mut() = uri.build().expect("all its parts are there");
        for (name, value) in entry.fields.iter() {
            let name = HeaderName::from_bytes(name.as_bytes()).expect("it was checked");
            let value = HeaderValue::from_bytes(&written(value, draw)).expect("every value was checked");
            if !belongs_to_http1(&name) {
                head.headers_mut().append(name, value);
            }
        }
        let body = entry.body.as_ref().map(|body| body.sent(draw));
        let has_length = entry.body.as_ref().is_none_or(|body| body.encoder.is_none());
        let length = body.as_ref().map(SentContent::len).or_else(|| expects_content(&entry.method).then_some(0));
        if let Some(length) = length.filter(|_| has_length) {
            head.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(length));
        }
        if let Some(signer) = &self.signer {
            signer.sign_parts(&mut head, body.as_ref());
        }
        RequestParts { head, body, begun }
    }

    #[inline]
    fn next(&mut self) -> (&'r Entry, RequestInfo) {
        let entries = self.entries;
        let at = match self.choice {
            None => 0,
            Some(choice) => choice.next(&mut self.draw.rng, &mut self.turns),
        };
        let entry = &entries[at];
        (entry, RequestInfo { is_head: entry.is_head, url: at as u32, ..RequestInfo::default() })
    }
}

/// Whether a field is specific to an HTTP/1.1 connection (RFC 9113, section 8.2.2).
fn belongs_to_http1(name: &HeaderName) -> bool {
    [CONNECTION, HOST, UPGRADE].contains(name) || ["keep-alive", "proxy-connection"].contains(&name.as_str())
}
