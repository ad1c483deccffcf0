//! The inspection of responses: checks, redirects and the first response.

use super::checks::{Check, MOST_BODY, meant};
use super::decode::Encoding;
use super::events::{EventArrival, is_event_stream};
use super::follow::{Follower, Redirected};
use super::kept::KeptResponse;
use crate::request::SentContent;
use crate::request::digest::Credentials;
use crate::request::outgoing::RequestInfo;
use crate::servers::target::Target;
use bytes::Bytes;
use std::borrow::Cow;
use torr_gauge::Failure;
use torr_gauge::collector::FirstResponse;
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::response::{Observer, Response};

/// The inspection of the responses of one connection.
pub trait Inspect: Observer {
    /// Whether responses are streams, whose events the engine records.
    const STREAMS: bool = false;

    /// Whether what follows this response is of another protocol, to which the connection has switched.
    #[inline]
    fn switches(&self, _response: &Response) -> bool {
        false
    }

    /// Takes the events that have arrived since the last call, by this time.
    #[inline]
    fn take_arrival(&mut self, _at: Nanos) -> Option<EventArrival> {
        None
    }

    /// Returns the response whose stream the client ends here, before the server does.
    #[inline]
    fn ended_here(&mut self) -> Option<Response> {
        None
    }

    /// Returns the response whose stream is left here by the user that it is for.
    fn end_here(&mut self) -> Option<Response> {
        None
    }

    /// Takes the reason for which the response is of no use.
    #[inline]
    fn failure(&mut self) -> Option<Failure> {
        None
    }

    /// Returns the time of the latest event of an open stream; `None` before its first one.
    fn last_event(&self) -> Option<Nanos> {
        None
    }

    /// Whether the latest response is an event stream, as far as it was looked at.
    fn is_event_stream(&self) -> bool {
        false
    }

    /// Notes a request that has been written from `start` on, and may change it. The large content behind it is the inspector's
    /// to write if it takes it.
    #[inline]
    fn written(&mut self, _out: &mut Vec<u8>, _start: usize, _take_content: impl FnOnce() -> Option<SentContent>) {}

    /// Whether large content is not written yet.
    #[inline]
    fn has_unwritten(&self) -> bool {
        false
    }

    /// Takes a piece of the large content that is not written yet, of `most` bytes at most.
    fn next_piece(&mut self, _most: usize) -> Bytes {
        Bytes::new()
    }

    /// Notes the facts of a request that has been written.
    #[inline]
    fn begun(&mut self, _info: &RequestInfo) {}

    /// Returns the request of a redirect, which is to be sent now instead of a new one.
    #[inline]
    fn redirect_to_send(&mut self) -> Option<Cow<'_, [u8]>> {
        None
    }

    /// Returns the checks that a complete response has failed, a bit each.
    #[inline]
    fn judge(&mut self, _response: &Response) -> u32 {
        0
    }

    /// Returns where a response leads, if it is a redirect that is followed.
    #[inline]
    fn redirected(&mut self, _response: &Response) -> Option<Redirected> {
        None
    }

    /// Takes the reason for which the latest response, a redirect, is not followed although it should be.
    fn redirect_failure(&mut self) -> Option<Failure> {
        None
    }

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
    /// The credentials with which challenges of digest authentication are met (RFC 7616).
    pub digest: Option<Credentials>,
    /// Whether to keep the header section of the first response.
    pub keep_first: bool,
}

impl Inspection {
    /// Whether there is anything to look at.
    pub fn is_needed(&self) -> bool {
        !self.checks.is_empty() || self.follow || self.digest.is_some() || self.keep_first
    }
}

/// The inspector of the responses of one connection.
#[derive(Debug)]
pub struct Inspector<'p> {
    inspection: &'p Inspection,
    needs_body: bool,
    failed: u32,
    body: Vec<u8>,
    encoding: Option<Encoding>,
    is_event_stream: bool,
    /// The follower of redirects and challenges, where they are followed.
    follower: Option<Follower<'p>>,
    first: First,
}

/// The first response of a connection.
#[derive(Debug)]
enum First {
    /// The response is not to be kept, or was taken.
    Unwanted,
    /// The response has not begun.
    Awaited,
    /// The header section has arrived.
    Begun(FirstResponse),
    /// The response is complete.
    Complete(FirstResponse),
}

impl<'p> Inspector<'p> {
    pub(crate) fn new(inspection: &'p Inspection, target: &'p Target) -> Self {
        Self {
            inspection,
            needs_body: inspection.checks.iter().any(Check::needs_body),
            failed: 0,
            body: Vec::new(),
            encoding: None,
            is_event_stream: false,
            follower: (inspection.follow || inspection.digest.is_some())
                .then(|| Follower::new(target, inspection.follow, inspection.digest.as_ref())),
            first: if inspection.keep_first { First::Awaited } else { First::Unwanted },
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
        self.failed = 0;
        self.body.clear();
        self.fail(|check| check.holds_for_head(status, fields));
        let value = |name: &str| fields.iter().find(|f| f.name.eq_ignore_ascii_case(name)).map(|f| f.value);
        self.encoding = value("content-encoding").and_then(Encoding::of);
        self.is_event_stream = value("content-type").is_some_and(is_event_stream);
        if let Some(follower) = &mut self.follower {
            follower.see_head(status, fields);
        }
        if let First::Awaited | First::Begun(_) = self.first {
            let headers = fields.iter().map(|f| (f.name.to_owned(), f.value.to_vec())).collect();
            self.first = First::Begun(FirstResponse { status, headers, body: 0 });
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
    fn is_event_stream(&self) -> bool {
        self.is_event_stream
    }

    fn written(&mut self, out: &mut Vec<u8>, start: usize, take_content: impl FnOnce() -> Option<SentContent>) {
        if let Some(follower) = &mut self.follower {
            follower.written(out, start, take_content().unwrap_or_default());
        }
    }

    fn has_unwritten(&self) -> bool {
        self.follower.as_ref().is_some_and(Follower::has_unwritten)
    }

    fn next_piece(&mut self, most: usize) -> Bytes {
        self.follower.as_mut().map_or_else(Bytes::new, |follower| follower.next_piece(most))
    }

    fn redirect_to_send(&mut self) -> Option<Cow<'_, [u8]>> {
        self.follower.as_mut()?.take_waiting()
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
        // Most responses are not to be kept, and nothing is moved for them.
        if matches!(self.first, First::Begun(_)) {
            self.first = match std::mem::replace(&mut self.first, First::Unwanted) {
                First::Begun(first) => First::Complete(FirstResponse { body: response.body, ..first }),
                other => other,
            };
        }
        std::mem::take(&mut self.failed)
    }

    fn redirected(&mut self, response: &Response) -> Option<Redirected> {
        self.follower.as_mut()?.next(response)
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        self.follower.as_mut()?.take_failure()
    }

    fn is_draining(&self) -> bool {
        self.follower.as_ref().is_some_and(Follower::needs_connection)
    }

    fn opened(&mut self) {
        if let Some(follower) = &mut self.follower {
            follower.opened();
        }
    }

    fn forget(&mut self) {
        if let Some(follower) = &mut self.follower {
            follower.forget();
        }
    }

    fn redirects(&mut self) -> u8 {
        self.follower.as_mut().map_or(0, Follower::take_followed)
    }

    fn first(&mut self) -> Option<FirstResponse> {
        match std::mem::replace(&mut self.first, First::Unwanted) {
            First::Begun(first) | First::Complete(first) => Some(first),
            First::Unwanted | First::Awaited => None,
        }
    }
}
