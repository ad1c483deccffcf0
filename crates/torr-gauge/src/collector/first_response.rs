//! The first response of a run.

/// The run's first response, which stands for all where they are equal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstResponse {
    /// The status code.
    pub status: u16,
    /// The header fields as received.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The length of the content in bytes.
    pub body: u64,
}

impl FirstResponse {
    /// Returns the value of a header field as text.
    pub fn header(&self, name: &str) -> Option<String> {
        let (_, value) = self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name))?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}
