//! The multipart form of a command: `--form`.

use super::data::{MOST_BYTES, ReadFile, STDIN_AS_FILE, Source};
use super::shell;
use super::words::Stdin;
use crate::draft::{ImportError, LeftOut};
use crate::parts::{NOWHERE, beside, pair, plain_name, push};
use crate::secret::Secrets;
use std::borrow::Cow;
use torr_session::hurl::ast::{Body, MultipartPart, Piece, Request, Template, TextHint};

/// What separates the parts of a form that is written out.
const BOUNDARY: &str = "------------------------torr-import";
/// What separates the files of a part.
const INNER_BOUNDARY: &str = "------------------------torr-files";

/// A part of a multipart form.
#[derive(Debug, Clone)]
pub(super) struct Part {
    name: String,
    content: Content,
    about: About,
}

#[derive(Debug, Clone)]
enum Content {
    Text(String),
    /// The content of a file, sent as text.
    Of(Source),
    Files(Vec<File>),
}

#[derive(Debug, Clone)]
struct File {
    source: Source,
    about: About,
}

/// What follows a part's content.
#[derive(Debug, Clone, Default)]
struct About {
    media_type: Option<String>,
    file_name: Option<String>,
    headers: Vec<String>,
}

impl Part {
    /// Returns a part of text.
    pub(super) fn text(name: &str, text: &str) -> Self {
        Self { name: name.to_owned(), content: Content::Text(text.to_owned()), about: About::default() }
    }

    /// Reads a part of `--form`: `NAME=TEXT`, `NAME=@FILE,FILE;type=TYPE` or `NAME=<FILE`; `None` for one that is left out.
    ///
    /// # Errors
    /// If there is no name, or a file without one.
    pub(super) fn read(value: &str, left_out: &mut Vec<(String, String)>) -> Result<Option<Self>, ImportError> {
        let shown = shell::shown(value);
        let (name, content) = value
            .split_once('=')
            .filter(|(name, _)| !name.is_empty() || value.starts_with("=(") || value.starts_with("=)"))
            .ok_or_else(|| ImportError(format!("--form '{shown}' must be NAME=VALUE")))?;
        if content.starts_with('(') || (name.is_empty() && content.starts_with(')')) {
            left_out.push((format!("--form '{shown}'"), "nested forms are not supported".to_owned()));
            return Ok(None);
        }
        let about = |text: &str, left_out: &mut Vec<(String, String)>| About::read(name, text, left_out);
        let source = |word: &str| match word {
            "" => Err(ImportError(format!("missing file name in --form '{shown}'"))),
            "-" => Ok(Source::Stdin),
            file => Ok(Source::File(file.to_owned())),
        };
        let (content, about) = if let Some(files) = content.strip_prefix('@') {
            let mut list = Vec::new();
            let mut rest = files;
            loop {
                let (file, after) = word(rest, ',');
                let (of, after) = until(after, ',');
                list.push(File { source: source(&file)?, about: about(of, left_out) });
                match after.strip_prefix(',') {
                    Some(next) => rest = next,
                    None => break,
                }
            }
            (Content::Files(list), About::default())
        } else if let Some(file) = content.strip_prefix('<') {
            let (file, after) = word(file, '\0');
            (Content::Of(source(&file)?), about(after, left_out))
        } else {
            let (text, after) = word(content, '\0');
            (Content::Text(text), about(after, left_out))
        };
        Ok(Some(Self { name: name.to_owned(), content, about }))
    }
}

/// Reads a word, which may stand in double quotes, up to a semicolon or a character, and returns what follows.
fn word(text: &str, end: char) -> (String, &str) {
    if let Some(quoted) = text.strip_prefix('"') {
        let mut word = String::new();
        let mut rest = quoted.char_indices();
        while let Some((at, next)) = rest.next() {
            match next {
                '"' => {
                    let after = &quoted[at + 1..];
                    let skipped = after.find([';', end]).unwrap_or(after.len());
                    return (word, &after[skipped..]);
                }
                '\\' => match rest.next() {
                    Some((_, escaped @ ('"' | '\\'))) => word.push(escaped),
                    Some((_, other)) => word.extend(['\\', other]),
                    None => word.push('\\'),
                },
                other => word.push(other),
            }
        }
    }
    let length = text.find([';', end]).unwrap_or(text.len());
    (text[..length].to_owned(), &text[length..])
}

/// Splits text at a character that stands outside of double quotes.
fn until(text: &str, end: char) -> (&str, &str) {
    let mut is_quoted = false;
    for (at, next) in text.char_indices() {
        is_quoted ^= next == '"';
        if next == end && !is_quoted {
            return text.split_at(at);
        }
    }
    (text, "")
}

