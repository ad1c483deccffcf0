//! A request's body on a connection that hyper serves, with the limits that the engine has for its own.

use crate::message::body_error::BodyError;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Sleep, sleep};

/// A body within the limits of size and time.
pub(crate) struct HyperRequestBody {
    incoming: Incoming,
    /// The number of bytes that may still come.
    room: u64,
    timeout: Duration,
    /// The timer that runs while the handler waits for more.
    waiting: Option<Pin<Box<Sleep>>>,
    fault: Fault,
}

/// The reason why a body was not received to its end, for the code that makes the response.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fault(Arc<OnceLock<BodyError>>);

impl Fault {
    pub fn get(&self) -> Option<BodyError> {
        self.0.get().cloned()
    }
}

impl HyperRequestBody {
    /// Returns a body of at most `most` bytes, of which a frame comes within `timeout` whenever the handler waits for one.
    pub fn new(incoming: Incoming, most: u64, timeout: Duration) -> Self {
        Self { incoming, room: most, timeout, waiting: None, fault: Fault::default() }
    }

    /// Returns where the reason stands why the body is not received to its end, once there is one.
    pub fn fault(&self) -> Fault {
        self.fault.clone()
    }

    fn fail(&mut self, error: BodyError) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let _ = self.fault.0.set(error.clone());
        Poll::Ready(Some(Err(error)))
    }

    pub fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.incoming).poll_frame(cx) else {
            let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(self.timeout)));
            return match waiting.as_mut().poll(cx) {
                Poll::Ready(()) => self.fail(BodyError::TimedOut),
                Poll::Pending => Poll::Pending,
            };
        };
        self.waiting = None;
        let frame = match frame {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return self.fail(of_hyper(error)),
            None => return Poll::Ready(None),
        };
        match self.room.checked_sub(frame.data_ref().map_or(0, |data| data.len() as u64)) {
            Some(room) => self.room = room,
            None => return self.fail(BodyError::TooLarge),
        }
        Poll::Ready(Some(Ok(frame)))
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
