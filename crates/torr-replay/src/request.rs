//! The requests that are sent: what the log has, and what is the same for all.

use http::uri::PathAndQuery;
use http::{HeaderName, HeaderValue, Request, Uri};
use torr_gauge::redact::is_secret_field;
use torr_logs::LoggedRequest;

/// Header fields of a connection or of content, which a log may have and a request does not take from it; in lower case.
const OWN: [&str; 14] = [
    "host",
    "connection",
    "keep-alive",
    "proxy-connection",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "te",
    "trailer",
    "upgrade",
    "expect",
    "range",
    "http2-settings",
];

/// Those of [`OWN`] that a request with content takes from the log.
const OF_CONTENT: [&str; 2] = ["content-type", "content-encoding"];

/// What is the same for all requests.
#[derive(Debug, Clone)]
pub struct RequestTemplate {
    scheme: String,
    authority: String,
    /// The header fields, `Host` among them.
    fields: Vec<(String, String)>,
    /// The names of the fields that the user has given, in lower case: those of the log do not replace them.
    given: Vec<String>,
    /// The host of the target, in lower case.
    host: String,
}

impl RequestTemplate {
    /// Returns the template of a request in HTTP/1.1 to an origin such as `http://127.0.0.1:8080`. `given` are the names of the header
    /// fields that the user has given.
    pub fn new(request: &[u8], origin: &str, host: &str, given: impl IntoIterator<Item = String>) -> Self {
        let text = String::from_utf8_lossy(request);
        let head = text.split("\r\n\r\n").next().unwrap_or_default();
        let fields = head.split("\r\n").skip(1).filter_map(|line| line.split_once(':'));
        let (scheme, authority) = origin.split_once("://").unwrap_or(("http", origin));
        Self {
            scheme: scheme.to_owned(),
            authority: authority.trim_end_matches('/').to_owned(),
            fields: fields.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect(),
            given: given.into_iter().map(|name| name.to_ascii_lowercase()).collect(),
            host: host.to_ascii_lowercase(),
        }
    }

    /// Returns the header fields of a request. `length` is that of its content.
    fn fields<'r>(&'r self, request: &'r LoggedRequest, length: &'r str) -> Vec<(&'r str, &'r str)> {
        let is_given = |name: &str| self.given.iter().any(|given| name.eq_ignore_ascii_case(given));
        let is_taken = |name: &str| is_taken(name, !request.body.is_empty());
        let logged = |name: &str| request.fields.iter().any(|(other, _)| name.eq_ignore_ascii_case(other));
        let mut all = Vec::with_capacity(self.fields.len() + request.fields.len() + 1);
        for (name, value) in &self.fields {
            let host = request.host.as_deref().filter(|host| *host != self.host);
            match host.filter(|_| name.eq_ignore_ascii_case("host") && !is_given("host")) {
                Some(host) => all.push((name.as_str(), host)),
                None if !is_given(name) && is_taken(name) && logged(name) => {}
                None => all.push((name.as_str(), value.as_str())),
            }
        }
        let of_log = request.fields.iter().filter(|(name, _)| is_taken(name) && !is_given(name));
        all.extend(of_log.map(|(name, value)| (name.as_str(), value.as_str())));
        if !request.body.is_empty() || matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
            all.push(("Content-Length", length));
        }
        all
    }

    /// Appends the header section of a request in HTTP/1.1.
    pub(crate) fn write(&self, request: &LoggedRequest, out: &mut Vec<u8>) {
        let length = request.body.len().to_string();
        let mut put = |parts: &[&str]| parts.iter().for_each(|part| out.extend_from_slice(part.as_bytes()));
        put(&[&request.method, " ", &request.target, " HTTP/1.1\r\n"]);
        for (name, value) in self.fields(request, &length) {
            put(&[name, ": ", value, "\r\n"]);
        }
        put(&["\r\n"]);
    }

    /// Returns a request in parts.
    pub(crate) fn parts(&self, request: &LoggedRequest) -> Request<()> {
        let mut head = Request::new(());
        let length = request.body.len().to_string();
        let fields = self.fields(request, &length);
        let is_host = |field: &&(&str, &str)| field.0.eq_ignore_ascii_case("host");
        let authority = fields.iter().find(is_host).map_or(self.authority.as_str(), |(_, host)| host);
        let path = request.target.parse().unwrap_or_else(|_| PathAndQuery::from_static("/"));
        let uri = Uri::builder().scheme(self.scheme.as_str()).authority(authority).path_and_query(path).build();
        *head.uri_mut() = uri.unwrap_or_default();
        *head.method_mut() = request.method.parse().unwrap_or_default();
        for (name, value) in &fields {
            let is_length = *name == "Content-Length";
            let is_left_out = !is_length && is_own(&name.to_ascii_lowercase(), true);
            if let (false, Ok(name), Ok(value)) =
                (is_left_out, HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                head.headers_mut().append(name, value);
            }
        }
        head
    }
}

