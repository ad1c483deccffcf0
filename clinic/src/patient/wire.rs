//! How answers go out, and what becomes of the connection then.

use super::http::{Answer, Request};

/// The manner of a server.
#[derive(Clone)]
pub enum Wire {
    /// As it should be.
    Keep,
    /// Each answer ends the connection.
    CloseEach,
    /// Only clients that take gzip keep theirs.
    GzipOnly,
    /// Answers of HTTP/1.0.
    Http10,
    /// A connection ends with so many answers.
    Most(u32),
    /// Head and body go out by themselves, with Nagle's algorithm on.
    TwoWrites,
    /// The client's wish to close is left to the client.
    LeavesClosing,
    /// So many of a hundred answers break off in the middle.
    Resets(u8),
}

/// What becomes of the connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Then {
    Keep,
    Close,
    Reset,
}

impl Wire {
    /// For the command line.
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
            _ => return Err(format!("there is no manner {kind:?}")),
        })
    }

    /// Whether small segments wait for the acknowledgement of those before.
    pub fn nagle(&self) -> bool {
        matches!(self, Self::TwoWrites)
    }

    /// The bytes of an answer, in as many parts as there are writes; `answered` is how many the connection has had.
    pub fn reply(&self, request: &Request, answered: u32, answer: &Answer) -> (Vec<Vec<u8>>, Then) {
        let breaks = matches!(self, Self::Resets(share) if fastrand::u8(..100) < *share);
        let then = match self {
            _ if breaks => Then::Reset,
            Self::CloseEach | Self::Http10 => Then::Close,
            Self::GzipOnly if !request.gzip => Then::Close,
            Self::Most(most) if answered + 1 >= *most => Then::Close,
            Self::LeavesClosing => Then::Keep,
            _ if request.closes => Then::Close,
            _ => Then::Keep,
        };
        let mut head = self.head(answer, then);
        match self {
            Self::TwoWrites => (vec![head, answer.body.clone()], then),
            _ => {
                let body = if breaks { &answer.body[..answer.body.len() / 2] } else { &answer.body[..] };
                head.extend_from_slice(body);
                (vec![head], then)
            }
        }
    }

    fn head(&self, answer: &Answer, then: Then) -> Vec<u8> {
        let (status, length) = (answer.status, answer.body.len());
        let version = if matches!(self, Self::Http10) { "HTTP/1.0" } else { "HTTP/1.1" };
        let reason = if status == 200 { "OK" } else { "Trouble" };
        // A server of HTTP/1.0 need not say that it closes.
        let close = if then == Then::Close && version == "HTTP/1.1" { "Connection: close\r\n" } else { "" };
        format!("{version} {status} {reason}\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{close}\r\n")
            .into_bytes()
    }
}
