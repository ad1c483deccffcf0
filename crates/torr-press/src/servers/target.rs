//! The target of a run: the parsed URL.

use super::url_parts::split;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use http::Uri;
use percent_encoding::percent_decode_str;
use std::borrow::Cow;
use thiserror::Error;
use torr_gauge::redact;

/// The reason for which a text is no URL of a target.
#[derive(Debug, Error)]
pub enum TargetError {
    /// The text is no URL.
    #[error("invalid URL '{url}': {why}")]
    Url {
        /// The URL as given, without user and password.
        url: String,
        /// The defect of the URL.
        why: String,
    },
    /// A URL of another scheme, without user and password.
    #[error("cannot load '{0}': the URL must begin with http:// or https://")]
    Scheme(String),
    /// A URL of WebSocket where only HTTP can be, without user and password.
    #[error("cannot load '{0}' here: expected http:// or https://, found a WebSocket")]
    WebSocket(String),
}

/// The parts of the URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The whole URL, but for a user and password.
    pub url: String,
    /// Whether the scheme is `https` or `wss`.
    pub tls: bool,
    /// A name or an address, without brackets.
    pub host: String,
    /// The port, given or the scheme's.
    pub port: u16,
    /// The scheme in lower case.
    pub(crate) scheme: String,
    /// User and password, as they stand in the URL.
    pub(crate) userinfo: Option<String>,
    /// The `Host` field, unless overridden.
    pub(crate) authority: String,
    /// Path and query as given: they may have placeholders, and are checked with what is sent.
    pub(crate) path: String,
}

impl Target {
    /// Returns host and port as they stand in the URL.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// Returns host and port, the host in brackets where it is an IPv6 address.
    pub fn host_and_port(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        format!("{host}:{}", self.port)
    }

    /// Returns the request that opens a tunnel to the server through a proxy (RFC 9110, section 9.3.6), with name and password for
    /// the proxy, a colon between them.
    pub fn connect_request(&self, proxy_user: Option<&str>) -> Vec<u8> {
        let to = self.host_and_port();
        let authorization = proxy_user
            .map_or(String::new(), |user| format!("Proxy-Authorization: Basic {}\r\n", BASE64_STANDARD.encode(user)));
        format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n{authorization}\r\n").into_bytes()
    }

