//! Recordings of browsers and proxies in the HTTP Archive format, HAR 1.2, as Chromium, Firefox and others write them.

mod correlate;
mod multipart;
mod record;

use crate::content::is_kept;
use crate::draft::{Draft, DraftEntry, ImportError, LeftOut};
use crate::form::{self, FORM};
use crate::parts::{NOWHERE, drop_field, has_field, is_json, option, pair, sent_method};
use crate::secret::Secrets;
use crate::target;
use multipart::Part;
use record::{Header, Page, Param, PostData, Record};
use torr_gauge::redact;
use torr_session::hurl::ast::{
    Body, Entry, KeyValue, MultipartPart, OptionName, OptionValue, Request, Response, Template, TextHint,
};
use torr_wire::percent::form_decoded;
use url::{Origin, Url};

/// The shortest pause between two requests that is kept, in milliseconds: shorter ones are the browser's own work.
const SHORTEST_PAUSE: u64 = 100;

/// Fields of the transport, in lower case: each connection has its own.
const TRANSPORT_FIELDS: &[&str] =
    &["host", "content-length", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "te"];

/// Fields that browsers add by themselves, in lower case, beside those that begin with `sec-`.
const BROWSER_FIELDS: &[&str] = &["upgrade-insecure-requests", "cache-control", "pragma", "priority", "dnt"];

/// Fields by which a browser asks whether what it has is still valid, in lower case.
const CONDITIONS: &[&str] = &["if-none-match", "if-modified-since"];

/// The content codings that the option `compressed` asks for.
const CODINGS: &[&str] = &["br", "deflate", "gzip", "zstd"];

/// What becomes of a field of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldKind {
    Sent,
    Transport,
    Browser,
    Condition,
    Cookie,
}

impl FieldKind {
    fn of(name: &str) -> Self {
        match name.to_ascii_lowercase().as_str() {
            "cookie" => Self::Cookie,
            lower if lower.is_empty() || lower.starts_with(':') || TRANSPORT_FIELDS.contains(&lower) => Self::Transport,
            lower if lower.starts_with("sec-") || BROWSER_FIELDS.contains(&lower) => Self::Browser,
            lower if CONDITIONS.contains(&lower) => Self::Condition,
            _ => Self::Sent,
        }
    }
}

/// What of a recording is imported.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Whether other hosts, images, fonts, audio and video are imported too.
    pub all: bool,
    /// Hosts that are imported beside that of the first page.
    pub hosts: Vec<String>,
}

/// Imports a recording.
///
/// # Errors
/// If the text is no HAR file, or has no request that can be imported.
pub fn import(text: &str, options: &Options) -> Result<Draft, ImportError> {
    // Some programs begin the file with a byte order mark.
    let archive: record::Archive = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| ImportError(format!("not a HAR file: {error}")))?;
    let mut records = archive.log.entries;
    records.sort_by_key(|record| record.started);
    let mut draft = Draft::default();
    let page = origins(&archive.log.pages, &records);
    let mut kept = Vec::new();
    for record in records {
        match unwanted(&record, &page, options) {
            Some((what, reason)) => draft.left_out.push(LeftOut::new(what, "", reason)),
            None => kept.push(record),
        }
    }
    unsent(&kept, &mut draft);
    let over_http3 = kept.iter().filter(|record| record.is_http3());
    draft.left_out.extend(over_http3.map(|_| LeftOut::new("HTTP/3", "", "HTTP/2 or HTTP/1.1 is used instead")));
    if kept.is_empty() {
        return Err(ImportError(
            "the recording has no request to the host of its first page: use --host for another host, or --all"
                .to_owned(),
        ));
    }
    let correlations = correlate::find(&kept);
    let mut secrets = Secrets::beside(correlations.iter().map(|known| known.variable.clone()).collect());
    let mut end = None;
    for (number, record) in kept.iter().enumerate() {
        let mut entry = Reader { secrets: &mut secrets, correlations: &correlations, number }.entry(record);
        let pause = end.map_or(0, |end| u64::try_from(record.started.saturating_sub(end)).unwrap_or(0));
        if pause >= SHORTEST_PAUSE {
            let delay = OptionValue::Milliseconds(pause.next_multiple_of(10));
            entry.entry.request.options.push(option(OptionName::Delay, delay));
        }
        end = end.max(Some(record.ended()));
        draft.entries.push(entry);
    }
    draft.notes = correlations.iter().map(correlate::Correlation::evidence).collect();
    draft.secrets = secrets.finish();
    Ok(draft)
}

