//! The work of a run: requests that are composed before the run, or virtual users, who decide during the run.

pub(crate) mod source;
pub mod users;

use crate::request::Requests;
use std::sync::Arc;
use torr_gauge::secrets::Haystack;
use users::Users;

/// What a run sends.
#[derive(Debug, Clone)]
pub enum Work {
    /// Requests that were composed before the run.
    Requests(Requests),
    /// Virtual users. Each has a connection of its own to each server, and what is paced and counted by
    /// [`Plan::requests`](crate::Plan::requests) is sessions. Not with pipelining or several streams, and responses are not
    /// inspected.
    Users(Arc<dyn Users>),
}

impl Work {
    /// Returns the requests, if they were composed before the run.
    pub fn requests(&self) -> Option<&Requests> {
        match self {
            Self::Requests(requests) => Some(requests),
            Self::Users(_) => None,
        }
    }

    /// Returns the virtual users, if there are any.
    pub fn users(&self) -> Option<&dyn Users> {
        match self {
            Self::Requests(_) => None,
            Self::Users(users) => Some(users.as_ref()),
        }
    }

    /// Whether the requests are messages of WebSocket connections.
    pub fn is_websocket(&self) -> bool {
        self.requests().is_some_and(|requests| requests.websocket().is_some())
    }

    /// Returns the methods with commas between them.
    pub(crate) fn methods(&self) -> String {
        match self {
            Self::Requests(requests) => requests.method(),
            // A result names a method also where only the run shows it.
            Self::Users(users) => users.methods().unwrap_or_else(|| "GET".to_owned()),
        }
    }

    /// Returns the secrets that may stand in the haystack: those of composed requests, or those that all users have.
    pub(crate) fn secrets(&self, haystack: &Haystack) -> Vec<String> {
        match self {
            Self::Requests(requests) => requests.secrets(haystack),
            Self::Users(users) => users.secrets(),
        }
    }
}

impl From<Requests> for Work {
    fn from(requests: Requests) -> Self {
        Self::Requests(requests)
    }
}

impl From<Arc<dyn Users>> for Work {
    fn from(users: Arc<dyn Users>) -> Self {
        Self::Users(users)
    }
}
