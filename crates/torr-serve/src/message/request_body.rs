//! The body of a request to a router.

use crate::message::body_channel::BodyReceiver;
use crate::message::body_error::BodyError;
use crate::message::hyper_request_body::HyperRequestBody;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The body of a request to a router: whole if it arrived together with its header section, otherwise streamed with
/// backpressure.
#[derive(Default)]
pub struct RequestBody(Source);

#[derive(Default)]
enum Source {
    #[default]
    Empty,
    Whole(Bytes),
    Streamed(BodyReceiver),
    /// The body of a request on a connection that hyper serves.
    Hyper(HyperRequestBody),
}

impl RequestBody {
    pub(crate) fn whole(bytes: &[u8]) -> Self {
        Self(if bytes.is_empty() { Source::Empty } else { Source::Whole(Bytes::copy_from_slice(bytes)) })
    }

    pub(crate) fn streamed(receiver: BodyReceiver) -> Self {
        Self(Source::Streamed(receiver))
    }

    pub(crate) fn hyper(body: HyperRequestBody) -> Self {
        Self(Source::Hyper(body))
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        match &mut self.0 {
            Source::Empty => Poll::Ready(None),
            Source::Whole(bytes) => {
                let bytes = std::mem::take(bytes);
                self.0 = Source::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Source::Streamed(receiver) => {
                Poll::Ready(ready!(receiver.poll_piece(cx)).map(|piece| piece.map(Frame::data)))
            }
            Source::Hyper(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Source::Empty => true,
            Source::Whole(_) => false,
            Source::Streamed(receiver) => receiver.is_ended(),
            Source::Hyper(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Empty => SizeHint::with_exact(0),
            Source::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Streamed(receiver) => receiver.left().map_or_else(SizeHint::default, SizeHint::with_exact),
            Source::Hyper(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Source::Empty => "empty",
            Source::Whole(_) => "whole",
            Source::Streamed(_) | Source::Hyper(_) => "as it comes",
        };
        write!(f, "RequestBody({kind})")
    }
}
