//! What is looked at in an answer, beyond what every answer is counted by.

use crate::checks::{Check, MOST_BODY, meant};
use crate::decode::Encoding;
use crate::redirect;
use crate::target::Target;
use torr_gauge::collector::FirstResponse;
use torr_wire::Header;
use torr_wire::response::{Observer, Response};

/// The most redirects that one request is led through.
const MOST_REDIRECTS: u8 = 10;

/// Who looks at the answers of one connection.
pub trait Inspect: Observer {
    /// A request has been written.
    #[inline]
    fn sent(&mut self, _request: &[u8]) {}

    /// A request that a redirect has left to be sent, instead of a new one.
    #[inline]
    fn again(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// The answer is whole. Gives the checks that it failed, a bit each.
    #[inline]
    fn judge(&mut self, _answer: &Response) -> u32 {
        0
    }

    /// The request that a redirect leads to, if it is to be followed.
    #[inline]
    fn redirected(&mut self, _answer: &Response) -> Option<Vec<u8>> {
        None
    }

    /// Keeps a request for another connection.
    fn keep(&mut self, _request: Vec<u8>) {}

    /// Whether a request waits for another connection than this one.
    #[inline]
    fn is_draining(&self) -> bool {
        false
    }

    /// There is another connection.
    fn opened(&mut self) {}

    /// Whatever was kept has failed.
    fn forget(&mut self) {}

    /// How many redirects the answered request was led through.
    #[inline]
    fn redirects(&mut self) -> u8 {
        0
    }

    /// The first answer, if that was to be kept.
    fn first(&mut self) -> Option<FirstResponse> {
        None
    }
}

/// Looks at nothing, at no cost.
impl Inspect for () {}

/// What to look at.
#[derive(Debug, Clone, Default)]
pub struct Inspection {
    /// What is expected of each answer; 32 at most.
    pub checks: Vec<Check>,
    /// Whether redirects are followed, as far as they stay with the same scheme, host and port.
    pub follow: bool,
    /// Whether to keep the first answer's head.
    pub keep_first: bool,
}

impl Inspection {
    /// Whether there is anything to look at.
    pub fn is_needed(&self) -> bool {
        !self.checks.is_empty() || self.follow || self.keep_first
    }
}

/// Looks at the answers of one connection.
#[derive(Debug)]
pub struct Inspector<'p> {
    inspection: &'p Inspection,
    target: &'p Target,
    needs_body: bool,
    failed: u32,
    body: Vec<u8>,
    encoding: Option<Encoding>,
    location: Option<String>,
    /// The request under way, where a redirect may have to change it.
    request: Vec<u8>,
    /// What a redirect has made of it, where that needs another connection.
    kept: Option<Vec<u8>>,
    leaving: bool,
    redirects: u8,
    first: Option<FirstResponse>,
    has_first: bool,
}

impl<'p> Inspector<'p> {
    pub(crate) fn new(inspection: &'p Inspection, target: &'p Target) -> Self {
        Self {
            inspection,
            target,
            needs_body: inspection.checks.iter().any(Check::needs_body),
            failed: 0,
            body: Vec::new(),
            encoding: None,
            location: None,
            request: Vec::new(),
            kept: None,
            leaving: false,
            redirects: 0,
            first: None,
            has_first: !inspection.keep_first,
        }
    }

    fn fail(&mut self, holds: impl Fn(&Check) -> bool) {
        let failed = self.inspection.checks.iter().enumerate().filter(|(_, check)| !holds(check));
        self.failed |= failed.fold(0, |bits, (at, _)| bits | 1 << at);
    }

    /// Takes the head of an answer, whatever protocol it came by.
    pub(crate) fn see_head(&mut self, status: u16, fields: &[Header<'_>]) {
        if status < 200 && status != 101 {
            return;
        }
        (self.failed, self.encoding, self.location) = (0, None, None);
        self.body.clear();
        self.fail(|check| check.holds_for_head(status, fields));
        let value = |name: &str| fields.iter().find(|f| f.name.eq_ignore_ascii_case(name)).map(|f| f.value);
        self.encoding = value("content-encoding").and_then(Encoding::of);
        if self.inspection.follow && matches!(status, 301 | 302 | 303 | 307 | 308) {
            self.location = value("location").map(|value| String::from_utf8_lossy(value).into_owned());
        }
        if !self.has_first {
            let headers = fields.iter().map(|f| (f.name.to_owned(), f.value.to_vec())).collect();
            self.first = Some(FirstResponse { status, headers, body: 0 });
        }
    }
}

impl Observer for Inspector<'_> {
    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        self.see_head(status, fields);
    }

    fn body(&mut self, piece: &[u8]) {
        if self.needs_body && self.body.len() <= MOST_BODY {
            self.body.extend_from_slice(piece);
        }
    }
}

impl Inspect for Inspector<'_> {
    fn sent(&mut self, request: &[u8]) {
        if self.inspection.follow {
            self.redirects = 0;
            self.request.clear();
            self.request.extend_from_slice(request);
        }
    }

    fn again(&mut self) -> Option<Vec<u8>> {
        self.kept.take()
    }

    fn judge(&mut self, answer: &Response) -> u32 {
        if self.needs_body {
            let whole = self.body.len() <= MOST_BODY;
            let body = std::mem::take(&mut self.body);
            let body = whole.then(|| meant(body, self.encoding)).flatten();
            self.fail(|check| check.holds_for_body(body.as_deref()));
            self.body = body.unwrap_or_default();
            self.body.clear();
        }
        if let Some(first) = self.first.as_mut().filter(|_| !self.has_first) {
            self.has_first = true;
            first.body = answer.body;
        }
        std::mem::take(&mut self.failed)
    }

    fn redirected(&mut self, answer: &Response) -> Option<Vec<u8>> {
        let location = self.location.take().filter(|_| self.redirects < MOST_REDIRECTS)?;
        let to = redirect::path(&location, self.target, redirect::target_of(&self.request)?)?;
        let request = redirect::follow(&self.request, answer.status, &to)?;
        self.redirects += 1;
        self.request.clone_from(&request);
        Some(request)
    }

    fn keep(&mut self, request: Vec<u8>) {
        self.kept = Some(request);
        self.leaving = true;
    }

    fn is_draining(&self) -> bool {
        self.leaving
    }

    fn opened(&mut self) {
        self.leaving = false;
    }

    fn forget(&mut self) {
        (self.kept, self.redirects) = (None, 0);
    }

    fn redirects(&mut self) -> u8 {
        std::mem::take(&mut self.redirects)
    }

    fn first(&mut self) -> Option<FirstResponse> {
        self.first.take()
    }
}
