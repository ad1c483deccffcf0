//! The target of a redirect, and the request that is sent there.

use crate::servers::target::Target;
use std::fmt;
use torr_gauge::{Failure, FailureKind, FailureSide};

/// The number of redirects that are followed for one request.
const MOST_REDIRECTS: u8 = 10;

/// The reason for which a redirect is not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RedirectError {
    /// As many redirects as are followed came before this one.
    TooMany,
    /// The response has no `Location`, or an empty one.
    NoLocation,
    /// The `Location` is no reference to an `http` or `https` URL.
    NoUrl,
    /// The `Location` has another scheme, host or port than the target.
    Elsewhere {
        /// Scheme, host and port of the `Location`.
        origin: String,
        /// The part of the origin that differs: the first of host, scheme and port.
        part: &'static str,
    },
    /// The request that was redirected cannot be read back, and so not be repeated.
    Request,
}

impl fmt::Display for RedirectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooMany => write!(f, "more than {MOST_REDIRECTS} redirects in a row"),
            Self::NoLocation => f.write_str("redirect without a Location field"),
            Self::NoUrl => f.write_str("redirect to a Location that is not an http:// or https:// URL"),
            Self::Elsewhere { origin, part } => write!(f, "redirect to another {part}: {origin}"),
            Self::Request => f.write_str("redirect of a request that cannot be repeated"),
        }
    }
}

impl From<RedirectError> for Failure {
    fn from(error: RedirectError) -> Self {
        Self::new(FailureKind::Redirect, FailureSide::Server, error.to_string())
    }
}

/// The request that follows a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextRequest {
    /// The bytes, among them the content of the redirected request, as far as that was given and is repeated.
    pub bytes: Vec<u8>,
    /// Whether content is repeated.
    pub repeats_content: bool,
}

/// Returns the request that follows a redirect of this status after `followed` others.
///
/// # Errors
/// If the redirect is one too many, or leads to another origin or nowhere.
pub(crate) fn next(
    request: &[u8],
    status: u16,
    location: &[u8],
    target: &Target,
    followed: u8,
) -> Result<NextRequest, RedirectError> {
    if followed >= MOST_REDIRECTS {
        return Err(RedirectError::TooMany);
    }
    if location.is_empty() {
        return Err(RedirectError::NoLocation);
    }
    let from = target_of(request).ok_or(RedirectError::Request)?;
    let to = path(&encoded(location).ok_or(RedirectError::NoUrl)?, target, from)?;
    follow(request, status, &to).ok_or(RedirectError::Request)
}

/// Returns a `Location` without its fragment, with spaces and bytes beyond ASCII percent-encoded, as browsers and curl send
/// them. `None` if there are control characters.
fn encoded(location: &[u8]) -> Option<String> {
    let location = location.split(|&byte| byte == b'#').next().unwrap_or_default();
    let mut text = String::with_capacity(location.len());
    for &byte in location {
        match byte {
            b' ' | 0x80.. => text.push_str(&format!("%{byte:02X}")),
            byte if byte.is_ascii_graphic() => text.push(char::from(byte)),
            _ => return None,
        }
    }
    Some(text)
}

/// Whether a reference begins with a scheme (RFC 3986, section 3.1).
fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else { return false };
    scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
}

/// Returns the path and query that a reference of printable ASCII without a fragment leads to from `path` (RFC 3986,
/// section 5.2).
fn path(location: &str, target: &Target, path: &str) -> Result<String, RedirectError> {
    let whole = match location {
        _ if has_scheme(location) => Some(location.to_owned()),
        _ if location.starts_with("//") => Some(format!("{}:{location}", target.scheme)),
        _ => None,
    };
    if let Some(whole) = whole {
        // Without its slashes a scheme would be read as a host.
        let other = whole.contains("://").then(|| Target::parse(&whole).ok()).flatten();
        let other = other.ok_or(RedirectError::NoUrl)?;
        return match other.part_beyond(target) {
            Some(part) => Err(RedirectError::Elsewhere { origin: other.origin(), part }),
            None => Ok(clean(&other.path)),
        };
    }
    let (before_query, _) = path.split_once('?').unwrap_or((path, ""));
    Ok(match location.as_bytes().first() {
        None => path.to_owned(),
        Some(b'/') => clean(location),
        Some(b'?') => format!("{before_query}{location}"),
        Some(_) => {
            let folder = before_query.rsplit_once('/').map_or("", |(folder, _)| folder);
            clean(&format!("{folder}/{location}"))
        }
    })
}

