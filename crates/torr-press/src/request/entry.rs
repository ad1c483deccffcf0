//! The request of one URL: its parts, and its bytes in HTTP/1.1.

use super::RequestError;
use super::body::{self, Composed};
use super::column::Column;
use super::draw::{Draw, Needs, decimal};
use super::encoder::Encoder;
use super::escape::{Escape, ascii, uri};
use super::fields::{self, Field, HostField};
use super::options::Options;
use super::sent_content::SentContent;
use super::template::{Parser, Template, TemplatePart};
use super::urls::Url;
use crate::servers::target::Target;
use crate::servers::url_parts::{find_outside, without_fragment};
use bytes::Bytes;
use http::Method;
use std::sync::Arc;

/// The longest URL that HTTP/2's library takes, less what a host can have.
const LONGEST_PATH: usize = 65_000;
/// Content of at least this size in bytes is not copied for each request, but sent from the memory that all share.
pub const LEAST_SHARED: usize = 64 * 1024;
/// The least size in bytes of a text between placeholders that is sent from shared memory, where there are [`LEAST_SHARED`] bytes
/// of such texts: one system call sends some pieces only.
const LEAST_PIECE: usize = 16 * 1024;
/// A longer body is kept apart from the head, so that URLs can share it.
const LONGEST_IN_ONE: usize = 4096;

/// The request of one URL.
#[derive(Debug)]
pub(super) struct Entry {
    pub method: Method,
    pub is_head: bool,
    pub scheme: String,
    /// Host and port as the URL has them.
    pub authority: String,
    /// The user's `Host` field, if there is one.
    pub host: Option<Template>,
    pub path: Template,
    pub fields: Arc<[Field]>,
    pub body: Option<Arc<Content>>,
    pub needs: Needs,
    pub longest: usize,
    /// The header section in HTTP/1.1 up to what depends on the content, and what follows.
    head: Template,
    tail: Tail,
}

/// A body, which several URLs may share.
#[derive(Debug)]
pub(super) struct Content {
    pub template: Template,
    /// The content, if it has no placeholders.
    pub bytes: Option<Bytes>,
    /// What makes the content of `template`, if that is not sent as it is.
    pub encoder: Option<Encoder>,
    /// The content in parts, if it has placeholders and large texts between them; `template` is empty then.
    parts: Vec<TemplatePart>,
}

/// The part of a request that depends on its content.
#[derive(Debug)]
enum Tail {
    /// The head is the whole request.
    Nothing,
    /// Content whose length the header section has.
    Fixed(Bytes),
    /// A body whose length is known when it is written.
    Varying(Arc<Content>),
    /// Such a body with large texts between its placeholders.
    InParts(Arc<Content>),
    /// Content that an encoder makes.
    Encoded(Arc<Content>),
}

impl From<Template> for Content {
    fn from(template: Template) -> Self {
        match template.constant().map(Bytes::copy_from_slice) {
            Some(bytes) => Self { template: Template::default(), bytes: Some(bytes), encoder: None, parts: Vec::new() },
            None => {
                let large = template.literals().map(<[u8]>::len).filter(|len| *len >= LEAST_PIECE).sum::<usize>();
                let (template, parts) = match large >= LEAST_SHARED {
                    true => (Template::default(), template.into_parts(LEAST_PIECE)),
                    false => (template, Vec::new()),
                };
                Self { template, bytes: None, encoder: None, parts }
            }
        }
    }
}

impl Content {
    /// Returns content that an encoder makes of a text.
    ///
    /// # Errors
    /// If it can make none: of the text, or with the fields of a record, or with a value that is drawn.
    fn encoded(template: Template, encoder: Encoder, columns: &[Column]) -> Result<Self, RequestError> {
        let mut bytes = None;
        if let Some(text) = template.constant() {
            bytes = Some(encoder.encode(text).map_err(RequestError::Content)?.into());
        } else {
            let needs_records = template.needs().record;
            let records = if needs_records { columns.first().map_or(0, Column::len) } else { 1 };
            for (record, is_largest) in (0..records).flat_map(|record| [(record, false), (record, true)]) {
                encoder.encode(&template.extreme(columns, record, is_largest)).map_err(|why| match needs_records {
                    true => RequestError::ContentOfRecord { record: record + 1, why },
                    false => RequestError::Content(why),
                })?;
            }
        }
        Ok(Self { template, bytes, encoder: Some(encoder), parts: Vec::new() })
    }

