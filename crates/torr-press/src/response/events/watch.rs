//! The watch over the response of one request: whether it is an event stream, and its events.

use super::tokens::TokenWatch;
use super::unpacked::Unpacker;
use super::{EventArrival, EventPlan, EventRule};
use crate::failures;
use crate::response::decode::Encoding;
use std::num::NonZero;
use std::ops::ControlFlow;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::event_stream::{Event, EventReader};

/// The media type of event streams.
const MEDIA_TYPE: &[u8] = b"text/event-stream";

/// Whether the value of a `Content-Type` field, with its parameters, is that of an event stream.
pub(crate) fn is_event_stream(media_type: &[u8]) -> bool {
    let essence = media_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    essence.eq_ignore_ascii_case(MEDIA_TYPE)
}

/// The decoder of the content of event streams.
#[derive(Debug)]
struct Decoder<'p> {
    reader: EventReader,
    unpacker: Option<Unpacker>,
    /// The watch over tokens, if those are counted.
    tokens: Option<Box<TokenWatch<'p>>>,
}

/// A part of a stream that has arrived.
#[derive(Debug)]
pub(crate) enum StreamPart<'a> {
    /// An event that is complete.
    Event(&'a Event<'a>),
    /// Text of the stream, that of events among it.
    Text(&'a [u8]),
}

/// The watch over one response at a time.
#[derive(Debug)]
pub(crate) struct EventWatch<'p> {
    plan: &'p EventPlan,
    /// The decoder of the content; `None` where events are messages of a protocol that frames them itself.
    decoder: Option<Decoder<'p>>,
    /// The status of the response, once its header section has arrived.
    pub status: u16,
    /// The bytes of content that have arrived.
    pub body: u64,
    /// Whether the response is an event stream.
    is_stream: bool,
    /// Why it is none, although it has succeeded.
    failure: Option<Failure>,
    /// The events of the stream.
    seen: u64,
    /// The events among them that have not been taken.
    fresh: u32,
    /// The time of the latest event that has been taken.
    last: Option<NonZero<Nanos>>,
    is_over: bool,
}

impl<'p> EventWatch<'p> {
    /// Returns a watch that awaits an event stream.
    pub fn new(plan: &'p EventPlan) -> Self {
        Self::reading(plan, plan.until.is_some() || plan.tokens.is_some())
    }

    /// Returns a watch over a stream whose events are wanted with their data.
    pub fn with_data(plan: &'p EventPlan) -> Self {
        Self::reading(plan, true)
    }

