//! Content of requests over HTTP/2 that no handler reads.
//!
//! hyper resets a stream with NO_ERROR once no handler reads the request and the response has ended (RFC 9113, section 8.1). A client
//! that is still sending then may drop the response. So the rest is discarded for a while, as the engine does over HTTP/1.1.

use crate::conn::lingering::{LINGER_PAUSE, LINGER_TIME};
use crate::message::hyper_request_body::ReceivedContent;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::task;
use tokio::time::timeout;

/// The content that a handler may leave unread. Dropped with the response, it discards the rest.
pub(super) struct UnreadContent(Option<ReceivedContent>);

impl UnreadContent {
    /// Returns the content of a request, to be discarded if `lingers` and there is any.
    pub fn new(content: &ReceivedContent, lingers: bool) -> Self {
        Self((lingers && !content.is_end_stream()).then(|| content.clone()))
    }
}

impl Drop for UnreadContent {
    fn drop(&mut self) {
        if let Some(unread) = self.0.take().and_then(ReceivedContent::into_unread) {
            task::spawn_local(timeout(LINGER_TIME, discard(unread)));
        }
    }
}

/// Reads a content until it ends, its connection ends, or its client pauses for too long.
async fn discard(mut content: Incoming) {
    while let Ok(Some(Ok(_))) = timeout(LINGER_PAUSE, content.frame()).await {}
}
