//! From a request to its handler's response.

use super::outcome::poll_once;
use super::{App, Content, Handler, METRICS, Outcome};
use crate::app::owned::OwnedHead;
use crate::app::router;
use crate::client::Client;
use crate::context::WorkerContext;
use crate::message::request::Request;
use crate::message::request_body::RequestBody;
use crate::message::response::Response;
use crate::observe::metrics_table::Count;
use crate::observe::telemetry::Counts;
use http::header::ALLOW;
use http::{Extensions, HeaderValue, Method};
use matchit::Params;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;
use tokio::task::JoinHandle;
use torr_net::clock;
use torr_wire::request::RequestHead;

impl App {
    /// Returns whether a request's body is streamed to the router rather than gathered for a handler.
    pub(crate) fn takes_body_as_it_comes(&self, method: &str, path: &str, cx: &WorkerContext) -> bool {
        cx.router.is_some() && self.find(method, path).is_none()
    }

    /// Returns the handler of a request, with the parameters in the path.
    #[inline]
    fn find<'a, 'h>(&'a self, method: &str, path: &'h str) -> Option<(&'a Handler, Params<'a, 'h>)> {
        let (route, params) = self.paths.at(path)?;
        Some((handler_of(method, &self.routes[route].handlers)?, params))
    }

    /// Calls the handler of a request, or the router where the request has no handler. A future is polled once, since most
    /// responses are ready at once.
    #[inline]
    pub(crate) fn call(
        &self,
        head: &RequestHead<'_, '_>,
        content: Content<'_>,
        client: &Client,
        cx: &WorkerContext,
    ) -> Outcome {
        match (self.find(head.method, head.path()), content) {
            (Some((handler, params)), Content::Whole(body)) => {
                let request = Request { head, params, body, client };
                guarded(cx, || match handler {
                    Handler::Direct(handler) => Outcome::Ready(handler(&request)),
                    Handler::Async(handler) => poll_once(handler(&request)),
                    Handler::Blocking(_) => self.call_blocking(head, body, client, cx),
                    Handler::Metrics => Outcome::Ready(Response::ok(METRICS, cx.meter.text(self.own_metrics()))),
                })
            }
            (None, content) if cx.router.is_some() => self.call_router(head, content, client, cx),
            _ => Outcome::Ready(self.no_handler(head)),
        }
    }

    /// Returns the response to a request that has neither a handler nor a router.
    #[cold]
    fn no_handler(&self, head: &RequestHead<'_, '_>) -> Response {
        match self.paths.at(head.path()) {
            Some((route, _)) => not_allowed(head.method, &self.routes[route].handlers),
            None => no_route(head),
        }
    }

    /// Calls a blocking handler on a thread of the pool, with a copy of the request.
    fn call_blocking(&self, head: &RequestHead<'_, '_>, body: &[u8], client: &Client, cx: &WorkerContext) -> Outcome {
        let (app, owned, body) = (Arc::clone(&cx.app), OwnedHead::new(head), body.to_vec());
        let (counts, client, asked) = (cx.meter.elsewhere(), client.clone(), Instant::now());
        let done = Done(counts.clone());
        let call = move || {
            let _done = done;
            counts.add(Count::BlockedWait, clock::nanos(asked.elapsed()));
            let response = catch_unwind(AssertUnwindSafe(|| owned.with(|head| app.block(head, &body, &client))));
            response.unwrap_or_else(|_| {
                counts.add(Count::Panicked, 1);
                tracing::error!("a handler that blocks panicked");
                failed()
            })
        };
        match cx.pool.run(call) {
            Some(called) => {
                cx.meter.add(Count::Blocked, 1);
                let mut called = Called(called);
                Outcome::Pending(Box::pin(async move { (&mut called.0).await.unwrap_or_else(|_| failed()) }))
            }
            None => {
                cx.meter.add(Count::BlockedRefused, 1);
                Outcome::Ready(Response::error(503, "Too many requests are waiting\n"))
            }
        }
    }

    /// Calls a blocking handler on this thread.
    fn block(&self, head: &RequestHead<'_, '_>, body: &[u8], client: &Client) -> Response {
        match self.find(head.method, head.path()) {
            Some((Handler::Blocking(handler), params)) => handler(&Request { head, params, body, client }),
            _ => self.no_handler(head),
        }
    }

    fn call_router(
        &self,
        head: &RequestHead<'_, '_>,
        content: Content<'_>,
        client: &Client,
        cx: &WorkerContext,
    ) -> Outcome {
        let Some(router) = &cx.router else { return Outcome::Ready(self.no_handler(head)) };
        let body = match content {
            Content::Whole(body) => RequestBody::whole(body),
            Content::Coming(incoming) => RequestBody::streamed(incoming),
        };
        let Some(mut request) = router::request(head, body) else {
            return Outcome::Ready(Response::error(400, "The target is not valid\n").closing());
        };
        let called = guarded(cx, || {
            self.introduce(client, request.extensions_mut());
            router.call(request)
        });
        match called {
            Outcome::Pending(future) => Outcome::Droppable(future),
            outcome => outcome,
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
        if let (Some(introduce), Some(address)) = (&self.introduce, client.address) {
            introduce(extensions, address);
        }
    }
}

/// Counts a call on the pool as done when dropped, whether the call has run or was taken back.
struct Done(Counts);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.add(Count::BlockedDone, 1);
    }
}

/// A call on the pool. Dropping this takes back a call that has not begun.
struct Called(JoinHandle<Response>);

impl Drop for Called {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Calls a handler and turns a panic into a response. Only the handler's own state can be inconsistent afterwards.
#[inline]
fn guarded(cx: &WorkerContext, call: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Outcome::Ready(panicked(cx)))
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

/// Counts a handler's panic and returns the response for it.
#[cold]
pub(crate) fn panicked(cx: &WorkerContext) -> Response {
    cx.meter.add(Count::Panicked, 1);
    tracing::error!("a handler panicked");
    failed()
}

#[cold]
fn failed() -> Response {
    Response::error(500, "The handler failed\n").closing()
}

fn not_implemented() -> Response {
    Response::error(501, "Method not implemented\n")
}

/// The methods of RFC 9110, section 9, and PATCH (RFC 5789).
fn is_known(method: &str) -> bool {
    ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"].contains(&method)
}
