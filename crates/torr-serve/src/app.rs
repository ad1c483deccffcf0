//! The application: handlers by path and method, and a router.

pub(crate) mod blocking_pool;
mod dispatch;
mod moved;
mod outcome;
pub(crate) mod owned;
pub(crate) mod paths;
pub(crate) mod router;
pub(crate) mod worker_app;

pub(crate) use dispatch::failed;
pub(crate) use outcome::{Outcome, Pending, survive};

use crate::app::paths::Paths;
use crate::app::router::{Router, RouterAdapter};
use crate::client::connection_info::ConnectionInfo;
use crate::client::{Describe, Introduce};
use crate::files::Files;
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
use std::sync::Arc;
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
/// Paths may have parameters: `{id}` in `/users/{id}` matches one segment of a path, `{*rest}` in `/files/{*rest}` the rest.
#[derive(Default)]
pub struct App {
    /// Patterns of paths, each with an index of `routes`.
    paths: Paths,
    routes: Vec<Route>,
    /// Paths of the router whose requests compute or block.
    computing: Paths,
    has_computing: bool,
    /// The service for all requests without a handler.
    router: Option<Router>,
    introduce: Option<Introduce>,
    describe: Option<Describe>,
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

/// Panics for a path that no handler can have, or that has a parameter as older versions of axum write it, which would be literal
/// text here.
#[track_caller]
fn check(path: &str) {
    assert!(path.starts_with('/'), "cannot route {path}: a path must begin with '/'");
    for segment in path.split('/') {
        if let Some(name) = segment.strip_prefix(':') {
            panic!("cannot route {path}: use {{{name}}} instead of :{name}");
        }
        if let Some(name) = segment.strip_prefix('*') {
            panic!("cannot route {path}: use {{*{name}}} instead of *{name}");
        }
    }
}

impl App {
    /// Returns an application that responds 404 to every request.
    pub fn new() -> Self {
        Self::default()
    }

    /// Routes GET and HEAD of a path to a simple controller. Tasks that the controller spawns run on its worker; in an application
    /// without router and async handlers, whose workers wait without tokio, on a background thread.
    ///
    /// # Panics
    /// If the path is malformed, conflicts with an earlier one, has a handler of this method already, or has a segment that begins
    /// with `:` or `*`, as parameters did in older versions of axum.
    #[track_caller]
    pub fn get(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::GET, path, handler)
    }