    /// Returns the URL as outputs show it: without the values of secret parameters.
    pub fn shown(&self) -> Cow<'_, str> {
        redact::url(&self.url)
    }

    /// Returns path and query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether the URL names a port.
    pub fn has_port(&self) -> bool {
        self.authority.rsplit(']').next().is_some_and(|rest| rest.contains(':'))
    }

    /// Parses a URL of `http` or `https`; `http://` may be left out.
    ///
    /// # Errors
    /// [`TargetError`].
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        let target = Self::parse_any(url)?;
        if target.is_websocket() {
            return Err(TargetError::WebSocket(target.shown().into_owned()));
        }
        Ok(target)
    }

    /// Parses a URL of `http`, `https`, `ws` or `wss`; `http://` may be left out.
    ///
    /// # Errors
    /// [`TargetError::Url`] and [`TargetError::Scheme`].
    pub fn parse_any(url: &str) -> Result<Self, TargetError> {
        let bad = |why: &str| TargetError::Url { url: redact::url(url).into_owned(), why: why.to_owned() };
        let parts = split(url);
        let scheme = parts.scheme.unwrap_or("http").to_ascii_lowercase();
        if parts.authority.contains(['{', '}']) {
            return Err(bad("the host must not have placeholders"));
        }
        let origin = format!("{scheme}://{}", parts.authority);
        let uri: Uri = origin.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        let tls = match scheme.as_str() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return Err(TargetError::Scheme(redact::url(url).into_owned())),
        };
        let authority = uri.authority().ok_or_else(|| bad("the host is missing"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(bad("the host is missing"));
        }
        let given_port = match &authority.as_str()[authority.host().len()..] {
            "" => None,
            ":" => return Err(bad("the port is missing after ':'")),
            text => Some(port(&text[1..]).ok_or_else(|| bad("the port must be from 1 to 65535"))?),
        };
        let port = given_port.unwrap_or(if tls { 443 } else { 80 });
        // A query without a path still asks for the root (RFC 9112, section 3.2.1).
        let path = if parts.path.starts_with('/') { parts.path.to_owned() } else { format!("/{}", parts.path) };
        // As a number, the port has no leading zeros.
        let authority = given_port.map_or_else(|| authority.to_string(), |port| format!("{}:{port}", authority.host()));
        Ok(Self {
            tls,
            url: format!("{scheme}://{authority}{}", parts.path),
            host: host.to_owned(),
            port,
            userinfo: parts.userinfo.map(str::to_owned),
            authority,
            path,
            scheme,
        })
    }

    /// Whether the URL is that of a WebSocket (RFC 6455, section 3).
    pub fn is_websocket(&self) -> bool {
        ["ws", "wss"].contains(&&*self.scheme)
    }

    /// Parses the URL of a method of gRPC, whose scheme is `grpc` or, with TLS, `grpcs`.
    ///
    /// # Errors
    /// [`TargetError::Url`] and [`TargetError::Scheme`].
    pub fn parse_grpc(url: &str) -> Result<Self, TargetError> {
        let (scheme, rest) = url.split_once("://").unwrap_or_default();
        let http = match scheme.to_ascii_lowercase().as_str() {
            "grpc" => "http",
            "grpcs" => "https",
            _ => return Err(TargetError::Scheme(redact::url(url).into_owned())),
        };
        let as_given = |shown: String| shown.replacen("http", "grpc", 1);
        let target = Self::parse(&format!("{http}://{rest}")).map_err(|error| match error {
            TargetError::Url { url, why } => TargetError::Url { url: as_given(url), why },
            error => error,
        })?;
        if target.has_userinfo() {
            let why = "a grpc:// URL must not have a user: use --user".to_owned();
            return Err(TargetError::Url { url: as_given(target.url), why });
        }
        Ok(Self { url: as_given(target.url.clone()), ..target })
    }

    /// Whether the URL names a user.
    pub fn has_userinfo(&self) -> bool {
        self.userinfo.is_some()
    }

    /// Returns user and password of the URL with a colon between them, percent-decoded as in curl. A missing password is empty.
    pub fn credentials(&self) -> Option<String> {
        let decoded = percent_decode_str(self.userinfo.as_deref()?).decode_utf8_lossy();
        Some(if decoded.contains(':') { decoded.into_owned() } else { format!("{decoded}:") })
    }

    /// Returns the URL of another path of the origin, with user and password.
    pub fn whole_as_user(&self, path: &str) -> String {
        format!("{}://{}{}{path}", self.scheme, self.before_host(), self.authority)
    }

    /// Returns the URL at another address without TLS, with user and password.
    pub fn plain_at(&self, address: &str) -> String {
        // A URL that was given without a path stays without one.
        let path = self.url.strip_prefix(&self.origin()).unwrap_or(&self.path);
        let scheme = if self.is_websocket() { "ws" } else { "http" };
        format!("{scheme}://{}{address}{path}", self.before_host())
    }

    /// Returns user and password as they stand before the host.
    fn before_host(&self) -> String {
        self.userinfo.as_ref().map_or(String::new(), |userinfo| format!("{userinfo}@"))
    }

    /// Returns the URL with user and password.
    pub fn as_given(&self) -> String {
        if self.has_userinfo() { self.whole_as_user(&self.path) } else { self.url.clone() }
    }

    /// Returns the URL of another path of the origin.
    pub fn whole(&self, path: &str) -> String {
        format!("{}://{}{path}", self.scheme, self.authority)
    }

    /// Returns the target of another path, with the same origin and user.
    pub fn at(&self, path: &str) -> Self {
        Self { url: self.whole(path), path: path.to_owned(), ..self.clone() }
    }

    /// Scheme, host and port.
    pub(crate) fn origin(&self) -> String {
        self.whole("")
    }

    pub(crate) fn has_origin_of(&self, other: &Self) -> bool {
        self.part_beyond(other).is_none()
    }

    /// Returns the first part of the origin, of host, scheme and port, that differs from another target's.
    pub(crate) fn part_beyond(&self, other: &Self) -> Option<&'static str> {
        let differs = [
            ("host", !self.host.eq_ignore_ascii_case(&other.host)),
            ("scheme", self.scheme != other.scheme),
            ("port", self.port != other.port),
        ];
        differs.into_iter().find(|(_, differs)| *differs).map(|(part, _)| part)
    }
}

