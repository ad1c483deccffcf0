//! A request on its way from a script to the load engine, and its outcome on the way back.

use super::expectation::Expectation;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

/// A request that is to be sent.
#[derive(Debug)]
pub struct Outgoing {
    /// The number by which the script knows the request among those that go on at the same time.
    pub id: u64,
    /// Scheme, host and port.
    pub origin: Rc<str>,
    /// The method and header section in HTTP/1.1, and the content.
    pub bytes: Vec<u8>,
    /// The length of the header section with its empty line.
    pub head: usize,
    /// Whether it is the first request of its call, and not one that a redirect or a challenge has led to.
    pub is_first: bool,
    /// Whether the method is HEAD.
    pub is_head: bool,
    /// Whether the content of the response is needed.
    pub keeps_content: bool,
    /// Whether the request may be sent again if its connection turns out to have been closed before.
    pub repeats: bool,
    /// The time after which the request has failed.
    pub timeout: Duration,
    /// The statuses that are expected of the response.
    pub expects: Expectation,
    /// The name that the script has given the request, if it has.
    pub name: Option<Rc<str>>,
}

/// The outcome of a request.
#[derive(Debug)]
pub struct Outcome {
    /// The number of the request.
    pub id: u64,
    /// The times.
    pub timings: Timings,
    /// The address of the server, if one was connected to.
    pub remote: Option<SocketAddr>,
    /// Version and cipher suite of TLS, such as `TLSv1.3`.
    pub tls: Option<(Rc<str>, Rc<str>)>,
    /// The number of bytes sent.
    pub sent: u64,
    /// The number of bytes received.
    pub received: u64,
    /// The bytes of the request.
    pub request: Vec<u8>,
    /// The response, or the reason why there is none.
    pub result: Result<Incoming, Refusal>,
}

impl Outcome {
    /// Returns the outcome of a request that was not sent.
    #[must_use]
    pub fn refused(id: u64, refusal: Refusal) -> Self {
        Self {
            id,
            timings: Timings::default(),
            remote: None,
            tls: None,
            sent: 0,
            received: 0,
            request: Vec::new(),
            result: Err(refusal),
        }
    }
}

/// The times of a request in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Timings {
    /// From the call to the connection that can carry the request.
    pub blocked: f64,
    /// Connecting.
    pub connecting: f64,
    /// The handshake of TLS.
    pub handshaking: f64,
    /// Sending the request.
    pub sending: f64,
    /// From the request sent to the first byte of the response.
    pub waiting: f64,
    /// From the first byte of the response to the last.
    pub receiving: f64,
}

impl Timings {
    /// Returns the duration by k6's meaning: without the time to connect.
    #[must_use]
    pub fn duration(&self) -> f64 {
        self.sending + self.waiting + self.receiving
    }
}

/// A response.
#[derive(Debug, Default)]
pub struct Incoming {
    /// The status code.
    pub status: u16,
    /// The version: `1.0`, `1.1` or `2`.
    pub version: &'static str,
    /// The reason phrase, unless it is the usual one of the status.
    pub other_reason: Option<Box<str>>,
    /// The names and values of the field lines, one after another.
    pub names_and_values: Vec<u8>,
    /// The ends of name and value of each field line.
    pub ends: Vec<(u32, u32)>,
    /// The content as received.
    pub content: Vec<u8>,
}

impl Incoming {
    /// Returns the reason phrase.
    #[must_use]
    pub fn reason(&self) -> &str {
        self.other_reason.as_deref().unwrap_or_else(|| usual_reason(self.status))
    }

    /// Returns the field lines in their order: names and values.
    pub fn fields(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut from = 0;
        self.ends.iter().map(move |&(name, value)| {
            let field =
                (&self.names_and_values[from..name as usize], &self.names_and_values[name as usize..value as usize]);
            from = value as usize;
            field
        })
    }

    /// Returns the value of the first field line of a name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.fields().find(|(other, _)| other.eq_ignore_ascii_case(name.as_bytes())).map(|(_, value)| value)
    }
}

/// Returns the reason phrase that a status has in k6, where the server sends none or the same one; empty if there is none.
#[must_use]
pub fn usual_reason(status: u16) -> &'static str {
    match status {
        203 => "Non-Authoritative Information",
        413 => "Request Entity Too Large",
        414 => "Request URI Too Long",
        416 => "Requested Range Not Satisfiable",
        _ => http::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or_default(),
    }
}

/// The reason why a request has no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The number of the error.
    pub code: u32,
    /// The text of the error.
    pub text: String,
}

impl Refusal {
    /// Returns the reason of a number with its text.
    pub fn new(code: u32, text: impl Into<String>) -> Self {
        Self { code, text: text.into() }
    }
}
