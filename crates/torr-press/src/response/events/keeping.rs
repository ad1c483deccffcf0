//! The inspector that keeps responses for virtual users, and watches over those that are event streams.

use super::watch::{EventWatch, is_event_stream};
use super::{EventArrival, EventPlan, OfferedSocket};
use crate::failures;
use crate::request::SentContent;
use crate::request::outgoing::RequestInfo;
use crate::response::inspect::Inspect;
use crate::response::keeper::Keeper;
use crate::response::kept::KeptResponse;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::response::{Observer, Response};

/// The status of a response behind which the connection has another protocol.
pub(crate) const SWITCHED: u16 = 101;
/// The length of the name of the field `Content-Type`.
const CONTENT_TYPE: usize = "content-type".len();

/// Keeps each response of a connection of HTTP/1.1, and counts the events of those that say that they are event streams.
#[derive(Debug)]
pub(crate) struct StreamKeeper<'p> {
    plan: &'p EventPlan,
    keeper: Keeper,
    /// The watch over the latest event stream, once the connection has had one. Most connections never have one.
    watch: Option<Box<EventWatch<'p>>>,
    /// Whether the response is an event stream.
    is_stream: bool,
    /// Whether the request that is written opens a WebSocket.
    opens: bool,
    /// What the request in flight has offered, if it opens a WebSocket.
    offered: Option<Box<OfferedSocket>>,
}

impl<'p> StreamKeeper<'p> {
    /// Returns the inspector of a connection.
    pub fn new(plan: &'p EventPlan) -> Self {
        Self { plan, keeper: Keeper::default(), watch: None, is_stream: false, opens: false, offered: None }
    }

    /// Takes what the request in flight has offered, if it opens a WebSocket.
    pub fn take_offered(&mut self) -> Option<Box<OfferedSocket>> {
        self.offered.take()
    }

    /// Returns the watch over the response, if that is an event stream.
    #[inline]
    fn watch(&mut self) -> Option<&mut EventWatch<'p>> {
        self.watch.as_deref_mut().filter(|_| self.is_stream)
    }

    /// Begins to watch over a response that says that it is an event stream.
    #[cold]
    fn begin(&mut self, status: u16, fields: &[Header<'_>]) {
        let kept = self.keeper.response();
        self.watch = EventWatch::found(self.plan, kept.hands_events, status, fields);
        self.is_stream = self.watch.is_some();
        kept.is_stream = self.is_stream;
    }
}

impl Observer for StreamKeeper<'_> {
    fn status_line(&mut self, minor: u8, reason: &str) {
        self.keeper.status_line(minor, reason);
    }

    #[inline]
    fn head(&mut self, status: u16, fields: &[Header<'_>]) {
        self.keeper.head(status, fields);
        self.is_stream = false;
        let names_type =
            |field: &Header<'_>| field.name.len() == CONTENT_TYPE && field.name.eq_ignore_ascii_case("content-type");
        if fields.iter().find(|field| names_type(field)).is_some_and(|field| is_event_stream(field.value)) {
            self.begin(status, fields);
        }
    }

    #[inline]
    fn body(&mut self, piece: &[u8]) {
        let Self { keeper, watch, is_stream, .. } = self;
        match watch {
            Some(watch) if *is_stream => watch.see_parts(piece, |part| keeper.response().add_part(part)),
            _ => keeper.body(piece),
        }
    }
}

impl Inspect for StreamKeeper<'_> {
    const STREAMS: bool = true;

    #[inline]
    fn take_arrival(&mut self, at: Nanos) -> Option<EventArrival> {
        self.watch()?.take_arrival(0, at)
    }

    #[inline]
    fn ended_here(&mut self) -> Option<Response> {
        self.watch().filter(|watch| watch.is_over())?;
        self.end_here()
    }

    #[inline]
    fn failure(&mut self) -> Option<Failure> {
        let failure = self.watch()?.take_failure();
        failure.or_else(|| self.keeper.response().lacks_events().then(failures::malformed_coding))
    }

    fn end_here(&mut self) -> Option<Response> {
        let watch = self.watch()?;
        Some(Response { status: watch.status, keep_alive: false, body: watch.body })
    }

    fn last_event(&self) -> Option<Nanos> {
        self.watch.as_ref().filter(|_| self.is_stream)?.last_event()
    }

    fn begun(&mut self, info: &RequestInfo) {
        self.keeper.begun(info);
        (self.opens, self.offered) = (info.opens_websocket, None);
    }

    #[inline]
    fn written(&mut self, out: &mut Vec<u8>, start: usize, _take_content: impl FnOnce() -> Option<SentContent>) {
        if self.opens {
            self.offered = OfferedSocket::of_request(&out[start..]);
        }
    }

    #[inline]
    fn switches(&self, response: &Response) -> bool {
        self.opens && response.status == SWITCHED
    }

    #[inline]
    fn judge(&mut self, _response: &Response) -> u32 {
        if let Some(watch) = self.watch() {
            watch.end();
        }
        0
    }

    fn opened(&mut self) {
        self.forget();
    }

    fn forget(&mut self) {
        if let Some(watch) = self.watch() {
            watch.forget();
        }
        self.is_stream = false;
    }

    fn kept(&mut self) -> Option<&mut KeptResponse> {
        self.keeper.kept()
    }
}
