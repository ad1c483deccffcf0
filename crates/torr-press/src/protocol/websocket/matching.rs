//! The matching of messages by a value that request and response have.

use crate::request::MatchRule;

/// The requests in flight on one connection, with their values; the oldest first.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    requests: Vec<(String, u32)>,
    /// Whether a request has no value.
    lacks_value: bool,
}

impl Waiting {
    /// Adds a request.
    pub fn add(&mut self, key: u32, rule: &MatchRule, message: &[u8]) {
        match rule.value(message) {
            Some(value) => self.requests.push((value, key)),
            None => self.lacks_value = true,
        }
    }

    /// Removes the oldest request with the value of a message, and returns its key.
    pub fn answered(&mut self, rule: &MatchRule, message: &[u8]) -> Option<u32> {
        let value = rule.value(message)?;
        let at = self.requests.iter().position(|(other, _)| *other == value)?;
        Some(self.requests.remove(at).1)
    }

    /// Removes the request of a key. Returns whether there was one.
    pub fn remove(&mut self, key: u32) -> bool {
        let at = self.requests.iter().position(|(_, other)| *other == key);
        at.map(|at| self.requests.remove(at)).is_some()
    }

    /// Whether a request has no value, so that no response could be found for it.
    #[inline]
    pub fn lacks_value(&self) -> bool {
        self.lacks_value
    }

    /// Removes all requests.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.lacks_value = false;
    }
}
