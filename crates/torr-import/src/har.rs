//! Recordings of browsers and proxies in the HTTP Archive format, HAR 1.2, as Chromium, Firefox and others write them.

mod correlate;
mod record;

use crate::draft::{Draft, DraftEntry, ImportError, LeftOut};
use crate::parts::{NOWHERE, drop_field, is_json, method, option, pair};
use crate::secret::Secrets;
use record::{Header, PostData, Record};
use torr_session::hurl::ast::{
    Body, Entry, MultipartPart, OptionName, OptionValue, Request, Response, Template, TextHint,
};
use url::Url;

/// The shortest pause between two requests that is kept, in milliseconds: shorter ones are the browser's own work.
const SHORTEST_PAUSE: u64 = 100;

/// Fields that the transport or the browser adds by itself, in lower case.
const OWN_FIELDS: &[&str] = &[
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "transfer-encoding",
    "te",
    "upgrade-insecure-requests",
    "if-none-match",
    "if-modified-since",
    "cache-control",
    "pragma",
    "priority",
    "dnt",
];

/// What of a recording is imported.
#[derive(Debug, Clone, Copy, Default)]
pub struct Options {
    /// Whether other hosts, images, fonts, audio and video are imported too.
    pub all: bool,
}

/// Imports a recording.
///
/// # Errors
/// If the text is no HAR file, or has no request that can be imported.
pub fn import(text: &str, options: Options) -> Result<Draft, ImportError> {
    // Some programs begin the file with a byte order mark.
    let archive: record::Archive = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| ImportError(format!("this is no HAR file: {error}")))?;
    let mut records = archive.log.entries;
    records.sort_by_key(|record| record.started);
    let mut draft = Draft::default();
    let page = records.iter().find_map(|record| Url::parse(&record.request.url).ok()).map(|url| url.origin());
    let mut kept = Vec::new();
    for record in records {
        match unwanted(&record, page.as_ref(), options) {
            Some((what, reason)) => draft.left_out.push(LeftOut::new(what, "", reason)),
            None => kept.push(record),
        }
    }
    if kept.is_empty() {
        return Err(ImportError(
            "the recording has no request of its first host: --all takes those of others".to_owned(),
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

/// Returns what a record is and why it is not imported; `None` for one that is.
fn unwanted(record: &Record, page: Option<&url::Origin>, options: Options) -> Option<(String, &'static str)> {
    let Ok(url) = Url::parse(&record.request.url) else {
        return Some((format!("requests to '{}'", record.request.url), "not a URL"));
    };
    if record.response.status == 101 || record.web_socket_messages.is_some() || matches!(url.scheme(), "ws" | "wss") {
        return Some(("WebSocket connections".to_owned(), "not HTTP requests"));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Some((format!("requests of the scheme {}", url.scheme()), "not HTTP requests"));
    }
    if options.all {
        return None;
    }
    let host = url.host_str().unwrap_or_default();
    if page.is_some_and(|page| *page != url.origin()) {
        return Some((format!("requests to {host}"), "another host: --all takes them"));
    }
    let media_type = record.response.content.mime_type.split('/').next().unwrap_or_default();
    let kind = record.resource_type.as_deref().unwrap_or(media_type);
    let kind = if matches!(media_type, "image" | "font" | "audio" | "video") { media_type } else { kind };
    matches!(kind, "image" | "font" | "audio" | "video" | "media")
        .then(|| (format!("files of the kind {kind}"), "not the service's work: --all takes them"))
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
        let url = record.request.url.split('#').next().unwrap_or_default();
        let url = correlate::insert(url.into(), self.correlations, self.number);
        let mut request = Request::new(method(&record.request.method), url, NOWHERE);
        for header in &record.request.headers {
            self.field(header, &mut request, &mut left_out);
        }
        if let Some(data) = &record.request.post_data {
            self.content(data, &mut request, &mut left_out);
        }
        // Without the browser's cache the service responds with the content.
        let status = if record.response.status == 304 { 200 } else { record.response.status };
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

    fn field(&mut self, header: &Header, request: &mut Request, left_out: &mut Vec<(String, String)>) {
        let lower = header.name.to_ascii_lowercase();
        if lower.is_empty()
            || lower.starts_with(':')
            || lower.starts_with("sec-")
            || OWN_FIELDS.contains(&lower.as_str())
        {
            return;
        }
        match lower.as_str() {
            "accept-encoding" => {
                request.options.push(option(OptionName::Compressed, OptionValue::Boolean(true)));
            }
            "cookie" => {
                let reason = "a virtual user keeps the cookies that responses set; others would be the recorder's own";
                left_out.push(("field Cookie".to_owned(), reason.to_owned()));
            }
            _ => {
                let value = correlate::insert(header.value.as_str().into(), self.correlations, self.number);
                let value =
                    if value.literal().is_some() { self.secrets.field(&header.name, &header.value) } else { value };
                request.headers.push(pair(&header.name, value));
            }
        }
    }

    fn content(&mut self, data: &PostData, request: &mut Request, left_out: &mut Vec<(String, String)>) {
        let media_type = data.mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let text = data.text.as_deref().unwrap_or_default();
        let parameter = |reader: &mut Self, name: &str, value: &str| {
            let inserted = correlate::insert(value.into(), reader.correlations, reader.number);
            let value = if inserted.literal().is_some() { reader.secrets.parameter(name, value) } else { inserted };
            pair(name, value)
        };
        match media_type.as_str() {
            "application/x-www-form-urlencoded" => {
                let pairs: Vec<(String, String)> = if text.is_empty() {
                    data.params
                        .iter()
                        .map(|param| (param.name.clone(), param.value.clone().unwrap_or_default()))
                        .collect()
                } else {
                    url::form_urlencoded::parse(text.as_bytes()).into_owned().collect()
                };
                request.form = pairs
                    .iter()
                    .filter(|(name, _)| !name.is_empty())
                    .map(|(name, value)| parameter(self, name, value))
                    .collect();
                drop_field(request, "content-type");
            }
            "multipart/form-data" => {
                for param in data.params.iter().filter(|param| !param.name.is_empty()) {
                    match &param.file_name {
                        Some(file) => {
                            let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
                            let name = if name.is_empty() { "file" } else { name };
                            left_out.push((
                                format!("the content of the file '{name}'"),
                                "a HAR file has none: put the file beside the hurl file".to_owned(),
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
        if is_json(text) {
            return Body::Json(correlate::insert_json(self.secrets.json(text), self.correlations, self.number));
        }
        let text = correlate::insert(text.into(), self.correlations, self.number);
        Body::Text { text, hint: TextHint::Plain }
    }
}

#[cfg(test)]
mod tests;
