//! Bodies of responses that come frame by frame, as `http_body` has them.

use crate::callbacks;
use bytes::{Buf, Bytes};
use http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HOST,
    MAX_FORWARDS, SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING,
};
use http::{HeaderMap, HeaderName};
use http_body::{Body, Frame};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use thiserror::Error;
use torr_wire::encode;

/// The number of bytes that are made ready to be sent at a time.
const PIECE: usize = 64 * 1024;

/// A body of frames, each polled once the client has received those before. Trailers are dropped unless they were announced.
pub struct Stream {
    framing: Framing,
    /// The step that the body has returned and that is not used.
    next: Option<Step>,
    frames: Option<Pin<Box<dyn Frames + Send>>>,
    /// The names of the fields that may stand in the trailer section.
    announced: Vec<HeaderName>,
}

/// The way in which the client learns where the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The number of bytes that are to come.
    Length(u64),
    /// Each piece tells its length.
    Chunked,
    /// The connection ends with the body.
    UntilClose,
    /// There is no body, and no field announces one.
    Nothing,
}

/// A step of a body.
enum Step {
    Data(Bytes),
    Trailers(Box<HeaderMap>),
    End,
    /// The body failed or panicked.
    Failure,
}

/// A response's body did not come to its end.
#[derive(Debug, Error)]
#[error("the response's body failed")]
pub(crate) struct BodyFailed;

/// A body without its types.
trait Frames {
    fn poll_data(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step>;
}

pin_project! {
    /// Memory for a body, which bodies use one after another.
    pub(crate) struct BodyMemory<B> {
        #[pin]
        body: Option<B>,
    }
}

impl<B: Body> Frames for BodyMemory<B> {
    fn poll_data(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            let Some(body) = self.as_mut().project().body.as_pin_mut() else { return Poll::Ready(Step::End) };
            return Poll::Ready(match ready!(body.poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data().map_err(Frame::into_trailers) {
                    Ok(mut data) => Step::Data(data.copy_to_bytes(data.remaining())),
                    Err(Ok(trailers)) => Step::Trailers(Box::new(trailers)),
                    Err(Err(_unknown)) => continue,
                },
                Some(Err(_)) => Step::Failure,
                None => Step::End,
            });
        }
    }
}

/// Returns the framing of a body whose length may be known from elsewhere.
fn framing_of(body: &impl Body, length: Option<u64>) -> Framing {
    body.size_hint().exact().or(length).map_or(Framing::Chunked, Framing::Length)
}

impl Stream {
    /// Returns a body, which is sent in chunks if its length is neither given here nor known to the body. A body of known
    /// length is cut off there; if it ends before, the connection is closed, since the client would wait for ever.
    pub fn new(body: impl Body + Send + 'static, length: Option<u64>) -> Self {
        let framing = framing_of(&body, length);
        Self { framing, next: None, frames: Some(Box::pin(BodyMemory { body: Some(body) })), announced: Vec::new() }
    }

    /// Returns the stand-in for a body that is announced and never sent, in the response to a HEAD.
    pub(crate) fn unsent(framing: Framing) -> Self {
        Self { framing, next: None, frames: None, announced: Vec::new() }
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// Allows these fields in the trailer section of a body in chunks.
    pub(crate) fn announce_trailers(&mut self, names: Vec<HeaderName>) {
        self.announced = names;
    }

    /// Ends the body by the end of the connection, for a client that knows no chunks.
    pub(crate) fn until_close(&mut self) {
        self.framing = Framing::UntilClose;
    }

    /// Returns the bytes of a body that has them all at hand in one frame, or else the body as a stream. Uses the memory that
    /// another body has left; bytes leave it for the next body.
    #[inline]
    pub(crate) fn whole_or_stream<B: Body + Send + 'static>(
        body: B,
        length: Option<u64>,
        left: &mut Option<Pin<Box<BodyMemory<B>>>>,
    ) -> Result<Bytes, Self> {
        let framing = framing_of(&body, length);
        let mut memory = left.take().unwrap_or_else(|| Box::pin(BodyMemory { body: None }));
        memory.as_mut().project().body.set(Some(body));
        let mut next = None;
        if let Framing::Length(length) = framing {
            let cx = &mut Context::from_waker(Waker::noop());
            // A panic is the body's failure; what it leaves behind is the body's own state only.
            let first = catch_unwind(AssertUnwindSafe(|| memory.as_mut().poll_data(cx)));
            match first.unwrap_or(Poll::Ready(Step::Failure)) {
                Poll::Ready(Step::Data(data)) if data.len() as u64 == length => {
                    callbacks::survive("a body", || memory.as_mut().project().body.set(None));
                    *left = Some(memory);
                    return Ok(data);
                }
                Poll::Ready(step) => next = Some(step),
                Poll::Pending => {}
            }
        }
        Err(Self { framing, next, frames: Some(memory), announced: Vec::new() })
    }

