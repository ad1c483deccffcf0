//! The source of a thread's requests.

use super::users::ThreadUsers;
use crate::request::outgoing::{RequestInfo, RequestParts};
use crate::request::{Cursor, SentContent};
use std::net::SocketAddr;

/// The requests of one thread.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one for each thread, and a plain request is read without a pointer"
)]
pub enum Source<'r> {
    /// Requests that were composed before the run.
    Requests(Cursor<'r>),
    /// Virtual users, who decide during the run.
    Users(CurrentUser<'r>),
}

/// The virtual users of a thread, and the one whose request is written next.
pub struct CurrentUser<'r> {
    /// The users.
    pub all: Box<dyn ThreadUsers + 'r>,
    /// The position of the user whose request is written next.
    pub current: usize,
    /// The only address that the thread connects to, if it is not the plan's.
    pub address: Option<SocketAddr>,
}

impl Source<'_> {
    /// Appends the next request in HTTP/1.1.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>) -> RequestInfo {
        match self {
            Self::Requests(cursor) => cursor.write(out),
            Self::Users(users) => users.all.write(users.current, out),
        }
    }

    /// Takes the content that the request written last has behind the bytes appended. It is large, and in memory that all
    /// connections share.
    #[inline]
    pub fn take_content(&mut self) -> Option<SentContent> {
        match self {
            Self::Requests(cursor) => cursor.take_content(),
            Self::Users(users) => users.all.take_content().map(SentContent::from),
        }
    }

    /// Whether all requests have the same bytes.
    #[inline]
    pub fn is_constant(&self) -> bool {
        match self {
            Self::Requests(cursor) => cursor.is_constant(),
            Self::Users(_) => false,
        }
    }

    /// Returns the next request in parts.
    pub fn parts(&mut self) -> RequestParts {
        match self {
            Self::Requests(cursor) => cursor.parts(),
            Self::Users(users) => users.all.parts(users.current),
        }
    }

    /// Returns the only address that the thread connects to, if it is not the plan's.
    pub fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Requests(_) => None,
            Self::Users(users) => users.address,
        }
    }

    /// Whether the users have ended this thread's part of the run.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Requests(_) => false,
            Self::Users(users) => users.all.is_stopped(),
        }
    }

    /// Notes whose request is written next.
    #[inline]
    pub fn turn_to(&mut self, user: usize) {
        if let Self::Users(users) = self {
            users.current = user;
        }
    }
}
