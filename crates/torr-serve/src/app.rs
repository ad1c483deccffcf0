//! Handlers by path and method.

use crate::guest::{self, Guest, Introduce, Local, Peer, RequestBody};
use crate::request::Request;
use crate::response::Response;
use crate::server::{ServeError, Server};
use http::header::ALLOW;
use http::{HeaderValue, Method};
use matchit::Router;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use torr_wire::request::RequestHead;
use tower_service::Service;

/// A handler's answer that is still in the making.
pub(crate) type Pending = Pin<Box<dyn Future<Output = Response>>>;

/// What calling a handler brings.
pub(crate) enum Outcome {
    /// An answer.
    Ready(Response),
    /// One that must be waited for.
    Pending(Pending),
}

enum Handler {
    Direct(Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>),
    Async(Box<dyn Fn(&Request<'_>) -> Pending + Send + Sync>),
}

/// An application: what answers which requests.
///
/// Paths may hold parameters: `/users/{id}` takes one part of a path, `/files/{*rest}` all that is left of it.
#[derive(Default)]
pub struct App {
    /// From a path to the number of its route.
    router: Router<usize>,
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

    /// Answers everything else by a tower service of http types, such as an `axum::Router`: whatever path and method has
    /// no handler in this application. What is unknown there too is answered as the service sees fit.
    ///
    /// Each worker has a clone of it. A request's body is read in full before the service is called. An answer's body is
    /// asked for its frames as the client takes them; trailers are dropped. [`Peer`] is among a request's extensions.
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

    /// Puts the client's address into the extensions of the router's requests in this form too, as
    /// `app.peer_as(axum::extract::ConnectInfo::<SocketAddr>)` does for axum's extractor.
    pub fn peer_as<T>(mut self, form: impl Fn(SocketAddr) -> T + Send + Sync + 'static) -> Self
    where
        T: Clone + Send + Sync + 'static,
    {
        self.introduce = Some(Box::new(move |extensions, peer| {
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
        if let Err(error) = self.router.insert(path, self.routes.len()) {
            panic!("cannot route {path}: {error}");
        }
        self.routes.push(Route { path: path.to_owned(), handlers: vec![(method, handler)] });
        self
    }

    /// A worker's copy of the router, if there is one.
    pub(crate) fn local(&self) -> Option<Local> {
        self.guest.as_ref().map(Guest::local)
    }

    /// Calls the handler of a request, or the router, where there is no handler. One that waits is polled once, since
    /// most have their answer at hand.
    #[inline]
    pub(crate) fn call(
        &self,
        head: &RequestHead<'_, '_>,
        body: &[u8],
        router: Option<&Local>,
        peer: Option<SocketAddr>,
    ) -> Outcome {
        let Ok(found) = self.router.at(head.path()) else {
            return match router {
                Some(router) => self.call_router(router, head, body, peer),
                None => Outcome::Ready(no_route(head)),
            };
        };
        let handlers = &self.routes[*found.value].handlers;
        let handler_of = |method: &str| handlers.iter().find(|(known, _)| known == method);
        let handler = match handler_of(head.method) {
            None if head.method == "HEAD" => handler_of("GET"),
            handler => handler,
        };
        let Some((_, handler)) = handler else {
            return match router {
                Some(router) => self.call_router(router, head, body, peer),
                None => Outcome::Ready(not_allowed(head.method, handlers)),
            };
        };
        let request = Request { head, params: found.params, body };
        guarded(|| match handler {
            Handler::Direct(handler) => Outcome::Ready(handler(&request)),
            Handler::Async(handler) => poll_once(handler(&request)),
        })
    }

    fn call_router(
        &self,
        router: &Local,
        head: &RequestHead<'_, '_>,
        body: &[u8],
        peer: Option<SocketAddr>,
    ) -> Outcome {
        // The answer to CONNECT has no body, and what follows it is no HTTP: no service of requests can give it.
        if head.method == "CONNECT" {
            return Outcome::Ready(not_implemented());
        }
        let Some(mut request) = guest::request(head, body) else {
            return Outcome::Ready(Response::error(400, "The target is not valid\n").closing());
        };
        if let Some(peer) = peer {
            request.extensions_mut().insert(Peer(peer));
            if let Some(introduce) = &self.introduce {
                introduce(request.extensions_mut(), peer);
            }
        }
        guarded(|| router.call(request))
    }
}

/// Calls a handler. A panic is the handler's failure; what it leaves behind is the handler's own state only.
#[inline]
fn guarded(call: impl FnOnce() -> Outcome) -> Outcome {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| Outcome::Ready(failed()))
}

/// Asks for an answer for the first time, with nobody to be woken.
#[inline]
pub(crate) fn poll_once(mut future: Pending) -> Outcome {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(response) => Outcome::Ready(response),
        Poll::Pending => Outcome::Pending(future),
    }
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