    /// Routes POST of a path to a simple controller.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn post(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::POST, path, handler)
    }

    /// Routes PUT of a path to a simple controller.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn put(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::PUT, path, handler)
    }

    /// Routes DELETE of a path to a simple controller.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn delete(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::DELETE, path, handler)
    }

    /// Routes PATCH of a path to a simple controller.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn patch(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route(Method::PATCH, path, handler)
    }

    /// Routes one method of a path to a simple controller.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn route(
        self,
        method: Method,
        path: &str,
        handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.add(method, path, Handler::Direct(Box::new(handler)))
    }

    /// Routes GET and HEAD of a path to an async handler: a function that takes what it needs from the request and returns a
    /// future, which runs on the worker that received the request.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn get_async<F>(self, path: &str, handler: impl Fn(&Request<'_>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + 'static,
    {
        self.route_async(Method::GET, path, handler)
    }

    /// Routes POST of a path to an async handler, as [`App::get_async`] does.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn post_async<F>(self, path: &str, handler: impl Fn(&Request<'_>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + 'static,
    {
        self.route_async(Method::POST, path, handler)
    }

    /// Routes one method of a path to an async handler, as [`App::get_async`] does.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
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

    /// Routes GET and HEAD of a path to a blocking handler, which runs on one of the [`Settings`]' blocking threads, so that workers
    /// continue. If all threads are busy and their queue is full, the response is a 503. These threads have no tokio runtime.
    ///
    /// [`Settings`]: crate::Settings::blocking_threads
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn get_blocking(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route_blocking(Method::GET, path, handler)
    }

    /// Routes POST of a path to a blocking handler, as [`App::get_blocking`] does.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn post_blocking(self, path: &str, handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static) -> Self {
        self.route_blocking(Method::POST, path, handler)
    }

    /// Routes one method of a path to a blocking handler, as [`App::get_blocking`] does.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn route_blocking(
        self,
        method: Method,
        path: &str,
        handler: impl Fn(&Request<'_>) -> Response + Send + Sync + 'static,
    ) -> Self {
        self.add(method, path, Handler::Blocking(Box::new(handler)))
    }

    /// Routes GET and HEAD of all paths below a prefix, such as `/static/`, to the files below a folder.
    ///
    /// ```no_run
    /// use torr_serve::{App, Files};
    ///
    /// let app = App::new().files("/static/", Files::new("site")?);
    /// # drop(app);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Panics
    /// If the prefix does not end with `/`, and where [`App::get`] does.
    #[track_caller]
    pub fn files(self, prefix: &str, files: Files) -> Self {
        assert!(prefix.ends_with('/'), "cannot route files below {prefix}: write {prefix}/");
        let files = Arc::new(files);
        let of_folder = Arc::clone(&files);
        self.get(prefix, move |request| of_folder.respond("", request))
            .get(&format!("{prefix}{{*path}}"), move |request| {
                files.respond(request.param("path").unwrap_or_default(), request)
            })
    }

    /// Serves the server's metrics on a path, in Prometheus' text format: requests by status, latencies, connections, and each
    /// worker's use of time.
    ///
    /// # Panics
    /// Panics where [`App::get`] does.
    #[track_caller]
    pub fn metrics(self, path: &str) -> Self {
        self.add(Method::GET, path, Handler::Metrics)
    }

    /// Adds a metric of the application to those of [`App::metrics`]. Names that begin with `torr_` are reserved.
    ///
    /// # Panics
    /// If the application has a metric of this name already.
    #[track_caller]
    pub fn metric(mut self, metric: &Metric) -> Self {
        let name = metric.name();
        let taken = self.metrics.iter().any(|known| known.name() == name);
        assert!(!taken, "duplicate metric {name}");
        self.metrics.push(metric.clone());
        self
    }

    /// Returns a worker's clone of the router.
    pub(crate) fn router_adapter(&self) -> Option<RouterAdapter> {
        self.router.as_ref().map(Router::adapter)
    }

    /// Returns whether the application needs no runtime: it has controllers and blocking handlers only.
    pub(crate) fn is_simple(&self) -> bool {
        let waits = |handler: &Handler| matches!(handler, Handler::Async(_));
        self.router.is_none()
            && !self.routes.iter().flat_map(|route| &route.handlers).any(|(_, handler)| waits(handler))
    }

    pub(crate) fn own_metrics(&self) -> &[Metric] {
        &self.metrics
    }

    /// Routes all requests without a handler to a tower service of http types, such as an `axum::Router`, which also responds to
    /// unknown paths.
    ///
    /// Each worker has a clone of the service. A request's body is streamed as it arrives, and a response's body is polled as
    /// the client receives it, both with backpressure. Over HTTP/1.1 trailers are sent if the request has `TE: trailers` and
    /// the response names them in `Trailer`; otherwise they are dropped.
    ///
    /// # Panics
    /// If the application has a router already.
    #[track_caller]
    pub fn router<S, B>(mut self, service: S) -> Self
    where
        S: Service<http::Request<RequestBody>, Response = http::Response<B>, Error = Infallible>
            + Clone
            + Send
            + 'static,
        S::Future: 'static,
        B: http_body::Body + Send + 'static,
    {
        assert!(self.router.is_none(), "an application must have one router: merge them first");
        self.router = Some(Router::new(service));
        self
    }

    /// Inserts the client's address into the extensions of the router's requests: `app.peer_as(torr_serve::Peer)`, or
    /// `app.peer_as(axum::extract::ConnectInfo::<SocketAddr>)` for axum's extractor. May be called for several types.
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

    /// Inserts what the kernel knows of the connection into the extensions of the router's requests: the server's own address, and
    /// on a Unix socket the process at the other end. `app.connection_as(|info| *info)` gives handlers the [`ConnectionInfo`] itself.
    /// May be called for several types. Costs a system call for each connection.
    ///
    /// ```
    /// use axum::extract::ConnectInfo;
    /// use torr_serve::{App, ConnectionInfo};
    ///
    /// let app = App::new().connection_as(|info: &ConnectionInfo| ConnectInfo(*info));
    /// # drop(app);
    /// ```
    pub fn connection_as<T>(mut self, form: impl Fn(&ConnectionInfo) -> T + Send + Sync + 'static) -> Self
    where
        T: Clone + Send + Sync + 'static,
    {
        let before = self.describe.take();
        self.describe = Some(Box::new(move |extensions, connection| {
            before.iter().for_each(|before| before(extensions, connection));
            extensions.insert(form(connection));
        }));
        self
    }

    /// Whether the application asks for what is known of connections.
    pub(crate) fn describes_connections(&self) -> bool {
        self.describe.is_some()
    }

    /// Runs the router's requests to a path on threads beside the workers from the first one on, since they compute or block
    /// without waiting. Paths have parameters as those of handlers. Other routes are moved once a worker has noticed them: see
    /// [`Settings::compute_after`], also for what is promised of requests that are moved.
    ///
    /// ```
    /// use axum::Router;
    /// use axum::routing::get;
    /// use torr_serve::App;
    ///
    /// let router: Router = Router::new().route("/reports/{id}", get(|| async { "calculated" }));
    /// let app = App::new().router(router).computes("/reports/{id}");
    /// # drop(app);
    /// ```
    ///
    /// [`Settings::compute_after`]: crate::Settings::compute_after
    ///
    /// # Panics
    /// If the path is malformed, or conflicts with an earlier one.
    #[track_caller]
    pub fn computes(mut self, path: &str) -> Self {
        check(path);
        if let Err(error) = self.computing.insert(path, 0) {
            panic!("cannot mark {path} as computing: {error}");
        }
        self.has_computing = true;
        self
    }

    /// Whether the application names paths that compute.
    pub(crate) fn has_computing(&self) -> bool {
        self.has_computing
    }

    #[track_caller]
    fn add(mut self, method: Method, path: &str, handler: Handler) -> Self {
        check(path);
        let known = self.routes.iter_mut().find(|route| route.path == path);
        if let Some(route) = known {
            let taken = route.handlers.iter().any(|(known, _)| *known == method);
            assert!(!taken, "cannot route {path}: duplicate handler of {method}");
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
