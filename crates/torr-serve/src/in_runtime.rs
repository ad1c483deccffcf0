//! Futures of the application's code, in the context of the runtime that the application belongs to.

use crate::computing::Watch;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::runtime::Handle;
use torr_net::clock;

/// A future that is polled and dropped in the context of a runtime, if there is one, on a thread of another runtime.
///
/// Sockets and timers that the future creates, and tasks that it spawns, belong to the entered runtime, which is driven by its
/// own threads. They wake the task that polls this future as any other thread does.
pub(crate) struct InRuntime<F> {
    handle: Option<Handle>,
    /// Notes polls that take long.
    watch: Rc<Watch>,
    /// `None` only while this is dropped.
    future: Option<F>,
}

impl<F> InRuntime<F> {
    pub fn new(handle: Option<Handle>, watch: Rc<Watch>, future: F) -> Self {
        Self { handle, watch, future: Some(future) }
    }
}

impl<F: Future + Unpin> Future for InRuntime<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let Self { handle, watch, future } = &mut *self;
        let _context = handle.as_ref().map(Handle::enter);
        let begin = clock::coarse();
        let output = Pin::new(future.as_mut().expect("the future is taken by drop only")).poll(cx);
        watch.took(clock::coarse().saturating_sub(begin));
        output
    }
}

impl<F> Drop for InRuntime<F> {
    fn drop(&mut self) {
        let _context = self.handle.as_ref().map(Handle::enter);
        // Code of the application, such as the return of a pool's connection, may spawn a task here.
        drop(self.future.take());
    }
}
