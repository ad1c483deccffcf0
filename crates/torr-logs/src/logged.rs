//! A request as a log has it.

use crate::time::Stamp;
use bytes::Bytes;

/// A request as a log has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedRequest {
    /// The time at which the request began, as far as the log tells, in nanoseconds since the Unix epoch.
    pub at: i64,
    /// The method.
    pub method: String,
    /// Path and query, or `*`.
    pub target: String,
    /// The host, if the log names it, without the port.
    pub host: Option<String>,
    /// The status code of the response, if the log has it.
    pub status: Option<u16>,
    /// The response time in nanoseconds, if the log has it.
    pub took: Option<u64>,
    /// The header fields of the request that the log has.
    pub fields: Vec<(String, String)>,
    /// The body, of a recording; empty where the log has none.
    pub body: Bytes,
}

/// The parts of a line, before its time is settled.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Line {
    pub stamp: Option<Stamp>,
    /// Whether the stamp is the time at which the request began, and not that of its end.
    pub is_start: bool,
    pub method: String,
    pub target: String,
    pub host: Option<String>,
    pub status: Option<u16>,
    pub took: Option<u64>,
    pub fields: Vec<(String, String)>,
    pub body: Bytes,
}

/// What one line of a log is.
#[derive(Debug)]
pub(crate) enum LogLine {
    Line(Box<Line>),
    /// A line that is not of the log's format.
    Unreadable(String),
}

/// The length of the longest method that is taken for one.
const LONGEST_METHOD: usize = 32;

impl Line {
    /// Takes over a request line, such as `GET /path HTTP/1.1`. Without a version it is that of HTTP/0.9. Returns `None` if it is none.
    pub fn set_request(&mut self, request: &str) -> Option<()> {
        let (method, rest) = request.split_once(' ')?;
        let target = match rest.rsplit_once(' ') {
            Some((target, version)) if version.starts_with("HTTP/") || version.starts_with("http/") => target,
            _ => rest,
        };
        self.set_method(method)?;
        self.set_target(target)
    }

    /// Takes over a method. Returns `None` if it is none.
    pub fn set_method(&mut self, method: &str) -> Option<()> {
        let is_one = (1..=LONGEST_METHOD).contains(&method.len())
            && method.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_!#$%&'*+.^`|~".contains(&byte));
        is_one.then(|| method.clone_into(&mut self.method))
    }

    /// Takes over the target of a request: a path with or without a query, an absolute URL, or `*`. Returns `None` if it is none.
    pub fn set_target(&mut self, target: &str) -> Option<()> {
        let path = match target.split_once("://") {
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {
                let end = rest.find(['/', '?']).unwrap_or(rest.len());
                self.set_host(&rest[..end]);
                let path = &rest[end..];
                if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
            }
            _ => target.to_owned(),
        };
        let path = sendable(&path);
        let is_one = path.starts_with('/') || path == "*";
        is_one.then(|| self.target = path)
    }

    /// Takes over a host, without its port. One that is empty or `-` is none.
    pub fn set_host(&mut self, authority: &str) {
        let authority = authority.rsplit('@').next().unwrap_or_default();
        let host = match authority.rfind(':') {
            Some(at) if !authority.ends_with(']') && authority[at + 1..].bytes().all(|byte| byte.is_ascii_digit()) => {
                &authority[..at]
            }
            _ => authority,
        };
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        if !host.is_empty() && host != "-" && host.bytes().all(plain) {
            self.host = Some(host.to_ascii_lowercase());
        }
    }

    /// Takes over a header field, unless the log has no value for it.
    pub fn set_field(&mut self, name: &str, value: &str) {
        let value = value.trim();
        let is_sendable = |c: char| c != '\u{7f}' && (c >= ' ' || c == '\t');
        if !value.is_empty() && value != "-" && value.chars().all(is_sendable) {
            self.fields.push((name.to_owned(), value.to_owned()));
        }
    }

    /// Returns whether the line has all that a request needs.
    pub fn is_whole(&self) -> bool {
        self.stamp.is_some() && !self.method.is_empty() && !self.target.is_empty()
    }
}

/// Returns a target with bytes that no request line may have percent-encoded.
fn sendable(target: &str) -> String {
    let plain = |byte: u8| (b'!'..=b'~').contains(&byte);
    // A fragment is not sent.
    let target = target.split('#').next().unwrap_or_default();
    if target.bytes().all(plain) {
        return target.to_owned();
    }
    let mut sent = String::with_capacity(target.len() + 16);
    for byte in target.bytes() {
        match plain(byte) {
            true => sent.push(byte as char),
            false => sent.push_str(&format!("%{byte:02X}")),
        }
    }
    sent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_what_can_be_sent() {
        for (request, method, target, host) in [
            ("GET /a?b=1 HTTP/1.1", "GET", "/a?b=1", None),
            ("GET /a b HTTP/1.1", "GET", "/a%20b", None),
            ("GET http://shop.example:80/x HTTP/1.1", "GET", "/x", Some("shop.example")),
            ("GET https://shop.example?q=1 HTTP/2.0", "GET", "/?q=1", Some("shop.example")),
            ("OPTIONS * HTTP/1.1", "OPTIONS", "*", None),
            ("GET /old", "GET", "/old", None),
        ] {
            let mut line = Line::default();
            assert!(line.set_request(request).is_some(), "{request}");
            assert_eq!((&*line.method, &*line.target, line.host.as_deref()), (method, target, host), "{request}");
        }
        for request in ["", "-", "\\x16\\x03\\x01", "GET", "GET nowhere HTTP/1.1", "CONNECT a:443 HTTP/1.1"] {
            assert!(Line::default().set_request(request).is_none(), "{request}");
        }
    }
}
