//! Where figures are sent: a URL, and the header fields of each request.

use crate::human::cut;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use thiserror::Error;
use torr_gauge::redact;
use torr_gauge::secrets::Secrets;
use ureq::Agent;
use ureq::http::header::AUTHORIZATION;
use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{Certificate, RootCerts, TlsConfig};

/// The time-out of a request.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a response that are read.
const MAX_RESPONSE: u64 = 64 * 1024;
/// The most characters of a receiver's reason that are shown.
const LONGEST_REASON: usize = 200;

/// A URL, and the header fields of each request to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    url: Uri,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// What makes requests: made once, since the certificates of the system take time to read.
    agent: OnceLock<Agent>,
}

/// Why figures cannot be sent to a place.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// The text is not a URL. The example is one.
    #[error("must be a URL such as {0}")]
    Url(&'static str),
    /// The header field of this number, counted from 1, is malformed. The error does not quote the field, which may hold a
    /// secret.
    #[error("header {0} must be name=value (not shown, as it may hold a secret)")]
    Headers(usize),
}

/// Why figures were not accepted.
#[derive(Debug, Error)]
pub enum SendError {
    /// There was no response.
    #[error("{0}")]
    Transport(#[from] ureq::Error),
    /// The response has an error status; the first line of its content.
    #[error("the receiver responded with status {0}{1}")]
    Status(ureq::http::StatusCode, String),
    /// The collector refused some of the points.
    #[error("the collector rejected {0} of the points: {1}")]
    Refused(i64, String),
}

impl Endpoint {
    /// Returns the endpoint at a URL. `http://` may be left out, and `path` is used if there is none. User and password of the URL
    /// become a header field. `example` is a URL for the error.
    ///
    /// # Errors
    /// If the text is not a URL of HTTP.
    pub fn parse(url: &str, path: &'static str, example: &'static str) -> Result<Self, EndpointError> {
        let error = || EndpointError::Url(example);
        let url = if url.contains("://") { url.to_owned() } else { format!("http://{url}") };
        let parsed: Uri = url.parse().map_err(|_| error())?;
        let mut parts = parsed.into_parts();
        if !matches!(parts.scheme.as_ref().map(|scheme| scheme.as_str()), Some("http" | "https")) {
            return Err(error());
        }
        let authority = parts.authority.take().ok_or_else(error)?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority.as_str()),
        };
        if host.is_empty() || host.starts_with(':') {
            return Err(error());
        }
        let basic = |user: &str| {
            let plain = percent_decode_str(user).collect::<Vec<u8>>();
            HeaderValue::from_str(&format!("Basic {}", BASE64_STANDARD.encode(plain)))
        };
        let basic = user.map(basic).transpose().map_err(|_| error())?;
        parts.authority = Some(host.parse().map_err(|_| error())?);
        if parts.path_and_query.as_ref().is_none_or(|path| path == "/") {
            parts.path_and_query = Some(path.parse().expect("a constant that is a path"));
        }
        let url = Uri::from_parts(parts).map_err(|_| error())?;
        let headers = basic.into_iter().map(|value| (AUTHORIZATION, value)).collect();
        Ok(Self { url, headers, agent: OnceLock::new() })
    }

    /// Adds headers in the form of `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,name=value`, values percent-encoded. `authorization`
    /// replaces the URL's user and password.
    ///
    /// # Errors
    /// If a field is malformed.
    pub fn with_headers(mut self, text: &str) -> Result<Self, EndpointError> {
        for (at, pair) in text.split(',').map(str::trim).filter(|pair| !pair.is_empty()).enumerate() {
            let header = || {
                let (name, value) = pair.split_once('=')?;
                let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
                Some((name.trim().parse().ok()?, HeaderValue::from_str(&value).ok()?))
            };
            let (name, value) = header().ok_or_else(|| EndpointError::Headers(at + 1))?;
            self.headers.retain(|(known, _)| name != AUTHORIZATION || *known != AUTHORIZATION);
            self.headers.push((name, value));
        }
        Ok(self)
    }

    /// Returns the URL without secrets.
    pub fn url(&self) -> String {
        redact::url(&self.url.to_string()).into_owned()
    }

    /// Posts content with these further header fields. Returns the content of the response.
    ///
    /// # Errors
    /// If there is no response with a status of success.
    pub(super) fn post(&self, headers: &[(&str, &str)], content: &[u8]) -> Result<Vec<u8>, SendError> {
        let is_secure = self.url.scheme_str() == Some("https");
        let mut request = self.agent.get_or_init(|| agent(is_secure)).post(&self.url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut response = request.send(content)?;
        // A successful response may be empty, or in another format.
        let body = response.body_mut().with_config().limit(MAX_RESPONSE).read_to_vec().unwrap_or_default();
        if !response.status().is_success() {
            return Err(SendError::Status(response.status(), self.reason(&body)));
        }
        Ok(body)
    }

    /// Returns text of the receiver as one line that is short and shows no secret that was sent to it.
    pub(super) fn shown(&self, text: &str) -> String {
        cut(&redact::line(&self.secrets().mask(text.to_owned())), LONGEST_REASON)
    }

    /// Returns the first line of an error's content as a clause, where it is text.
    fn reason(&self, body: &[u8]) -> String {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().trim();
        if line.is_empty() || line.starts_with('<') { String::new() } else { format!(": {}", self.shown(line)) }
    }

    /// Returns what is sent to the receiver and must not be shown: the values of given fields, credentials in them, and parameters.
    fn secrets(&self) -> Secrets {
        let mut all = Vec::new();
        for (name, value) in &self.headers {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            // Behind the scheme of `Authorization` stands the secret.
            let credentials = value.rsplit(' ').next().unwrap_or_default().to_owned();
            if name == AUTHORIZATION
                && let Ok(plain) = BASE64_STANDARD.decode(&credentials)
            {
                let plain = String::from_utf8_lossy(&plain).into_owned();
                all.extend(plain.split_once(':').map(|(_, password)| password.to_owned()));
                all.push(plain);
            }
            all.extend([value, credentials]);
        }
        let query = self.url.query().unwrap_or_default();
        let parameters = query.split('&').filter_map(|pair| pair.split_once('='));
        let secret = parameters.filter(|(name, _)| redact::is_secret_parameter(name));
        all.extend(secret.map(|(_, value)| percent_decode_str(value).decode_utf8_lossy().into_owned()));
        Secrets::new(all)
    }

    #[cfg(test)]
    pub(super) fn headers(&self) -> &[(HeaderName, HeaderValue)] {
        &self.headers
    }
}

