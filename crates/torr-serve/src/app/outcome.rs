//! The results of handlers, at once or later.

use crate::callbacks;
use crate::message::response::Response;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll, Waker};

/// A handler's answer that is still in the making.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Response>>>;

/// What calling a handler brings.
pub(crate) enum Outcome {
    /// An answer.
    Ready(Response),
    /// One that must be waited for, also if its client has ended its side.
    Pending(Pending),
    /// One of a router. It is dropped when its client ends its side, as hyper does: so those who work for clients that have
    /// gone learn it.
    Droppable(Pending),
}

/// Waits for an answer, or for what stands for it after a panic, in the same sense.
pub(crate) async fn survive<T>(mut future: Pin<Box<impl Future<Output = T> + ?Sized>>, panicked: impl Fn() -> T) -> T {
    let poll = |cx: &mut task::Context<'_>| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))).unwrap_or_else(|_| Poll::Ready(panicked()))
    };
    let outcome = poll_fn(poll).await;
    callbacks::dispose("the future of a handler", future);
    outcome
}

/// Asks for an answer for the first time, with nobody to be woken.
#[inline]
pub(crate) fn poll_once(mut future: Pending) -> Outcome {
    match future.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Outcome::Ready(response),
        Poll::Pending => Outcome::Pending(future),
    }
}
