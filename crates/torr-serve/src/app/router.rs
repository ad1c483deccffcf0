//! The application's router: a tower service of http types, such as an `axum::Router`, behind the engine's interface.

use crate::app::outcome::{Outcome, poll_once};
use crate::callbacks;
use crate::message::hyper_response::{self, BoxBody};
use crate::message::request_body::RequestBody;
use crate::message::response::{Body, Fields, Response};
use crate::message::stream::{BodyMemory, Framing, Stream};
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, DATE, HeaderName, HeaderValue, SERVER, TE, TRAILER};
use http::{HeaderMap, Method, Request, Uri, Version};
use hyper::ext::ReasonPhrase;
use std::cell::RefCell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use torr_wire::request::RequestHead;
use tower_service::Service;

/// A service that each worker clones.
pub(crate) struct Router(Box<dyn MakeAdapter>);

/// A worker's clone of the service.
pub(crate) struct RouterAdapter(RefCell<Box<dyn CallService>>);

trait MakeAdapter: Send + Sync {
    fn adapter(&self) -> Box<dyn CallService>;
}

/// A response in the types of `http`, once the service has it.
pub(crate) type HttpPending = Pin<Box<dyn Future<Output = http::Response<BoxBody>>>>;

trait CallService {
    fn call(&mut self, request: Request<RequestBody>) -> Outcome;
    fn call_http(&mut self, request: Request<RequestBody>) -> HttpPending;
    fn detached(&self) -> DetachedCall;
}

/// A call of a clone of the service, for another thread, on which the future stays.
pub(crate) type DetachedCall = Box<dyn FnOnce(Request<RequestBody>) -> HttpPending + Send>;

/// The service as it was given. A service need not be `Sync`, so a mutex guards it; only the start of a worker locks the mutex.
struct Prototype<S>(Mutex<S>);

struct ServiceAdapter<S: Service<Request<RequestBody>>, B> {
    service: S,
    /// Memory of a completed future, for the next one.
    future: Option<FutureSlot<S::Future>>,
    body: Option<Pin<Box<BodyMemory<B>>>>,
}

/// Memory for a future.
type FutureSlot<F> = Pin<Box<Option<F>>>;

impl Router {
    pub fn new<S, B>(service: S) -> Self
    where
        S: Service<Request<RequestBody>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
        S::Future: 'static,
        B: http_body::Body + Send + 'static,
    {
        Self(Box::new(Prototype(Mutex::new(service))))
    }

    pub fn adapter(&self) -> RouterAdapter {
        RouterAdapter(RefCell::new(self.0.adapter()))
    }
}

impl RouterAdapter {
    /// Calls the service and polls the future once, since most responses are ready at once.
    pub fn call(&self, request: Request<RequestBody>) -> Outcome {
        self.0.borrow_mut().call(request)
    }

    /// Calls the service for hyper, which frames the response.
    pub fn call_http(&self, request: Request<RequestBody>) -> HttpPending {
        self.0.borrow_mut().call_http(request)
    }

    /// Returns a call for another thread.
    pub fn detached(&self) -> DetachedCall {
        self.0.borrow().detached()
    }
}

impl<S, B> MakeAdapter for Prototype<S>
where
    S: Service<Request<RequestBody>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: 'static,
    B: http_body::Body + Send + 'static,
{
    fn adapter(&self) -> Box<dyn CallService> {
        let service = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::new(ServiceAdapter { service, future: None, body: None })
    }
}

impl<S, B> CallService for ServiceAdapter<S, B>
where
    S: Service<Request<RequestBody>, Response = http::Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: 'static,
    B: http_body::Body + Send + 'static,
{
    fn call(&mut self, request: Request<RequestBody>) -> Outcome {
        let demand = Demand::of(&request);
        match self.service.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => {}
            Poll::Ready(Err(never)) => match never {},
            Poll::Pending => {
                let waits = self.wait(request, move |response| to_response(response, demand, &mut None));
                return poll_once(waits, true);
            }
        }
        let mut future = self.future.take().unwrap_or_else(|| Box::pin(None));
        future.as_mut().set(Some(self.service.call(request)));
        match poll(&mut future, &mut Context::from_waker(Waker::noop())) {
            Poll::Ready(response) => {
                future.as_mut().set(None);
                self.future = Some(future);
                Outcome::Ready(to_response(response, demand, &mut self.body))
            }
            Poll::Pending => Outcome::Pending {
                future: Box::pin(async move {
                    let response = poll_fn(|cx| poll(&mut future, cx)).await;
                    to_response(response, demand, &mut None)
                }),
                is_droppable: true,
            },
        }
    }

    fn call_http(&mut self, request: Request<RequestBody>) -> HttpPending {
        match self.service.poll_ready(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(())) => {
                let called = self.service.call(request);
                Box::pin(async move {
                    let Ok(response) = called.await;
                    response.map(hyper_response::boxed)
                })
            }
            Poll::Ready(Err(never)) => match never {},
            Poll::Pending => self.wait(request, |response| response.map(hyper_response::boxed)),
        }
    }

    fn detached(&self) -> DetachedCall {
        let mut service = self.service.clone();
        Box::new(move |request| {
            Box::pin(async move {
                let Ok(()) = poll_fn(|cx| service.poll_ready(cx)).await;
                let Ok(response) = service.call(request).await;
                response.map(hyper_response::boxed)
            })
        })
    }
}

