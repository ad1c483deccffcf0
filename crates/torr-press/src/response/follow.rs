//! The redirects and challenges of one connection: each is followed by a request on the same connection, or on the one after it.

use super::authorized::Authorized;
use super::redirect::{self, NextRequest};
use crate::request::SentContent;
use crate::request::digest::Credentials;
use crate::servers::target::Target;
use bytes::Bytes;
use std::borrow::Cow;
use torr_gauge::Failure;
use torr_wire::Header;
use torr_wire::response::Response;

/// Follows the redirects of a connection's requests, one of which is in flight at a time, and the challenges that they meet.
#[derive(Debug)]
pub(super) struct Follower<'p> {
    target: &'p Target,
    /// Whether redirects are followed.
    follows: bool,
    /// What adds credentials to requests, where servers challenge for them.
    authorized: Option<Authorized>,
    /// The request in flight, but for large content and credentials.
    request: Vec<u8>,
    /// The large content of the request in flight, in memory that all connections share.
    content: SentContent,
    /// The part of `content` that is not written yet.
    unwritten: SentContent,
    /// The number of redirects that led to the request in flight.
    followed: u8,
    /// The `Location` of the latest response if that is a redirect, empty where it has none.
    location: Option<Vec<u8>>,
    /// Whether the latest response leads to the same request, such as a challenge that it can meet.
    repeats: bool,
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
    /// Returns a follower of redirects, if `follows` says so, and of challenges, with the credentials for them.
    pub fn new(target: &'p Target, follows: bool, credentials: Option<&Credentials>) -> Self {
        Self {
            target,
            follows,
            authorized: credentials.map(Authorized::new),
            request: Vec::new(),
            content: SentContent::default(),
            unwritten: SentContent::default(),
            followed: 0,
            location: None,
            repeats: false,
            failure: None,
            waiting: None,
        }
    }

    /// Notes a request that has been written from `start` on, but for its large content, which is written piece by piece. Adds
    /// credentials to it.
    pub fn written(&mut self, out: &mut Vec<u8>, start: usize, content: SentContent) {
        self.followed = 0;
        self.request.clear();
        self.request.extend_from_slice(&out[start..]);
        self.content = content;
        if let Cow::Owned(sent) = self.begin() {
            out.truncate(start);
            out.extend_from_slice(&sent);
        }
    }

    /// Begins to send the request. Returns what is sent at once.
    fn begin(&mut self) -> Cow<'_, [u8]> {
        let Some(authorized) = &mut self.authorized else {
            self.unwritten = self.content.clone();
            return Cow::Borrowed(&self.request);
        };
        let (bytes, sends_content) = authorized.sent(&self.request, &self.content);
        self.unwritten = if sends_content { self.content.clone() } else { SentContent::default() };
        Cow::Owned(bytes)
    }

    /// Whether content of the request in flight is not written yet.
    pub fn has_unwritten(&self) -> bool {
        !self.unwritten.is_empty()
    }

    /// Takes a piece of the content that is not written yet, of `most` bytes at most.
    pub fn next_piece(&mut self, most: usize) -> Bytes {
        self.unwritten.take(most)
    }

    /// Notes the status of a response, its `Location`, and its challenges.
    pub fn see_head(&mut self, status: u16, fields: &[Header<'_>]) {
        let is_redirect = self.follows && matches!(status, 301 | 302 | 303 | 307 | 308);
        let location = || fields.iter().find(|field| field.name.eq_ignore_ascii_case("location"));
        self.location = is_redirect.then(|| location().map(|field| field.value).unwrap_or_default().to_vec());
        self.repeats = self.authorized.as_mut().is_some_and(|authorized| authorized.sees(status, fields));
    }

    /// Returns where a complete response leads, if it is a redirect that is followed, or a challenge that is met.
    pub fn next(&mut self, response: &Response) -> Option<Redirected> {
        if std::mem::take(&mut self.repeats) {
            return Some(self.send(response));
        }
        let location = self.location.take()?;
        let next = redirect::next(&self.request, response.status, &location, self.target, self.followed);
        let NextRequest { bytes, repeats_content } = next.map_err(|error| self.failure = Some(error.into())).ok()?;
        self.followed += 1;
        self.request = bytes;
        if !repeats_content {
            self.content = SentContent::default();
        }
        Some(self.send(response))
    }

    /// Sends the next request: on the connection of this response, or on another one.
    fn send(&mut self, response: &Response) -> Redirected {
        // Behind a part of a request no other one can follow.
        if response.keep_alive && !self.has_unwritten() {
            return Redirected::Here(self.begin().into_owned());
        }
        self.waiting = Some(Waiting::ForConnection);
        Redirected::Elsewhere
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
    pub fn take_waiting(&mut self) -> Option<Cow<'_, [u8]>> {
        self.waiting.take()?;
        Some(self.begin())
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
        (self.waiting, self.followed, self.failure, self.repeats) = (None, 0, None, false);
        if let Some(authorized) = &mut self.authorized {
            authorized.forget();
        }
        (self.content, self.unwritten) = (SentContent::default(), SentContent::default());
    }
}
