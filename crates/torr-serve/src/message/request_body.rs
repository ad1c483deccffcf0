//! The body of a request that a router gets.

use crate::message::hyper_body::HyperBody;
use crate::message::upload::Incoming;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use thiserror::Error;

/// The body of a request that a router gets. One that was here with its head is whole; another comes as the client sends
/// it, no faster than the handler takes it.
#[derive(Default)]
pub struct RequestBody(Source);

#[derive(Default)]
enum Source {
    #[default]
    Empty,
    Whole(Bytes),
    Coming(Incoming),
    /// Of a connection that was handed to hyper.
    Hyper(HyperBody),
}

/// Why a request's body does not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BodyError {
    /// The connection ended before.
    #[error("the connection ended before the request's body did")]
    Cut,
    /// It is larger than the server takes.
    #[error("the request's body is too large")]
    TooLarge,
    /// It is not framed as HTTP asks for.
    #[error("the request's body is malformed")]
    Malformed,
    /// The client sent nothing of it for too long.
    #[error("the client took too long over the request's body")]
    TimedOut,
}

impl RequestBody {
    pub(crate) fn whole(bytes: &[u8]) -> Self {
        Self(if bytes.is_empty() { Source::Empty } else { Source::Whole(Bytes::copy_from_slice(bytes)) })
    }

    pub(crate) fn coming(incoming: Incoming) -> Self {
        Self(Source::Coming(incoming))
    }

    pub(crate) fn hyper(body: HyperBody) -> Self {
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
            Source::Coming(incoming) => {
                Poll::Ready(ready!(incoming.poll_piece(cx)).map(|piece| piece.map(Frame::data)))
            }
            Source::Hyper(body) => body.poll_frame(cx),
        }
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Source::Empty => true,
            Source::Whole(_) => false,
            Source::Coming(incoming) => incoming.is_ended(),
            Source::Hyper(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Source::Empty => SizeHint::with_exact(0),
            Source::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Source::Coming(incoming) => incoming.left().map_or_else(SizeHint::default, SizeHint::with_exact),
            Source::Hyper(body) => body.size_hint(),
        }
    }
}

impl fmt::Debug for RequestBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Source::Empty => "empty",
            Source::Whole(_) => "whole",
            Source::Coming(_) | Source::Hyper(_) => "as it comes",
        };
        write!(f, "RequestBody({kind})")
    }
}
