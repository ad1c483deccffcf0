//! One request and its response on a connection that hyper serves, by the handlers and the router that the engine calls.

use super::authority::names_one_host;
use super::controller::{self, Budget};
use super::frame_guard::{Flow, STREAMS};
use super::refusal::refusal;
use super::upgrade::Upgrade;
use crate::app;
use crate::app::router::{HttpPending, RouterAdapter, says_close};
use crate::client::Client;
use crate::client::request_id::FIELD;
use crate::computing::Observed;
use crate::context::WorkerContext;
use crate::message::body_error::BodyError;
use crate::message::body_pace::BodyPace;
use crate::message::hyper_request_body::HyperRequestBody;
use crate::message::hyper_response::{self, BoxBody};
use crate::message::request_body::{self, RequestBody};
use crate::message::response::Response;
use crate::message::stream::BodyFailed;
use crate::observe::visit::Note;
use bytes::Bytes;
use h2::Reason;
use http::header::{CONNECTION, CONTENT_LENGTH, HOST, SERVER};
use http::{HeaderValue, Method, Request, StatusCode, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Empty;
use hyper::body::Incoming;
use std::cell::Cell;
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{self, Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use torr_net::clock;

/// The number of bytes that are given to hyper at a time.
const PART: usize = 16 * 1024;
/// The number of requests beyond their limit that a connection of HTTP/2 may bring before its client has read that it ends: as many
/// as it may have in flight.
const BEYOND: u64 = STREAMS as u64;

/// The service that hyper calls for each request of a connection.
#[derive(Clone)]
pub(super) struct Exchange(Rc<Inner>);

struct Inner {
    worker: Rc<WorkerContext>,
    client: Client,
    server: HeaderValue,
    is_http2: bool,
    /// The number of requests in flight.
    active: Cell<usize>,
    /// The number of responses of unknown length that are being sent, among these.
    endless: Cell<usize>,
    /// The number of these that the worker knows of: 0 while anything else is in flight, and over HTTP/1.1.
    streams: Cell<usize>,
    /// The number of requests so far.
    served: Cell<u64>,
    /// Notified when the connection is to bring no further request here.
    enough: Notify,
    /// Notified when a client does not heed that.
    beyond: Notify,
    /// The effect of the response to the one request over HTTP/1.1 on the connection; `None` until there is a response.
    ending: Cell<Option<Ending>>,
    /// The upgrade by the one request of a connection over HTTP/1.1.
    upgrade: Arc<Upgrade>,
    /// The sending of frames over HTTP/2.
    flow: Rc<Flow>,
    /// The number of responses whose bodies could continue if the client took more.
    held: Cell<usize>,
    /// The time at which hyper last polled such a body.
    flowed: Cell<Instant>,
    /// The limits of the connection for handlers of the `App`.
    budget: Budget,
    /// A request has made a tunnel of its stream, whose end hyper does not report.
    has_tunnel: Cell<bool>,
    /// The time at which the connection began, or the last response ended.
    since: Cell<Instant>,
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

/// One request in flight.
struct Active(Rc<Inner>);

impl Active {
    fn new(inner: &Rc<Inner>) -> Self {
        inner.active.set(inner.active.get() + 1);
        inner.note_streams();
        Self(Rc::clone(inner))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        self.0.note_streams();
        self.0.since.set(Instant::now());
    }
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

    /// Tells the worker how many responses of unknown length are being sent, if nothing else is.
    fn note_streams(&self) {
        let endless = self.endless.get();
        let streams = if self.is_http2 && self.active.get() == endless { endless } else { 0 };
        self.worker.http2_streams.change(self.streams.replace(streams), streams);
    }

    /// Whether a request comes too late to be taken.
    fn refuses(&self) -> bool {
        let most = self.worker.settings.requests_per_connection;
        self.flow.is_final() || most != 0 && self.served.get() >= most.saturating_add(BEYOND)
    }

    /// Settles the end of a connection over HTTP/1.1, of which hyper serves one request: either the response turns it into
    /// something else, or hyper is done with it.
    fn end_http1(&self, response: &mut http::Response<BoxBody>, by_connect: bool, is_last: bool) {
        if response.status() == StatusCode::SWITCHING_PROTOCOLS || by_connect && response.status().is_success() {
            self.ending.set(Some(Ending::Upgraded));
            return self.upgrade.accept();
        }
        if is_last {
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if response.headers().get_all(CONNECTION).iter().any(says_close) {
            self.ending.set(Some(Ending::Closes));
            return;
        }
        self.ending.set(Some(Ending::KeepAlive));
        // hyper has written the response's header section by the time that the connection's end is requested.
        self.enough.notify_one();
    }

    /// Returns who sent a request, and what is noted of it.
    fn visit(&self, request: &Request<Incoming>) -> (Client, Note) {
        let visits = &self.worker.visits;
        if !visits.are_noted() {
            return (self.client.clone(), Note::default());
        }
        let protocol = if request.version() == Version::HTTP_2 { "HTTP/2" } else { "HTTP/1.1" };
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

/// A response's body, with what is noted of its request until the body ends.
pub(super) struct NotedBody {
    body: BoxBody,
    /// The rest of a piece that is given to hyper in parts.
    rest: Bytes,
    note: Note,
    /// The body waits for hyper to ask for more.
    is_held: bool,
    /// The body has no known length, so that it may have no end.
    is_endless: bool,
    /// The request is in flight until the body is dropped.
    active: Active,
}

impl NotedBody {
    fn new(body: BoxBody, note: Note, active: Active) -> Self {
        let is_endless = !body.is_end_stream() && body.size_hint().exact().is_none();
        active.0.endless.set(active.0.endless.get() + usize::from(is_endless));
        active.0.note_streams();
        let mut noted = Self { body, rest: Bytes::new(), note, is_held: false, is_endless, active };
        let has_more = !noted.body.is_end_stream();
        noted.hold(has_more);
        noted
    }

    fn hold(&mut self, is_held: bool) {
        let inner = &self.active.0;
        inner.flowed.set(Instant::now());
        inner.held.set(inner.held.get() + usize::from(is_held) - usize::from(self.is_held));
        self.is_held = is_held;
    }
}

impl Drop for NotedBody {
    fn drop(&mut self) {
        self.hold(false);
        let endless = &self.active.0.endless;
        endless.set(endless.get() - usize::from(self.is_endless));
        self.active.0.note_streams();
    }
}

impl Body for NotedBody {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        if self.rest.is_empty() {
            let inner = Rc::clone(&self.active.0);
            let _context = inner.worker.enter();
            let frame = Pin::new(&mut self.body).poll_frame(cx);
            self.hold(matches!(frame, Poll::Ready(Some(Ok(_)))));
            match task::ready!(frame).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        } else {
            self.hold(true);
        }
        // hyper takes a piece whole once its stream has any room, and does not report what it has sent of it.
        let fits = self.rest.len().min(PART);
        let part = self.rest.split_to(fits);
        self.note.sent(part.len() as u64);
        Poll::Ready(Some(Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (mut hint, rest) = (self.body.size_hint(), self.rest.len() as u64);
        // The upper bound first: it must not be below the other.
        hint.upper().into_iter().for_each(|upper| hint.set_upper(upper + rest));
        hint.set_lower(hint.lower() + rest);
        hint
    }
}

impl Exchange {
    /// Returns the service of a connection that has brought `served` requests. `upgrade` is that of the one request of a connection over
    /// HTTP/1.1.
    pub fn new(
        worker: Rc<WorkerContext>,
        client: Client,
        served: u64,
        upgrade: Option<Arc<Upgrade>>,
        budget: Budget,
    ) -> Self {
        let is_http2 = upgrade.is_none();
        let upgrade = upgrade.unwrap_or_default();
        let server = HeaderValue::from_static(worker.settings.server_name);
        let (active, endless, since) = (Cell::new(0), Cell::new(0), Cell::new(Instant::now()));
        let (served, enough, beyond) = (Cell::new(served), Notify::new(), Notify::new());
        let (flow, held, flowed, has_tunnel) = (Flow::new(), Cell::new(0), since.clone(), Cell::new(false));
        let (ending, streams) = (Cell::new(None), Cell::new(0));
        Self(Rc::new(Inner {
            worker,
            client,
            server,
            active,
            endless,
            streams,
            is_http2,
            served,
            enough,
            beyond,
            ending,
            upgrade,
            flow,
            held,
            flowed,
            budget,
            has_tunnel,
            since,
        }))
    }

    /// Returns how many requests the connection has brought.
    pub fn served(&self) -> u64 {
        self.0.served.get()
    }

    /// Returns what the response to the one request over HTTP/1.1 makes of the connection: `None` before there is a response,
    /// and over HTTP/2.
    pub fn ending(&self) -> Option<Ending> {
        self.0.ending.get()
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
    pub fn flow(&self) -> &Rc<Flow> {
        &self.0.flow
    }

    /// Returns how long the client has taken nothing of responses that could continue.
    pub fn stuck_for(&self) -> Duration {
        if self.0.held.get() > 0 { self.0.flowed.get().elapsed().min(self.0.flow.still_for()) } else { Duration::ZERO }
    }

    /// Whether nothing is in flight but responses of unknown length, or there is a tunnel.
    pub fn has_streams_only(&self) -> bool {
        let (active, endless) = (self.0.active.get(), self.0.endless.get());
        active == endless && (endless > 0 || self.0.has_tunnel.get())
    }

    /// Returns how long there has been no request, and nothing was sent of responses that hyper has taken whole. With a tunnel the
    /// connection is never idle.
    pub fn idle_for(&self) -> Duration {
        if self.0.active.get() > 0 || self.0.has_tunnel.get() {
            return Duration::ZERO;
        }
        self.0.since.get().elapsed().min(self.0.flow.still_for())
    }
}

impl hyper::service::Service<Request<Incoming>> for Exchange {
    type Response = http::Response<NotedBody>;
    type Error = h2::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, h2::Error>>>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        if request.version() == Version::HTTP_2 && self.0.refuses() {
            return Box::pin(ready(Err(Reason::REFUSED_STREAM.into())));
        }
        let active = Active::new(&self.0);
        let is_last = self.0.count();
        if is_last && request.version() == Version::HTTP_2 {
            self.0.enough.notify_one();
        }
        Box::pin(async move {
            let inner = &active.0;
            let (version, begin) = (request.version(), Instant::now());
            let by_connect = request.method() == Method::CONNECT;
            let to_head = request.method() == Method::HEAD;
            let keep_alive = !request.headers().get_all(CONNECTION).iter().any(says_close);
            let (client, mut note) = inner.visit(&request);
            let responding = Box::pin(respond(inner, &client, request));
            let mut response = app::survive(responding, || own(app::panicked(&inner.worker), false)).await;
            note.answered(response.status().as_u16(), 0);
            if let Some(id) = note.id.as_ref().and_then(|id| HeaderValue::from_str(&id.to_string()).ok()) {
                response.headers_mut().entry(FIELD).or_insert(id);
            }
            if version == Version::HTTP_2 {
                response.headers_mut().remove(CONNECTION);
                if !to_head && !by_connect {
                    announce_nothing(&mut response);
                }
            } else {
                let is_last = is_last || !keep_alive || version == Version::HTTP_10;
                inner.end_http1(&mut response, by_connect, is_last);
            }
            if !inner.server.is_empty() {
                response.headers_mut().entry(SERVER).or_insert_with(|| inner.server.clone());
            }
            inner.worker.meter.status(response.status().as_u16());
            inner.worker.meter.took(clock::nanos(begin.elapsed()), 1);
            if version == Version::HTTP_2 && by_connect && response.status().is_success() {
                inner.has_tunnel.set(true);
            }
            Ok(response.map(|body| NotedBody::new(body, note, active)))
        })
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
async fn respond(inner: &Inner, client: &Client, request: Request<Incoming>) -> http::Response<BoxBody> {
    let worker = &inner.worker;
    let (mut parts, body) = request.into_parts();
    let to_head = parts.method == Method::HEAD;
    let own = |response| own(response, to_head);
    if parts.version == Version::HTTP_2 {
        if !names_one_host(&parts) {
            return own(Response::error(400, "A request needs exactly one valid host\n"));
        }
    } else if let Some(host) = parts.uri.authority().filter(|_| parts.method != Method::CONNECT) {
        // As in the engine: RFC 9112, section 3.2.2.
        let host = HeaderValue::from_str(host.as_str()).expect("an authority is visible ASCII");
        parts.headers.insert(HOST, host);
    }
    let path = parts.uri.path();
    if let Some(router) = &worker.router
        && worker.app.takes_body_as_it_comes(parts.method.as_str(), if path.is_empty() { "/" } else { path }, worker)
    {
        let most = worker.settings.most_streamed();
        if body.size_hint().lower() > most {
            return own(refusal(BodyError::TooLarge));
        }
        let body = HyperRequestBody::new(body, most, BodyPace::new(&worker.settings));
        let reading = body.exchange();
        let mut request = Request::from_parts(parts, request_body::hyper(body));
        let called = {
            let _context = worker.enter();
            worker.app.introduce(client, request.extensions_mut());
            call(worker, router, request)
        };
        let mut responding = worker.within(called);
        return poll_fn(|cx| {
            let response = Pin::new(&mut responding).poll(cx);
            // As in the engine, a faulty body decides the response.
            match reading.fault() {
                Some(error) if response.is_pending() || !error.is_by_client() => Poll::Ready(own(refusal(error))),
                _ => {
                    if response.is_ready() {
                        reading.begin_response();
                    }
                    response
                }
            }
        })
        .await;
    }
    own(controller::respond(worker, &inner.budget, client, parts, body).await)
}

/// Calls the router, on another thread where the request's route computes.
fn call(worker: &WorkerContext, router: &RouterAdapter, request: Request<RequestBody>) -> HttpPending {
    if worker.watch.is_calm() {
        return router.call_http(request);
    }
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    if let Some(call) = worker.app.moved_call(method.as_str(), &path, worker) {
        let called = call.run(worker, request, |response| response);
        return Box::pin(async { called.await.unwrap_or_else(|| own(app::failed(), false)) });
    }
    let route = worker.app.route_of(method.as_str(), &path);
    Box::pin(Observed::new(router.call_http(request), Rc::clone(&worker.watch), &route))
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
