//! URLs of requests: parsed once, and shared by all users of a thread that request them again.

use crate::network::{Proxies, Proxy};
use percent_encoding::percent_decode_str;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use url::Url;

/// The largest number of URLs that a thread keeps.
const MOST_KEPT: usize = 1024;
/// The longest URL in bytes.
const LONGEST: usize = 1 << 20;

thread_local! {
    static KEPT: RefCell<HashMap<Box<str>, Rc<Target>>> = RefCell::default();
}

/// A URL that a request can be sent to.
#[derive(Debug)]
pub struct Target {
    /// The URL as it was given, its credentials masked.
    pub shown: Rc<str>,
    /// Scheme, host and port.
    pub origin: Rc<str>,
    /// The value of `Host`.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// User and password.
    pub credentials: Option<(String, String)>,
    /// The URL without credentials.
    pub url: Url,
}

impl Target {
    /// Parses a URL, or returns why it is none.
    ///
    /// # Errors
    /// The reason in one line.
    pub fn parse(text: &str) -> Result<Rc<Self>, String> {
        if let Some(kept) = KEPT.with_borrow(|kept| kept.get(text).cloned()) {
            return Ok(kept);
        }
        let target = Rc::new(Self::new(text)?);
        KEPT.with_borrow_mut(|kept| {
            if kept.len() >= MOST_KEPT {
                kept.clear();
            }
            kept.insert(text.into(), target.clone());
        });
        Ok(target)
    }

    /// Returns the proxy that requests are sent to as a whole, their URLs in them: those of servers without TLS.
    #[must_use]
    pub fn plain_proxy<'p>(&self, proxies: &'p Proxies) -> Option<&'p Proxy> {
        if proxies.is_empty() || self.url.scheme() != "http" {
            return None;
        }
        proxies.find(false, self.url.host_str().unwrap_or_default(), self.url.port_or_known_default().unwrap_or(80))
    }

    fn new(text: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("invalid URL: parse \"{text}\": {why}");
        if text.len() > LONGEST {
            return Err("invalid URL: it is longer than 1 MiB".to_owned());
        }
        let mut url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(bad(&format!("unsupported protocol scheme \"{}\"", url.scheme())));
        }
        let host = url.host_str().filter(|host| !host.is_empty()).ok_or_else(|| bad("no Host in request URL"))?;
        let port = url.port_or_known_default().unwrap_or(80);
        let origin = format!("{}://{host}:{port}", url.scheme()).into();
        let host = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let credentials = (!url.username().is_empty() || url.password().is_some())
            .then(|| (decoded(url.username()), decoded(url.password().unwrap_or_default())));
        let shown = match &credentials {
            Some(_) => masked(text).into(),
            None => text.into(),
        };
        // A URL with a host always takes both.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        Ok(Self { shown, origin, host, path, credentials, url })
    }
}

/// Returns a URL with its credentials masked.
fn masked(text: &str) -> String {
    let after_scheme = text.find("://").map_or(0, |at| at + 3);
    let authority = text[after_scheme..].find(['/', '?', '#']).map_or(text.len(), |at| after_scheme + at);
    match text[..authority].rfind('@') {
        Some(at) if at >= after_scheme => format!("{}****:****{}", &text[..after_scheme], &text[at..]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_urls() {
        for (text, origin, host, path) in [
            ("http://a.test", "http://a.test:80", "a.test", "/"),
            ("http://a.test:8080/x y?z=1#f", "http://a.test:8080", "a.test:8080", "/x%20y?z=1"),
            ("https://[::1]/", "https://[::1]:443", "[::1]", "/"),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!((&*target.origin, &*target.host, &*target.path), (origin, host, path));
            assert_eq!(&*target.shown, text);
        }
        let secret = Target::parse("http://u:p%40@h/x").expect("it is a URL");
        assert_eq!(secret.credentials, Some(("u".into(), "p@".into())));
        assert_eq!(&*secret.shown, "http://****:****@h/x");
        for text in ["", "http://", "ftp://x/", "/path", "some text"] {
            assert!(Target::parse(text).is_err_and(|why| why.starts_with("invalid URL")), "{text}");
        }
    }
}
