//! Which statuses a script expects of a response.

use std::rc::Rc;

/// The statuses that are expected of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Expectation {
    /// From 200 to 399.
    #[default]
    Usual,
    /// Nothing is said of it.
    Unknown,
    /// Those within these ranges.
    Within(Rc<[(u16, u16)]>),
}

impl Expectation {
    /// Returns whether a status is expected; `None` if nothing is said of it.
    #[must_use]
    pub fn holds(&self, status: u16) -> Option<bool> {
        match self {
            Self::Usual => Some((200..400).contains(&status)),
            Self::Unknown => None,
            Self::Within(ranges) => Some(ranges.iter().any(|&(from, to)| (from..=to).contains(&status))),
        }
    }
}
