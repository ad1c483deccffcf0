//! From a request to its handler's response.

use super::blocking_pool::{Called, Done};
use super::outcome::poll_once;
use super::worker_app::WorkerApp;
use super::{App, Content, Handler, METRICS, Outcome};
use crate::app::moved::MovedCall;
use crate::app::owned::OwnedHead;
use crate::app::router::{self, Demand};
use crate::client::Client;
use crate::computing::{Observed, Route};
use crate::message::request::Request;
use crate::message::request_body;
use crate::message::response::Response;
use crate::observe::metrics_table::Count;
use crate::observe::notice;
use http::header::ALLOW;
use http::{Extensions, HeaderValue, Method};
use matchit::Params;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;
use torr_net::clock;
use torr_wire::request::RequestHead;

impl App {
    /// Returns the handler of a request, with the parameters in the path.
    #[inline]
    fn find<'a, 'h>(&'a self, method: &str, path: &'h str) -> Option<(&'a Handler, Params<'a, 'h>)> {
        let (route, params) = self.paths.at(path)?;
        Some((handler_of(method, &self.routes[route].handlers)?, params))
    }

    /// Returns the name of a request's route. A handler's calls stay on their worker, as the handler's kind promises.
    pub(crate) fn route_of<'r>(&'r self, method: &'r str, path: &'r str) -> Route<'r> {
        let handled = self.find(method, path).and_then(|_| self.paths.at(path));
        let pattern = handled.map(|(route, _)| self.routes[route].path.as_str());
        Route { method, path: pattern.unwrap_or(path), is_movable: pattern.is_none() }
    }

    /// Returns the response to a request that has neither a handler nor a router.
    #[cold]
    fn no_handler(&self, head: &RequestHead<'_, '_>) -> Response {
        match self.paths.at(head.path()) {
            Some((route, _)) => not_allowed(head.method, &self.routes[route].handlers),
            None => no_route(head),
        }
    }

    /// Calls a blocking handler on this thread.
    fn block(&self, head: &RequestHead<'_, '_>, body: &[u8], client: &Client) -> Response {
        match self.find(head.method, head.path()) {
            Some((Handler::Blocking(handler), params)) => handler(&Request { head, params, body, client }),
            _ => self.no_handler(head),
        }
    }

    /// Adds what is known of the client to a request's extensions.
    pub(crate) fn introduce(&self, client: &Client, extensions: &mut Extensions) {
        if let Some(tls) = &client.tls {
            extensions.insert(Arc::clone(tls));
        }
        if let Some(origin) = &client.origin {
            extensions.insert(Arc::clone(origin));
        }
        if let Some(id) = &client.id {
            extensions.insert(id.clone());
        }
        if let (Some(describe), Some(connection)) = (&self.describe, &client.connection) {
            describe(extensions, connection);
        }
        if let (Some(introduce), Some(address)) = (&self.introduce, client.address) {
            introduce(extensions, address);
        }
    }
}

impl WorkerApp {
    /// Returns whether a request's body is streamed to the router rather than gathered for a handler.
    pub(crate) fn takes_body_as_it_comes(&self, method: &str, path: &str) -> bool {
        self.router.is_some() && self.shared.find(method, path).is_none()
    }

    /// Calls the handler of a request, or the router where the request has no handler. A future is polled once, since most
    /// responses are ready at once.
    #[inline]
    pub(crate) fn call(&self, head: &RequestHead<'_, '_>, content: Content<'_>, client: &Client) -> Outcome {
        if self.watch.is_calm() {
            self.dispatch(head, content, client)
        } else {
            self.dispatch_observed(head, content, client)
        }
    }

    /// Calls as [`WorkerApp::call`], and notes how long the handler takes without waiting.
    #[cold]
    fn dispatch_observed(&self, head: &RequestHead<'_, '_>, content: Content<'_>, client: &Client) -> Outcome {
        let route = self.shared.route_of(head.method, head.path());
        let begin = clock::exact();
        let outcome = self.dispatch(head, content, client);
        self.watch.handler_took(&route, clock::exact().saturating_sub(begin));
        let observed = |future| Box::pin(Observed::new(future, Rc::clone(&self.watch), &route));
        match outcome {
            Outcome::Ready(response) => Outcome::Ready(response),
            Outcome::Pending { future, is_droppable } => Outcome::Pending { future: observed(future), is_droppable },
        }
    }

    /// Returns the call of a request for the router that is to run beside the workers, and has room there.
    pub(crate) fn moved_call(&self, method: &str, path: &str) -> Option<MovedCall> {
        if self.watch.is_calm() {
            return None;
        }
        let route = if self.shared.computing.at(path).is_some() { None } else { Some(self.watch.moved(method, path)?) };
        MovedCall::admit(self, route)
    }

