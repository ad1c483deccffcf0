//! A request's body on a connection that hyper serves or that is of HTTP/3, with the limits that the engine has for its own.

#[cfg(feature = "http3")]
use crate::message::body_channel::BodyReceiver;
use crate::message::body_error::BodyError;
use crate::message::body_pace::BodyPace;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use std::error::Error;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::time::{Sleep, sleep};

/// A body within the limits of size and time.
pub(crate) struct BoundedBody {
    content: ReceivedContent,
    /// The number of bytes that may still come.
    room: u64,
    pace: BodyPace,
    /// The wait for more, while the handler waits.
    waiting: Option<Waiting>,
}

/// A wait of a handler for more of a body.
struct Waiting {
    since: Instant,
    timer: Pin<Box<Sleep>>,
}

/// The content of a request as it is received. The body that a handler reads shares it with the code that makes the response.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedContent(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    source: Mutex<ContentSource>,
    /// The reason why the body was not received to its end.
    fault: OnceLock<BodyError>,
    /// The response has begun.
    has_response: AtomicBool,
}

/// Where the content of a request comes from.
#[derive(Debug)]
pub(crate) enum ContentSource {
    /// A connection that hyper serves.
    Hyper(Incoming),
    /// A stream of HTTP/3.
    #[cfg(feature = "http3")]
    Channel(BodyReceiver),
}

impl Body for ContentSource {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut *self {
            Self::Hyper(incoming) => Pin::new(incoming).poll_frame(cx).map_err(of_hyper),
            #[cfg(feature = "http3")]
            Self::Channel(receiver) => receiver.poll_piece(cx).map_ok(Frame::data),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Hyper(incoming) => incoming.is_end_stream(),
            #[cfg(feature = "http3")]
            Self::Channel(receiver) => receiver.is_ended(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Hyper(incoming) => incoming.size_hint(),
            #[cfg(feature = "http3")]
            Self::Channel(receiver) => receiver.left().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}

impl ReceivedContent {
    pub fn new(source: ContentSource) -> Self {
        let source = Mutex::new(source);
        Self(Arc::new(Shared { source, fault: OnceLock::new(), has_response: AtomicBool::new(false) }))
    }

    /// Returns where the content comes from. hyper's code may have panicked in a poll: the connection then has an error to report.
    fn source(&self) -> MutexGuard<'_, ContentSource> {
        self.0.source.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn is_end_stream(&self) -> bool {
        self.source().is_end_stream()
    }

    pub fn size_hint(&self) -> SizeHint {
        self.source().size_hint()
    }

    /// Returns what was not read of the content.
    ///
    /// # Errors
    /// `None` if all of it was read, and the content itself if a handler may still read it.
    pub fn into_unread(self) -> Result<ContentSource, Option<Self>> {
        let shared = Arc::try_unwrap(self.0).map_err(|shared| Some(Self(shared)))?;
        let source = shared.source.into_inner().unwrap_or_else(PoisonError::into_inner);
        if source.is_end_stream() { Err(None) } else { Ok(source) }
    }

    /// Discards what has arrived, and is woken by more, if the caller and the code that makes the response are the only ones that hold
    /// the content: no handler reads it then. Each of the two must hold a value of its own.
    pub fn discard_unheld(&self, cx: &mut Context<'_>) {
        const CALLER_AND_RESPONSE: usize = 2;
        if Arc::strong_count(&self.0) <= CALLER_AND_RESPONSE {
            while let Poll::Ready(Some(Ok(_))) = Pin::new(&mut *self.source()).poll_frame(cx) {}
        }
    }

    /// Returns the reason why the body is not received to its end, once there is one.
    pub fn fault(&self) -> Option<BodyError> {
        self.0.fault.get().cloned()
    }

    /// Notes that the response begins, after which the client may send at its leisure.
    pub fn begin_response(&self) {
        self.0.has_response.store(true, Ordering::Relaxed);
    }
}

impl BoundedBody {
    /// Returns a body of at most `most` bytes, which comes at this pace whenever the handler waits for more.
    pub fn new(content: ReceivedContent, most: u64, pace: BodyPace) -> Self {
        Self { content, room: most, pace, waiting: None }
    }

    fn fail(&mut self, error: BodyError) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let _ = self.content.0.fault.set(error.clone());
        Poll::Ready(Some(Err(error)))
    }

    pub fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let polled = Pin::new(&mut *self.content.source()).poll_frame(cx);
        let Poll::Ready(frame) = polled else {
            return self.poll_wait(cx);
        };
        if let Some(waiting) = self.waiting.take() {
            self.pace.wait(waiting.since.elapsed());
        }
        let frame = match frame {
            Some(Ok(frame)) => frame,
            Some(Err(error)) => return self.fail(error),
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
        let has_response = self.content.0.has_response.load(Ordering::Relaxed);
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
        self.content.is_end_stream()
    }

    pub fn size_hint(&self) -> SizeHint {
        self.content.size_hint()
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
