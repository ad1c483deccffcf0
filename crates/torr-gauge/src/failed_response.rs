//! One failed response, kept as a sample of what a service says when it fails.

use serde::{Deserialize, Serialize};

/// The most field lines that are kept.
const MOST_FIELDS: usize = 12;
/// The most bytes of a field's value, or of the status line, that are kept.
const MOST_VALUE: usize = 200;
/// The most bytes of the content that are kept.
const MOST_CONTENT: usize = 1024;
/// A field whose value is a secret of its session, and says nothing of the failure.
const SECRET: &str = "set-cookie";

/// The first response of a run with a status of 400 or more. What is text in it is what the server sent: it may hold
/// anything, control characters too.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FailedResponse {
    /// When it was complete, in seconds since the measurement began.
    pub at_s: f64,
    /// The status code.
    pub status: u16,
    /// The status line, such as `HTTP/1.1 503 Service Unavailable`; HTTP/2 has no reason phrase.
    pub status_line: String,
    /// The first field lines, without those that set cookies.
    pub fields: Vec<Field>,
    /// The beginning of the content, decoded where it was compressed.
    pub content: String,
    /// Whether that is all of the content.
    pub complete: bool,
}

/// One field line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// The name, as it was sent.
    pub name: String,
    /// The value.
    pub value: String,
}

impl FailedResponse {
    /// Keeps the parts of a response, as much of each as there is room for. `complete` says whether `content` is all.
    pub fn new<'f>(
        status: u16,
        status_line: &str,
        fields: impl Iterator<Item = (&'f str, &'f [u8])>,
        content: &[u8],
        complete: bool,
    ) -> Self {
        let text = |bytes: &[u8], most: usize| String::from_utf8_lossy(&bytes[..bytes.len().min(most)]).into_owned();
        let fields = fields.filter(|(name, _)| !name.eq_ignore_ascii_case(SECRET)).take(MOST_FIELDS);
        Self {
            at_s: 0.0,
            status,
            status_line: text(status_line.as_bytes(), MOST_VALUE),
            fields: fields
                .map(|(name, value)| Field { name: text(name.as_bytes(), MOST_VALUE), value: text(value, MOST_VALUE) })
                .collect(),
            content: text(content, MOST_CONTENT),
            complete: complete && content.len() <= MOST_CONTENT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_bounded_and_has_no_cookies() {
        let long = vec![b'v'; 100_000];
        let fields = std::iter::once(("SET-Cookie", &b"session=secret"[..]))
            .chain(std::iter::repeat_n(("X-Long", &long[..]), 1000));
        let kept = FailedResponse::new(500, &"r".repeat(10_000), fields, &long, true);
        assert_eq!((kept.fields.len(), kept.complete), (MOST_FIELDS, false));
        let json = serde_json::to_string(&kept).unwrap();
        assert!(json.len() < 5000 && !json.contains("secret"), "{} bytes", json.len());
        let small = FailedResponse::new(404, "HTTP/2 404", std::iter::empty(), "né".as_bytes(), true);
        assert_eq!((small.content.as_str(), small.complete), ("né", true));
    }
}
