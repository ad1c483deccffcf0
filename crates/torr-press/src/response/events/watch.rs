//! The watch over the response of one request: whether it is an event stream, and its events.

use super::unpacked::Unpacker;
use super::{EventArrival, EventPlan};
use crate::failures;
use crate::response::decode::Encoding;
use std::num::NonZero;
use torr_gauge::Failure;
use torr_net::Nanos;
use torr_wire::Header;
use torr_wire::event_stream::EventReader;

/// The media type of event streams.
const MEDIA_TYPE: &[u8] = b"text/event-stream";

/// The watch over one response at a time.
#[derive(Debug)]
pub(crate) struct EventWatch<'p> {
    plan: &'p EventPlan,
    reader: EventReader,
    unpacker: Option<Unpacker>,
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
    /// Returns a watch that awaits a response.
    pub fn new(plan: &'p EventPlan) -> Self {
        let reader = if plan.until.is_some() { EventReader::with_data() } else { EventReader::counting() };
        Self {
            plan,
            reader,
            unpacker: None,
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
        self.reader.reset();
        (self.unpacker, self.status, self.body, self.failure) = (None, status, 0, None);
        (self.seen, self.fresh, self.last, self.is_over) = (0, 0, None, false);
        let value = |name: &str| fields.iter().find(|f| f.name.eq_ignore_ascii_case(name)).map(|f| f.value);
        let media_type = value("content-type").unwrap_or_default();
        let essence = media_type.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
        self.is_stream = status == 200 && essence.eq_ignore_ascii_case(MEDIA_TYPE);
        if !self.is_stream {
            if (200..300).contains(&status) {
                self.failure = Some(failures::no_event_stream(status, media_type));
            }
            return;
        }
        if let Some(encoding) = value("content-encoding").and_then(Encoding::of) {
            self.unpacker = Unpacker::of(encoding);
            if self.unpacker.is_none() {
                self.failure = Some(failures::unknown_coding(value("content-encoding").unwrap_or_default()));
            }
        }
    }

    /// Takes a piece of the content.
    #[inline]
    pub fn see_body(&mut self, piece: &[u8]) {
        self.body += piece.len() as u64;
        if !self.is_stream || self.is_over {
            return;
        }
        let Self { plan, reader, unpacker, seen, fresh, is_over, .. } = self;
        let mut read = |text: &[u8]| {
            reader.read(text, |event| {
                if *is_over {
                    return;
                }
                *seen += 1;
                *fresh += 1;
                *is_over = plan.most.is_some_and(|most| *seen >= most.get())
                    || plan.until.as_ref().is_some_and(|rule| rule.is_met(&event));
            });
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

    /// Takes the events that have arrived since the last call, by this time.
    #[inline]
    pub fn take_arrival(&mut self, key: u32, at: Nanos) -> Option<EventArrival> {
        let events = NonZero::new(std::mem::take(&mut self.fresh))?;
        let before = std::mem::replace(&mut self.last, NonZero::new(at.max(1)));
        Some(EventArrival { key, events, before })
    }

    /// Takes the reason for which the response is no event stream.
    #[inline]
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
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

    /// Forgets the response: there is another connection, or it is complete.
    pub fn forget(&mut self) {
        (self.is_stream, self.fresh, self.last, self.failure, self.is_over) = (false, 0, None, None, false);
        self.unpacker = None;
    }
}
