//! Handlers by path and method.

pub(crate) mod blocking_pool;
mod dispatch;
mod outcome;
pub(crate) mod owned;
pub(crate) mod paths;

pub(crate) mod router;

pub(crate) use dispatch::panicked;
pub(crate) use outcome::{Outcome, Pending, survive};

use crate::app::paths::Paths;
use crate::app::router::{Router, RouterAdapter};
use crate::client::Introduce;
use crate::message::body_channel::BodyReceiver;
use crate::message::request::Request;
use crate::message::request_body::RequestBody;
use crate::message::response::Response;
use crate::observe::metric::Metric;
use http::Method;
use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use tower_service::Service;

/// The content type of [`App::metrics`].
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The body of a request.
pub(crate) enum Content<'b> {
    Whole(&'b [u8]),
    /// A stream of the body, for the router.
    Coming(BodyReceiver),
}

enum Handler {
    Direct(Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>),
    Async(Box<dyn Fn(&Request<'_>) -> Pending + Send + Sync>),
    Blocking(Box<dyn Fn(&Request<'_>) -> Response + Send + Sync>),
    /// The server's metrics.
    Metrics,
}

/// An application: its handlers by path and method, and its router.
///
/// Paths may hold parameters: `/users/{id}` takes one part of a path, `/files/{*rest}` all that is left of it.
#[derive(Default)]
pub struct App {
    /// Patterns of paths, each with an index of `routes`.
    paths: Paths,
    routes: Vec<Route>,
    /// The service for all requests without a handler.
    router: Option<Router>,
    introduce: Option<Introduce>,
    /// The application's own metrics.
    metrics: Vec<Metric>,
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

    /// Answers GET and HEAD on a path by a simple controller. What it leaves behind by `tokio::spawn` is driven by its worker;
    /// in an application without router and async handlers, whose workers wait without tokio, by a thread beside them.
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

    /// Shows a number of the application's own among those of [`App::metrics`]. Names that begin with `torr_` are Torr's.
    ///
    /// # Panics
    /// If it has one of this name already.
    pub fn metric(mut self, metric: &Metric) -> Self {
        let name = metric.name();
        let taken = self.metrics.iter().any(|known| known.name() == name);
        assert!(!taken, "there is a metric {name} already");
        self.metrics.push(metric.clone());
        self
    }

    /// Returns a worker's clone of the router.
    pub(crate) fn router_adapter(&self) -> Option<RouterAdapter> {
        self.router.as_ref().map(Router::adapter)
    }

    /// Whether nothing in it needs a runtime: it has controllers and handlers that block, but none that wait, and no router.
    pub(crate) fn is_simple(&self) -> bool {
        let waits = |handler: &Handler| matches!(handler, Handler::Async(_));
        self.router.is_none()
            && !self.routes.iter().flat_map(|route| &route.handlers).any(|(_, handler)| waits(handler))
    }

    pub(crate) fn own_metrics(&self) -> &[Metric] {
        &self.metrics
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
        assert!(self.router.is_none(), "an application has one router: merge them first");
        self.router = Some(Router::new(service));
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
}
