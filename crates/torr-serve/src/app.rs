//! Handlers by path and method.

use crate::request::Request;
use crate::response::Response;
use crate::server::{ServeError, Server};
use http::header::ALLOW;
use http::{HeaderValue, Method};
use matchit::Router;
use std::fmt;
use std::future::Future;
use std::net::ToSocketAddrs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use torr_wire::request::RequestHead;

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

    /// Calls the handler of a request. One that waits is polled once, since most have their answer at hand.
    #[inline]
    pub(crate) fn call(&self, head: &RequestHead<'_, '_>, body: &[u8]) -> Outcome {
        let Ok(found) = self.router.at(head.path()) else { return Outcome::Ready(no_route(head)) };
        let handlers = &self.routes[*found.value].handlers;
        let handler_of = |method: &str| handlers.iter().find(|(known, _)| known == method);
        let handler = match handler_of(head.method) {
            None if head.method == "HEAD" => handler_of("GET"),
            handler => handler,
        };
        let Some((_, handler)) = handler else {
            return Outcome::Ready(not_allowed(head.method, handlers));
        };
        let request = Request { head, params: found.params, body };
        // A panic is the handler's failure; what it leaves behind is the handler's own state only.
        let called = catch_unwind(AssertUnwindSafe(|| match handler {
            Handler::Direct(handler) => Outcome::Ready(handler(&request)),
            Handler::Async(handler) => {
                let mut future = handler(&request);
                match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(response) => Outcome::Ready(response),
                    Poll::Pending => Outcome::Pending(future),
                }
            }
        }));
        called.unwrap_or_else(|_| Outcome::Ready(failed()))
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
