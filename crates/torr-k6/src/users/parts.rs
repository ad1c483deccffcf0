//! A request in parts, as HTTP/2 sends it.

use crate::user::exchange::Outgoing;
use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Method, Request, Uri};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use torr_press::request::SentContent;
use torr_press::{RequestInfo, RequestParts};

/// The characters that a path of HTTP/2 has in escaped form only, as far as a URL may have kept them.
const ESCAPED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'#');

/// Returns the parts of a request that was written in HTTP/1.1.
pub(crate) fn parts(outgoing: &Outgoing, begun: RequestInfo) -> RequestParts {
    let (head, content) = outgoing.bytes.split_at(outgoing.head.min(outgoing.bytes.len()));
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or("/"));
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap_or_default();
    let mut host = None;
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        if name == "Host" {
            host = Some(value);
            continue;
        }
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            request.headers_mut().append(name, value);
        }
    }
    *request.uri_mut() = uri(&outgoing.origin, host, path);
    let body = (!content.is_empty()).then(|| SentContent::from(Bytes::copy_from_slice(content)));
    RequestParts { head: request, body, begun }
}

/// Returns the URI of a path at the host of a field, or else at the origin.
fn uri(origin: &str, host: Option<&str>, path: &str) -> Uri {
    let (scheme, server) = origin.split_once("://").unwrap_or(("https", origin));
    let path = path.parse::<PathAndQuery>().or_else(|_| utf8_percent_encode(path, ESCAPED).to_string().parse());
    let path = path.unwrap_or_else(|_| PathAndQuery::from_static("/"));
    let at = |host: &str| Uri::builder().scheme(scheme).authority(host).path_and_query(path.clone()).build();
    host.and_then(|host| at(host).ok()).or_else(|| at(server).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_request_in_http2_has_the_same_parts() {
        let head = "POST /a\"b?c=%20|{} HTTP/1.1\r\nHost: other.test:8\r\nX-A: b: c\r\nCookie: a=1; b=2\r\nContent-Length: 2\r\n\r\n";
        let outgoing = Outgoing {
            id: 0,
            origin: "https://a.test:443".into(),
            bytes: [head.as_bytes(), b"\xff\r"].concat(),
            head: head.len(),
            is_first: true,
            is_head: false,
            keeps_content: true,
            repeats: false,
            timeout: Duration::ZERO,
            expects: crate::user::Expectation::default(),
            name: None,
        };
        let parts = parts(&outgoing, RequestInfo::default());
        assert_eq!(parts.head.method(), Method::POST);
        let uri = parts.head.uri().to_string();
        assert!(uri.starts_with("https://other.test:8/a") && uri.contains("b?c=%20|"), "{uri}");
        assert_eq!(parts.head.headers().len(), 3);
        assert_eq!(parts.head.headers()["x-a"], "b: c");
        assert_eq!(parts.body.map(|body| body.len()), Some(2));
        assert_eq!(super::uri("https://[::1]:443", Some("not a host"), "/x"), "https://[::1]:443/x");
    }
}
