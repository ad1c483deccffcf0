//! One request and its response on a connection that hyper serves or that is of HTTP/3, by the handlers and the router that the
//! engine calls.

use super::authority::names_one_host;
use super::controller::{self, Budget};
use super::frame_guard::{Flow, STREAMS};
use super::in_flight::{InFlight, RequestInFlight};
use super::noted_body::NotedBody;
use super::refusal::refusal;
use super::unread::UnreadContent;
use super::upgrade::Upgrade;
use crate::app;
use crate::app::router::{HttpPending, RouterAdapter, says_close};
use crate::app::worker_app::WorkerApp;
use crate::client::Client;
use crate::client::request_id::FIELD;
use crate::computing::Observed;
use crate::conn::context::WorkerContext;
use crate::conn::visit::Note;
use crate::message::body_error::BodyError;
use crate::message::body_pace::BodyPace;
use crate::message::bounded_body::{BoundedBody, ContentSource, ReceivedContent};
use crate::message::hyper_response::{self, BoxBody};
use crate::message::request_body::{self, RequestBody};
use crate::message::response::Response;
use bytes::Bytes;
use h2::Reason;
use http::header::{ALT_SVC, CONNECTION, CONTENT_LENGTH, HOST, SERVER};
use http::request::Parts;
use http::{HeaderValue, Method, Request, StatusCode, Version};
use http_body::Body;
use http_body_util::Empty;
use hyper::body::Incoming;
use std::cell::Cell;
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;
use tokio::sync::Notify;
use torr_net::clock;

/// The number of requests beyond their limit that a connection of HTTP/2 may bring before its client has read that it ends: as many
/// as it may have in flight.
const BEYOND: u64 = STREAMS as u64;

/// The service that is called for each request of a connection.
#[derive(Clone)]
pub(in crate::conn) struct Exchange(Rc<Inner>);

struct Inner {
    worker: Rc<WorkerContext>,
    client: Client,
    server: HeaderValue,
    protocol: Protocol,
    /// The sending of frames over HTTP/2.
    flow: Rc<Flow>,
    in_flight: Rc<InFlight>,
    /// The limits of the connection for handlers of the `App`.
    budget: Budget,
    /// The number of requests so far.
    served: Cell<u64>,
    /// Notified when the connection is to bring no further request here.
    enough: Notify,
    /// Notified when a client does not heed that.
    beyond: Notify,
}

/// The state that depends on the version of HTTP.
enum Protocol {
    Http1 {
        /// The upgrade by the connection's one request.
        upgrade: Arc<Upgrade>,
        /// The effect of the response to that request on the connection; `None` until there is a response.
        ending: Cell<Option<Ending>>,
    },
    Http2,
    #[cfg(feature = "http3")]
    Http3,
}

impl Protocol {
    /// Whether a connection has several requests in flight.
    fn is_multiplexed(&self) -> bool {
        !matches!(self, Self::Http1 { .. })
    }
}

/// The effect of a response over HTTP/1.1 on its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// Another request may follow.
    KeepAlive,
    /// The response announces the connection's end. hyper ends it by itself; a graceful end must not be requested: it would
    /// throw away what the socket has not taken.
    Closes,
    /// Something other than HTTP follows.
    Upgraded,
}

impl Inner {
    /// Counts a request. Returns whether the connection may bring no further one.
    fn count(&self) -> bool {
        self.served.set(self.served.get() + 1);
        let most = self.worker.settings.requests_per_connection;
        if most != 0 && self.served.get() == most.saturating_add(BEYOND) {
            self.beyond.notify_one();
        }
        most != 0 && self.served.get() >= most
    }

    /// Whether a request comes too late to be taken.
    fn refuses(&self) -> bool {
        let most = self.worker.settings.requests_per_connection;
        self.flow.is_final() || most != 0 && self.served.get() >= most.saturating_add(BEYOND)
    }

