//! What is sent.

use crate::plan::{PlanError, Target};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery};
use http::{Method, Uri};
use torr_wire::encode;

/// All that a run sends.
pub type Requests = Request;

/// One thread's place in what is sent.
#[derive(Debug)]
pub struct Cursor<'r>(&'r Request);

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// Whether it is a HEAD.
    pub is_head: bool,
}

impl Cursor<'_> {
    /// Appends the next request.
    #[inline]
    pub fn write(&mut self, out: &mut Vec<u8>) -> Begun {
        out.extend_from_slice(&self.0.bytes);
        Begun { is_head: self.0.is_head }
    }
}

/// One request in parts, as HTTP/2 sends it.
#[derive(Debug, Clone)]
pub struct Parts {
    /// Method, URI with scheme, host and path, and header fields, `Content-Length` among them where there is a body. The
    /// `Host` that a user asks for stands in the URI.
    pub head: http::Request<()>,
    /// The body, where there is one.
    pub body: Option<Bytes>,
    /// Which it is.
    pub begun: Begun,
}

impl Cursor<'_> {
    /// The next request in parts.
    pub fn parts(&mut self) -> Parts {
        self.0.parts.clone()
    }

    /// The one request that there is, where it is the same every time.
    #[inline]
    pub fn constant(&self) -> Option<&Parts> {
        Some(&self.0.parts)
    }
}

impl Request {
    /// One thread's cursor.
    pub fn cursor(&self, _thread: usize, _threads: usize) -> Cursor<'_> {
        Cursor(self)
    }

    /// The method.
    pub fn method(&self) -> String {
        self.method.clone()
    }

    /// The size of the largest one.
    pub fn largest(&self) -> usize {
        self.bytes.len()
    }
}

/// One request, ready to send.
#[derive(Debug, Clone)]
pub struct Request {
    /// All its bytes.
    pub bytes: Vec<u8>,
    /// The same for HTTP/2.
    pub parts: Parts,
    /// The method.
    pub method: String,
    /// Whether the method is HEAD, whose answers have no body.
    pub is_head: bool,
}

impl Request {
    /// Builds a request to a target. `headers` are lines as `Name: value`; they replace the ones that are sent by
    /// themselves (`Host`, `User-Agent`, `Accept`, `Connection`), and an empty value leaves such a one out, as with curl.
    ///
    /// # Errors
    /// [`PlanError::Method`], [`PlanError::Header`], [`PlanError::OwnHeader`].
    pub fn new(
        target: &Target,
        method: &str,
        headers: &[String],
        body: Option<&[u8]>,
        keep_alive: bool,
    ) -> Result<Self, PlanError> {
        // CONNECT would turn the connection into a tunnel.
        let method = Method::from_bytes(method.as_bytes())
            .ok()
            .filter(|m| m != Method::CONNECT)
            .ok_or_else(|| PlanError::Method(method.to_owned()))?;
        let mut host = target.authority.clone().into_bytes();
        let mut fields = vec![("User-Agent", agent()), ("Accept", b"*/*".to_vec())];
        if !keep_alive {
            fields.push(("Connection", b"close".to_vec()));
        }
        for line in headers {
            let (name, value) = header(line)?;
            if name.eq_ignore_ascii_case("host") {
                host = value;
                continue;
            }
            if ["content-length", "transfer-encoding"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
                return Err(PlanError::OwnHeader(line.clone()));
            }
            let replaces = |default: &&str| name.eq_ignore_ascii_case(default);
            if DEFAULTS.iter().any(replaces) {
                fields.retain(|(default, _)| !replaces(default));
            }
            if !value.is_empty() {
                fields.push((name, value));
            }
        }
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_slice())).collect();
        let mut bytes = Vec::new();
        encode::request(&mut bytes, method.as_str(), &target.path, &host, &fields, body);
        let parts = parts(target, &method, &host, &fields, body);
        Ok(Self { bytes, parts, is_head: method == Method::HEAD, method: method.to_string() })
    }
}

/// The request in parts; a host that cannot stand in a URI is the target's own.
fn parts(target: &Target, method: &Method, host: &[u8], fields: &[(&str, &[u8])], body: Option<&[u8]>) -> Parts {
    let authority = Authority::try_from(host).or_else(|_| Authority::try_from(target.authority.as_str()));
    let uri = Uri::builder()
        .scheme(if target.tls { "https" } else { "http" })
        .authority(authority.expect("it was a URL's"))
        .path_and_query(PathAndQuery::try_from(target.path.as_str()).expect("it was a URL's"));
    let mut head = http::Request::new(());
    *head.method_mut() = method.clone();
    *head.uri_mut() = uri.build().expect("all its parts are there");
    for (name, value) in fields {
        let name = HeaderName::from_bytes(name.as_bytes()).expect("it was checked");
        head.headers_mut().append(name, HeaderValue::from_bytes(value).expect("it was checked"));
    }
    if let Some(body) = body {
        head.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
    }
    let begun = Begun { is_head: method == Method::HEAD };
    Parts { head, body: body.map(Bytes::copy_from_slice), begun }
}

/// Fields that are sent by themselves, and not beside one of the user's.
const DEFAULTS: [&str; 3] = ["User-Agent", "Accept", "Connection"];

fn agent() -> Vec<u8> {
    concat!("torr/", env!("CARGO_PKG_VERSION")).as_bytes().to_vec()
}

/// Splits and checks one header line.
fn header(line: &str) -> Result<(&str, Vec<u8>), PlanError> {
    let bad = || PlanError::Header(line.to_owned());
    let (name, value) = line.split_once(':').ok_or_else(bad)?;
    HeaderName::from_bytes(name.as_bytes()).map_err(|_| bad())?;
    let value = HeaderValue::from_str(value.trim()).map_err(|_| bad())?;
    Ok((name, value.as_bytes().to_vec()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(headers: &[&str], body: Option<&[u8]>) -> Result<String, PlanError> {
        let headers: Vec<_> = headers.iter().map(|&h| h.to_owned()).collect();
        let request = Request::new(&Target::parse("http://h:1/p").unwrap(), "POST", &headers, body, true)?;
        Ok(String::from_utf8(request.bytes).unwrap().replace(concat!("torr/", env!("CARGO_PKG_VERSION")), "torr"))
    }

    #[test]
    fn headers_replace_and_remove_defaults() {
        assert_eq!(
            build(&[], None).unwrap(),
            "POST /p HTTP/1.1\r\nHost: h:1\r\nUser-Agent: torr\r\nAccept: */*\r\n\r\n"
        );
        assert_eq!(
            build(&["host: other", "accept:", "User-Agent: me", "X: 1", "X: 2"], Some(b"hi")).unwrap(),
            "POST /p HTTP/1.1\r\nHost: other\r\nUser-Agent: me\r\nX: 1\r\nX: 2\r\nContent-Length: 2\r\n\r\nhi"
        );
        for bad in ["nothing", "a b: c", ": x", "X: a\r\nY: b", "Content-Length: 3", "transfer-encoding: chunked"] {
            assert!(build(&[bad], None).is_err(), "{bad:?} was taken");
        }
    }
}
