//! The samples of a request.

use crate::metrics::{RequestFacts, TagSet, builtin};
use crate::options::{SystemTag, SystemTags};
use crate::user::Vu;
use crate::user::exchange::Outcome;
use std::cell::Cell;
use std::rc::Rc;

/// A request that has its outcome, as its samples tell of it.
pub struct Hop<'c> {
    /// The tags of the virtual user.
    pub base: &'c TagSet,
    /// The method.
    pub method: &'c str,
    /// The URL.
    pub url: &'c Rc<str>,
    /// The value of the tag `name`, where it is not the URL.
    pub name: Option<&'c Rc<str>>,
    /// The tags that the script gives.
    pub tags: &'c [(String, String)],
    /// Whether the status is expected, if anything is said of it.
    pub expected: Option<bool>,
    /// The outcome.
    pub outcome: &'c Outcome,
}

/// The bytes of a virtual user's requests that are still to be recorded.
#[derive(Debug, Default)]
pub struct SampleState {
    /// The bytes that were sent since they were last recorded.
    pub sent: Cell<u64>,
    /// The bytes that were received since they were last recorded.
    pub received: Cell<u64>,
}

impl SampleState {
    /// Adds the bytes of a socket: those that were sent, and those that were received.
    pub fn add(&self, (sent, received): (u64, u64)) {
        self.sent.set(self.sent.get() + sent);
        self.received.set(self.received.get() + received);
    }
}

/// Records the samples of a request.
pub fn record(vu: &Vu, hop: &Hop<'_>) {
    let mut recorder = vu.recorder.borrow_mut();
    let system = vu.tags.borrow().system();
    let status = hop.outcome.result.as_ref().map_or(0, |incoming| incoming.status);
    let further = || further_tags(system, hop, status);
    let tags = match &hop.outcome.result {
        Ok(incoming) if hop.tags.is_empty() && hop.name.is_none() && hop.outcome.tls.is_none() => {
            let (method, url, version, expected) = (hop.method, hop.url, incoming.version, hop.expected);
            recorder.request_tags(hop.base, &RequestFacts { method, url, status, version, expected }, further)
        }
        _ => recorder.tag_set(hop.base, &further()),
    };
    let timings = &hop.outcome.timings;
    let now = recorder.now();
    for (metric, value) in [
        (builtin::HTTP_REQS, 1.0),
        (builtin::HTTP_REQ_DURATION, timings.duration()),
        (builtin::HTTP_REQ_BLOCKED, timings.blocked),
        (builtin::HTTP_REQ_CONNECTING, timings.connecting),
        (builtin::HTTP_REQ_TLS_HANDSHAKING, timings.handshaking),
        (builtin::HTTP_REQ_SENDING, timings.sending),
        (builtin::HTTP_REQ_WAITING, timings.waiting),
        (builtin::HTTP_REQ_RECEIVING, timings.receiving),
    ] {
        recorder.add_at(metric, value, &tags, now);
    }
    if let Some(expected) = hop.expected {
        recorder.add_at(builtin::HTTP_REQ_FAILED, f64::from(u8::from(!expected)), &tags, now);
    }
    vu.extra::<SampleState>().add((hop.outcome.sent, hop.outcome.received));
}

/// Returns the tags of a request beside those that all samples of the user carry.
fn further_tags<'h>(system: SystemTags, hop: &'h Hop<'_>, status: u16) -> Vec<(&'h str, &'h str)> {
    let mut tags: Vec<(&str, &str)> = Vec::with_capacity(hop.tags.len() + 10);
    tags.extend(hop.tags.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    let mut add = |tag: SystemTag, value: &'h str| {
        if system.has(tag) {
            tags.push((tag.name(), value));
        }
    };
    let name = hop.name.unwrap_or(hop.url);
    add(SystemTag::Name, name);
    add(SystemTag::Url, name);
    add(SystemTag::Method, hop.method);
    add(SystemTag::Status, status_text(status));
    if let Some(expected) = hop.expected {
        add(SystemTag::ExpectedResponse, if expected { "true" } else { "false" });
    }
    match &hop.outcome.result {
        Ok(incoming) => add(SystemTag::Proto, proto(incoming.version)),
        Err(refusal) => {
            add(SystemTag::Error, &refusal.text);
            add(SystemTag::ErrorCode, code_text(refusal.code));
        }
    }
    if status >= 400 {
        add(SystemTag::ErrorCode, code_text(1000 + u32::from(status)));
    }
    if let Some((version, _)) = &hop.outcome.tls {
        add(SystemTag::TlsVersion, tls_version(version));
    }
    tags
}

/// Returns a version of HTTP as scripts see it.
#[must_use]
pub fn proto(version: &str) -> &'static str {
    match version {
        "1.0" => "HTTP/1.0",
        "2" => "HTTP/2.0",
        _ => "HTTP/1.1",
    }
}

/// Returns a version of TLS as scripts see it.
#[must_use]
pub fn tls_version(version: &str) -> &'static str {
    match version {
        "TLSv1.2" => "tls1.2",
        "TLSv1.3" => "tls1.3",
        "TLSv1.1" => "tls1.1",
        _ => "tls1.0",
    }
}

/// Returns a status as text, from memory that all samples share.
fn status_text(status: u16) -> &'static str {
    text_of_number(u32::from(status))
}

fn code_text(code: u32) -> &'static str {
    text_of_number(code)
}

/// Returns a number below 2,000 as text that lives as long as the program.
fn text_of_number(number: u32) -> &'static str {
    use std::sync::LazyLock;
    static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| (0..2000).map(|number: u32| number.to_string()).collect());
    TEXTS.get(number as usize).map_or("0", String::as_str)
}