    /// Settles the end of a connection over HTTP/1.1, of which hyper serves one request: either the response turns it into
    /// something else, or hyper is done with it.
    fn end_http1(&self, response: &mut http::Response<BoxBody>, by_connect: bool, is_last: bool) -> Ending {
        if response.status() == StatusCode::SWITCHING_PROTOCOLS || by_connect && response.status().is_success() {
            return Ending::Upgraded;
        }
        if is_last {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if response.headers().get_all(CONNECTION).iter().any(says_close) {
            return Ending::Closes;
        }
        // hyper has written the response's header section by the time that the connection's end is requested.
        self.enough.notify_one();
        Ending::KeepAlive
    }

    /// Returns who sent a request, and what is noted of it.
    fn visit(&self, request: &Request<ReceivedContent>) -> (Client, Note) {
        let visits = &self.worker.visits;
        if !visits.are_noted() {
            return (self.client.clone(), Note::default());
        }
        let protocol = match request.version() {
            Version::HTTP_2 => "HTTP/2",
            Version::HTTP_3 => "HTTP/3",
            _ => "HTTP/1.1",
        };
        let (uri, host) = (request.uri(), request.uri().authority().map_or("/", |authority| authority.as_str()));
        // Only a CONNECT has none.
        let target = uri.path_and_query().map_or(host, |path| path.as_str());
        let authority = request.uri().authority().map(|authority| ("host", authority.as_str().as_bytes()));
        // A field that says something else does not count.
        let fields = request.headers().iter().filter(|(name, _)| authority.is_none() || *name != HOST);
        let fields = fields.map(|(name, value)| (name.as_str(), value.as_bytes()));
        let fields: Vec<_> = authority.into_iter().chain(fields).collect();
        visits.begin(&self.client, [request.method().as_str(), target, protocol], &fields)
    }
}

impl Exchange {
    /// Returns the service of a connection that has brought `served` requests. `upgrade` is that of the one request of a connection over
    /// HTTP/1.1.
    pub(super) fn new(
        worker: Rc<WorkerContext>,
        client: Client,
        served: u64,
        upgrade: Option<Arc<Upgrade>>,
        budget: Budget,
    ) -> Self {
        let counted_by = upgrade.is_none().then(|| Rc::clone(&worker));
        let protocol = upgrade.map_or(Protocol::Http2, |upgrade| Protocol::Http1 { upgrade, ending: Cell::new(None) });
        Self::with(worker, client, served, protocol, counted_by, budget)
    }

    /// Returns the service of a connection of HTTP/3.
    #[cfg(feature = "http3")]
    pub fn of_http3(worker: Rc<WorkerContext>, client: Client, budget: Budget) -> Self {
        Self::with(worker, client, 0, Protocol::Http3, None, budget)
    }

    fn with(
        worker: Rc<WorkerContext>,
        client: Client,
        served: u64,
        protocol: Protocol,
        counted_by: Option<Rc<WorkerContext>>,
        budget: Budget,
    ) -> Self {
        let server = HeaderValue::from_static(worker.settings.server_name);
        let flow = Flow::new();
        Self(Rc::new(Inner {
            worker,
            client,
            server,
            protocol,
            in_flight: InFlight::new(Rc::clone(&flow), counted_by),
            flow,
            budget,
            served: Cell::new(served),
            enough: Notify::new(),
            beyond: Notify::new(),
        }))
    }

    /// Returns how many requests the connection has brought.
    pub fn served(&self) -> u64 {
        self.0.served.get()
    }

    /// Returns what the response to the one request over HTTP/1.1 makes of the connection: `None` before there is a response,
    /// and over HTTP/2.
    pub(super) fn ending(&self) -> Option<Ending> {
        match &self.0.protocol {
            Protocol::Http1 { ending, .. } => ending.get(),
            _ => None,
        }
    }

    /// Waits until the connection has brought as many requests as it may.
    pub async fn enough(&self) {
        self.0.enough.notified().await;
    }

    /// Waits until the connection has brought as many requests beyond these as its client may have in flight.
    pub async fn beyond(&self) {
        self.0.beyond.notified().await;
    }

    /// Returns the sending of frames over HTTP/2.
    pub(super) fn flow(&self) -> &Rc<Flow> {
        &self.0.flow
    }

    /// Returns the requests in flight.
    pub fn in_flight(&self) -> &InFlight {
        &self.0.in_flight
    }
}

impl hyper::service::Service<Request<Incoming>> for Exchange {
    type Response = http::Response<NotedBody>;
    type Error = h2::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, h2::Error>>>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let is_http2 = matches!(self.0.protocol, Protocol::Http2);
        if is_http2 && self.0.refuses() {
            return Box::pin(ready(Err(Reason::REFUSED_STREAM.into())));
        }
        let response = self.begin(request.map(|incoming| ReceivedContent::new(ContentSource::Hyper(incoming))));
        Box::pin(async { Ok(response.await) })
    }
}

