//! Cookies as k6 reads and writes them: by the rules of Go's net/http, which are those of RFC 6265 with stricter values.

use super::headers::is_token;
use chrono::NaiveDateTime;

/// A cookie of a `Set-Cookie` field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SetCookie {
    /// The name.
    pub name: String,
    /// The value, without quotes around it.
    pub value: String,
    /// The attribute `Domain` as it was written; empty without one.
    pub domain: String,
    /// The attribute `Path` as it was written; empty without one.
    pub path: String,
    /// The attribute `Max-Age` in seconds: -1 if the cookie is to be removed, 0 without one.
    pub max_age: i64,
    /// The attribute `Expires` in milliseconds since 1970, if it is a date.
    pub expires: Option<i64>,
    /// Whether the cookie is for TLS only.
    pub secure: bool,
    /// Whether the cookie is not for scripts of pages.
    pub http_only: bool,
}

impl SetCookie {
    /// Reads the value of a `Set-Cookie` field; `None` if it has no name, or a value that cookies cannot have.
    #[must_use]
    pub fn parse(field: &[u8]) -> Option<Self> {
        let field = std::str::from_utf8(field).ok()?;
        let mut parts = field.split(';').map(str::trim);
        let (name, value) = parts.next()?.split_once('=')?;
        let name = name.trim();
        let value = value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value);
        if !is_token(name) || !value.bytes().all(is_of_value) {
            return None;
        }
        let mut cookie = Self { name: name.to_owned(), value: value.to_owned(), ..Self::default() };
        for part in parts {
            let (attribute, value) = part.split_once('=').unwrap_or((part, ""));
            if value.bytes().all(is_of_value) {
                cookie.take(attribute, value);
            }
        }
        Some(cookie)
    }

    fn take(&mut self, attribute: &str, value: &str) {
        let is = |name: &str| attribute.eq_ignore_ascii_case(name);
        match () {
            () if is("domain") => value.clone_into(&mut self.domain),
            () if is("path") => value.clone_into(&mut self.path),
            () if is("secure") => self.secure = true,
            () if is("httponly") => self.http_only = true,
            () if is("expires") => self.expires = date(value),
            () if is("max-age") => {
                if let Ok(seconds) = value.parse::<i64>()
                    && (seconds == 0 || !value.starts_with('0'))
                {
                    self.max_age = if seconds <= 0 { -1 } else { seconds };
                }
            }
            () => {}
        }
    }
}

/// Reads a date as cookies have it (RFC 1123, or with hyphens), in milliseconds since 1970. Each zone is UTC.
#[must_use]
pub fn date(text: &str) -> Option<i64> {
    let (date, _zone) = text.rsplit_once(' ')?;
    let read = |form: &str| NaiveDateTime::parse_from_str(date, form).ok();
    let time = read("%a, %d %b %Y %H:%M:%S").or_else(|| read("%a, %d-%b-%Y %H:%M:%S"))?;
    Some(time.and_utc().timestamp_millis())
}

/// Returns a cookie as `Cookie` has it: without the bytes that cookies cannot have, and in quotes if there is a blank or a comma.
#[must_use]
pub fn pair(name: &str, value: &str) -> String {
    let name = name.replace(['\r', '\n'], "-");
    let value: String = value.chars().filter(|letter| letter.is_ascii() && is_of_value(*letter as u8)).collect();
    match value.contains([' ', ',']) {
        true => format!("{name}=\"{value}\""),
        false => format!("{name}={value}"),
    }
}

fn is_of_value(byte: u8) -> bool {
    (0x20..0x7f).contains(&byte) && !matches!(byte, b'"' | b';' | b'\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookies_are_read_as_go_reads_them() {
        let read = |field: &str| SetCookie::parse(field.as_bytes());
        let cookie = read("a = 1; Path=/x; DOMAIN=.a.test; Max-Age=0; secure; HttpOnly").expect("it is a cookie");
        assert_eq!((&*cookie.name, &*cookie.value), ("a", " 1"));
        assert_eq!((&*cookie.path, &*cookie.domain, cookie.max_age), ("/x", ".a.test", -1));
        assert!(cookie.secure && cookie.http_only);
        assert_eq!(read("d=\"q v\"").map(|cookie| cookie.value).as_deref(), Some("q v"));
        let expiry = |text: &str| read(&format!("a=1; Expires={text}")).and_then(|cookie| cookie.expires);
        assert_eq!(expiry("Wed, 01 Jan 2031 00:00:00 GMT"), Some(1_924_992_000_000));
        assert_eq!(expiry("Wed, 01-Jan-2031 00:00:00 GMT"), Some(1_924_992_000_000));
        assert_eq!(expiry("soon"), None);
        for (age, expected) in [("100", 100), ("-5", -1), ("007", 0), ("x", 0)] {
            assert_eq!(read(&format!("a=1; Max-Age={age}")).map(|cookie| cookie.max_age), Some(expected), "{age}");
        }
        for field in ["no equals sign", "=1", "a b=1", "a={\"x\":1}", "a=\u{e9}", ""] {
            assert_eq!(read(field), None, "{field}");
        }
    }

    #[test]
    fn values_are_written_without_what_would_end_them() {
        assert_eq!(pair("q", "a b;c\""), "q=\"a bc\"");
        assert_eq!(pair("a\nb", "1,2"), "a-b=\"1,2\"");
        assert_eq!(pair("a", "\u{e9}x\r\n="), "a=x=");
        assert_eq!(pair("a", ""), "a=");
    }
}