/// Polls the future in its memory.
#[inline]
fn poll<F, R>(future: &mut FutureSlot<F>, cx: &mut Context<'_>) -> Poll<R>
where
    F: Future<Output = Result<R, Infallible>>,
{
    let future = future.as_mut().as_pin_mut().expect("the future stays in its memory until it is ready");
    future.poll(cx).map(|Ok(response)| response)
}

impl<S, B> ServiceAdapter<S, B>
where
    S: Service<Request<RequestBody>, Response = http::Response<B>, Error = Infallible> + Clone + 'static,
    S::Future: 'static,
{
    /// Waits until the service takes a request, and calls it.
    #[cold]
    fn wait<T>(
        &mut self,
        request: Request<RequestBody>,
        finish: impl FnOnce(http::Response<B>) -> T + 'static,
    ) -> Pin<Box<dyn Future<Output = T>>> {
        // The polled instance may hold a reservation, so it waits, and a fresh clone replaces it.
        let fresh = self.service.clone();
        let mut polled = std::mem::replace(&mut self.service, fresh);
        Box::pin(async move {
            let Ok(()) = poll_fn(|cx| polled.poll_ready(cx)).await;
            let Ok(response) = polled.call(request).await;
            finish(response)
        })
    }
}

/// Returns a request in the types of `http`. `None` if these types do not allow the target or a field.
pub(crate) fn request(head: &RequestHead<'_, '_>, body: RequestBody) -> Option<Request<RequestBody>> {
    // The target and all values share one piece of memory.
    let size = head.target.len() + head.headers.iter().map(|field| field.value.len()).sum::<usize>();
    let mut text = Vec::with_capacity(size);
    text.extend_from_slice(head.target.as_bytes());
    head.headers.iter().for_each(|field| text.extend_from_slice(field.value));
    let mut text = Bytes::from(text);

    let uri = Uri::from_maybe_shared(text.split_to(head.target.len())).ok()?;
    let mut headers = HeaderMap::with_capacity(head.headers.len());
    for field in head.headers {
        let name = HeaderName::from_bytes(field.name.as_bytes()).ok()?;
        let value = HeaderValue::from_maybe_shared(text.split_to(field.value.len())).ok()?;
        headers.append(name, value);
    }
    let mut request = Request::new(body);
    *request.method_mut() = Method::from_bytes(head.method.as_bytes()).ok()?;
    *request.uri_mut() = uri;
    *request.version_mut() = if head.http_1_1 { Version::HTTP_11 } else { Version::HTTP_10 };
    *request.headers_mut() = headers;
    Some(request)
}

/// The demands of a request on its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Demand {
    /// The response to a HEAD has no content.
    to_head: bool,
    /// The client takes a trailer section (RFC 9110, section 6.5.1).
    takes_trailers: bool,
}

impl Demand {
    pub fn of(request: &Request<RequestBody>) -> Self {
        let mut options = request.headers().get_all(TE).iter().flat_map(|value| value.as_bytes().split(|&b| b == b','));
        let takes_trailers = options.any(|option| option.trim_ascii().eq_ignore_ascii_case(b"trailers"));
        Self { to_head: request.method() == Method::HEAD, takes_trailers }
    }
}

/// Returns the names in a `Trailer` field.
fn names(value: &HeaderValue) -> impl Iterator<Item = HeaderName> {
    value.as_bytes().split(|&b| b == b',').filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
}

/// Returns the engine's form of a response of [`DetachedCall`].
pub(crate) fn response(response: http::Response<BoxBody>, demand: Demand) -> Response {
    to_response(response, demand, &mut None)
}

/// Returns the engine's form of a response: the engine frames the body and decides about keep-alive. A body that is whole
/// leaves its memory in `room`.
fn to_response<B: http_body::Body + Send + 'static>(
    response: http::Response<B>,
    demand: Demand,
    room: &mut Option<Pin<Box<BodyMemory<B>>>>,
) -> Response {
    let (mut parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    if status < 200 {
        return Response::error(500, "The handler returned no final response\n").closing();
    }
    let mut out = Response::new(status);
    let (mut length, mut trailers) = (None, Vec::new());
    for (name, value) in &parts.headers {
        match *name {
            CONTENT_LENGTH => length = value.to_str().ok().and_then(|text| text.parse().ok()),
            CONNECTION => out.closes |= says_close(value),
            DATE => out.dated = true,
            SERVER => out.named = true,
            TRAILER if demand.takes_trailers => trailers.extend(names(value)),
            _ => {}
        }
    }
    out.reason = parts.extensions.remove::<ReasonPhrase>().map(Box::new);
    out.headers = Fields::Map(parts.headers);
    out.body = content(body, status, demand.to_head, length, room);
    if let (Body::Stream(stream), false) = (&mut out.body, trailers.is_empty()) {
        stream.announce_trailers(trailers);
    }
    out
}

fn content<B: http_body::Body + Send + 'static>(
    body: B,
    status: u16,
    to_head: bool,
    length: Option<u64>,
    room: &mut Option<Pin<Box<BodyMemory<B>>>>,
) -> Body {
    if status == 204 || status == 304 {
        callbacks::dispose("a body", body);
        return Body::Empty;
    }
    let has_ended = body.is_end_stream();
    if to_head {
        let known = length.or_else(|| body.size_hint().exact().filter(|_| !has_ended));
        let framing = match known {
            Some(length) => Framing::Length(length),
            None if has_ended => Framing::Nothing,
            None => Framing::Chunked,
        };
        callbacks::dispose("a body", body);
        return Stream::unsent(framing).into();
    }
    if has_ended {
        callbacks::dispose("a body", body);
        return Body::Empty;
    }
    match Stream::whole_or_stream(body, length, room) {
        Ok(bytes) => bytes.into(),
        Err(stream) => stream.into(),
    }
}

/// Returns whether a `Connection` field has the option `close`.
pub(crate) fn says_close(value: &HeaderValue) -> bool {
    value.as_bytes().split(|&b| b == b',').any(|option| option.trim_ascii().eq_ignore_ascii_case(b"close"))
}