impl About {
    /// Reads `;type=TYPE;filename=NAME;headers=LINE`.
    fn read(name: &str, text: &str, left_out: &mut Vec<(String, String)>) -> Self {
        let mut about = Self::default();
        let mut rest = text;
        while let Some(next) = rest.strip_prefix(';') {
            let next = next.trim_start();
            let Some((key, value)) = next.split_once('=').filter(|(key, _)| !key.contains(';')) else {
                rest = &next[next.find(';').unwrap_or(next.len())..];
                continue;
            };
            let (mut value, after) = word(value, '\0');
            rest = after;
            match key {
                "type" => {
                    // Parameters of the media type follow.
                    while let Some(parameter) = rest.strip_prefix(';').filter(|rest| !names_part(rest.trim_start())) {
                        let length = parameter.find(';').unwrap_or(parameter.len());
                        value.push(';');
                        value.push_str(&parameter[..length]);
                        rest = &parameter[length..];
                    }
                    about.media_type = Some(value);
                }
                "filename" => about.file_name = Some(value),
                "headers" if value.starts_with(['@', '<']) => {
                    left_out.push((format!("header fields of the part '{name}'"), "they are in a file".to_owned()));
                }
                "headers" => about.headers.push(value),
                "encoder" if matches!(value.as_str(), "binary" | "8bit") => {}
                "encoder" => {
                    let what = format!("encoding {value} of the part '{name}'");
                    left_out.push((what, "content is sent unencoded".to_owned()));
                }
                // curl skips what it does not know.
                _ => {}
            }
        }
        about
    }
}

fn names_part(text: &str) -> bool {
    ["type=", "filename=", "headers=", "encoder="].iter().any(|name| text.starts_with(name))
}

/// What the parts of a command are read with.
pub(super) struct Form<'f> {
    pub(super) parts: &'f [Part],
    pub(super) stdin: Option<&'f Stdin>,
    pub(super) read: ReadFile<'f>,
    /// The media type that the command gives to the content; `None` for that of forms.
    pub(super) media_type: Option<&'f str>,
}

impl Form<'_> {
    /// Adds the form to a request: part by part where a hurl file can say all of them, written out otherwise.
    ///
    /// Returns the content type that the request needs beside.
    pub(super) fn add(
        &self,
        request: &mut Request,
        secrets: &mut Secrets,
        left_out: &mut Vec<(String, String)>,
    ) -> Option<String> {
        let is_plain = self.media_type.is_none() && self.parts.iter().all(|part| self.is_plain(part));
        if !is_plain {
            match self.written(secrets) {
                Ok(body) => {
                    request.body = Some(body);
                    return Some(format!("{}; boundary={BOUNDARY}", self.media_type.unwrap_or("multipart/form-data")));
                }
                Err(reason) => left_out.push(("exact form".to_owned(), reason)),
            }
        }
        for part in self.parts {
            self.part(part, request, secrets, left_out);
        }
        None
    }

    /// Whether a hurl file can say a part.
    fn is_plain(&self, part: &Part) -> bool {
        let is_bare = |about: &About| about.headers.is_empty() && about.file_name.is_none();
        match &part.content {
            Content::Text(_) => is_bare(&part.about) && part.about.media_type.is_none(),
            Content::Of(source) => {
                let is_text = source.bytes(self.stdin, self.read).is_ok_and(|bytes| String::from_utf8(bytes).is_ok());
                is_text && is_bare(&part.about) && part.about.media_type.is_none()
            }
            Content::Files(files) => match &files[..] {
                [File { source: Source::File(_), about }] => is_bare(about),
                _ => false,
            },
        }
    }

    fn part(&self, part: &Part, request: &mut Request, secrets: &mut Secrets, left_out: &mut Vec<(String, String)>) {
        let name = part.name.as_str();
        let field =
            |text: &str, secrets: &mut Secrets| MultipartPart::Field(pair(name, shell::parameter(name, text, secrets)));
        match &part.content {
            Content::Text(text) => request.multipart.push(field(text, secrets)),
            Content::Of(source) => match source.bytes(self.stdin, self.read).map(String::from_utf8) {
                Ok(Ok(text)) => request.multipart.push(field(&text, secrets)),
                Ok(Err(_)) => left_out.push((format!("part '{name}'"), "not UTF-8 text".to_owned())),
                Err(reason) => left_out.push((format!("part '{name}', text of {}", source.shown()), reason)),
            },
            Content::Files(files) => {
                for File { source, about } in files {
                    let path = match source {
                        Source::File(path) => path.as_str(),
                        _ => "-",
                    };
                    let file = file(path, left_out);
                    let media_type = about.media_type.as_deref().or_else(|| guessed(path)).map(shell::template);
                    let part = MultipartPart::File {
                        name: shell::template(name),
                        file,
                        content_type: media_type,
                        at: NOWHERE,
                    };
                    request.multipart.push(part);
                }
            }
        }
    }

    /// Writes the form out, as curl sends it.
    ///
    /// # Errors
    /// In words, if the content of a file is not known.
    fn written(&self, secrets: &mut Secrets) -> Result<Body, String> {
        let mut out = Written::default();
        let bytes_of = |source: &Source| {
            let bytes = source.bytes(self.stdin, self.read);
            bytes.map_err(|reason| format!("the content of {} is unknown: {reason}", source.shown()))
        };
        for part in self.parts {
            let Part { name, content, about } = part;
            let disposition = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{}\"", quoted(name));
            out.text(&disposition);
            match content {
                Content::Text(_) | Content::Of(_) => {
                    out.about(about, None);
                    match content {
                        Content::Text(text) => out.template(shell::parameter(name, text, secrets)),
                        Content::Of(source) => out.bytes(&bytes_of(source)?),
                        Content::Files(_) => {}
                    }
                }
                Content::Files(files) => match &files[..] {
                    [file] => {
                        out.about(&file.about, Some(file));
                        out.bytes(&bytes_of(&file.source)?);
                    }
                    files => {
                        out.text(&format!("\r\nContent-Type: multipart/mixed; boundary={INNER_BOUNDARY}\r\n\r\n"));
                        for file in files {
                            out.text(&format!("--{INNER_BOUNDARY}\r\nContent-Disposition: attachment"));
                            out.about(&file.about, Some(file));
                            out.bytes(&bytes_of(&file.source)?);
                            out.text("\r\n");
                        }
                        out.text(&format!("--{INNER_BOUNDARY}--\r\n"));
                    }
                },
            }
            out.text("\r\n");
            if out.bytes.len() > MOST_BYTES {
                return Err("the files are larger than 1 MiB".to_owned());
            }
        }
        out.text(&format!("--{BOUNDARY}--\r\n"));
        out.body()
    }
}

