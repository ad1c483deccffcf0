//! The header section of a response, as users learn of it.

use std::time::Duration;

/// The server's response to a handshake, or the header section of another one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The time from the call to the response.
    pub took: Duration,
    /// The status code.
    pub status: u16,
    /// Names and values of the field lines.
    pub fields: Vec<(String, String)>,
    /// The content.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the value of the first field line of a name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}
