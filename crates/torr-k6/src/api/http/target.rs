//! URLs of requests: parsed once, and shared by all users of a thread that request them again.

use crate::network::{Proxies, Proxy};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode, percent_decode_str, percent_encode};
use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use url::Url;

/// The largest number of URLs that a thread keeps.
const MOST_KEPT: usize = 1024;
/// The longest URL in bytes.
const LONGEST: usize = 1 << 20;
/// What k6 escapes of a path that has letters no path may have.
const IN_PATHS: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');
/// What would end the request line within a query. k6 sends a query as it is.
const IN_QUERIES: &AsciiSet = &CONTROLS.add(b' ');

thread_local! {
    static KEPT: RefCell<HashMap<Box<str>, Rc<Target>>> = RefCell::default();
}

/// A URL of a request.
#[derive(Debug, Default)]
pub struct Target {
    /// The URL as it was given.
    pub given: Rc<str>,
    /// The URL as responses have it: the scheme in small letters, the path escaped.
    pub normal: Rc<str>,
    /// The URL as responses have it, its credentials masked.
    pub shown: Rc<str>,
    /// The URL as responses have it, without credentials.
    pub bare: Rc<str>,
    /// Why no request can be sent to it, though it is a URL.
    pub refusal: Option<String>,
    /// Scheme, host and port.
    pub origin: Rc<str>,
    /// The value of `Host`.
    pub host: String,
    /// Path and query.
    pub path: String,
    /// User and password.
    pub credentials: Option<(String, String)>,
    /// The URL without credentials, if a request can be sent to it.
    pub url: Option<Url>,
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
        let url = self.url.as_ref().filter(|url| !proxies.is_empty() && url.scheme() == "http")?;
        proxies.find(false, url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80))
    }

    /// Returns the value of `Authorization` that the credentials make (RFC 7617).
    #[must_use]
    pub fn basic(&self) -> Option<String> {
        let (user, password) = self.credentials.as_ref()?;
        Some(format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}"))))
    }

    fn new(text: &str) -> Result<Self, String> {
        let bad = |why: &str| format!("invalid URL: parse \"{text}\": {why}");
        if text.len() > LONGEST {
            return Err("invalid URL: it is longer than 1 MiB".to_owned());
        }
        if text.bytes().any(|byte| byte.is_ascii_control()) {
            return Err(bad("invalid control character in URL"));
        }
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (text, None),
        };
        let (scheme, rest) = scheme(rest).map_err(bad)?;
        let scheme = scheme.to_ascii_lowercase();
        if !matches!(scheme.as_str(), "http" | "https") {
            return Ok(Self::refused(text, format!("unsupported protocol scheme \"{scheme}\"")));
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let after = rest.strip_prefix("//").unwrap_or_default();
        let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
        let (userinfo, host) = match authority.rsplit_once('@') {
            Some((userinfo, host)) => (Some(userinfo), host),
            None => (None, authority),
        };
        if host.is_empty() {
            return Ok(Self::refused(text, "http: no Host in request URL".to_owned()));
        }
        if host.starts_with('[') && !host.contains(']') {
            return Err(bad("missing ']' in host"));
        }
        if host.contains('\\') {
            return Err(bad("invalid character \"\\\" in host name"));
        }
        let path = escaped(path).map_err(|part| bad(&format!("invalid URL escape \"{part}\"")))?;
        let query = query.map_or(Cow::Borrowed(""), |query| format!("?{query}").into());
        let sent = percent_encode(query.as_bytes(), IN_QUERIES).to_string();
        let url = Url::parse(&format!("{scheme}://{host}{path}{sent}")).map_err(|error| bad(&error.to_string()))?;
        let name = url.host_str().ok_or_else(|| bad("there is no host"))?;
        let origin = format!("{scheme}://{name}:{}", url.port_or_known_default().unwrap_or(80)).into();
        let fragment = fragment.map_or(String::new(), |fragment| format!("#{fragment}"));
        let with = |userinfo: Option<&str>| {
            let userinfo = userinfo.map_or(String::new(), |userinfo| format!("{userinfo}@"));
            Rc::<str>::from(format!("{scheme}://{userinfo}{host}{path}{query}{fragment}"))
        };
        let normal = with(userinfo);
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let (shown, bare, credentials) = match userinfo.map(|userinfo| userinfo.split_once(':').ok_or(userinfo)) {
            None => (normal.clone(), normal.clone(), None),
            Some(Ok((user, password))) => {
                (with(Some("****:****")), with(None), Some((decoded(user), decoded(password))))
            }
            Some(Err(user)) => (with(Some("****")), with(None), Some((decoded(user), String::new()))),
        };
        // A port is part of `Host` if it was given, and the name has no capitals and no letters beyond ASCII.
        let port = host.rsplit_once(':').map(|(_, port)| port).filter(|port| !port.is_empty() && !port.contains(']'));
        let host = port.map_or_else(|| name.to_owned(), |port| format!("{name}:{port}"));
        let path = format!("{}{sent}", if path.is_empty() { "/" } else { &path });
        let given = if *normal == *text { normal.clone() } else { text.into() };
        Ok(Self { given, normal, shown, bare, refusal: None, origin, host, path, credentials, url: Some(url) })
    }

    /// Returns a URL that no request can be sent to.
    fn refused(text: &str, why: String) -> Self {
        let text: Rc<str> = text.into();
        let (given, normal, shown) = (text.clone(), text.clone(), text.clone());
        Self { given, normal, shown, bare: text, refusal: Some(why), ..Self::default() }
    }
}