/// A form that is being written out.
#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    /// The form as pieces, as long as all of it is text.
    pieces: Option<Vec<Piece>>,
    has_placeholders: bool,
    is_binary: bool,
}

impl Written {
    fn text(&mut self, text: &str) {
        self.template(shell::template(text));
    }

    fn template(&mut self, template: Template) {
        for piece in template.0 {
            match &piece {
                Piece::Text(text) => self.bytes.extend_from_slice(text.as_bytes()),
                Piece::Placeholder(_) => self.has_placeholders = true,
            }
            push(self.pieces.get_or_insert_default(), piece);
        }
    }

    fn bytes(&mut self, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.text(text),
            Err(_) => {
                self.is_binary = true;
                self.bytes.extend_from_slice(bytes);
            }
        }
    }

    /// Writes the end of a part's fields.
    fn about(&mut self, about: &About, file: Option<&File>) {
        let path = file.and_then(|file| if let Source::File(path) = &file.source { Some(path.as_str()) } else { None });
        let last = path.map(|path| path.rsplit('/').next().unwrap_or(path));
        let name = about.file_name.as_deref().or(last).or(file.map(|_| "-"));
        if let Some(name) = name {
            self.text(&format!("; filename=\"{}\"", quoted(name)));
        }
        let guess = || file.map(|_| path.and_then(media_type).unwrap_or("application/octet-stream"));
        let media_type: Option<Cow<'_, str>> = about.media_type.as_deref().or_else(guess).map(Cow::from);
        if let Some(media_type) = media_type {
            self.text(&format!("\r\nContent-Type: {media_type}"));
        }
        about.headers.iter().for_each(|line| self.text(&format!("\r\n{line}")));
        self.text("\r\n\r\n");
    }

    fn body(self) -> Result<Body, String> {
        if self.is_binary && self.has_placeholders {
            return Err("binary content cannot have variables".to_owned());
        }
        Ok(match self.pieces {
            Some(pieces) if !self.is_binary => Body::Text { text: Template(pieces), hint: TextHint::Plain },
            _ => Body::Bytes(self.bytes),
        })
    }
}

fn quoted(text: &str) -> String {
    text.replace('"', "%22").replace('\r', "%0D").replace('\n', "%0A")
}

/// Returns the media type of a file by its extension, as curl does.
fn media_type(path: &str) -> Option<&'static str> {
    let extension = path.rsplit_once('.')?.1.to_ascii_lowercase();
    Some(match extension.as_str() {
        "gif" => "image/gif",
        "jpg" | "jpeg" => "image/jpeg",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain",
        "htm" | "html" => "text/html",
        "pdf" => "application/pdf",
        "xml" => "application/xml",
        _ => return None,
    })
}

/// Returns the media type that a hurl file has to name: it finds those of extensions in lower case by itself.
fn guessed(path: &str) -> Option<&'static str> {
    let is_upper = path.rsplit_once('.').is_some_and(|(_, extension)| extension.chars().any(char::is_uppercase));
    media_type(path).filter(|_| is_upper)
}

/// Returns the name of a file beside the hurl file.
pub(super) fn file(path: &str, left_out: &mut Vec<(String, String)>) -> Template {
    if path == "-" {
        left_out.push(("standard input".to_owned(), STDIN_AS_FILE.to_owned()));
        return "stdin".into();
    }
    let (name, moved) = beside(path);
    let (plain, changed) = plain_name(shell::template(name), name);
    for LeftOut { kind, reason, .. } in moved.into_iter().chain(changed) {
        left_out.push((format!("{kind} {}", shell::shown(path)), reason));
    }
    plain
}

/// Returns bytes as content: as text where they are text.
pub(super) fn of_bytes(bytes: Vec<u8>) -> Result<String, Body> {
    String::from_utf8(bytes).map_err(|error| Body::Bytes(error.into_bytes()))
}
