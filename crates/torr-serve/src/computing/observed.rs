//! A handler's future whose polls are timed.

use super::{Route, Watch};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use torr_net::clock;

/// A future of a handler of a known route. Only alert workers make these.
pub(crate) struct Observed<F> {
    future: F,
    watch: Rc<Watch>,
    method: String,
    path: String,
    is_movable: bool,
}

impl<F> Observed<F> {
    pub fn new(future: F, watch: Rc<Watch>, route: &Route<'_>) -> Self {
        let (method, path) = (route.method.to_owned(), route.path.to_owned());
        Self { future, watch, method, path, is_movable: route.is_movable }
    }
}

impl<F: Future + Unpin> Future for Observed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let begin = clock::exact();
        let output = Pin::new(&mut self.future).poll(cx);
        let route = Route { method: &self.method, path: &self.path, is_movable: self.is_movable };
        self.watch.handler_took(&route, clock::exact().saturating_sub(begin));
        output
    }
}