/// Parses the number of a port, 1 to 65535, which may have leading zeros.
fn port(text: &str) -> Option<u16> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten().filter(|&port| port != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_url_of_a_method_is_shown_as_it_was_given() {
        let target = Target::parse_grpc("GRPC://h:50051/a.B/C").unwrap();
        assert_eq!((target.shown().as_ref(), target.tls, target.port), ("grpc://h:50051/a.B/C", false, 50_051));
        assert_eq!((target.scheme.as_str(), target.path(), target.as_given()), ("http", "/a.B/C", target.url.clone()));
        let target = Target::parse_grpc("grpcs://h/a.B/C").unwrap();
        assert_eq!((target.shown().as_ref(), target.tls, target.port), ("grpcs://h/a.B/C", true, 443));
        for (url, why) in [
            ("http://h/a.B/C", "http://h/a.B/C"),
            ("grpc://h:0/a.B/C", "'grpc://h:0/a.B/C'"),
            ("grpc://me:pw@h/a.B/C", "use --user"),
        ] {
            let error = Target::parse_grpc(url).unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("pw"), "{url}: {error}");
        }
    }

    #[test]
    fn urls_of_many_forms() {
        for (url, host, port, authority, path) in [
            ("http://example.com", "example.com", 80, "example.com", "/"),
            ("example.com:8080/a?b=c#d", "example.com", 8080, "example.com:8080", "/a?b=c"),
            ("http://[::1]:81/x", "::1", 81, "[::1]:81", "/x"),
            ("https://a/", "a", 443, "a", "/"),
            ("HTTP://127.0.0.1?q", "127.0.0.1", 80, "127.0.0.1", "/?q"),
            ("http://user:secret@h:1/{{rand 1 9}}", "h", 1, "h:1", "/{{rand 1 9}}"),
            ("http://h:08080/x", "h", 8080, "h:8080", "/x"),
            ("https://[::1]:000443", "::1", 443, "[::1]:443", "/"),
            ("ws://h/chat", "h", 80, "h", "/chat"),
            ("WSS://h", "h", 443, "h", "/"),
        ] {
            let target = Target::parse_any(url).unwrap_or_else(|error| panic!("{url}: {error}"));
            assert_eq!(
                (target.host.as_str(), target.port, target.authority.as_str(), target.path.as_str()),
                (host, port, authority, path)
            );
            assert!(!target.url.contains("secret") && !target.url.contains(":0"), "{}", target.url);
        }
    }

    #[test]
    fn a_websocket_is_no_target_of_http() {
        let target = Target::parse_any("wss://u:secret@h:81/x?y").expect("it is a URL");
        assert!(target.tls && target.is_websocket());
        assert_eq!(target.plain_at("127.0.0.1:9"), "ws://u:secret@127.0.0.1:9/x?y");
        assert_eq!((target.origin(), target.as_given()), ("wss://h:81".into(), "wss://u:secret@h:81/x?y".into()));
        let error = Target::parse("ws://u:secret@h/").expect_err("it is no HTTP").to_string();
        assert_eq!(error, "cannot load 'ws://h/' here: expected http:// or https://, found a WebSocket");
    }

    #[test]
    fn credentials_are_those_of_the_url_decoded() {
        for (url, expected) in [
            ("http://h/", None),
            ("http://u:p@h/", Some("u:p")),
            ("http://u@h/", Some("u:")),
            ("http://a%40b:c%3Ad%20@h/", Some("a@b:c:d ")),
        ] {
            assert_eq!(Target::parse(url).expect("it is a URL").credentials().as_deref(), expected, "{url}");
        }
    }

    #[test]
    fn an_ipv6_address_stands_in_brackets_before_its_port() {
        let parsed = |url| Target::parse(url).map(|target| target.host_and_port()).unwrap();
        assert_eq!((parsed("http://[::1]/"), parsed("https://a/")), ("[::1]:80".into(), "a:443".into()));
    }

    #[test]
    fn what_is_no_url_says_why() {
        for (url, why) in [
            ("", "invalid URL"),
            ("http://", "invalid URL"),
            ("http:///x", "invalid URL"),
            ("http://host:0/", "the port"),
            ("http://host:99999/", "the port"),
            ("http://host:+80/", "invalid URL"),
            ("http://host:065536/", "the port"),
            ("http://a b/", "invalid URL"),
            ("http://a{{b}}/", "invalid URL"),
            ("ftp://host/", "must begin with http://"),
        ] {
            let error = Target::parse(url).expect_err(url).to_string();
            assert!(error.contains(why), "{url}: {error}");
        }
    }
}