/// Splits the scheme from a URL; it is empty if there is none.
fn scheme(text: &str) -> Result<(&str, &str), &'static str> {
    let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let end = text.bytes().position(|byte| !is_of_scheme(byte)).unwrap_or(text.len());
    let begins_with_letter = text.starts_with(|letter: char| letter.is_ascii_alphabetic());
    if text.starts_with(':') {
        return Err("missing protocol scheme");
    }
    if begins_with_letter && text[end..].starts_with(':') {
        return Ok((&text[..end], &text[end + 1..]));
    }
    let first = text.split(['/', '?']).next().unwrap_or_default();
    if first.contains(':') {
        return Err("first path segment in URL cannot contain colon");
    }
    Ok(("", text))
}

/// Returns a path as it is sent: as it is if a path may have all its letters, and else escaped anew.
///
/// # Errors
/// The part that begins an escape and is none.
fn escaped(path: &str) -> Result<Cow<'_, str>, &str> {
    let bytes = path.as_bytes();
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%') {
        let digits = bytes.get(at + 1..at + 3).filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        if digits.is_none() {
            let end = (at + 3).min(path.len());
            return Err(path.get(at..end).unwrap_or("%"));
        }
    }
    let may_be = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~%!$&'()*+,;=:@/[]".contains(&byte);
    if bytes.iter().all(|byte| may_be(*byte)) {
        return Ok(path.into());
    }
    let plain: Vec<u8> = percent_decode(bytes).collect();
    Ok(percent_encode(&plain, IN_PATHS).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_urls() {
        for (text, origin, host, path) in [
            ("http://a.test", "http://a.test:80", "a.test", "/"),
            ("http://a.test:8080/x y?z=1#f", "http://a.test:8080", "a.test:8080", "/x%20y?z=1"),
            ("http://a.test:80/", "http://a.test:80", "a.test:80", "/"),
            ("https://[::1]/", "https://[::1]:443", "[::1]", "/"),
            ("http://a.test?q", "http://a.test:80", "a.test", "/?q"),
            ("http://a.test/a/../b/./c//", "http://a.test:80", "a.test", "/a/../b/./c//"),
            ("http://a.test/[1]%2f?a=[1]{}|\"<>\\^`'", "http://a.test:80", "a.test", "/[1]%2f?a=[1]{}|\"<>\\^`'"),
            ("http://a.test/{1}!?a=b c&d=\u{e9}", "http://a.test:80", "a.test", "/%7B1%7D%21?a=b%20c&d=%C3%A9"),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!((&*target.origin, &*target.host, &*target.path), (origin, host, path));
            assert_eq!(&*target.given, text);
        }
    }

    #[test]
    fn responses_have_the_url_in_its_normal_form() {
        for (text, normal) in [
            ("HTTP://A.test", "http://A.test"),
            ("http://a.test/x y?z=b c#f", "http://a.test/x%20y?z=b c#f"),
            ("http://a.test/x?y", "http://a.test/x?y"),
        ] {
            assert_eq!(&*Target::parse(text).expect(text).normal, normal);
        }
        let secret = Target::parse("http://u:p%40@h/x").expect("it is a URL");
        assert_eq!(secret.credentials, Some(("u".into(), "p@".into())));
        let forms = ["http://u:p%40@h/x", "http://****:****@h/x", "http://h/x"];
        assert_eq!([&*secret.normal, &*secret.shown, &*secret.bare], forms);
        assert_eq!(&*Target::parse("http://u@h").expect("it is a URL").shown, "http://****@h");
    }

    #[test]
    fn what_is_no_url_or_leads_nowhere_has_a_reason() {
        for text in [
            "http://a b/",
            "http://[::1",
            "http://a:b/",
            "1.2.3.4:80/",
            ":x",
            "http://a/%zz",
            "http://a/\n",
            "http://a\\b",
        ] {
            assert!(Target::parse(text).is_err_and(|why| why.starts_with("invalid URL: parse")), "{text}");
        }
        for (text, why) in [
            ("", "unsupported protocol scheme \"\""),
            ("some text", "unsupported protocol scheme \"\""),
            ("//x/y", "unsupported protocol scheme \"\""),
            ("localhost:8080/", "unsupported protocol scheme \"localhost\""),
            ("ftp://x/", "unsupported protocol scheme \"ftp\""),
            ("http://", "http: no Host in request URL"),
            ("http:x", "http: no Host in request URL"),
        ] {
            let target = Target::parse(text).expect(text);
            assert_eq!(target.refusal.as_deref(), Some(why), "{text}");
            assert_eq!((&*target.normal, target.url.is_none()), (text, true));
        }
    }
}