    /// Returns what all requests need that have this content.
    fn needs(&self) -> Needs {
        let mut needs = self.template.needs();
        self.templates().for_each(|template| needs += template.needs());
        needs
    }

    /// Returns the largest size of content with placeholders, in bytes.
    fn longest(&self, columns: &[Column]) -> usize {
        let part = |part: &TemplatePart| match part {
            TemplatePart::Large(bytes) => bytes.len(),
            TemplatePart::Other(template) => template.longest(columns),
        };
        self.template.longest(columns) + self.parts.iter().map(part).sum::<usize>()
    }

    /// Appends content with placeholders as [`Template::write_marked`] does.
    fn write_marked(&self, marks: [&str; 2], out: &mut Vec<u8>) {
        self.template.write_marked(marks, out);
        for part in &self.parts {
            match part {
                TemplatePart::Large(bytes) => out.extend_from_slice(bytes),
                TemplatePart::Other(template) => template.write_marked(marks, out),
            }
        }
    }

    fn templates(&self) -> impl Iterator<Item = &Template> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Large(_) => None,
            TemplatePart::Other(template) => Some(template),
        })
    }

    /// Returns the content of the request that is being written.
    pub fn sent(&self, draw: &mut Draw<'_>) -> SentContent {
        let written = |template: &Template, draw: &mut Draw<'_>| {
            let mut out = Vec::new();
            template.write(draw, &mut out);
            Bytes::from(out)
        };
        match (&self.bytes, &self.encoder) {
            (Some(bytes), _) => bytes.clone().into(),
            // The values were found to fit before the run. Without content, the server refuses what does not.
            (None, Some(encoder)) => {
                Bytes::from(encoder.encode(&written(&self.template, draw)).unwrap_or_default()).into()
            }
            (None, None) if self.parts.is_empty() => written(&self.template, draw).into(),
            (None, None) => {
                let part = |part: &TemplatePart| match part {
                    TemplatePart::Large(bytes) => bytes.clone(),
                    TemplatePart::Other(template) => written(template, draw),
                };
                self.parts.iter().map(part).collect()
            }
        }
    }
}

impl Entry {
    /// Appends it in HTTP/1.1. `scratch` is any buffer. If `apart`, large content is returned instead, to be sent behind
    /// what was appended.
    #[inline]
    pub fn write(
        &self,
        draw: &mut Draw<'_>,
        scratch: &mut Vec<u8>,
        out: &mut Vec<u8>,
        apart: bool,
    ) -> Option<SentContent> {
        draw.begin(self.needs);
        self.head.write(draw, out);
        match &self.tail {
            Tail::Nothing => {}
            Tail::Fixed(body) if apart && body.len() >= LEAST_SHARED => return Some(body.clone().into()),
            Tail::Fixed(body) => out.extend_from_slice(body),
            Tail::Varying(body) => {
                scratch.clear();
                body.template.write(draw, scratch);
                out.extend_from_slice(b"Content-Length: ");
                decimal(out, scratch.len());
                out.extend_from_slice(b"\r\n\r\n");
                out.extend_from_slice(scratch);
            }
            Tail::InParts(body) | Tail::Encoded(body) => {
                let mut content = body.sent(draw);
                out.extend_from_slice(b"Content-Length: ");
                decimal(out, content.len());
                out.extend_from_slice(b"\r\n\r\n");
                if apart {
                    return Some(content);
                }
                content.move_to(content.len(), out);
            }
        }
        None
    }

    /// Whether the content is so large that all requests share its memory.
    pub fn has_shared_content(&self) -> bool {
        match &self.tail {
            Tail::Fixed(body) => body.len() >= LEAST_SHARED,
            Tail::InParts(_) => true,
            Tail::Encoded(body) => body.bytes.as_ref().is_some_and(|bytes| bytes.len() >= LEAST_SHARED),
            Tail::Nothing | Tail::Varying(_) => false,
        }
    }

    /// Whether an encoder makes the content.
    pub fn is_encoded(&self) -> bool {
        matches!(self.tail, Tail::Encoded(_))
    }

    /// Replaces the request in HTTP/1.1 by these bytes.
    pub fn replace_by(&mut self, head: &[u8], content: Bytes) {
        (self.head, self.tail) = (head.into(), Tail::Fixed(content));
    }

