//! Content of requests over HTTP/2 that no handler reads.
//!
//! hyper resets a stream with NO_ERROR once no handler reads the request and the response has ended (RFC 9113, section 8.1). A client
//! that is still sending then may drop the response. So the content is discarded from the response's beginning on, and for a
//! while behind its end, as the engine does over HTTP/1.1. While it is discarded it takes no room of the connection's window.

use super::in_flight::{Discarding, InFlight};
use crate::conn::lingering::{LINGER_PAUSE, LINGER_TIME};
use crate::message::bounded_body::{ContentSource, ReceivedContent};
use http_body_util::BodyExt;
use std::mem;
use std::rc::Rc;
use std::task::Context;
use tokio::sync::oneshot;
use tokio::task;
use tokio::time::timeout;

/// The content of a request that its handler may leave unread, for as long as the response lasts.
pub(super) struct UnreadContent {
    state: State,
    in_flight: Rc<InFlight>,
}

enum State {
    /// There is none, or it is not discarded.
    Nothing,
    /// A handler may read it.
    Held(ReceivedContent),
    /// A task discards it. The sender ends with the response.
    Discarded { _until: oneshot::Sender<()> },
}

impl UnreadContent {
    /// Returns the content of a request, to be discarded if `lingers` and there is any.
    pub fn new(content: &ReceivedContent, lingers: bool, in_flight: &Rc<InFlight>) -> Self {
        let state = match lingers && !content.is_end_stream() {
            true => State::Held(content.clone()),
            false => State::Nothing,
        };
        Self { state, in_flight: Rc::clone(in_flight) }
    }

    /// Discards what has arrived, and is woken by more, if only this value and the code that makes the response hold the content: no
    /// handler reads it then.
    pub fn discard_unheld(&self, cx: &mut Context<'_>) {
        if let State::Held(content) = &self.state {
            content.discard_unheld(cx);
        }
    }

    /// Begins to discard the content, unless the response or a task of the handler may still read it.
    pub fn discard(&mut self) {
        let State::Held(content) = mem::replace(&mut self.state, State::Nothing) else { return };
        match content.into_unread() {
            Ok(unread) => {
                let (sender, response_end) = oneshot::channel();
                task::spawn_local(discard(unread, response_end, InFlight::discard(&self.in_flight)));
                self.state = State::Discarded { _until: sender };
            }
            Err(Some(held)) => self.state = State::Held(held),
            Err(None) => {}
        }
    }
}

impl Drop for UnreadContent {
    fn drop(&mut self) {
        self.discard();
    }
}

/// Reads a content until it ends or its connection ends; behind the response's end, also until its client pauses or sends for too
/// long.
async fn discard(mut content: ContentSource, response_end: oneshot::Receiver<()>, _counted: Discarding) {
    let during_response = async { while let Some(Ok(_)) = content.frame().await {} };
    tokio::select! {
        () = during_response => return,
        _ = response_end => {}
    }
    let lingering = async { while let Ok(Some(Ok(_))) = timeout(LINGER_PAUSE, content.frame()).await {} };
    // Beyond this time the stream is reset.
    let _ = timeout(LINGER_TIME, lingering).await;
}
