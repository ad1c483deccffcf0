//! The cookies of a jar (RFC 6265, section 5.3), without a list of public suffixes, as in k6.

use crate::api::http::cookie::SetCookie;
use std::time::{SystemTime, UNIX_EPOCH};
use url::Url;

/// The most cookies that a jar keeps; those that came first give way.
const MOST: usize = 3000;

/// The cookies of a jar, in the order in which they came.
#[derive(Debug, Default)]
pub struct Store {
    cookies: Vec<Kept>,
}

/// A cookie that is kept.
#[derive(Debug)]
struct Kept {
    name: String,
    value: String,
    domain: String,
    path: String,
    is_host_only: bool,
    is_secure: bool,
    /// When it ends, in milliseconds since 1970, unless it lasts as long as the jar.
    expires: Option<i64>,
}

impl Store {
    /// Returns the names and values that go with a request to a URL: by path, the last ones first, then the oldest ones first.
    #[must_use]
    pub fn matching(&self, url: &Url) -> Vec<(String, String)> {
        if self.cookies.is_empty() {
            return Vec::new();
        }
        let (host, path) = (host(url), url.path());
        let is_secure = url.scheme() == "https";
        let mut found: Vec<&Kept> =
            self.cookies.iter().filter(|kept| kept.goes_to(&host, path, is_secure) && !kept.is_over()).collect();
        found.sort_by(|one, other| other.path.cmp(&one.path));
        found.into_iter().map(|kept| (kept.name.clone(), kept.value.clone())).collect()
    }

    /// Keeps a cookie that came with a response of a URL. One of a foreign domain is left out; one that is over removes its like.
    pub fn keep(&mut self, cookie: SetCookie, url: &Url) {
        let host = host(url);
        let Some((domain, is_host_only)) = domain_of(&host, &cookie.domain) else { return };
        let path = if cookie.path.starts_with('/') { cookie.path } else { folder(url.path()).to_owned() };
        let expires = match cookie.max_age {
            0 => cookie.expires,
            seconds => Some(now().saturating_add(seconds.saturating_mul(1000))),
        };
        let is_same = |kept: &Kept| kept.name == cookie.name && kept.domain == domain && kept.path == path;
        let at = self.cookies.iter().position(is_same);
        let is_secure = cookie.secure;
        let kept = Kept { name: cookie.name, value: cookie.value, domain, path, is_host_only, is_secure, expires };
        match at {
            Some(at) if kept.is_over() => drop(self.cookies.remove(at)),
            _ if kept.is_over() => {}
            // It keeps its place in the order.
            Some(at) => self.cookies[at] = kept,
            None => {
                if self.cookies.len() >= MOST {
                    self.cookies.remove(0);
                }
                self.cookies.push(kept);
            }
        }
    }

    /// Removes all cookies.
    pub fn empty(&mut self) {
        self.cookies.clear();
    }
}

impl Kept {
    fn goes_to(&self, host: &str, path: &str, is_secure: bool) -> bool {
        let of_domain = self.domain == host || !self.is_host_only && is_below(host, &self.domain);
        of_domain && self.is_of_path(path) && (!self.is_secure || is_secure || is_own_machine(&self.domain))
    }

    fn is_of_path(&self, path: &str) -> bool {
        match path.strip_prefix(&*self.path) {
            Some(rest) => rest.is_empty() || rest.starts_with('/') || self.path.ends_with('/'),
            None => false,
        }
    }

    fn is_over(&self) -> bool {
        self.expires.is_some_and(|expires| expires <= now())
    }
}

/// Returns the host of a URL as cookies know it.
fn host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.trim_start_matches('[').trim_end_matches([']', '.']).to_ascii_lowercase()
}

/// Returns the domain of a cookie, and whether it is for its host only; `None` if the host cannot set it.
fn domain_of(host: &str, attribute: &str) -> Option<(String, bool)> {
    if attribute.is_empty() {
        return Some((host.to_owned(), true));
    }
    let is_address = host.parse::<std::net::IpAddr>().is_ok();
    if is_address {
        return (attribute == host).then(|| (host.to_owned(), true));
    }
    let domain = attribute.strip_prefix('.').unwrap_or(attribute).to_ascii_lowercase();
    let is_well_formed = !domain.is_empty() && !domain.starts_with('.') && !domain.ends_with('.');
    (is_well_formed && (host == domain || is_below(host, &domain))).then_some((domain, false))
}

fn is_below(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'))
}

/// Returns whether a name is that of the machine itself, to which cookies for TLS go without it, as in browsers.
fn is_own_machine(domain: &str) -> bool {
    let is_loopback = domain.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    is_loopback || domain.rsplit('.').next() == Some("localhost")
}

/// Returns the path that a cookie without one has: that of the URL up to its last slash.
fn folder(path: &str) -> &str {
    match path.rfind('/') {
        None | Some(0) => "/",
        Some(end) => &path[..end],
    }
}

fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    fn kept(fields: &[(&str, &str)]) -> Store {
        let mut store = Store::default();
        for (from, field) in fields {
            store.keep(SetCookie::parse(field.as_bytes()).expect(field), &url(from));
        }
        store
    }

    fn names(store: &Store, to: &str) -> String {
        store.matching(&url(to)).iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn cookies_keep_their_order() {
        let from = "http://a.test/x/y";
        let store = kept(&[
            (from, "b=1; Path=/"),
            (from, "a=1; Path=/"),
            (from, "deep=1"),
            (from, "b=2; Path=/"),
            (from, "c=1; Path=/"),
        ]);
        assert_eq!(names(&store, "http://a.test/x/z"), "deep b a c");
        assert_eq!(names(&store, "http://a.test/"), "b a c");
        assert_eq!(store.matching(&url("http://a.test/"))[0].1, "2");
    }

    #[test]
    fn cookies_go_where_they_belong() {
        let from = "http://www.a.test/";
        let store = kept(&[
            (from, "host=1"),
            (from, "domain=1; Domain=.a.test"),
            (from, "foreign=1; Domain=b.test"),
            (from, "below=1; Domain=x.www.a.test"),
            (from, "secure=1; Secure"),
            (from, "path=1; Path=/p"),
        ]);
        for (to, expected) in [
            ("http://www.a.test/", "host domain"),
            ("https://www.a.test/", "host domain secure"),
            ("http://www.a.test/p/q", "path host domain"),
            ("http://www.a.test/pq", "host domain"),
            ("http://a.test/", "domain"),
            ("http://other.a.test/", "domain"),
            ("http://b.test/", ""),
            ("http://xa.test/", ""),
        ] {
            assert_eq!(names(&store, to), expected, "{to}");
        }
        let address = kept(&[("http://127.0.0.1:81/", "a=1; Domain=127.0.0.1"), ("http://127.0.0.1/", "s=1; Secure")]);
        assert_eq!(names(&address, "http://127.0.0.1/"), "a s");
    }

    #[test]
    fn cookies_end() {
        let from = "http://a.test/";
        let mut store = kept(&[
            (from, "a=1; Max-Age=100; Expires=Thu, 01 Jan 1970 00:00:01 GMT"),
            (from, "b=1; Expires=Thu, 01 Jan 1970 00:00:01 GMT"),
            (from, "c=1"),
            (from, "d=1"),
            (from, "d=; Max-Age=0"),
        ]);
        assert_eq!(names(&store, from), "a c");
        store.empty();
        assert_eq!(names(&store, from), "");
    }
}