    /// Appends the request with marks instead of fields of records, as [`Template::write_marked`] does.
    pub fn write_marked(&self, marks: [&str; 2], out: &mut Vec<u8>) {
        self.head.write_marked(marks, out);
        match &self.tail {
            Tail::Nothing => {}
            Tail::Fixed(body) => out.extend_from_slice(body),
            Tail::Varying(body) | Tail::InParts(body) | Tail::Encoded(body) => {
                out.extend_from_slice(b"\r\n");
                body.write_marked(marks, out);
            }
        }
    }

    /// Whether the request has no placeholders.
    pub fn is_constant(&self) -> bool {
        let has_constant_content = match &self.tail {
            Tail::Nothing | Tail::Fixed(_) => true,
            Tail::Varying(_) | Tail::InParts(_) => false,
            Tail::Encoded(body) => body.bytes.is_some(),
        };
        has_constant_content && self.head.constant().is_some()
    }
}

/// Composes the requests of a list of URLs, which share the columns of their placeholders.
pub(super) struct Composer<'o> {
    options: &'o Options,
    pub parser: Parser<'o>,
    body: Option<(Composed, Arc<Content>)>,
    says_json: bool,
    last_fields: Arc<[Field]>,
}

impl<'o> Composer<'o> {
    pub fn new(options: &'o Options) -> Result<Self, RequestError> {
        let parser = Parser::new(options.feeder.as_ref(), options.templates);
        let mut parser = if options.of_several_machines { parser.for_several_machines() } else { parser };
        let says_json = fields::say_json(&options.headers);
        let body = options.body.as_ref().map(|body| body::compose(body, says_json, &mut parser)).transpose()?;
        let body = body.map(|body| share(body, &parser.columns)).transpose()?;
        Ok(Self { options, parser, body, says_json, last_fields: Arc::new([]) })
    }

    /// The request for one URL.
    pub fn entry(&mut self, url: &Url) -> Result<Entry, RequestError> {
        let target = &url.target;
        let (typed, body) = self.body_of(url)?.unzip();
        let method = url.method.as_deref().or(self.options.method.as_deref());
        let method = method.unwrap_or(if body.is_some() { "POST" } else { "GET" });
        // CONNECT would turn the connection into a tunnel.
        let method = Method::from_bytes(method.as_bytes())
            .ok()
            .filter(|m| m != Method::CONNECT)
            .ok_or_else(|| RequestError::Method(method.to_owned()))?;
        let path = self.path(url)?;
        let (fields, host) =
            fields::compose(self.options, target.credentials().as_deref(), typed.as_ref(), &mut self.parser)?;
        if *self.last_fields != *fields {
            self.last_fields = fields.into();
        }
        let authority = Template::from(&*target.authority);
        let sent_host = match &host {
            HostField::OfUrl => Some(&authority),
            HostField::Own(own) => Some(own),
            HostField::Left => None,
        };
        let (head, tail) = self.http1(&method, &path, sent_host, body.as_ref());
        let mut needs = head.needs();
        if let Some(body) = &body {
            needs += body.needs();
        }
        let columns = &self.parser.columns;
        let longest = head.longest(columns)
            + match &tail {
                Tail::Nothing => 0,
                Tail::Fixed(body) => body.len(),
                Tail::Varying(body) | Tail::InParts(body) | Tail::Encoded(body) => {
                    b"Content-Length: \r\n\r\n".len() + 20 + body.longest(columns)
                }
            };
        Ok(Entry {
            is_head: method == Method::HEAD,
            method,
            scheme: target.scheme.clone(),
            authority: target.authority.clone(),
            host: match host {
                HostField::Own(own) => Some(own),
                HostField::OfUrl | HostField::Left => None,
            },
            path: path.map_literals(uri),
            fields: Arc::clone(&self.last_fields),
            body,
            needs,
            longest,
            head,
            tail,
        })
    }

    /// Returns the message of a WebSocket to a URL: the content alone.
    pub fn message(&self, target: &Target, content: Template) -> Entry {
        Entry {
            is_head: false,
            method: Method::GET,
            scheme: target.scheme.clone(),
            authority: target.authority.clone(),
            host: None,
            path: Template::default(),
            fields: Arc::clone(&self.last_fields),
            body: None,
            needs: content.needs(),
            longest: content.longest(&self.parser.columns),
            head: content,
            tail: Tail::Nothing,
        }
    }

