//! The redirects of one connection: each is followed by a request on the same connection, or on the one after it.

use super::redirect;
use crate::servers::target::Target;
use torr_gauge::Failure;
use torr_wire::response::Response;

/// Follows the redirects of a connection's requests, one of which is in flight at a time.
#[derive(Debug)]
pub(super) struct Follower<'p> {
    target: &'p Target,
    /// The request in flight.
    request: Vec<u8>,
    /// The number of redirects that led to the request in flight.
    followed: u8,
    /// The `Location` of the latest response if that is a redirect, empty where it has none.
    location: Option<Vec<u8>>,
    /// The reason for which the latest redirect is not followed.
    failure: Option<Failure>,
    waiting: Option<Waiting>,
}

/// A request that waits for another connection.
#[derive(Debug)]
enum Waiting {
    /// The connection of the redirect is still there.
    ForConnection(Vec<u8>),
    /// The other connection is there.
    ForTurn(Vec<u8>),
}

impl<'p> Follower<'p> {
    pub fn new(target: &'p Target) -> Self {
        Self { target, request: Vec::new(), followed: 0, location: None, failure: None, waiting: None }
    }

    /// Notes a request that has been written.
    pub fn written(&mut self, request: &[u8]) {
        self.followed = 0;
        self.request.clear();
        self.request.extend_from_slice(request);
    }

    /// Notes the status of a response, and its `Location`.
    pub fn see_head(&mut self, status: u16, location: Option<&[u8]>) {
        let is_redirect = matches!(status, 301 | 302 | 303 | 307 | 308);
        self.location = is_redirect.then(|| location.unwrap_or_default().to_vec());
    }

    /// Returns the request that follows a complete response, if that is a redirect.
    pub fn next(&mut self, response: &Response) -> Option<Vec<u8>> {
        let location = self.location.take()?;
        match redirect::next(&self.request, response.status, &location, self.target, self.followed) {
            Ok(request) => {
                self.followed += 1;
                self.request.clone_from(&request);
                Some(request)
            }
            Err(error) => {
                self.failure = Some(error.into());
                None
            }
        }
    }

    /// Keeps a request for another connection.
    pub fn keep(&mut self, request: Vec<u8>) {
        self.waiting = Some(Waiting::ForConnection(request));
    }

    /// Whether a request waits for another connection than this one.
    pub fn needs_connection(&self) -> bool {
        matches!(self.waiting, Some(Waiting::ForConnection(_)))
    }

    /// Notes that there is another connection.
    pub fn opened(&mut self) {
        self.waiting = match self.waiting.take() {
            Some(Waiting::ForConnection(request)) => Some(Waiting::ForTurn(request)),
            waiting => waiting,
        };
    }

    /// Takes the request that has waited for this connection.
    pub fn take_waiting(&mut self) -> Option<Vec<u8>> {
        let (Waiting::ForConnection(request) | Waiting::ForTurn(request)) = self.waiting.take()?;
        Some(request)
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
    }
}