    #[inline]
    fn dispatch(&self, head: &RequestHead<'_, '_>, content: Content<'_>, client: &Client) -> Outcome {
        match (self.shared.find(head.method, head.path()), content) {
            (Some((handler, params)), Content::Whole(body)) => {
                let request = Request { head, params, body, client };
                self.guarded(|| match handler {
                    Handler::Direct(handler) => Outcome::Ready(handler(&request)),
                    Handler::Async(handler) => poll_once(handler(&request), false),
                    Handler::Blocking(_) => self.call_blocking(head, body, client),
                    Handler::Metrics => {
                        Outcome::Ready(Response::ok(METRICS, self.counts.text(self.shared.own_metrics())))
                    }
                })
            }
            (None, content) if self.router.is_some() => self.call_router(head, content, client),
            _ => Outcome::Ready(self.shared.no_handler(head)),
        }
    }

    /// Calls a blocking handler on a thread of the pool, with a copy of the request.
    fn call_blocking(&self, head: &RequestHead<'_, '_>, body: &[u8], client: &Client) -> Outcome {
        let (app, owned, body) = (Arc::clone(&self.shared), OwnedHead::new(head), body.to_vec());
        let (counts, client, queued) = (self.counts.clone(), client.clone(), Instant::now());
        let done = Done::new(counts.clone());
        let call = move || {
            let _done = done;
            counts.add(Count::BlockedWait, clock::nanos(queued.elapsed()));
            let response = catch_unwind(AssertUnwindSafe(|| owned.with(|head| app.block(head, &body, &client))));
            response.unwrap_or_else(|_| {
                counts.add(Count::Panicked, 1);
                notice::failure(format_args!("a blocking handler panicked"));
                failed()
            })
        };
        match self.pool.run(call) {
            Some(called) => {
                self.counts.add(Count::Blocked, 1);
                let mut called = Called(called);
                let future = Box::pin(async move { (&mut called.0).await.unwrap_or_else(|_| failed()) });
                Outcome::Pending { future, is_droppable: false }
            }
            None => {
                self.counts.add(Count::BlockedRefused, 1);
                Outcome::Ready(Response::error(503, "Too many requests are queued\n"))
            }
        }
    }

    fn call_router(&self, head: &RequestHead<'_, '_>, content: Content<'_>, client: &Client) -> Outcome {
        let Some(router) = &self.router else { return Outcome::Ready(self.shared.no_handler(head)) };
        let body = match content {
            Content::Whole(body) => request_body::whole(body),
            Content::Coming(incoming) => request_body::streamed(incoming),
        };
        let Some(mut request) = router::request(head, body) else {
            return Outcome::Ready(Response::error(400, "The request target is invalid\n").closing());
        };
        self.guarded(|| {
            self.shared.introduce(client, request.extensions_mut());
            let Some(call) = self.moved_call(head.method, head.path()) else { return router.call(request) };
            let demand = Demand::of(&request);
            let called = call.run(self, request, move |response| router::response(response, demand));
            Outcome::Pending { future: Box::pin(async { called.await.unwrap_or_else(failed) }), is_droppable: true }
        })
    }

    /// Calls a handler and turns a panic into a response. Only the handler's own state can be inconsistent afterwards.
    #[inline]
    fn guarded(&self, call: impl FnOnce() -> Outcome) -> Outcome {
        catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Outcome::Ready(self.panicked()))
    }

    /// Counts a handler's panic and returns the response for it.
    #[cold]
    pub(crate) fn panicked(&self) -> Response {
        self.counts.add(Count::Panicked, 1);
        notice::failure(format_args!("a handler panicked"));
        failed()
    }
}

fn handler_of<'a>(method: &str, handlers: &'a [(Method, Handler)]) -> Option<&'a Handler> {
    let of = |method: &str| handlers.iter().find(|(known, _)| known == method).map(|(_, handler)| handler);
    of(method).or_else(|| of("GET").filter(|_| method == "HEAD"))
}

#[cold]
fn no_route(head: &RequestHead<'_, '_>) -> Response {
    match head.target {
        "*" => Response::new(204),
        _ if is_known(head.method) => Response::error(404, "Not found\n"),
        _ => not_implemented(),
    }
}

#[cold]
fn not_allowed(method: &str, handlers: &[(Method, Handler)]) -> Response {
    if !is_known(method) {
        return not_implemented();
    }
    let mut allowed: Vec<_> = handlers.iter().map(|(method, _)| method.as_str()).collect();
    if allowed.contains(&"GET") && !allowed.contains(&"HEAD") {
        allowed.push("HEAD");
    }
    let allowed = HeaderValue::from_str(&allowed.join(", ")).expect("methods are tokens");
    Response::error(405, "Method not allowed\n").header(ALLOW, allowed)
}

/// Returns the response for a handler that has failed.
#[cold]
pub(crate) fn failed() -> Response {
    Response::error(500, "The handler failed\n").closing()
}

fn not_implemented() -> Response {
    Response::error(501, "Method not implemented\n")
}

/// The methods of RFC 9110, section 9, and PATCH (RFC 5789).
fn is_known(method: &str) -> bool {
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"].contains(&method)
}
