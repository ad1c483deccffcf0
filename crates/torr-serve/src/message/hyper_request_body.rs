//! A request's body on a connection that hyper serves, with the limits that the engine has for its own.

use crate::message::body_error::BodyError;
use crate::message::body_pace::BodyPace;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::time::{Sleep, sleep};

/// A body within the limits of size and time.
pub(crate) struct HyperRequestBody {
    incoming: Incoming,
    /// The number of bytes that may still come.
    room: u64,
    pace: BodyPace,
    /// The wait for more, while the handler waits.
    waiting: Option<Waiting>,
    exchange: BodyExchange,
}

/// A wait of a handler for more of a body.
struct Waiting {
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

/// The state that a body shares with the code that makes the response.
#[derive(Debug, Clone, Default)]
pub(crate) struct BodyExchange(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// The reason why the body was not received to its end.
    fault: OnceLock<BodyError>,
    /// The response has begun.
    has_response: AtomicBool,
}

impl BodyExchange {
    /// Returns the reason why the body is not received to its end, once there is one.
    pub fn fault(&self) -> Option<BodyError> {
        self.0.fault.get().cloned()
    }

    /// Notes that the response begins, after which the client may send at its leisure.
    pub fn begin_response(&self) {
        self.0.has_response.store(true, Ordering::Relaxed);
    }
}

impl HyperRequestBody {
    /// Returns a body of at most `most` bytes, which comes at this pace whenever the handler waits for more.
    pub fn new(incoming: Incoming, most: u64, pace: BodyPace) -> Self {
        Self { incoming, room: most, pace, waiting: None, exchange: BodyExchange::default() }
    }

    /// Returns the state that the body shares with the code that makes the response.
    pub fn exchange(&self) -> BodyExchange {
        self.exchange.clone()
    }

    fn fail(&mut self, error: BodyError) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let _ = self.exchange.0.fault.set(error.clone());
        Poll::Ready(Some(Err(error)))
    }

    pub fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) else {
            return self.poll_wait(cx);
        };
        if let Some(waiting) = self.waiting.take() {
            self.pace.wait(waiting.since.elapsed());
        }
        let frame = match frame {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return self.fail(of_hyper(error)),
            None => return Poll::Ready(None),
        };
        let length = frame.data_ref().map_or(0, |data| data.len() as u64);
        self.pace.receive(length);
        match self.room.checked_sub(length) {
            Some(room) => self.room = room,
            None => return self.fail(BodyError::TooLarge),
        }
        Poll::Ready(Some(Ok(frame)))
    }

    /// Waits for more, as long as the client may take for it.
    fn poll_wait(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let has_response = self.exchange.0.has_response.load(Ordering::Relaxed);
        let most = self.pace.left(has_response);
        let begin = || Waiting { since: Instant::now(), timer: Box::pin(sleep(most)) };
        let waiting = self.waiting.get_or_insert_with(begin);
        while waiting.timer.as_mut().poll(cx).is_ready() {
            // The response may have begun meanwhile, which gives the client more time.
            let left = most.saturating_sub(waiting.since.elapsed());
            if left.is_zero() {
                return self.fail(BodyError::TimedOut);
            }
            waiting.timer = Box::pin(sleep(left));
        }
        Poll::Pending
    }

    pub fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    pub fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

fn of_hyper(error: hyper::Error) -> BodyError {
    match error {
        error if error.is_timeout() => BodyError::TimedOut,
        error if error.is_parse() || is_invalid(&error) => BodyError::Malformed,
        // An error of HTTP/2 has one of the protocol as its source; an end of HTTP/1.1 has one of I/O, or none.
        error if error.source().is_some_and(|source| !source.is::<io::Error>()) => BodyError::Reset(Arc::new(error)),
        _ => BodyError::Cut,
    }
}

/// Whether the bytes of a body were refused before hyper saw them.
fn is_invalid(error: &hyper::Error) -> bool {
    let source = error.source().and_then(|source| source.downcast_ref::<io::Error>());
    source.is_some_and(|error| error.kind() == io::ErrorKind::InvalidData)
}