/// Says which fields of the recorded requests are not sent.
fn unsent(kept: &[Record], draft: &mut Draft) {
    let fields = |kind: FieldKind, record: &Record| {
        let names = record.request.headers.iter().map(|field| field.name.as_str());
        names.filter(|name| FieldKind::of(name) == kind).map(str::to_ascii_lowercase).collect::<Vec<_>>()
    };
    for record in kept.iter().filter(|record| record.response.is_some()) {
        if !fields(FieldKind::Cookie, record).is_empty() || !record.request.cookies.is_empty() {
            draft.left_out.push(LeftOut::new("field Cookie", "", "a virtual user has its own cookies"));
        }
    }
    for (kind, what, reason) in [
        (FieldKind::Browser, "header fields that browsers add", "they come from the browser, not from the page"),
        (FieldKind::Condition, "conditional header fields", "the browser's cache is not simulated"),
    ] {
        let mut names: Vec<String> = kept.iter().flat_map(|record| fields(kind, record)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        let what = format!("{what} ({})", names.join(", "));
        draft.left_out.extend((0..count).map(|_| LeftOut::new(what.clone(), "", reason)));
    }
}

/// Returns where the first page comes from, and where its redirects lead to. A recording may begin with requests of
/// an earlier page, so the first page counts, not the first record; and pages may stand in any order.
fn origins(pages: &[Page], records: &[Record]) -> Vec<Origin> {
    let http = |url: &str| Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let of = |record: &Record| http(&record.request.url);
    let mut pages: Vec<_> = pages.iter().filter_map(|page| Some((page.started, http(&page.title)?))).collect();
    pages.sort_by_key(|(started, _)| *started);
    let titled = pages.iter().find_map(|(_, title)| {
        let is_it = |record: &Record| of(record).as_ref() == Some(title);
        let is_beside = |record: &Record| of(record).is_some_and(|url| url.origin() == title.origin());
        records.iter().position(is_it).or_else(|| records.iter().position(is_beside))
    });
    let first = titled
        .or_else(|| records.iter().position(|record| record.is_page() && of(record).is_some()))
        .or_else(|| records.iter().position(|record| of(record).is_some()));
    let mut origins = Vec::new();
    let mut rest = records[first.unwrap_or(records.len())..].iter();
    let mut here = rest.next().and_then(|record| Some((record, http(&record.request.url)?)));
    while let Some((record, url)) = here {
        origins.push(url.origin());
        let target = record.redirect().and_then(|target| url.join(target).ok());
        here = target.and_then(|target| {
            let record = rest.by_ref().find(|record| http(&record.request.url).as_ref() == Some(&target))?;
            Some((record, target))
        });
    }
    origins
}

/// Returns what a record is and why it is not imported; `None` for one that is.
fn unwanted(record: &Record, page: &[Origin], options: &Options) -> Option<(String, &'static str)> {
    let Ok(url) = Url::parse(&record.request.url) else {
        let shown: String = redact::url(&record.request.url).chars().take(100).collect();
        return Some((format!("requests to '{shown}'"), "invalid URL"));
    };
    if record.status() == Some(101) || record.web_socket_messages.is_some() || matches!(url.scheme(), "ws" | "wss") {
        return Some(("WebSocket connections".to_owned(), "not HTTP requests"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Some((format!("requests of the scheme {}", url.scheme()), "not HTTP requests"));
    }
    if record.request.method.eq_ignore_ascii_case("connect") {
        return Some(("tunnels (CONNECT)".to_owned(), "requests to a proxy"));
    }
    if options.all {
        return None;
    }
    let host = url.host_str().unwrap_or_default();
    if !page.contains(&url.origin()) && !options.hosts.iter().any(|wanted| wanted.eq_ignore_ascii_case(host)) {
        return Some((format!("requests to {host}"), "another host: use --host to import it, or --all"));
    }
    if record.has_failed() {
        return Some(("requests without a response".to_owned(), "blocked or aborted: use --all to import them"));
    }
    let content_type = record.media_type().split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let media_type = match content_type.split_once('/') {
        // Names from before the media types of fonts.
        Some(("application", subtype)) if subtype.contains("font") => "font",
        Some((media_type, _)) => media_type,
        None => content_type.as_str(),
    };
    let kind = record.resource_type.as_deref().unwrap_or(media_type);
    if kind == "eventsource" || content_type == "text/event-stream" {
        return Some(("event streams".to_owned(), "their responses do not end: use --all to import them"));
    }
    let kind = if matches!(media_type, "image" | "font" | "audio" | "video") { media_type } else { kind };
    matches!(kind, "image" | "font" | "audio" | "video" | "media")
        .then(|| (format!("files of the type {kind}"), "static files: use --all to import them"))
}

/// Reads one record, with what is known of all.
struct Reader<'r> {
    secrets: &'r mut Secrets,
    correlations: &'r [correlate::Correlation],
    /// The record's number among those that are imported.
    number: usize,
}

impl Reader<'_> {
    fn entry(&mut self, record: &Record) -> DraftEntry {
        let mut left_out = Vec::new();
        let url = address(record);
        let url = correlate::insert(url.as_str().into(), self.correlations, self.number);
        let url = self.secrets.url(url);
        left_out.extend(target::respelled(&url).map(|said| (format!("{} {}", said.kind, said.which), said.reason)));
        let method = sent_method(&record.request.method, &mut |what, reason| {
            left_out.push((what.to_owned(), reason.to_owned()));
        });
        let mut request = Request::new(method, url, NOWHERE);
        for header in &record.request.headers {
            self.field(header, record, &mut request);
        }
        self.cookies(record, &mut request);
        if let Some(data) = &record.request.post_data {
            let mut data = data.clone();
            match data.decode() {
                Some(bytes) => request.body = Some(Body::Bytes(bytes)),
                None => self.content(&mut data, &mut request, &mut left_out),
            }
            media_type(&data.mime_type, &mut request);
        }
        // Without the browser's cache the service responds with the content.
        let status = record.status().map_or(0, |status| if status == 304 { 200 } else { status });
        let captures = correlate::captures(self.correlations, self.number);
        let response = (100..1000).contains(&status).then(|| Response {
            version: None,
            status: Some(status),
            headers: Vec::new(),
            captures,
            asserts: Vec::new(),
            body: None,
            at: NOWHERE,
        });
        DraftEntry::new(Entry { name: None, request, response }, left_out)
    }

    fn field(&mut self, header: &Header, record: &Record, request: &mut Request) {
        let lower = header.name.to_ascii_lowercase();
        // A name of the host that the URL does not have.
        let is_other_host = lower == "host"
            && Url::parse(&record.request.url).is_ok_and(|url| {
                let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
                !header.value.is_empty() && !header.value.eq_ignore_ascii_case(authority)
            });
        match FieldKind::of(&header.name) {
            FieldKind::Sent => {}
            _ if is_other_host => {}
            _ => return,
        }
        if lower == "accept-encoding" {
            let mut codings: Vec<&str> = header.value.split(',').map(str::trim).collect();
            codings.sort_unstable();
            if codings == CODINGS {
                request.options.push(option(OptionName::Compressed, OptionValue::Boolean(true)));
                return;
            }
        }
        let value = correlate::insert(header.value.as_str().into(), self.correlations, self.number);
        let value = if value.literal().is_some() { self.secrets.field(&header.name, &header.value) } else { value };
        request.headers.push(pair(&header.name, value));
    }

    /// Adds the cookies of a request that was only written down: no response of the file sets them.
    fn cookies(&mut self, record: &Record, request: &mut Request) {
        if record.response.is_some() {
            return;
        }
        let fields = record.request.headers.iter().filter(|field| FieldKind::of(&field.name) == FieldKind::Cookie);
        let mut cookies: Vec<String> = fields.map(|field| field.value.clone()).collect();
        if cookies.is_empty() {
            let pairs = record.request.cookies.iter().map(|cookie| format!("{}={}", cookie.name, cookie.value));
            cookies.extend(Some(pairs.collect::<Vec<_>>().join("; ")).filter(|cookies| !cookies.is_empty()));
        }
        for cookies in cookies {
            request.headers.push(pair("Cookie", self.secrets.field("Cookie", &cookies)));
        }
    }

    fn content(&mut self, data: &mut PostData, request: &mut Request, left_out: &mut Vec<(String, String)>) {
        let parts = data.text.as_deref().filter(|_| data.params.is_empty());
        match parts.and_then(|text| multipart::parts(&data.mime_type, text)) {
            Some(parts) if is_whole(&parts) => {
                let text = data.text.as_deref().unwrap_or_default();
                let text = correlate::insert(text.into(), self.correlations, self.number);
                request.body = Some(Body::Text { text, hint: TextHint::Plain });
                return;
            }
            Some(parts) => {
                data.params = parts.into_iter().map(Param::from).collect();
                data.mime_type = "multipart/form-data".to_owned();
            }
            None if data.text.as_deref().is_some_and(|text| text.contains(is_lost)) => {
                let kind = format!("bytes of the content of type {}", data.mime_type);
                left_out.push((kind, "the recording has them as text, which may have lost some".to_owned()));
            }
            None => {}
        }
        let data = &*data;
        let media_type = data.mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let text = data.text.as_deref().unwrap_or_default();
        let parameter = |reader: &mut Self, name: &str, value: &str| {
            let inserted = correlate::insert(value.into(), reader.correlations, reader.number);
            let value = if inserted.literal().is_some() { reader.secrets.parameter(name, value) } else { inserted };
            pair(name, value)
        };
        match media_type.as_str() {
            FORM => {
                let pairs = if text.is_empty() {
                    let pairs = data.params.iter().map(|param| (param.name.clone(), param.value.clone()));
                    Some(pairs.map(|(name, value)| (name, value.unwrap_or_default())).collect())
                } else {
                    form::pairs(text)
                };
                match pairs {
                    Some(pairs) => {
                        let named = pairs.iter().filter(|(name, _)| !name.is_empty());
                        request.form = named.map(|(name, value)| parameter(self, name, value)).collect();
                        request.headers.retain(|field| !is_plain_form(field));
                    }
                    // A form of a hurl file would have other bytes.
                    None => {
                        let text = correlate::insert(text.into(), self.correlations, self.number);
                        let text = self.secrets.text(text, true);
                        request.body = Some(Body::Text { text, hint: TextHint::Plain });
                    }
                }
            }
            "multipart/form-data" => {
                for param in data.params.iter().filter(|param| !param.name.is_empty()) {
                    match &param.file_name {
                        Some(file) => {
                            let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
                            let name = if name.is_empty() { "file" } else { name };
                            left_out.push((
                                format!("content of the file '{name}'"),
                                "HAR files do not contain it: put the file next to the hurl file".to_owned(),
                            ));
                            request.multipart.push(MultipartPart::File {
                                name: param.name.as_str().into(),
                                file: name.into(),
                                content_type: param.content_type.as_deref().map(Template::from),
                                at: NOWHERE,
                            });
                        }
                        None => {
                            let field = parameter(self, &param.name, param.value.as_deref().unwrap_or_default());
                            request.multipart.push(MultipartPart::Field(field));
                        }
                    }
                }
                if request.multipart.is_empty() && !text.is_empty() {
                    request.body = Some(Body::Text { text: text.into(), hint: TextHint::Plain });
                } else {
                    drop_field(request, "content-type");
                }
            }
            _ if text.is_empty() => {}
            _ => request.body = Some(self.text(text)),
        }
    }

    fn text(&mut self, text: &str) -> Body {
        if is_json(text) && is_kept(&text.into()) {
            return Body::Json(correlate::insert_json(self.secrets.json(text), self.correlations, self.number));
        }
        let text = correlate::insert(text.into(), self.correlations, self.number);
        Body::Text { text: self.secrets.text(text, false), hint: TextHint::Plain }
    }
}

/// Returns a request's URL without its fragment, with the parameters that only stand beside it.
fn address(record: &Record) -> String {
    let url = record.request.url.split('#').next().unwrap_or_default();
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let known: Vec<String> =
        query.split('&').map(|pair| form_decoded(pair.split_once('=').map_or(pair, |(name, _)| name))).collect();
    let beside = record.request.query_string.iter();
    // Some writers keep the names as the URL has them, some decode them.
    let is_new = |row: &&Header| !known.contains(&row.name) && !known.contains(&form_decoded(&row.name));
    let more = beside.filter(|row| !row.name.is_empty()).filter(is_new);
    let more: Vec<_> = more.map(|row| format!("{}={}", form::encoded(&row.name), form::encoded(&row.value))).collect();
    if more.is_empty() {
        return url.to_owned();
    }
    let url = url.trim_end_matches(['?', '&']);
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}{}", more.join("&"))
}