/// Returns a path without `.` and `..` (RFC 3986, section 5.2.4).
fn clean(path: &str) -> String {
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    let mut ends_in_folder = false;
    for part in path.split('/').skip(1) {
        ends_in_folder = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    if ends_in_folder {
        parts.push("");
    }
    format!("/{}{query}", parts.join("/"))
}

/// Returns the target of a request in HTTP/1.1.
fn target_of(request: &[u8]) -> Option<&str> {
    let line = request.split(|&byte| byte == b'\r').next()?;
    std::str::from_utf8(line).ok()?.split(' ').nth(1)
}

/// Returns the request that follows a redirect of this status: to another path, and where the status says so as a GET without
/// a body (RFC 9110, section 15.4).
fn follow(request: &[u8], status: u16, to: &str) -> Option<NextRequest> {
    let head = request.windows(4).position(|window| window == b"\r\n\r\n")?;
    let mut lines = std::str::from_utf8(&request[..head]).ok()?.split("\r\n");
    let method = lines.next()?.split(' ').next()?;
    let becomes_get = match status {
        303 => method != "HEAD",
        301 | 302 => method == "POST",
        _ => false,
    };
    let method = if becomes_get { "GET" } else { method };
    let is_of_body = |line: &&str| {
        let name = line.split(':').next().unwrap_or_default();
        ["content-length", "content-type"].iter().any(|of_body| name.eq_ignore_ascii_case(of_body))
    };
    let mut bytes = format!("{method} {to} HTTP/1.1\r\n").into_bytes();
    for line in lines.filter(|line| !(becomes_get && is_of_body(line))) {
        bytes.extend_from_slice(line.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    if !becomes_get {
        bytes.extend_from_slice(&request[head + 4..]);
    }
    Some(NextRequest { bytes, repeats_content: !becomes_get })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads(location: &[u8]) -> Result<String, String> {
        let target = Target::parse("http://h.test:81/").unwrap();
        let request = next(b"GET /a/b/c?d HTTP/1.1\r\n\r\n", 302, location, &target, 0);
        request.map(|request| target_of(&request.bytes).unwrap().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn locations_lead_where_browsers_would_go() {
        for (location, expected) in [
            (&b"/x"[..], "/x"),
            (b"/x?y#z", "/x?y"),
            (b"x", "/a/b/x"),
            (b"../x", "/a/x"),
            (b"..", "/a/"),
            (b"./", "/a/b/"),
            (b"?q", "/a/b/c?q"),
            (b"#f", "/a/b/c?d"),
            (b"http://H.TEST:81/y", "/y"),
            (b"HTTP://u:p@h.test:81?q", "/?q"),
            (b"//h.test:81/y/../z", "/z"),
            (b"/login?next=http://other.test/", "/login?next=http://other.test/"),
            (b"login?next=https://other.test", "/a/b/login?next=https://other.test"),
            (b"/a b?c d", "/a%20b?c%20d"),
            (b"http://h.test:81/a b", "/a%20b"),
            ("/\u{e4}".as_bytes(), "/%C3%A4"),
            (b"/\xe4", "/%E4"),
            (b"/%20/\"<>^`{|}", "/%20/\"<>^`{|}"),
        ] {
            assert_eq!(leads(location).as_deref(), Ok(expected), "{}", String::from_utf8_lossy(location));
        }
    }

    #[test]
    fn what_is_not_followed_has_a_reason() {
        let no_url = "redirect to a Location that is not an http:// or https:// URL";
        for (location, reason) in [
            (&b"http://h.test/y"[..], "redirect to another port: http://h.test"),
            (b"https://h.test:81/y", "redirect to another scheme: https://h.test:81"),
            (b"//other.test/y?password=x", "redirect to another host: http://other.test"),
            (b"https://u:p@other.test:81", "redirect to another host: https://other.test:81"),
            (b"mailto:x", no_url),
            (b"http:x", no_url),
            (b"http://", no_url),
            (b"ftp://h.test:81/", no_url),
            (b"/a\tb", no_url),
            (b"", "redirect without a Location field"),
        ] {
            assert_eq!(leads(location).as_ref().map_err(String::as_str), Err(reason), "{location:?}");
        }
        let target = Target::parse("http://h.test:81/").unwrap();
        let next = |followed| next(b"GET / HTTP/1.1\r\n\r\n", 302, b"/", &target, followed);
        assert!(next(MOST_REDIRECTS - 1).is_ok());
        assert_eq!(next(MOST_REDIRECTS), Err(RedirectError::TooMany));
    }

    #[test]
    fn requests_keep_what_the_status_lets_them_keep() {
        let post = b"POST /a HTTP/1.1\r\nHost: h\r\nContent-Type: x\r\nContent-Length: 2\r\n\r\nhi";
        let get = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
        for status in [301, 302, 303] {
            let next = follow(post, status, "/b").unwrap();
            assert_eq!((String::from_utf8(next.bytes).unwrap().as_str(), next.repeats_content), (get, false));
        }
        for status in [307, 308] {
            let next = follow(post, status, "/b").unwrap();
            let again = String::from_utf8_lossy(post).replace("/a", "/b");
            assert_eq!((String::from_utf8(next.bytes).unwrap(), next.repeats_content), (again, true));
        }
        assert_eq!(follow(b"HEAD /a HTTP/1.1\r\n\r\n", 303, "/b").unwrap().bytes, b"HEAD /b HTTP/1.1\r\n\r\n");
        assert_eq!(target_of(post), Some("/a"));
    }
}
