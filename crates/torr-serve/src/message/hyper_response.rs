//! Responses on connections that hyper serves, which frames their bodies by itself.

use crate::callbacks;
use crate::message::response::{Body, Pieces, Response};
use crate::message::stream::{BodyFailed, Framing, Stream};
use bytes::{Buf, Bytes};
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::{Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use pin_project_lite::pin_project;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A response's body without its types.
pub(crate) type BoxBody = UnsyncBoxBody<Bytes, BodyFailed>;

/// Returns a body without its types.
pub(crate) fn boxed<B: http_body::Body + Send + 'static>(body: B) -> BoxBody {
    Guarded { body: Some(InBytes { body }) }.boxed_unsync()
}

pin_project! {
    /// A body whose data is bytes. Unlike `BodyExt::map_frame` it keeps the length that is known.
    struct InBytes<B> {
        #[pin]
        body: B,
    }
}

impl<B: http_body::Body> http_body::Body for InBytes<B> {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        let frame = ready!(self.project().body.poll_frame(cx));
        let bytes = |frame: Frame<B::Data>| frame.map_data(|mut data| data.copy_to_bytes(data.remaining()));
        Poll::Ready(frame.map(|frame| frame.map(bytes).map_err(|_| BodyFailed)))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

pin_project! {
    /// A body of the application on a connection that may carry other responses: a panic fails this body alone.
    struct Guarded<B> {
        #[pin]
        body: Option<B>,
    }

    impl<B> PinnedDrop for Guarded<B> {
        fn drop(this: Pin<&mut Self>) {
            callbacks::survive("a body", || this.project().body.set(None));
        }
    }
}

impl<B: http_body::Body<Data = Bytes, Error = BodyFailed>> http_body::Body for Guarded<B> {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        let Some(body) = self.as_mut().project().body.as_pin_mut() else { return Poll::Ready(None) };
        // What a panic leaves behind is the body's own state only.
        let frame = catch_unwind(AssertUnwindSafe(|| body.poll_frame(cx)));
        let frame = frame.unwrap_or(Poll::Ready(Some(Err(BodyFailed))));
        if matches!(frame, Poll::Ready(Some(Err(_)))) {
            callbacks::survive("a body", || self.project().body.set(None));
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        let ends = |body: &B| catch_unwind(AssertUnwindSafe(|| body.is_end_stream())).unwrap_or(false);
        self.body.as_ref().is_none_or(ends)
    }

    fn size_hint(&self) -> SizeHint {
        let size = |body: &B| catch_unwind(AssertUnwindSafe(|| body.size_hint())).unwrap_or_default();
        self.body.as_ref().map_or_else(SizeHint::default, size)
    }
}

/// Returns a controller's response in the types of `http`.
pub(crate) fn from_controller(response: Response) -> http::Response<BoxBody> {
    // RFC 9110, section 8.6: neither of these has content, nor may announce any.
    let has_body = response.status != 204 && response.status != 304;
    let mut http_response = http::Response::new(body(if has_body { response.body } else { Body::Empty }));
    *http_response.status_mut() = StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut headers = HeaderMap::new();
    if !response.content_type.is_empty() {
        let content_type = HeaderValue::from_str(response.content_type).expect("a response has sound types only");
        headers.insert(CONTENT_TYPE, content_type);
    }
    response.headers.each(|name, value| {
        headers.append(name, value.clone());
    });
    *http_response.headers_mut() = headers;
    http_response
}

fn body(body: Body) -> BoxBody {
    let never = |never: Infallible| match never {};
    match body {
        Body::Empty => Empty::new().map_err(never).boxed_unsync(),
        Body::Static(bytes) => Full::new(Bytes::from_static(bytes)).map_err(never).boxed_unsync(),
        Body::Bytes(bytes) => Full::new(bytes).map_err(never).boxed_unsync(),
        Body::Pieces(pieces) => InPieces(pieces).boxed_unsync(),
        Body::File(part) => InPieces(part.into()).boxed_unsync(),
        Body::Stream(stream) => Streamed(*stream).boxed_unsync(),
    }
}

/// A body in pieces.
struct InPieces(Pieces);

/// A body of frames, but for its trailers.
struct Streamed(Stream);

impl http_body::Body for InPieces {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        Poll::Ready(self.0.take().map(|piece| piece.map(Frame::data)))
    }

    fn is_end_stream(&self) -> bool {
        self.0.length == 0
    }

    fn size_hint(&self) -> http_body::SizeHint {
        http_body::SizeHint::with_exact(self.0.length)
    }
}

impl http_body::Body for Streamed {
    type Data = Bytes;
    type Error = BodyFailed;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyFailed>>> {
        Poll::Ready(ready!(self.0.poll_data(cx)).map(|data| data.map(Frame::data)))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self.0.framing() {
            Framing::Length(length) => http_body::SizeHint::with_exact(length),
            _ => http_body::SizeHint::default(),
        }
    }
}
