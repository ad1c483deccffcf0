//! How responses are encoded and sent, and what happens to the connection afterwards.

use super::http::{Request, Response};

/// A way to send responses.
#[derive(Clone)]
pub enum ResponseMode {
    /// One write, and the connection is kept.
    Keep,
    /// The connection is closed after each response.
    CloseEach,
    /// The connection is kept only if the request accepts gzip.
    GzipOnly,
    /// Responses are HTTP/1.0, and the connection is closed after each.
    Http10,
    /// The connection is closed after a number of responses.
    Most(u32),
    /// Header section and content are written separately, with Nagle's algorithm on.
    TwoWrites,
    /// The connection is kept although the request asks for it to be closed.
    LeavesClosing,
    /// A percentage of responses is broken off in the middle.
    Resets(u8),
}

/// What happens to the connection after a response.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    Close,
    Reset,
}

impl ResponseMode {
    /// Parses a value of the command line.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (kind, value) = text.split_once('=').unwrap_or((text, ""));
        let number = || value.parse::<u8>().map_err(|error| format!("{value:?}: {error}"));
        Ok(match kind {
            "keep" => Self::Keep,
            "close-each" => Self::CloseEach,
            "gzip-only" => Self::GzipOnly,
            "http10" => Self::Http10,
            "most" => Self::Most(number()?.into()),
            "two-writes" => Self::TwoWrites,
            "leaves-closing" => Self::LeavesClosing,
            "resets" => Self::Resets(number()?),
            _ => return Err(format!("there is no response mode {kind:?}")),
        })
    }

    /// Whether Nagle's algorithm is on.
    pub fn nagle(&self) -> bool {
        matches!(self, Self::TwoWrites)
    }

    /// Returns the bytes of a response, a part for each write. `sent` counts the connection's earlier responses.
    pub fn encode(&self, request: &Request, sent: u32, response: &Response) -> (Vec<Vec<u8>>, Then) {
        let breaks = matches!(self, Self::Resets(share) if fastrand::u8(..100) < *share);
        let then = match self {
            _ if breaks => Then::Reset,
            Self::CloseEach | Self::Http10 => Then::Close,
            Self::GzipOnly if !request.gzip => Then::Close,
            Self::Most(most) if sent + 1 >= *most => Then::Close,
            Self::LeavesClosing => Then::Keep,
            _ if request.closes => Then::Close,
            _ => Then::Keep,
        };
        let mut head = self.head(response, then);
        match self {
            Self::TwoWrites => (vec![head, response.body.clone()], then),
            _ => {
                let body = if breaks { &response.body[..response.body.len() / 2] } else { &response.body[..] };
                head.extend_from_slice(body);
                (vec![head], then)
            }
        }
    }

    fn head(&self, response: &Response, then: Then) -> Vec<u8> {
        let (status, length) = (response.status, response.body.len());
        let version = if matches!(self, Self::Http10) { "HTTP/1.0" } else { "HTTP/1.1" };
        let reason = if status == 200 { "OK" } else { "Trouble" };
        // HTTP/1.0 closes without saying so.
        let close = if then == Then::Close && version == "HTTP/1.1" { "Connection: close\r\n" } else { "" };
        format!("{version} {status} {reason}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{close}\r\n")
            .into_bytes()
    }
}
