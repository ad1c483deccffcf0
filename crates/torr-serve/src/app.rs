//! Handlers by path and method.

use crate::client::{Client, Introduce};
use crate::context::Desk;
use crate::guest::{self, Guest, Local};
use crate::owned::OwnedHead;
use crate::paths::Paths;
use crate::request::Request;
use crate::request_body::RequestBody;
use crate::response::Response;
use crate::server::{ServeError, Server};
use crate::telemetry::{Count, Counts};
use crate::upload::Incoming;
use http::header::ALLOW;
use http::{Extensions, HeaderValue, Method};
use matchit::Params;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, Waker};
use std::time::Instant;
use tokio::task::JoinHandle;
use torr_net::clock;
use torr_wire::request::RequestHead;
use tower_service::Service;

/// The type of what [`App::metrics`] gives.
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A handler's answer that is still in the making.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Response>>>;

/// The body of a request.
pub(crate) enum Content<'b> {
    /// All of it.
    Whole(&'b [u8]),
    /// What has come of it, and the rest as it comes: for a router.
    Coming(Incoming),
}

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

enum Handler {
    Direct(Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>),
    Async(Box<dyn Fn(&Request<'_>) -> Pending + Send + Sync>),
    Blocking(Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>),
    /// What the server observes of itself.
    Metrics,
}

/// An application: what answers which requests.
///
/// Paths may hold parameters: `/users/{id}` takes one part of a path, `/files/{*rest}` all that is left of it.
#[derive(Default)]
pub struct App {
    /// From a path to the number of its route.
    paths: Paths,
    routes: Vec<Route>,
    /// What answers all that has no route here.
    guest: Option<Guest>,
    introduce: Option<Introduce>,
}

struct Route {
    path: String,
    handlers: Vec<(Method, Handler)>,
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.routes.iter().map(|route| &route.path)).finish()
    }
}

