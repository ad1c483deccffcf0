//! The responses of handlers: ready, or futures of responses.

use crate::callbacks;
use crate::message::response::Response;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{self, Poll, Waker};

/// The future of a handler's response.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Response>>>;

/// The result of calling a handler.
pub(crate) enum Outcome {
    Ready(Response),
    Pending {
        future: Pending,
        /// A future of the router is dropped when the client closes its side, as hyper does, so that services stop working for
        /// clients that are gone. Any other is driven to its end.
        is_droppable: bool,
    },
}

/// Waits for a future's output. After a panic `panicked` returns an output instead.
pub(crate) async fn survive<T>(mut future: impl Future<Output = T> + Unpin, panicked: impl Fn() -> T) -> T {
    let poll = |cx: &mut task::Context<'_>| {
        catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(cx))).unwrap_or_else(|_| Poll::Ready(panicked()))
    };
    let outcome = poll_fn(poll).await;
    callbacks::dispose("the future of a handler", future);
    outcome
}

/// Polls a future for the first time, without a waker.
#[inline]
pub(crate) fn poll_once(mut future: Pending, is_droppable: bool) -> Outcome {
    match future.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Outcome::Ready(response),
        Poll::Pending => Outcome::Pending { future, is_droppable },
    }
}