    /// A URL's own body; or that of the options, unless the URL has a method of its own.
    fn body_of(&mut self, url: &Url) -> Result<Option<(Composed, Arc<Content>)>, RequestError> {
        match &url.body {
            Some(text) => {
                let composed = body::text(text, self.says_json, &mut self.parser)?;
                Ok(Some(share(composed, &self.parser.columns)?))
            }
            None if url.method.is_none() => Ok(self.body.clone()),
            None => Ok(None),
        }
    }

    /// Returns the path with its query, each value escaped.
    fn path(&mut self, url: &Url) -> Result<Template, RequestError> {
        let text = url.target.path.as_str();
        // Where braces are nothing special, a '#' between them ends the path all the same.
        let text = if self.options.templates { without_fragment(text) } else { text.split('#').next().unwrap_or(text) };
        let (plain, query) = text.split_at(find_outside(text, |c| c == '?').unwrap_or(text.len()));
        let mut path = self.parser.parse(plain, Escape::Path)?;
        path.push(&self.parser.parse(query, Escape::Component)?);
        if !self.options.query.is_empty() {
            let more = body::join(&self.options.query, Escape::Component, &mut self.parser)?;
            path.push_bytes(if query.is_empty() { b"?" } else { b"&" });
            path.push(&more);
        }
        let bad = |why: &str| RequestError::Path { url: url.target.url.clone(), why: why.to_owned() };
        if path.literals().any(|literal| literal.contains(&b'#')) {
            return Err(bad("write '#' in the added query as '%23'"));
        }
        // Whatever else is printable is sent as it is given, as curl does.
        match path.sample(b"x").iter().find(|byte| **byte == b' ' || byte.is_ascii_control()) {
            Some(b' ') => return Err(bad("write a space as '%20'")),
            Some(_) => return Err(bad("it contains a control character")),
            None => {}
        }
        let path = path.map_literals(ascii);
        if path.longest(&self.parser.columns) > LONGEST_PATH {
            return Err(bad("with its placeholders it can exceed 65,000 bytes"));
        }
        Ok(path)
    }

    fn http1(
        &self,
        method: &Method,
        path: &Template,
        host: Option<&Template>,
        body: Option<&Arc<Content>>,
    ) -> (Template, Tail) {
        let mut head = Template::from(method.as_str());
        head.push_bytes(b" ");
        head.push(path);
        head.push_bytes(b" HTTP/1.1\r\n");
        if let Some(host) = host {
            head.push_bytes(b"Host: ");
            head.push(host);
            head.push_bytes(b"\r\n");
        }
        for (name, value) in self.last_fields.iter() {
            head.push_bytes(name.as_bytes());
            head.push_bytes(b": ");
            head.push(value);
            head.push_bytes(b"\r\n");
        }
        let Some(body) = body else {
            let length: &[u8] = if expects_content(method) { b"Content-Length: 0\r\n\r\n" } else { b"\r\n" };
            head.push_bytes(length);
            return (head, Tail::Nothing);
        };
        if body.encoder.is_some() {
            return (head, Tail::Encoded(Arc::clone(body)));
        }
        let Some(bytes) = &body.bytes else {
            let tail = if body.parts.is_empty() { Tail::Varying } else { Tail::InParts };
            return (head, tail(Arc::clone(body)));
        };
        head.push_bytes(format!("Content-Length: {}\r\n\r\n", bytes.len()).as_bytes());
        if bytes.len() > LONGEST_IN_ONE {
            return (head, Tail::Fixed(bytes.clone()));
        }
        head.push_bytes(bytes);
        (head, Tail::Nothing)
    }
}

/// Whether a request of this method has a length even without content (RFC 9110, section 8.6).
pub(super) fn expects_content(method: &Method) -> bool {
    [Method::POST, Method::PUT, Method::PATCH].contains(method)
}

/// Moves a body's content to where it can be shared.
fn share(mut composed: Composed, columns: &[Column]) -> Result<(Composed, Arc<Content>), RequestError> {
    let template = std::mem::take(&mut composed.content);
    let content = match composed.encoder.take() {
        Some(encoder) => Content::encoded(template, encoder, columns)?,
        None => template.into(),
    };
    Ok((composed, Arc::new(content)))
}
