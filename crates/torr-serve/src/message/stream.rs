//! Bodies of answers that come frame by frame, as `http_body` has them.

use crate::callbacks;
use crate::message::answer_body::BodyFailed;
use bytes::{Buf, Bytes};
use http_body::Body;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};
use torr_wire::encode;

/// How much of a frame is made ready to be sent at a time.
const PIECE: usize = 64 * 1024;

/// A body whose frames are asked for one by one, each only when the client has taken those before. Trailers are dropped.
pub struct Stream {
    framing: Framing,
    /// What came of asking, and has not been used.
    next: Option<Step>,
    frames: Option<Pin<Box<dyn Frames + Send>>>,
    /// Bytes of the body that were put into a buffer since this was last asked.
    carried: u64,
}

/// How the client learns where the body ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// So many bytes are to come yet.
    Length(u64),
    /// Each piece tells its length.
    Chunked,
    /// The connection ends with the body.
    UntilClose,
    /// There is no body, and nothing is said of one.
    Nothing,
}

/// What comes next of a body.
enum Step {
    Data(Bytes),
    End,
    /// The body failed or panicked.
    Failure,
}

/// What there is to send of a long body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Made {
    /// What was put into the buffer; if that is nothing, the body has ended.
    Ready,
    /// Nothing yet.
    Pending,
    /// The body cannot be sent to its end.
    Short,
}

/// A body without its types.
trait Frames {
    fn poll_data(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step>;
}

pin_project! {
    /// Where a body is, or none.
    pub(crate) struct Slot<B> {
        #[pin]
        body: Option<B>,
    }
}

impl<B: Body> Frames for Slot<B> {
    fn poll_data(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Step> {
        loop {
            let Some(body) = self.as_mut().project().body.as_pin_mut() else { return Poll::Ready(Step::End) };
            return Poll::Ready(match ready!(body.poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(mut data) => Step::Data(data.copy_to_bytes(data.remaining())),
                    Err(_trailers) => continue,
                },
                Some(Err(_)) => Step::Failure,
                None => Step::End,
            });
        }
    }
}

/// How a body is framed, of which this length may be known.
fn framing_of(body: &impl Body, length: Option<u64>) -> Framing {
    body.size_hint().exact().or(length).map_or(Framing::Chunked, Framing::Length)
}

impl Stream {
    /// A body. If its length is neither given here nor known to the body, it is sent in chunks. Of a body of known length
    /// what is more is cut off; if it is less, the connection is closed, since the client would wait for ever.
    pub fn new(body: impl Body + Send + 'static, length: Option<u64>) -> Self {
        let framing = framing_of(&body, length);
        Self { framing, next: None, frames: Some(Box::pin(Slot { body: Some(body) })), carried: 0 }
    }

    /// What is said of a body that is never sent, in the answer to a HEAD.
    pub(crate) fn unsent(framing: Framing) -> Self {
        Self { framing, next: None, frames: None, carried: 0 }
    }

    pub(crate) fn framing(&self) -> Framing {
        self.framing
    }

    /// For a client that knows no chunks.
    pub(crate) fn until_close(&mut self) {
        self.framing = Framing::UntilClose;
    }

    /// A body, whole if it is at hand in one frame, in memory that another has left. One that is whole leaves it too.
    #[inline]
    pub(crate) fn in_room<B: Body + Send + 'static>(
        body: B,
        length: Option<u64>,
        room: Option<Pin<Box<Slot<B>>>>,
    ) -> (crate::message::response::Body, Option<Pin<Box<Slot<B>>>>) {
        let framing = framing_of(&body, length);
        let mut room = room.unwrap_or_else(|| Box::pin(Slot { body: None }));
        room.as_mut().project().body.set(Some(body));
        let mut next = None;
        if let Framing::Length(length) = framing {
            let cx = &mut Context::from_waker(Waker::noop());
            // A panic is the body's failure; what it leaves behind is the body's own state only.
            let first = catch_unwind(AssertUnwindSafe(|| room.as_mut().poll_data(cx)));
            match first.unwrap_or(Poll::Ready(Step::Failure)) {
                Poll::Ready(Step::Data(data)) if data.len() as u64 == length => {
                    callbacks::survive("a body", || room.as_mut().project().body.set(None));
                    return (data.into(), Some(room));
                }
                Poll::Ready(step) => next = Some(step),
                Poll::Pending => {}
            }
        }
        (Self { framing, next, frames: Some(room), carried: 0 }.into(), None)
    }

    /// Waits until it is known what comes next.
    pub(crate) async fn wait(&mut self) {
        poll_fn(|cx| {
            if self.next.is_none() {
                self.next = Some(ready!(self.poll_step(cx)));
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Puts what is at hand into an empty buffer, framed.
    pub(crate) fn fill(&mut self, buffer: &mut Vec<u8>) -> Made {
        while buffer.len() < PIECE && self.frames.is_some() && self.framing != Framing::Length(0) {
            let step = match self.next.take() {
                Some(step) => Poll::Ready(step),
                None => self.poll_step(&mut Context::from_waker(Waker::noop())),
            };
            match step {
                Poll::Ready(Step::Data(data)) => self.put(data, buffer),
                Poll::Ready(Step::End) => {
                    self.let_go();
                    match self.framing {
                        Framing::Chunked => encode::last_chunk(buffer),
                        Framing::Length(_) => return Made::Short,
                        Framing::UntilClose | Framing::Nothing => {}
                    }
                }
                Poll::Ready(Step::Failure) => {
                    self.next = Some(Step::Failure);
                    // What came before the failure is the client's.
                    return if buffer.is_empty() { Made::Short } else { Made::Ready };
                }
                Poll::Pending => return if buffer.is_empty() { Made::Pending } else { Made::Ready },
            }
        }
        Made::Ready
    }

    /// Bytes of the body, without its framing, that were made ready since this was last asked.
    pub(crate) fn take_carried(&mut self) -> u64 {
        std::mem::take(&mut self.carried)
    }

    fn put(&mut self, mut data: Bytes, buffer: &mut Vec<u8>) {
        let piece = data.split_to(data.len().min(PIECE));
        self.carried += match &self.framing {
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
    }

    /// What comes next, for who frames it by himself. An error where the body cannot come to its end.
    pub(crate) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BodyFailed>>> {
        let step = match self.next.take() {
            Some(step) => step,
            None => ready!(self.poll_step(cx)),
        };
        Poll::Ready(match step {
            Step::Data(data) => Some(Ok(data)),
            Step::End => {
                self.let_go();
                None
            }
            Step::Failure => Some(Err(BodyFailed)),
        })
    }

    /// Drops the body, which is done or not wanted any more.
    fn let_go(&mut self) {
        callbacks::dispose("a body", self.frames.take());
    }

    fn poll_step(&mut self, cx: &mut Context<'_>) -> Poll<Step> {
        let Some(frames) = &mut self.frames else { return Poll::Ready(Step::End) };
        // A panic is the body's failure; what it leaves behind is the body's own state only.
        catch_unwind(AssertUnwindSafe(|| frames.as_mut().poll_data(cx))).unwrap_or(Poll::Ready(Step::Failure))
    }
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
