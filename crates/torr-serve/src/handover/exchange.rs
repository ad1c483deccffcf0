//! One request and its answer on a connection that hyper serves: the same handlers, the same router.

use crate::answer_body::{self, AnswerBody, BodyFailed};
use crate::app::{self, Content, Outcome};
use crate::client::Client;
use crate::context::Desk;
use crate::hyper_body::HyperBody;
use crate::owned::OwnedHead;
use crate::request_body::{BodyError, RequestBody};
use crate::response::Response;
use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, SERVER};
use http::{HeaderValue, Method, Request, Version};
use http_body::{Body, Frame, SizeHint};
use http_body_util::{BodyExt, Empty};
use hyper::body::Incoming;
use std::cell::Cell;
use std::convert::Infallible;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// What a connection's requests are answered by.
#[derive(Clone)]
pub(super) struct Exchange(Rc<Inner>);

struct Inner {
    desk: Rc<Desk>,
    client: Client,
    server: HeaderValue,
    active: Cell<usize>,
    /// When the connection began, or the last answer.
    since: Cell<Instant>,
}

/// One request that is being answered.
struct Active(Rc<Inner>);

/// The body of an answer, with which the request is done.
pub(super) struct LastPart {
    body: AnswerBody,
    _active: Active,
}

impl Body for LastPart {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Active {
    fn new(inner: &Rc<Inner>) -> Self {
        inner.active.set(inner.active.get() + 1);
        Self(Rc::clone(inner))
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.0.active.set(self.0.active.get() - 1);
        self.0.since.set(Instant::now());
    }
}

impl Exchange {
    pub fn new(desk: Rc<Desk>, client: Client) -> Self {
        let server = HeaderValue::from_static(desk.settings.server_name);
        let (active, since) = (Cell::new(0), Cell::new(Instant::now()));
        Self(Rc::new(Inner { desk, client, server, active, since }))
    }

    /// How long there has been no request.
    pub fn idle_for(&self) -> Duration {
        if self.0.active.get() > 0 { Duration::ZERO } else { self.0.since.get().elapsed() }
    }
}

impl hyper::service::Service<Request<Incoming>> for Exchange {
    type Response = http::Response<LastPart>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>>>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let active = Active::new(&self.0);
        Box::pin(async move {
            let inner = &active.0;
            let version = request.version();
            let mut answer = pin_answer(inner, request).await;
            if version == Version::HTTP_2 {
                answer.headers_mut().remove(CONNECTION);
            }
            answer.headers_mut().entry(SERVER).or_insert_with(|| inner.server.clone());
            Ok(answer.map(|body| LastPart { body, _active: active }))
        })
    }
}

/// The answer of whatever is there for a request; a panic is the handler's failure.
async fn pin_answer(inner: &Inner, request: Request<Incoming>) -> http::Response<AnswerBody> {
    let mut answering = Box::pin(answer(inner, request));
    poll_fn(|cx| {
        catch_unwind(AssertUnwindSafe(|| answering.as_mut().poll(cx)))
            .unwrap_or_else(|_| Poll::Ready(own(app::failed(), false)))
    })
    .await
}

async fn answer(inner: &Inner, request: Request<Incoming>) -> http::Response<AnswerBody> {
    let desk = &*inner.desk;
    let (parts, body) = request.into_parts();
    let (head, to_head, patience) =
        (OwnedHead::of_parts(&parts), parts.method == Method::HEAD, desk.settings.body_timeout);
    let own = |response| own(response, to_head);
    if let Some(router) = &desk.router
        && head.with(|head| desk.app.takes_body_as_it_comes(head, desk))
    {
        let most = desk.settings.most_streamed();
        if body.size_hint().lower() > most {
            return own(refusal(BodyError::TooLarge));
        }
        let body = HyperBody::new(body, most, patience);
        let fault = body.fault();
        let mut request = Request::from_parts(parts, RequestBody::hyper(body));
        desk.app.introduce(&inner.client, request.extensions_mut());
        let mut answering = router.call_http(request);
        return poll_fn(|cx| {
            let answer = answering.as_mut().poll(cx);
            // As in the engine, whatever the handler makes of such a body.
            match fault.get() {
                Some(error) if answer.is_pending() || error != BodyError::Cut => Poll::Ready(own(refusal(error))),
                _ => answer,
            }
        })
        .await;
    }
    let body = HyperBody::new(body, desk.settings.max_body, patience);
    let body = match RequestBody::hyper(body).collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return own(refusal(error)),
    };
    let outcome = head.with(|head| desk.app.call(head, Content::Whole(&body), &inner.client, desk));
    own(match outcome {
        Outcome::Ready(response) => response,
        Outcome::Pending(future) => future.await,
    })
}

/// The answer to a body that does not come to its end.
fn refusal(error: BodyError) -> Response {
    match error {
        BodyError::TooLarge => Response::error(413, "The body is too large\n").closing(),
        BodyError::TimedOut => Response::error(408, "The request took too long\n").closing(),
        _ => Response::error(400, "The body is malformed\n").closing(),
    }
}

/// An answer of this server's own.
fn own(response: Response, to_head: bool) -> http::Response<AnswerBody> {
    let closes = response.closes;
    let mut answer = answer_body::response(response);
    if to_head {
        let length = answer.body().size_hint().exact().filter(|_| !matches!(answer.status().as_u16(), 204 | 304));
        length.into_iter().for_each(|length| drop(answer.headers_mut().insert(CONTENT_LENGTH, length.into())));
        *answer.body_mut() = answer_body::of(Empty::<Bytes>::new());
    }
    if closes {
        answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    answer
}
