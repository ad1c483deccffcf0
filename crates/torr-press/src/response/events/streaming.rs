//! The inspector of connections whose responses are event streams.

use super::watch::EventWatch;
use super::{EventArrival, EventPlan};
use crate::request::SentContent;
use crate::request::outgoing::RequestInfo;
use crate::response::follow::Redirected;
use crate::response::inspect::{Inspect, Inspector};
use crate::response::kept::KeptResponse;
use bytes::Bytes;
use std::borrow::Cow;
use torr_gauge::Failure;
use torr_gauge::collector::FirstResponse;
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::response::{Observer, Response};

/// Watches over the events of the responses of one connection of HTTP/1.1, and inspects the responses otherwise.
#[derive(Debug)]
pub struct Streaming<'p> {
    watch: EventWatch<'p>,
    inspector: Inspector<'p>,
}

impl<'p> Streaming<'p> {
    pub(crate) fn new(plan: &'p EventPlan, inspector: Inspector<'p>) -> Self {
        Self { watch: EventWatch::new(plan), inspector }
    }
}

impl Observer for Streaming<'_> {
    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        self.watch.see_head(status, fields);
        self.inspector.head(status, fields);
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        self.watch.see_body(piece);
    }
}

impl Inspect for Streaming<'_> {
    const STREAMS: bool = true;

    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        self.watch.take_arrival(0, at)
    }

    fn ended_here(&mut self) -> Option<Response> {
        let ended = || Response { status: self.watch.status, keep_alive: false, body: self.watch.body };
        self.watch.is_over().then(ended)
    }

    fn failure(&mut self) -> Option<Failure> {
        self.watch.take_failure()
    }

    fn last_event(&self) -> Option<Nanos> {
        self.watch.last_event()
    }

    fn written(&mut self, out: &mut Vec<u8>, start: usize, take_content: impl FnOnce() -> Option<SentContent>) {
        self.inspector.written(out, start, take_content);
    }

    fn has_unwritten(&self) -> bool {
        self.inspector.has_unwritten()
    }

    fn next_piece(&mut self, most: usize) -> Bytes {
        self.inspector.next_piece(most)
    }

    fn begun(&mut self, info: &RequestInfo) {
        self.inspector.begun(info);
    }

    fn redirect_to_send(&mut self) -> Option<Cow<'_, [u8]>> {
        self.inspector.redirect_to_send()
    }

    fn judge(&mut self, response: &Response) -> u32 {
        self.watch.end();
        self.inspector.judge(response)
    }

    fn redirected(&mut self, response: &Response) -> Option<Redirected> {
        self.inspector.redirected(response)
    }

    fn redirect_failure(&mut self) -> Option<Failure> {
        self.inspector.redirect_failure()
    }

    fn is_draining(&self) -> bool {
        self.inspector.is_draining()
    }

    fn opened(&mut self) {
        self.watch.forget();
        self.inspector.opened();
    }

    fn forget(&mut self) {
        self.watch.forget();
        self.inspector.forget();
    }

    fn redirects(&mut self) -> u8 {
        self.inspector.redirects()
    }

    fn first(&mut self) -> Option<FirstResponse> {
        self.inspector.first()
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.inspector.kept()
    }
}
