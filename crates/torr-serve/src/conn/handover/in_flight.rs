//! The requests in flight on a connection that hyper serves: how far each has come, and what that makes of the connection.

use super::frame_guard::Flow;
use crate::conn::context::WorkerContext;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How far a request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// A handler makes the response.
    Handling,
    /// The response is sent.
    Sending {
        /// The body has no known length, so that it may have no end.
        is_endless: bool,
        /// The body waits for hyper to ask for more.
        is_held: bool,
    },
}

impl Stage {
    /// Returns what a request of this stage adds to the counts of its connection.
    fn counts(self) -> Counts {
        match self {
            Self::Handling => Counts { requests: 1, endless: 0, held: 0 },
            Self::Sending { is_endless, is_held } => {
                Counts { requests: 1, endless: usize::from(is_endless), held: usize::from(is_held) }
            }
        }
    }
}

/// The numbers of requests in flight on a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    requests: usize,
    /// Responses of unknown length that are being sent, among these.
    endless: usize,
    /// Responses whose bodies could continue if the client took more.
    held: usize,
}

impl Counts {
    /// Returns the number of responses of unknown length, if nothing else is in flight.
    fn streams(self) -> usize {
        if self.requests == self.endless { self.endless } else { 0 }
    }
}

/// The requests in flight on one connection.
pub(in crate::conn) struct InFlight {
    counts: Cell<Counts>,
    times: Cell<Times>,
    /// A request has made a tunnel of its stream, whose end hyper does not report.
    has_tunnel: Cell<bool>,
    /// The number of contents that are discarded.
    discarding: Cell<usize>,
    flow: Rc<Flow>,
    /// The worker that counts the streams of a connection of HTTP/2; `None` over HTTP/1.1.
    counted_by: Option<Rc<WorkerContext>>,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    /// The time at which the connection began, or the last response ended.
    ended: Instant,
    /// The time at which hyper last polled a body.
    polled: Instant,
}

impl InFlight {
    pub(super) fn new(flow: Rc<Flow>, counted_by: Option<Rc<WorkerContext>>) -> Rc<Self> {
        let now = Instant::now();
        let times = Cell::new(Times { ended: now, polled: now });
        Rc::new(Self {
            counts: Cell::default(),
            times,
            has_tunnel: Cell::new(false),
            discarding: Cell::new(0),
            flow,
            counted_by,
        })
    }

    /// Notes that a request has made a tunnel of its stream.
    pub fn open_tunnel(&self) {
        self.has_tunnel.set(true);
    }

    /// Counts a content that is discarded.
    pub(super) fn discard(all: &Rc<Self>) -> Discarding {
        all.discarding.set(all.discarding.get() + 1);
        Discarding(Rc::clone(all))
    }

    /// Whether the content of a request is discarded, so that its stream is open.
    pub fn is_discarding(&self) -> bool {
        self.discarding.get() > 0
    }

    /// Returns how long the client has taken nothing of responses that could continue.
    pub fn stuck_for(&self) -> Duration {
        match self.counts.get().held {
            0 => Duration::ZERO,
            _ => self.times.get().polled.elapsed().min(self.flow.still_for()),
        }
    }

    /// Whether nothing is in flight but responses of unknown length, or there is a tunnel.
    pub fn has_streams_only(&self) -> bool {
        let Counts { requests, endless, .. } = self.counts.get();
        requests == endless && (endless > 0 || self.has_tunnel.get())
    }

    /// Returns how long there has been no request, and nothing was sent of responses that hyper has taken whole. With a tunnel the
    /// connection is never idle.
    pub fn idle_for(&self) -> Duration {
        if self.counts.get().requests > 0 || self.has_tunnel.get() {
            return Duration::ZERO;
        }
        self.times.get().ended.elapsed().min(self.flow.still_for())
    }

    fn change(&self, from: Option<Stage>, to: Option<Stage>) {
        let before = self.counts.get();
        let [less, more] = [from, to].map(|stage| stage.map(Stage::counts).unwrap_or_default());
        let now = Counts {
            requests: before.requests + more.requests - less.requests,
            endless: before.endless + more.endless - less.endless,
            held: before.held + more.held - less.held,
        };
        self.counts.set(now);
        if let Some(worker) = &self.counted_by {
            worker.http2_streams.change(before.streams(), now.streams());
        }
        let (mut times, now) = (self.times.get(), Instant::now());
        if to.is_none() {
            times.ended = now;
        }
        if [from, to].iter().any(|stage| matches!(stage, Some(Stage::Sending { .. }))) {
            times.polled = now;
        }
        self.times.set(times);
    }
}

/// A content that is discarded until this is dropped.
pub(super) struct Discarding(Rc<InFlight>);

impl Drop for Discarding {
    fn drop(&mut self) {
        self.0.discarding.set(self.0.discarding.get() - 1);
    }
}

/// One request, which is in flight until this is dropped.
pub(super) struct RequestInFlight {
    all: Rc<InFlight>,
    stage: Stage,
}

impl RequestInFlight {
    /// Begins a request.
    pub fn new(all: &Rc<InFlight>) -> Self {
        all.change(None, Some(Stage::Handling));
        Self { all: Rc::clone(all), stage: Stage::Handling }
    }

    /// Moves the request to a stage, or notes that hyper has polled its body in the same stage.
    pub fn enter(&mut self, stage: Stage) {
        self.all.change(Some(self.stage), Some(stage));
        self.stage = stage;
    }
}

impl Drop for RequestInFlight {
    fn drop(&mut self) {
        self.all.change(Some(self.stage), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_is_idle_or_has_requests_or_streams_only() {
        let all = InFlight::new(Flow::new(), None);
        let state = || (all.counts.get().requests, all.has_streams_only(), all.counts.get().held);
        assert_eq!(state(), (0, false, 0));
        let (mut one, mut other) = (RequestInFlight::new(&all), RequestInFlight::new(&all));
        assert_eq!((state(), all.idle_for()), ((2, false, 0), Duration::ZERO));
        one.enter(Stage::Sending { is_endless: true, is_held: true });
        assert_eq!(state(), (2, false, 1));
        other.enter(Stage::Sending { is_endless: false, is_held: true });
        assert_eq!(state(), (2, false, 2));
        one.enter(Stage::Sending { is_endless: true, is_held: false });
        drop(other);
        assert_eq!((state(), all.stuck_for()), ((1, true, 0), Duration::ZERO));
        drop(one);
        assert_eq!(state(), (0, false, 0));
        all.open_tunnel();
        assert_eq!((state(), all.idle_for()), ((0, true, 0), Duration::ZERO));
    }
}
