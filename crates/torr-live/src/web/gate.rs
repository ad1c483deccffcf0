//! Who may look at a run, and who may steer it.

use sha2::{Digest, Sha256};
use std::net::IpAddr;
use torr_serve::{Request, Response};

/// The cookie that has the token after the first request. Cookies do not tell ports apart, so its name has the token's beginning.
const COOKIE: &str = "torr-dashboard";
/// The field of a request that steers. A page of another origin cannot set it without the server's consent.
const STEERING: &str = "torr-steering";

/// The rules of a dashboard.
#[derive(Debug, Clone)]
pub struct Gate {
    token: Option<[u8; 32]>,
    cookie: String,
    has_tls: bool,
}

impl Gate {
    /// Returns the rules for this token. Without one, only requests to a loopback name are served.
    pub fn new(token: Option<&str>, has_tls: bool) -> Self {
        let digest = token.map(|token| Sha256::digest(token).into());
        let mark = digest.map_or_else(String::new, |digest: [u8; 32]| format!("-{:02x}{:02x}", digest[0], digest[1]));
        Self { token: digest, cookie: format!("{COOKIE}{mark}"), has_tls }
    }

    /// Returns the response that a request gets instead of what it asks for.
    pub fn refusal(&self, request: &Request<'_>) -> Option<Response> {
        let Some(token) = self.token else {
            // A page of anyone can have a name of its own lead to this machine, and would then be of the same origin.
            let is_own = request.header_str("host").is_some_and(is_loopback);
            return (!is_own)
                .then(|| Response::error(403, "this dashboard accepts requests from its own machine only\n"));
        };
        let has = |given: &str| <[u8; 32]>::from(Sha256::digest(given)) == token;
        if let Some(given) = parameter(request.query()) {
            return Some(if has(given) { self.admitted(given) } else { refused() });
        }
        let cookies = request.header_str("cookie").unwrap_or_default();
        let own = |cookie: &str| cookie.trim().strip_prefix(&self.cookie)?.strip_prefix('=').map(has);
        if cookies.split(';').find_map(own) == Some(true) { None } else { Some(refused()) }
    }

    /// Returns the response to a request that steers and must not.
    pub fn refusal_to_steer(&self, request: &Request<'_>) -> Option<Response> {
        let refused =
            |why: &str| Response::error(403, format!("only the dashboard's own page can steer the run: {why}\n"));
        let foreign = || (!is_of_own_page(request)).then(|| refused("the Origin field names another page"));
        let unmarked = || request.header(STEERING).is_none().then(|| refused("the torr-steering field is missing"));
        self.refusal(request).or_else(foreign).or_else(unmarked)
    }

    /// Sends a browser on to the page without the token in its address.
    fn admitted(&self, token: &str) -> Response {
        let secure = if self.has_tls { "; Secure" } else { "" };
        let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}", self.cookie);
        let cookie = cookie.parse().expect("a token of hexadecimal digits is a field's value");
        let here = http::HeaderValue::from_static("/");
        Response::error(303, "").header(http::header::LOCATION, here).header(http::header::SET_COOKIE, cookie)
    }
}

/// Returns whether a request comes from a page of the host that it was sent to, or from no page: browsers send `Origin` with each POST.
fn is_of_own_page(request: &Request<'_>) -> bool {
    let host = request.header_str("host").unwrap_or_default();
    let mut origins = request.headers().filter(|(name, _)| name.eq_ignore_ascii_case("origin"));
    origins.all(|(_, origin)| std::str::from_utf8(origin).is_ok_and(|origin| is_origin_of(origin, host)))
}

/// Returns whether an origin is one of a host with its port. A proxy may have ended TLS, so the scheme is not compared.
fn is_origin_of(origin: &str, host: &str) -> bool {
    let authority = ["http://", "https://"].into_iter().find_map(|scheme| origin.strip_prefix(scheme));
    authority.is_some_and(|authority| !host.is_empty() && authority.eq_ignore_ascii_case(host))
}

fn refused() -> Response {
    Response::error(401, "the token is missing or wrong: use the URL that torr printed\n")
}

/// Returns the token of a query.
fn parameter(query: Option<&str>) -> Option<&str> {
    query?.split('&').find_map(|pair| pair.strip_prefix("token="))
}

/// Returns whether a `Host` field names this machine's loopback.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{is_loopback, is_origin_of};

    #[test]
    fn an_origin_is_of_the_host_that_it_names() {
        for (origin, host) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080"),
            ("https://gauge.test", "gauge.test"),
            ("http://LOCALHOST:80", "localhost:80"),
            ("http://[::1]:9", "[::1]:9"),
        ] {
            assert!(is_origin_of(origin, host), "{origin} {host}");
        }
        for (origin, host) in [
            ("null", "127.0.0.1:8080"),
            ("http://127.0.0.1:8081", "127.0.0.1:8080"),
            ("http://127.0.0.1:8080.evil.test", "127.0.0.1:8080"),
            ("http://evil.test", "127.0.0.1:8080"),
            ("http://", ""),
            ("", ""),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
        ] {
            assert!(!is_origin_of(origin, host), "{origin} {host}");
        }
    }

    #[test]
    fn only_loopback_is_one() {
        for own in ["127.0.0.1", "127.0.0.1:80", "localhost:8080", "LOCALHOST", "[::1]:9", "127.9.9.9"] {
            assert!(is_loopback(own), "{own}");
        }
        for other in ["", "10.0.0.1", "localhost.evil.test:80", "127.0.0.1.evil.test", "[::2]", "[fe80::1]:80"] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
