//! The inspection of responses: checks, redirects and the first response.

use super::checks::{Check, MOST_BODY, meant};
use super::decode::Encoding;
use super::kept::KeptResponse;
use super::redirect;
use crate::servers::target::Target;
use crate::work::outgoing::RequestInfo;
use torr_gauge::Failure;
use torr_gauge::collector::FirstResponse;
use torr_wire::Header;
use torr_wire::response::{Observer, Response};

/// The inspection of the responses of one connection.
pub trait Inspect: Observer {
    /// Notes the bytes of a request that has been written.
    #[inline]
    fn written(&mut self, _request: &[u8]) {}

    /// Notes the facts of a request that has been written.
    #[inline]
    fn begun(&mut self, _info: &RequestInfo) {}

    /// Takes the request of a redirect, which is to be sent instead of a new one.
    #[inline]
    fn redirect_to_send(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// Returns the checks that a complete response has failed, a bit each.
    #[inline]
    fn judge(&mut self, _response: &Response) -> u32 {
        0
    }

    /// Returns the request of a redirect, if it is to be followed.
    #[inline]
    fn redirected(&mut self, _response: &Response) -> Option<Vec<u8>> {
        None
    }

    /// Takes the reason for which the latest response, a redirect, is not followed although it should be.
    fn redirect_failure(&mut self) -> Option<Failure> {
        None
    }

    /// Keeps the request of a redirect for another connection.
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

    /// Returns how many redirects led to the latest response.
    #[inline]
    fn redirects(&mut self) -> u8 {
        0
    }

    /// Takes the first response, if it was to be kept.
    fn first(&mut self) -> Option<FirstResponse> {
        None
    }

    /// Returns the response that is complete, if responses are kept.
    fn kept(&mut self) -> Option<&mut KeptResponse> {
        None
    }
}

/// Looks at nothing, at no cost.
impl Inspect for () {}

/// The settings of an inspection.
#[derive(Debug, Clone, Default)]
pub struct Inspection {
    /// The checks of each response; 32 at most.
    pub checks: Vec<Check>,
    /// Whether redirects are followed, as far as they stay with the same scheme, host and port.
    pub follow: bool,
    /// Whether to keep the header section of the first response.
    pub keep_first: bool,
}

impl Inspection {
    /// Whether there is anything to look at.
    pub fn is_needed(&self) -> bool {
        !self.checks.is_empty() || self.follow || self.keep_first
    }
}

/// The inspector of the responses of one connection.
#[derive(Debug)]
pub struct Inspector<'p> {
    inspection: &'p Inspection,
    target: &'p Target,
    needs_body: bool,
    failed: u32,
    body: Vec<u8>,
    encoding: Option<Encoding>,
    /// The `Location` of a redirect, empty if the response has none; `None` for other responses.
    location: Option<Vec<u8>>,
    /// The reason for which the latest redirect is not followed.
    redirect_failure: Option<Failure>,
    /// The request in flight, where redirects are followed.
    request: Vec<u8>,
    /// The request of a redirect that has to go on another connection.
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
            redirect_failure: None,
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

    /// Checks the header section of a response, of either protocol.
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
            self.location = Some(value("location").unwrap_or_default().to_vec());
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
    fn written(&mut self, request: &[u8]) {
        if self.inspection.follow {
            self.redirects = 0;
            self.request.clear();
            self.request.extend_from_slice(request);
        }
    }

    fn redirect_to_send(&mut self) -> Option<Vec<u8>> {
        self.kept.take()
    }

    fn judge(&mut self, response: &Response) -> u32 {
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
            first.body = response.body;
        }
        std::mem::take(&mut self.failed)
    }

    fn redirected(&mut self, response: &Response) -> Option<Vec<u8>> {
        let location = self.location.take()?;
        match redirect::next(&self.request, response.status, &location, self.target, self.redirects) {
            Ok(request) => {
                self.redirects += 1;
                self.request.clone_from(&request);
                Some(request)
            }
            Err(error) => {
                self.redirect_failure = Some(error.into());
                None
            }
        }
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        self.redirect_failure.take()
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
        (self.kept, self.redirects, self.redirect_failure) = (None, 0, None);
    }

    fn redirects(&mut self) -> u8 {
        std::mem::take(&mut self.redirects)
    }

    fn first(&mut self) -> Option<FirstResponse> {
        self.first.take()
    }
}