/// Returns whether a field, by its name in lower case, is one of a connection, or of content that there is not.
fn is_own(lower: &str, has_content: bool) -> bool {
    OWN.contains(&lower) && !(has_content && OF_CONTENT.contains(&lower))
}

/// Returns whether a header field is taken from the log: none of a connection, none of content but with it, no credentials, and none that
/// a proxy adds.
fn is_taken(name: &str, has_content: bool) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_name = HeaderName::from_bytes(lower.as_bytes()).is_ok();
    is_name && !is_own(&lower, has_content) && !lower.starts_with("x-forwarded") && !is_secret_field(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn request(fields: &[(&str, &str)], host: Option<&str>) -> LoggedRequest {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        LoggedRequest {
            at: 0,
            method: "GET".into(),
            target: "/a?b=1".into(),
            host: host.map(str::to_owned),
            status: None,
            took: None,
            fields,
            body: Bytes::new(),
        }
    }

    fn template(given: &[&str]) -> RequestTemplate {
        let bytes = b"GET / HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: torr\r\nAccept: */*\r\n\r\n";
        RequestTemplate::new(bytes, "http://127.0.0.1:80", "127.0.0.1", given.iter().map(|name| (*name).to_owned()))
    }

    #[test]
    fn fields_of_the_log_replace_the_usual_ones_but_not_the_users() {
        let logged =
            request(&[("user-agent", "curl"), ("cookie", "s=1"), ("content-length", "5")], Some("shop.example"));
        let mut bytes = Vec::new();
        template(&[]).write(&logged, &mut bytes);
        let expected = "GET /a?b=1 HTTP/1.1\r\nHost: shop.example\r\nAccept: */*\r\nuser-agent: curl\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
        bytes.clear();
        template(&["User-Agent", "Host"]).write(&logged, &mut bytes);
        let expected = "GET /a?b=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nUser-Agent: torr\r\nAccept: */*\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&bytes), expected);
        let posted =
            LoggedRequest { method: "POST".into(), body: "a=1".into(), ..request(&[("content-type", "a/b")], None) };
        bytes.clear();
        template(&[]).write(&posted, &mut bytes);
        assert!(
            bytes.ends_with(b"content-type: a/b\r\nContent-Length: 3\r\n\r\n"),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
        let names = template(&[])
            .parts(&posted)
            .headers()
            .keys()
            .map(HeaderName::as_str)
            .map(str::to_owned)
            .collect::<Vec<_>>();
        assert_eq!(names, ["user-agent", "accept", "content-type", "content-length"]);
        let parts = template(&[]).parts(&logged);
        assert_eq!(parts.uri(), "http://shop.example/a?b=1");
        assert_eq!(parts.headers().keys().map(HeaderName::as_str).collect::<Vec<_>>(), ["accept", "user-agent"]);
    }
}
