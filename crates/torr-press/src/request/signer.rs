//! The signing of requests as they are written, and their tokens. Over HTTP/1.1, one of the same bytes without large content is
//! signed once a second, which is the precision of the time in a signature; all others are signed one by one.

use super::outgoing::RequestInfo;
use super::sent_content::SentContent;
use super::sigv4::{self, Signable};
use super::token::Token;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use memchr::memmem;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most bytes that a signature adds to a request.
const LONGEST: usize = 1024;

/// What is added to a request when it is written.
#[derive(Debug, Clone)]
pub(super) enum Signing {
    /// A signature by AWS Signature Version 4.
    Signature(Box<sigv4::Signing>),
    /// The token that is valid then.
    Token(Token),
}

impl Signing {
    /// Returns the most bytes that are added. A renewed token may be longer.
    pub fn longest(&self) -> usize {
        match self {
            Self::Signature(_) => LONGEST,
            Self::Token(token) => "Authorization: Bearer \r\n".len() + token.value().len(),
        }
    }

    /// Returns a number that changes when what is added changes for the same request.
    fn stamp(&self) -> u64 {
        match self {
            Self::Signature(_) => seconds(),
            Self::Token(token) => token.renewals(),
        }
    }
}

/// What signs the requests of one thread.
#[derive(Debug)]
pub(super) struct Signer<'r> {
    signing: &'r Signing,
    /// The one request that there is, signed, and the stamp of its signature.
    constant: Option<(u64, Vec<u8>, RequestInfo)>,
    /// Whether there is one request only.
    is_constant: bool,
}

impl<'r> Signer<'r> {
    pub fn new(signing: &'r Signing, is_constant: bool) -> Self {
        Self { signing, constant: None, is_constant }
    }

    /// Appends the one request that there is, if it has been signed and the signature is still that of now.
    pub fn write_again(&self, out: &mut Vec<u8>) -> Option<RequestInfo> {
        let (stamp, bytes, begun) = self.constant.as_ref()?;
        (*stamp == self.signing.stamp()).then(|| {
            out.extend_from_slice(bytes);
            *begun
        })
    }

    /// Adds the fields of the signature to a request in HTTP/1.1 that begins at `start` and may have more content than what was
    /// appended.
    pub fn sign(&mut self, out: &mut Vec<u8>, start: usize, more: Option<&SentContent>, begun: RequestInfo) {
        let stamp = self.signing.stamp();
        let request = &out[start..];
        // What a user has given as bytes may be no request.
        let Some(end) = memmem::find(request, b"\r\n\r\n") else { return };
        let added = match self.signing {
            Signing::Signature(signing) => {
                Self::signature(signing, stamp, &request[..end], || SentContent::whole(&request[end + 4..], more))
            }
            Signing::Token(token) => vec![bearer(token)],
        };
        // Behind the request line: the last field of a handshake of WebSocket has to stay the last.
        let line = memmem::find(request, b"\r\n").unwrap_or(end);
        let tail = out.split_off(start + line + 2);
        for (name, value) in added {
            out.extend_from_slice(format!("{name}: {value}\r\n").as_bytes());
        }
        out.extend_from_slice(&tail);
        if self.is_constant && more.is_none() {
            self.constant = Some((stamp, out[start..].to_vec(), begun));
        }
    }

    /// Returns the fields of a signature of a request in HTTP/1.1 at this second.
    fn signature(
        signing: &sigv4::Signing,
        second: u64,
        head: &[u8],
        content: impl FnOnce() -> Bytes,
    ) -> Vec<(String, String)> {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let fields: Vec<_> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
            .collect();
        let host = fields.iter().find(|(name, _)| name.eq_ignore_ascii_case("host"));
        signature(signing, second, method, target, host.map_or("", |(_, host)| host), &fields, &content())
    }

    /// Adds the fields of the signature to a request in parts.
    pub fn sign_parts(&self, head: &mut Request<()>, body: Option<&SentContent>) {
        let added = match self.signing {
            Signing::Signature(signing) => Self::signature_of_parts(signing, head, body),
            Signing::Token(token) => vec![bearer(token)],
        };
        for (name, value) in added {
            // A key with other characters was refused before the run.
            if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
                head.headers_mut().insert(name, value);
            }
        }
    }

    fn signature_of_parts(
        signing: &sigv4::Signing,
        head: &Request<()>,
        body: Option<&SentContent>,
    ) -> Vec<(String, String)> {
        let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
        let fields: Vec<_> = head.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
        let uri = head.uri();
        let host = uri.authority().map_or("", |authority| authority.as_str());
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        let content = SentContent::whole(&[], body);
        signature(signing, seconds(), head.method().as_str(), target, host, &fields, &content)
    }
}

/// Returns the field of a token.
fn bearer(token: &Token) -> (String, String) {
    ("Authorization".to_owned(), format!("Bearer {}", token.value()))
}

/// Returns the fields by which a request is signed at this second.
fn signature(
    signing: &sigv4::Signing,
    second: u64,
    method: &str,
    target: &str,
    host: &str,
    fields: &[(String, String)],
    content: &[u8],
) -> Vec<(String, String)> {
    let (path, query) = match target.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (target, None),
    };
    let now = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(second)).to_string();
    let now = now.replace(['-', ':'], "");
    signing.fields(&Signable { method, path, query, host, fields, content }, &now)
}

/// Returns the time in seconds since 1970.
fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