    /// Waits for the next step.
    pub(crate) async fn wait(&mut self) {
        poll_fn(|cx| {
            if self.next.is_none() {
                self.next = Some(ready!(self.poll_step(cx)));
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Puts the part that is at hand into an empty buffer, framed. The buffer stays empty at the body's end. Returns how many bytes
    /// of the body that is, without their framing; pending if nothing is at hand yet.
    ///
    /// # Errors
    /// If the body cannot be sent to its end.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>) -> Poll<Result<u64, BodyFailed>> {
        let mut carried = 0;
        while buffer.len() < PIECE && self.frames.is_some() && self.framing != Framing::Length(0) {
            let step = match self.next.take() {
                Some(step) => Poll::Ready(step),
                None => self.poll_step(&mut Context::from_waker(Waker::noop())),
            };
            match step {
                Poll::Ready(Step::Data(data)) => carried += self.put(data, buffer),
                Poll::Ready(Step::Trailers(trailers)) => {
                    if self.framing == Framing::Chunked {
                        self.end_with(&trailers, buffer);
                    }
                }
                Poll::Ready(Step::End) => {
                    self.let_go();
                    match self.framing {
                        Framing::Chunked => encode::last_chunk(buffer),
                        Framing::Length(_) => return Poll::Ready(Err(BodyFailed)),
                        Framing::UntilClose | Framing::Nothing => {}
                    }
                }
                Poll::Ready(Step::Failure) => {
                    self.next = Some(Step::Failure);
                    // The client receives what came before the failure.
                    return Poll::Ready(if buffer.is_empty() { Err(BodyFailed) } else { Ok(carried) });
                }
                Poll::Pending if buffer.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        Poll::Ready(Ok(carried))
    }

    /// Puts one piece into the buffer. Returns how many bytes of the body that is.
    fn put(&mut self, mut data: Bytes, buffer: &mut Vec<u8>) -> u64 {
        let piece = data.split_to(data.len().min(PIECE));
        let carried = match &self.framing {
            Framing::Length(left) => (piece.len() as u64).min(*left),
            Framing::Chunked | Framing::UntilClose => piece.len() as u64,
            Framing::Nothing => 0,
        };
        match &mut self.framing {
            Framing::Length(left) => {
                let fits = piece.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                buffer.extend_from_slice(&piece[..fits]);
                *left -= fits as u64;
            }
            Framing::Chunked => encode::chunk(buffer, &piece),
            Framing::UntilClose => buffer.extend_from_slice(&piece),
            Framing::Nothing => {}
        }
        if !data.is_empty() {
            self.next = Some(Step::Data(data));
        }
        carried
    }

    /// Ends a body in chunks with those of its trailers that were announced and may stand there.
    fn end_with(&mut self, trailers: &HeaderMap, buffer: &mut Vec<u8>) {
        self.let_go();
        encode::last_chunk_before_trailers(buffer);
        for (name, value) in trailers.iter().filter(|(name, _)| self.announced.contains(name) && may_trail(name)) {
            encode::header(buffer, name.as_str(), value.as_bytes());
        }
        buffer.extend_from_slice(b"\r\n");
    }

    /// Returns the next data without framing, or an error where the body cannot come to its end.
    pub(crate) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyFailed>>> {
        loop {
            let step = match self.next.take() {
                Some(step) => step,
                None => ready!(self.poll_step(cx)),
            };
            return Poll::Ready(match step {
                Step::Data(data) => Some(Ok(data)),
                Step::Trailers(_) => continue,
                Step::End => {
                    self.let_go();
                    None
                }
                Step::Failure => Some(Err(BodyFailed)),
            });
        }
    }

    /// Drops the body, which has ended or is not wanted any more.
    fn let_go(&mut self) {
        callbacks::dispose("a body", self.frames.take());
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let Some(frames) = &mut self.frames else { return Poll::Ready(Step::End) };
        // A panic is the body's failure; what it leaves behind is the body's own state only.
        catch_unwind(AssertUnwindSafe(|| frames.as_mut().poll_data(cx))).unwrap_or(Poll::Ready(Step::Failure))
    }
}

/// Whether a field may stand in a trailer section: not those of framing, routing, authentication and content (RFC 9110, section 6.5.1).
fn may_trail(name: &HeaderName) -> bool {
    let barred = [
        AUTHORIZATION,
        CACHE_CONTROL,
        CONNECTION,
        CONTENT_ENCODING,
        CONTENT_LENGTH,
        CONTENT_RANGE,
        CONTENT_TYPE,
        HOST,
        MAX_FORWARDS,
        SET_COOKIE,
        TE,
        TRAILER,
        TRANSFER_ENCODING,
    ];
    !barred.contains(name)
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").field("framing", &self.framing).finish_non_exhaustive()
    }
}