impl Exchange {
    /// Begins a request. Returns the future of its response.
    pub fn begin(
        &self,
        request: Request<ReceivedContent>,
    ) -> impl Future<Output = http::Response<NotedBody>> + 'static {
        let (inner, in_flight) = (Rc::clone(&self.0), RequestInFlight::new(&self.0.in_flight));
        let is_last = inner.count();
        if is_last && inner.protocol.is_multiplexed() {
            inner.enough.notify_one();
        }
        async move {
            let (version, begin) = (request.version(), Instant::now());
            let by_connect = request.method() == Method::CONNECT;
            let to_head = request.method() == Method::HEAD;
            let keep_alive = !request.headers().get_all(CONNECTION).iter().any(says_close);
            let (client, mut note) = inner.visit(&request);
            let (parts, content) = request.into_parts();
            let lingers = matches!(inner.protocol, Protocol::Http2) && !by_connect;
            let mut unread = UnreadContent::new(&content, lingers, &inner.in_flight);
            let responding = Box::pin(respond(&inner, &client, parts, content, &unread));
            let mut response = app::survive(responding, || own(inner.worker.app.panicked(), false)).await;
            unread.discard();
            note.answered(response.status().as_u16(), 0);
            if let Some(id) = note.id.as_ref().and_then(|id| HeaderValue::from_str(&id.to_string()).ok()) {
                response.headers_mut().entry(FIELD).or_insert(id);
            }
            match &inner.protocol {
                Protocol::Http1 { upgrade, ending } => {
                    let is_last = is_last || !keep_alive || version == Version::HTTP_10;
                    ending.set(Some(inner.end_http1(&mut response, by_connect, is_last)));
                    if ending.get() == Some(Ending::Upgraded) {
                        upgrade.accept();
                    }
                }
                _ => {
                    response.headers_mut().remove(CONNECTION);
                    if by_connect && response.status().is_success() {
                        inner.in_flight.open_tunnel();
                    } else if !to_head && !by_connect {
                        announce_nothing(&mut response);
                    }
                }
            }
            if !inner.server.is_empty() {
                response.headers_mut().entry(SERVER).or_insert_with(|| inner.server.clone());
            }
            if let Some(other) = inner.worker.alt_svc.as_ref().filter(|_| version != Version::HTTP_3) {
                response.headers_mut().entry(ALT_SVC).or_insert_with(|| other.clone());
            }
            inner.worker.meter.status(response.status().as_u16());
            inner.worker.meter.took(clock::nanos(begin.elapsed()), 1);
            let worker = Rc::clone(&inner.worker);
            response.map(|body| NotedBody::new(body, worker, note, in_flight, unread))
        }
    }
}

/// Adds the length of a response without content, as HTTP/1.1 has it: hyper adds that of all other responses.
fn announce_nothing(response: &mut http::Response<BoxBody>) {
    let (status, body) = (response.status(), response.body());
    let may_have_content = !status.is_informational() && status != 204 && status != 304;
    if may_have_content && body.is_end_stream() {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert(HeaderValue::from_static("0"));
    }
}

/// Calls the handler or the router of a request.
async fn respond(
    inner: &Inner,
    client: &Client,
    mut parts: Parts,
    content: ReceivedContent,
    unread: &UnreadContent,
) -> http::Response<BoxBody> {
    let worker = &inner.worker;
    let to_head = parts.method == Method::HEAD;
    let own = |response| own(response, to_head);
    if matches!(parts.version, Version::HTTP_2 | Version::HTTP_3) {
        if !names_one_host(&parts) {
            return own(Response::error(400, "A request must have exactly one valid host\n"));
        }
    } else if let Some(host) = parts.uri.authority().filter(|_| parts.method != Method::CONNECT) {
        // As in the engine: RFC 9112, section 3.2.2.
        let host = HeaderValue::from_str(host.as_str()).expect("an authority is visible ASCII");
        parts.headers.insert(HOST, host);
    }
    let path = parts.uri.path();
    if let Some(router) = &worker.app.router
        && worker.app.takes_body_as_it_comes(parts.method.as_str(), if path.is_empty() { "/" } else { path })
    {
        let most = worker.settings.most_streamed();
        if content.size_hint().lower() > most {
            return own(refusal(BodyError::TooLarge));
        }
        let reading = content.clone();
        let body = BoundedBody::new(content, most, BodyPace::new(&worker.settings));
        let mut request = Request::from_parts(parts, request_body::bounded(body));
        let called = {
            let _context = worker.app.enter();
            worker.app.shared.introduce(client, request.extensions_mut());
            call(&worker.app, router, request)
        };
        let mut responding = worker.app.within(called);
        return poll_fn(|cx| {
            let response = Pin::new(&mut responding).poll(cx);
            // As in the engine, a faulty body decides the response.
            match reading.fault() {
                Some(error) if response.is_pending() || !error.is_by_client() => Poll::Ready(own(refusal(error))),
                _ => {
                    match response {
                        Poll::Ready(_) => reading.begin_response(),
                        Poll::Pending => unread.discard_unheld(cx),
                    }
                    response
                }
            }
        })
        .await;
    }
    own(controller::respond(worker, &inner.budget, client, parts, content).await)
}

/// Calls the router, on another thread where the request's route computes.
fn call(app: &WorkerApp, router: &RouterAdapter, request: Request<RequestBody>) -> HttpPending {
    if app.watch.is_calm() {
        return router.call_http(request);
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Some(call) = app.moved_call(method.as_str(), &path) {
        let called = call.run(app, request, |response| response);
        return Box::pin(async { called.await.unwrap_or_else(|| own(app::failed(), false)) });
    }
    let route = app.shared.route_of(method.as_str(), &path);
    Box::pin(Observed::new(router.call_http(request), Rc::clone(&app.watch), &route))
}

/// Returns a response of this server's own in the types of `http`.
fn own(response: Response, to_head: bool) -> http::Response<BoxBody> {
    let closes = response.closes;
    let mut response = hyper_response::from_controller(response);
    if to_head {
        let length = response.body().size_hint().exact().filter(|_| !matches!(response.status().as_u16(), 204 | 304));
        length.into_iter().for_each(|length| drop(response.headers_mut().insert(CONTENT_LENGTH, length.into())));
        *response.body_mut() = hyper_response::boxed(Empty::<Bytes>::new());
    }
    if closes {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    response
}
