//! The body of a request to a router.

use crate::message::body_channel::BodyReceiver;
use crate::message::body_error::BodyError;
use crate::message::bounded_body::BoundedBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a request to a router, the type `axum::body::Body`: whole if it arrived together with its header section, otherwise
/// streamed with backpressure. Its error has a [`BodyError`] as its source.
///
/// An `http::Request` of it is an `axum::extract::Request`. Services without axum can name it by this alias.
pub type RequestBody = axum_core::body::Body;

/// Returns the body of a request that arrived whole.
#[inline]
pub(crate) fn whole(bytes: &[u8]) -> RequestBody {
    // An empty body takes no memory.
    if bytes.is_empty() {
        RequestBody::empty()
    } else {
        RequestBody::new(Received::Whole(Bytes::copy_from_slice(bytes)))
    }
}

/// Returns the body of a request whose bytes the engine receives.
pub(crate) fn streamed(receiver: BodyReceiver) -> RequestBody {
    RequestBody::new(Received::Streamed(receiver))
}

/// Returns the body of a request over HTTP/2 or HTTP/3, or before an upgrade.
pub(crate) fn bounded(body: BoundedBody) -> RequestBody {
    RequestBody::new(Received::Bounded(body))
}

enum Received {
    Ended,
    Whole(Bytes),
    Streamed(BodyReceiver),
    Bounded(BoundedBody),
}

impl Body for Received {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut *self {
            Self::Ended => Poll::Ready(None),
            Self::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                *self = Self::Ended;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Self::Streamed(receiver) => {
                Poll::Ready(ready!(receiver.poll_piece(cx)).map(|piece| piece.map(Frame::data)))
            }
            Self::Bounded(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Ended => true,
            Self::Whole(_) => false,
            Self::Streamed(receiver) => receiver.is_ended(),
            Self::Bounded(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Ended => SizeHint::with_exact(0),
            Self::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Self::Streamed(receiver) => receiver.left().map_or_else(SizeHint::default, SizeHint::with_exact),
            Self::Bounded(body) => body.size_hint(),
        }
    }
}