    /// Returns a watch over the events of a response that says that it is an event stream, if its header section agrees. `hands_events`
    /// tells whether events are handed over with their data.
    #[cold]
    pub fn found(plan: &'p EventPlan, hands_events: bool, status: u16, fields: &[Header<'_>]) -> Option<Box<Self>> {
        let mut events = Box::new(if hands_events { Self::with_data(plan) } else { Self::new(plan) });
        events.see_head(status, fields);
        Some(events).filter(|events| events.is_stream())
    }

    fn reading(plan: &'p EventPlan, wants_data: bool) -> Self {
        let reader = if wants_data { EventReader::with_data() } else { EventReader::counting() };
        let tokens = plan.tokens.as_ref().map(|rule| Box::new(TokenWatch::new(rule)));
        Self { decoder: Some(Decoder { reader, unpacker: None, tokens }), ..Self::of_messages(plan) }
    }

    /// Returns a watch over a stream whose events are messages that [`Self::see_messages`] counts.
    pub fn of_messages(plan: &'p EventPlan) -> Self {
        Self {
            plan,
            decoder: None,
            status: 0,
            body: 0,
            is_stream: false,
            failure: None,
            seen: 0,
            fresh: 0,
            last: None,
            is_over: false,
        }
    }

    /// Takes the header section of a response.
    pub fn see_head(&mut self, status: u16, fields: &[Header<'_>]) {
        if status < 200 {
            return;
        }
        let Some(decoder) = &mut self.decoder else { return };
        decoder.reader.reset();
        (decoder.unpacker, self.status, self.body, self.failure) = (None, status, 0, None);
        (self.seen, self.fresh, self.last, self.is_over) = (0, 0, None, false);
        if let Some(tokens) = &mut decoder.tokens {
            tokens.reset();
        }
        let value = |name: &str| fields.iter().find(|f| f.name.eq_ignore_ascii_case(name)).map(|f| f.value);
        let media_type = value("content-type").unwrap_or_default();
        self.is_stream = status == 200 && is_event_stream(media_type);
        if !self.is_stream {
            if self.plan.demands_streams && (200..300).contains(&status) {
                self.failure = Some(failures::no_event_stream(status, media_type));
            }
            return;
        }
        if let Some(encoding) = value("content-encoding").and_then(Encoding::of) {
            decoder.unpacker = Unpacker::of(encoding);
            if decoder.unpacker.is_none() {
                self.failure = Some(failures::unknown_coding(value("content-encoding").unwrap_or_default()));
            }
        }
    }

    /// Takes a piece of the content.
    #[inline]
    pub fn see_body(&mut self, piece: &[u8]) {
        self.see_parts(piece, |_| {});
    }

    /// Takes a piece of the content, and passes the events and the text of the stream in it to `keep`, decoded, up to the event with
    /// which the client ends the stream.
    #[inline]
    pub fn see_parts(&mut self, piece: &[u8], mut keep: impl FnMut(StreamPart<'_>)) {
        self.body += piece.len() as u64;
        if !self.is_stream || self.is_over {
            return;
        }
        let Self { plan, decoder, seen, fresh, is_over, .. } = self;
        let Some(Decoder { reader, unpacker, tokens }) = decoder else { return };
        let mut read = |text: &[u8]| {
            if *is_over {
                return;
            }
            let used = reader.read_until(text, |event| {
                *seen += 1;
                *fresh += 1;
                if let Some(tokens) = tokens {
                    tokens.see(event.data);
                }
                *is_over = plan.most.is_some_and(|most| *seen >= most.get())
                    || plan.until.as_ref().is_some_and(|rule| rule.is_met(&event));
                keep(StreamPart::Event(&event));
                if *is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            keep(StreamPart::Text(&text[..used]));
        };
        match unpacker {
            None => read(piece),
            Some(unpacker) => {
                if unpacker.unpack(piece, read).is_err() {
                    self.failure = Some(failures::malformed_coding());
                }
            }
        }
    }

    /// Begins a stream of messages.
    pub fn begin(&mut self) {
        (self.body, self.seen, self.fresh, self.last, self.is_over) = (0, 0, 0, None, false);
    }

    /// Whether [`Self::see_message`] needs what is in messages.
    #[inline]
    pub fn wants_data(&self) -> bool {
        self.plan.until.is_some()
    }

    /// Counts a message of this kind, which is the last one if it meets the plan's rule.
    #[inline]
    pub fn see_message(&mut self, kind: &[u8], data: &[u8]) {
        let is_last = |rule: &EventRule| rule.is_met(&Event { kind, data, id: b"", is_whole: true });
        let ends = self.plan.until.as_ref().is_some_and(is_last);
        self.see_messages(1);
        self.is_over |= ends;
    }

    /// Counts messages that have arrived together. Those behind the last one that the plan wants do not count.
    #[inline]
    pub fn see_messages(&mut self, count: u32) {
        let left = self.plan.most.map_or(u64::MAX, |most| most.get().saturating_sub(self.seen));
        let counted = u64::from(count).min(left);
        self.seen += counted;
        self.fresh += counted as u32;
        self.is_over |= counted == left;
    }

    /// Takes the events that have arrived since the last call, by this time.
    #[inline]
    pub fn take_arrival(&mut self, key: u32, at: Nanos) -> Option<EventArrival> {
        let events = NonZero::new(std::mem::take(&mut self.fresh))?;
        let before = std::mem::replace(&mut self.last, NonZero::new(at.max(1)));
        let tokens = self.decoder.as_mut().and_then(|decoder| decoder.tokens.as_mut());
        let tokens = tokens.map(|tokens| tokens.take(at));
        Some(EventArrival { key, events, before, tokens })
    }

    /// Takes the reason for which the response is no event stream.
    #[inline]
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Whether the response is an event stream.
    #[inline]
    pub fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Whether the client ends the stream here.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Returns the time of the latest event of an open stream; `None` before its first one.
    pub fn last_event(&self) -> Option<Nanos> {
        self.last.map(NonZero::get)
    }

    /// Notes that the response is complete. Its last events can still be taken.
    pub fn end(&mut self) {
        (self.is_stream, self.is_over) = (false, false);
    }

    /// Forgets the response: there is another connection, or it has failed.
    pub fn forget(&mut self) {
        (self.is_stream, self.fresh, self.last, self.failure, self.is_over) = (false, 0, None, None, false);
        if let Some(decoder) = &mut self.decoder {
            decoder.unpacker = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn plan(until: Option<&str>, most: Option<u64>) -> EventPlan {
        let until = until.map(|rule| EventRule::parse(rule).expect("it is a rule"));
        EventPlan {
            demands_streams: true,
            until,
            tokens: None,
            most: most.and_then(NonZero::new),
            idle_timeout: Duration::from_secs(1),
        }
    }

    fn begin(watch: &mut EventWatch<'_>, status: u16, media_type: &str) -> Option<Failure> {
        watch.see_head(status, &[Header { name: "Content-Type", value: media_type.as_bytes() }]);
        watch.take_failure()
    }

    /// Takes the arrival at a time: the events, and the time of the one before.
    fn taken(watch: &mut EventWatch<'_>, at: Nanos) -> Option<(u32, Option<Nanos>)> {
        watch.take_arrival(0, at).map(|arrival| (arrival.events.get(), arrival.before.map(NonZero::get)))
    }

    #[test]
    fn events_have_the_time_of_the_one_before_in_their_stream() {
        let plan = plan(None, None);
        let mut watch = EventWatch::new(&plan);
        assert_eq!(begin(&mut watch, 200, "Text/Event-Stream; charset=utf-8"), None);
        assert_eq!((taken(&mut watch, 5), watch.last_event()), (None, None));
        watch.see_body(b"data: 1\n\ndata: 2\n\ndata");
        assert_eq!(taken(&mut watch, 10), Some((2, None)));
        watch.see_body(b": 3\n\n");
        assert_eq!((taken(&mut watch, 25), watch.last_event()), (Some((1, Some(10))), Some(25)));
        // The next stream of the connection begins anew, also in the middle of a line.
        watch.see_body(b"data: not compl");
        watch.end();
        assert_eq!(begin(&mut watch, 200, "text/event-stream"), None);
        watch.see_body(b"data: 1\n\n");
        assert_eq!(taken(&mut watch, 40), Some((1, None)));
    }

    #[test]
    fn a_stream_is_over_with_the_event_that_is_meant() {
        for plan in [plan(Some("data == 2"), None), plan(None, Some(2)), plan(Some("event == end"), Some(2))] {
            let mut watch = EventWatch::new(&plan);
            assert_eq!(begin(&mut watch, 200, "text/event-stream"), None);
            watch.see_body(b"data: 1\n\n");
            assert!(!watch.is_over());
            watch.see_body(b"data: 2\n\ndata: 3\n\n");
            assert!(watch.is_over());
            assert_eq!(taken(&mut watch, 10), Some((2, None)), "what follows is not counted");
            // The last events can be taken after the end, and the next response is not over when it begins.
            watch.end();
            assert!(!watch.is_over());
        }
    }

    #[test]
    fn messages_are_counted_up_to_the_last_one_that_is_wanted() {
        let plan = plan(None, Some(3));
        let mut watch = EventWatch::of_messages(&plan);
        watch.see_messages(0);
        assert_eq!((taken(&mut watch, 5), watch.is_over()), (None, false));
        watch.see_messages(2);
        assert_eq!((taken(&mut watch, 10), watch.is_over()), (Some((2, None)), false));
        watch.see_messages(7);
        assert_eq!((taken(&mut watch, 25), watch.is_over()), (Some((1, Some(10))), true));
        watch.see_messages(1);
        assert_eq!((taken(&mut watch, 30), watch.is_over()), (None, true));
    }

    #[test]
    fn only_successful_event_streams_are_streams() {
        let plan = plan(None, None);
        let mut watch = EventWatch::new(&plan);
        let failure = begin(&mut watch, 200, "text/html").expect("it is no event stream");
        assert_eq!(failure.what, "no event stream: its Content-Type is text/html");
        assert!(begin(&mut watch, 204, "").is_some_and(|failure| failure.what.contains("its status is 204, not 200")));
        // A failed or redirecting response is counted by its status.
        for status in [302, 404, 500] {
            assert_eq!(begin(&mut watch, status, "text/plain"), None);
            watch.see_body(b"data: 1\n\n");
            assert_eq!(taken(&mut watch, 10), None, "{status}");
        }
        let zstd = Header { name: "content-encoding", value: b"zstd" };
        let stream = Header { name: "content-type", value: b"text/event-stream" };
        watch.see_head(200, &[stream, zstd]);
        assert!(watch.take_failure().is_some_and(|failure| failure.what.contains("Content-Encoding zstd")));
    }
}
