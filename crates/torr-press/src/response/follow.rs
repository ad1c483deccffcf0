//! The redirects of one connection: each is followed by a request on the same connection, or on the one after it.

use super::redirect::{self, NextRequest};
use crate::request::SentContent;
use crate::servers::target::Target;
use bytes::Bytes;
use torr_gauge::Failure;
use torr_wire::response::Response;

/// Follows the redirects of a connection's requests, one of which is in flight at a time.
#[derive(Debug)]
pub(super) struct Follower<'p> {
    target: &'p Target,
    /// The request in flight, but for large content.
    request: Vec<u8>,
    /// The large content of the request in flight, in memory that all connections share.
    content: SentContent,
    /// The part of `content` that is not written yet.
    unwritten: SentContent,
    /// The number of redirects that led to the request in flight.
    followed: u8,
    /// The `Location` of the latest response if that is a redirect, empty where it has none.
    location: Option<Vec<u8>>,
    /// The reason for which the latest redirect is not followed.
    failure: Option<Failure>,
    waiting: Option<Waiting>,
}

/// The request in flight waits for another connection than that of the redirect.
#[derive(Debug, PartialEq, Eq)]
enum Waiting {
    /// The connection of the redirect is still there.
    ForConnection,
    /// The other connection is there.
    ForTurn,
}

/// The connection on which a redirect is followed.
#[derive(Debug)]
pub enum Redirected {
    /// This request, but for large content, is to be sent on the same connection.
    Here(Vec<u8>),
    /// The request waits for another connection.
    Elsewhere,
}

impl<'p> Follower<'p> {
    pub fn new(target: &'p Target) -> Self {
        Self {
            target,
            request: Vec::new(),
            content: SentContent::default(),
            unwritten: SentContent::default(),
            followed: 0,
            location: None,
            failure: None,
            waiting: None,
        }
    }

    /// Notes a request that has been written, but for its large content, which is written piece by piece.
    pub fn written(&mut self, request: &[u8], content: SentContent) {
        self.followed = 0;
        self.request.clear();
        self.request.extend_from_slice(request);
        (self.unwritten, self.content) = (content.clone(), content);
    }

    /// Whether content of the request in flight is not written yet.
    pub fn has_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Takes a piece of the content that is not written yet, of `most` bytes at most.
    pub fn next_piece(&mut self, most: usize) -> Bytes {
        self.unwritten.take(most)
    }

    /// Notes the status of a response, and its `Location`.
    pub fn see_head(&mut self, status: u16, location: Option<&[u8]>) {
        let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        self.location = is_redirect.then(|| location.unwrap_or_default().to_vec());
    }

    /// Returns where a complete response leads, if it is a redirect that is followed.
    pub fn next(&mut self, response: &Response) -> Option<Redirected> {
        let location = self.location.take()?;
        let next = redirect::next(&self.request, response.status, &location, self.target, self.followed);
        let NextRequest { bytes, repeats_content } = next.map_err(|error| self.failure = Some(error.into())).ok()?;
        self.followed += 1;
        self.request = bytes;
        if !repeats_content {
            self.content = SentContent::default();
        }
        // Behind a part of a request no other one can follow.
        if response.keep_alive && !self.has_unwritten() {
            self.unwritten = self.content.clone();
            return Some(Redirected::Here(self.request.clone()));
        }
        self.waiting = Some(Waiting::ForConnection);
        Some(Redirected::Elsewhere)
    }

    /// Whether a request waits for another connection than this one.
    pub fn needs_connection(&self) -> bool {
        self.waiting == Some(Waiting::ForConnection)
    }

    /// Notes that there is another connection.
    pub fn opened(&mut self) {
        self.unwritten = SentContent::default();
        self.waiting = self.waiting.take().map(|_| Waiting::ForTurn);
    }

    /// Returns the request that has waited for this connection, but for large content. It does not wait any more.
    pub fn take_waiting(&mut self) -> Option<&[u8]> {
        self.waiting.take()?;
        self.unwritten = self.content.clone();
        Some(&self.request)
    }

    /// Takes the reason for which the latest redirect is not followed.
    pub fn take_failure(&mut self) -> Option<Failure> {
        self.failure.take()
    }

    /// Takes the number of redirects that led to the latest response.
    pub fn take_followed(&mut self) -> u8 {
        std::mem::take(&mut self.followed)
    }

    /// Forgets the request in flight, which has failed.
    pub fn forget(&mut self) {
        (self.waiting, self.followed, self.failure) = (None, 0, None);
        (self.content, self.unwritten) = (SentContent::default(), SentContent::default());
    }
}