impl App {
    /// An application that answers 404 to everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Answers GET and HEAD on a path by a simple controller.
    ///
    /// # Panics
    /// If the path is malformed or contradicts one that was added before, or has a handler of this method already.
    pub fn get(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::GET, path, handler)
    }

    /// Answers POST on a path by a simple controller.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn post(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::POST, path, handler)
    }

    /// Answers PUT on a path by a simple controller.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn put(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::PUT, path, handler)
    }

    /// Answers DELETE on a path by a simple controller.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn delete(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::DELETE, path, handler)
    }

    /// Answers PATCH on a path by a simple controller.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn patch(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::PATCH, path, handler)
    }

    /// Answers one method on a path by a simple controller.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn route(
        self,
        method: Method,
        path: &str,
        handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.add(method, path, Handler::Direct(Box::new(handler)))
    }

    /// Answers GET and HEAD on a path by a handler that may wait. It takes what it needs from the request, and returns
    /// a future, which runs on the worker that received the request.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn get_async<F>(self, path: &str, handler: impl Fn(&Request<'_>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + 'static,
    {
        self.route_async(Method::GET, path, handler)
    }

    /// Answers POST on a path by a handler that may wait, as [`App::get_async`] does.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn post_async<F>(self, path: &str, handler: impl Fn(&Request<'_>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + 'static,
    {
        self.route_async(Method::POST, path, handler)
    }

    /// Answers one method on a path by a handler that may wait, as [`App::get_async`] does.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn route_async<F>(
        self,
        method: Method,
        path: &str,
        handler: impl Fn(&Request<'_>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Response> + 'static,
    {
        self.add(method, path, Handler::Async(Box::new(move |request| Box::pin(handler(request)))))
    }

    /// Answers GET and HEAD on a path by a handler that may block, on one of the threads that [`Settings`] has for such:
    /// workers go on meanwhile. Where all threads and the queue for them are taken, the answer is a 503. There is no runtime of
    /// tokio that would drive futures on these threads.
    ///
    /// [`Settings`]: crate::Settings::blocking_threads
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn get_blocking(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route_blocking(Method::GET, path, handler)
    }

    /// Answers POST on a path by a handler that may block, as [`App::get_blocking`] does.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn post_blocking(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route_blocking(Method::POST, path, handler)
    }

    /// Answers one method on a path by a handler that may block, as [`App::get_blocking`] does.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn route_blocking(
        self,
        method: Method,
        path: &str,
        handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.add(method, path, Handler::Blocking(Box::new(handler)))
    }

    /// Answers GET on a path with what the server observes of itself, in Prometheus' text format: requests by status,
    /// latencies, connections, and what each worker does with its time.
    ///
    /// # Panics
    /// As [`App::get`].
    pub fn metrics(self, path: &str) -> Self {
        self.add(Method::GET, path, Handler::Metrics)
    }

    /// Answers everything else by a tower service of http types, such as an `axum::Router`: whatever path and method has
    /// no handler in this application. What is unknown there too is answered as the service sees fit.
    ///
    /// Each worker has a clone of it. A request's body comes as the client sends it, and an answer's body is asked for its
    /// frames as the client takes them. Over HTTP/1.1 trailers are dropped.
    ///
    /// # Panics
    /// If the application has one already.
    pub fn router<S, B>(mut self, service: S) -> Self
    where
        S: Service<http::Request<RequestBody>, Response = http::Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: 'static,
        B: http_body::Body + Send + 'static,
    {
        assert!(self.guest.is_none(), "an application has one router: merge them first");
        self.guest = Some(Guest::new(service));
        self
    }

    /// Puts the client's address into the extensions of the router's requests: `app.peer_as(torr_serve::Peer)`, or
    /// `app.peer_as(axum::extract::ConnectInfo::<SocketAddr>)` for axum's extractor. Several may be asked for.
    pub fn peer_as<T>(mut self, form: impl Fn(SocketAddr) -> T + Send + Sync + 'static) -> Self
    where
        T: Clone + Send + Sync + 'static,
    {
        let before = self.introduce.take();
        self.introduce = Some(Box::new(move |extensions, peer| {
            before.iter().for_each(|before| before(extensions, peer));
            extensions.insert(form(peer));
        }));
        self
    }

    /// Serves on an address, with default settings, until SIGTERM or SIGINT.
    ///
    /// # Errors
    /// If the address cannot be listened on.
    pub fn serve(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        Server::new(self).bind(address)?.run_until_signal()
    }

    fn add(mut self, method: Method, path: &str, handler: Handler) -> Self {
        assert!(path.starts_with('/'), "cannot route {path}: it does not begin with a slash");
        let known = self.routes.iter_mut().find(|route| route.path == path);
        if let Some(route) = known {
            let taken = route.handlers.iter().any(|(known, _)| *known == method);
            assert!(!taken, "cannot route {path}: it has a handler of {method} already");
            route.handlers.push((method, handler));
            return self;
        }
        if let Err(error) = self.paths.insert(path, self.routes.len()) {
            panic!("cannot route {path}: {error}");
        }
        self.routes.push(Route { path: path.to_owned(), handlers: vec![(method, handler)] });
        self
    }

    /// A worker's copy of the router, if there is one.
    pub(crate) fn local(&self) -> Option<Local> {
        self.guest.as_ref().map(Guest::local)
    }

    /// Whether a request's body is passed on as it comes, rather than gathered for a handler of this application.
    pub(crate) fn takes_body_as_it_comes(&self, head: &RequestHead<'_, '_>, cx: &Desk) -> bool {
        cx.router.is_some() && self.find(head).is_none()
    }

    /// The handler of a request, with what its path holds.
    #[inline]
    fn find<'a, 'h>(&'a self, head: &RequestHead<'_, 'h>) -> Option<(&'a Handler, Params<'a, 'h>)> {
        let (route, params) = self.paths.at(head.path())?;
        Some((handler_of(head.method, &self.routes[route].handlers)?, params))
    }

    /// Calls the handler of a request, or the router, where there is no handler. One that waits is polled once, since
    /// most have their answer at hand.
    #[inline]
    pub(crate) fn call(&self, head: &RequestHead<'_, '_>, content: Content<'_>, client: &Client, cx: &Desk) -> Outcome {
        match (self.find(head), content) {
            (Some((handler, params)), Content::Whole(body)) => {
                let request = Request { head, params, body, client };
                guarded(cx, || match handler {
                    Handler::Direct(handler) => Outcome::Ready(handler(&request)),
                    Handler::Async(handler) => poll_once(handler(&request)),
                    Handler::Blocking(_) => self.call_blocking(head, body, client, cx),
                    Handler::Metrics => Outcome::Ready(Response::ok(METRICS, cx.meter.text())),
                })
            }
            (None, content) if cx.router.is_some() => self.call_router(head, content, client, cx),
            _ => Outcome::Ready(self.no_handler(head)),
        }
    }

    /// The answer where neither a handler nor a router is there for it.
    #[cold]
    fn no_handler(&self, head: &RequestHead<'_, '_>) -> Response {
        match self.paths.at(head.path()) {
            Some((route, _)) => not_allowed(head.method, &self.routes[route].handlers),
            None => no_route(head),
        }
    }

    /// Calls a handler on a thread of the pool, which finds the request anew in bytes of its own.
    fn call_blocking(&self, head: &RequestHead<'_, '_>, body: &[u8], client: &Client, cx: &Desk) -> Outcome {
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

    /// Calls a handler that blocks.
    fn block(&self, head: &RequestHead<'_, '_>, body: &[u8], client: &Client) -> Response {
        match self.find(head) {
            Some((Handler::Blocking(handler), params)) => handler(&Request { head, params, body, client }),
            _ => self.no_handler(head),
        }
    }

    fn call_router(&self, head: &RequestHead<'_, '_>, content: Content<'_>, client: &Client, cx: &Desk) -> Outcome {
        let Some(router) = &cx.router else { return Outcome::Ready(self.no_handler(head)) };
        let body = match content {
            Content::Whole(body) => RequestBody::whole(body),
            Content::Coming(incoming) => RequestBody::coming(incoming),
        };
        let Some(mut request) = guest::request(head, body) else {
            return Outcome::Ready(Response::error(400, "The target is not valid\n").closing());
        };
        self.introduce(client, request.extensions_mut());
        match guarded(cx, || router.call(request)) {
            Outcome::Pending(future) => Outcome::Droppable(future),
            outcome => outcome,
        }
    }

    /// Puts what is known of a client into a request's extensions.
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

/// Counts a call on the pool as done, be it that it has run or that nobody waits for it any more.
struct Done(Counts);

impl Drop for Done {
    fn drop(&mut self) {
        self.0.add(Count::BlockedDone, 1);
    }
}

/// A call on the pool. One that has not begun is taken back when nobody waits for it any more.
struct Called(JoinHandle<Response>);

impl Drop for Called {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Calls a handler. A panic is the handler's failure; what it leaves behind is the handler's own state only.
#[inline]
fn guarded(cx: &Desk, call: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Outcome::Ready(panicked(cx)))
}

/// Asks for an answer for the first time, with nobody to be woken.
#[inline]
pub(crate) fn poll_once(mut future: Pending) -> Outcome {
    match future.as_mut().poll(&mut task::Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Outcome::Ready(response),
        Poll::Pending => Outcome::Pending(future),
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

/// The answer for a handler that panicked.
#[cold]
pub(crate) fn panicked(cx: &Desk) -> Response {
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