/// Returns what makes requests, each on a connection of its own: an idle one may be closed until the next.
fn agent(is_secure: bool) -> Agent {
    let config = Agent::config_builder()
        .timeout_global(Some(TIMEOUT))
        .max_redirects(0)
        .max_idle_connections(0)
        .http_status_as_error(false)
        .user_agent(concat!("torr/", env!("CARGO_PKG_VERSION")));
    if is_secure { config.tls_config(tls()) } else { config }.build().into()
}

/// Returns a configuration that trusts the certificates of the system.
fn tls() -> TlsConfig {
    let roots = rustls_native_certs::load_native_certs().certs;
    let roots: Vec<_> = roots.iter().map(|root| Certificate::from_der(root).to_owned()).collect();
    TlsConfig::builder()
        .root_certs(RootCerts::Specific(Arc::new(roots)))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "http://localhost:4318";

    fn parse(url: &str) -> Result<Endpoint, EndpointError> {
        Endpoint::parse(url, "/v1/metrics", EXAMPLE)
    }

    #[test]
    fn missing_parts_of_a_url_are_added() {
        for (given, meant) in [
            ("localhost:4318", "http://localhost:4318/v1/metrics"),
            ("http://localhost:4318/", "http://localhost:4318/v1/metrics"),
            ("https://otlp.example", "https://otlp.example/v1/metrics"),
            ("http://[::1]:9/of/mine?a=b", "http://[::1]:9/of/mine?a=b"),
            ("http://ann:pass@h:9/x", "http://h:9/x"),
        ] {
            assert_eq!(parse(given).expect(given).url(), meant);
        }
        for bad in ["ftp://x/", "", "http://", "http://:9", "http://a b/", "/v1/metrics", "https://ann@"] {
            assert_eq!(parse(bad).map(|c| c.url()), Err(EndpointError::Url(EXAMPLE)), "{bad}");
        }
    }

    #[test]
    fn headers_are_read_as_the_variable_has_them() {
        let endpoint = parse("ann:p%40ss@x").expect("a host").with_headers("api-key=a%20b, x = y=z ,").expect("two");
        let headers: Vec<_> = endpoint.headers().iter().map(|(n, v)| (n.as_str(), v.as_bytes())).collect();
        // The credentials are ann:p@ss.
        let expected = [("authorization", &b"Basic YW5uOnBAc3M="[..]), ("api-key", b"a b"), ("x", b"y=z")];
        assert_eq!(headers, expected);
        let replaced = parse("ann:pass@x").expect("a host").with_headers("Authorization=Bearer%20t").expect("one");
        assert_eq!(replaced.headers(), [(AUTHORIZATION, HeaderValue::from_static("Bearer t"))]);
        for bad in ["name", "a b=c", "a=%0a"] {
            let refused = parse("x").expect("a host").with_headers(bad);
            assert!(matches!(refused, Err(EndpointError::Headers(_))), "{bad}");
        }
    }

    #[test]
    fn an_errors_first_line_is_its_reason() {
        for (body, reason_is) in [("too old\nmore", ": too old"), ("<html>", ""), ("", ""), ("\u{1b}[2J", "")] {
            let said = parse("x").expect("a host").reason(body.as_bytes());
            assert!(said == reason_is || reason_is.is_empty() && !said.contains('\u{1b}'), "{body:?}: {said:?}");
        }
    }
}