/// Adds the media type of the recorded content, where neither a field nor the content itself says it.
fn media_type(recorded: &str, request: &mut Request) {
    let recorded = recorded.trim();
    let says = match &request.body {
        Some(Body::Json(_)) => recorded == "application/json",
        Some(_) => false,
        None => !request.form.is_empty() && recorded == FORM || !request.multipart.is_empty(),
    };
    let has_content = request.body.is_some() || !request.form.is_empty();
    if has_content && !says && !recorded.is_empty() && !has_field(request, "content-type") {
        request.headers.push(pair("Content-Type", recorded.into()));
    }
}

/// Whether a field says what every form of a hurl file is.
fn is_plain_form(field: &KeyValue) -> bool {
    field.name.literal().is_some_and(|name| name.eq_ignore_ascii_case("content-type"))
        && field.value.literal() == Some(FORM)
}

/// Whether multipart content is sent as it was recorded: it has what a form of a hurl file cannot say, and nothing is missing.
fn is_whole(parts: &[Part]) -> bool {
    let is_special = |part: &Part| match part.file_name {
        Some(_) => !part.value.is_empty(),
        None => part.content_type.is_some(),
    };
    let is_known = |part: &Part| {
        let is_there = part.file_name.is_none() || !part.value.is_empty();
        is_there && !part.value.contains(is_lost) && !Secrets::is_credential(&part.name)
    };
    parts.iter().any(is_special) && parts.iter().all(is_known)
}

/// Whether a character of content says that the content was no text.
fn is_lost(next: char) -> bool {
    next == char::REPLACEMENT_CHARACTER || next.is_control() && !next.is_whitespace()
}

impl From<Part> for Param {
    fn from(part: Part) -> Self {
        let Part { name, value, file_name, content_type } = part;
        Self { name, value: Some(value), file_name, content_type }
    }
}

#[cfg(test)]
mod tests;
