//! The secrets that a request sends: a server may send back what it was sent.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use memchr::memmem;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use torr_gauge::redact;
use torr_wire::percent::form_decoded;

/// The least length of a secret that is known by its name only, in bytes: masking shorter ones would spoil every text.
const LEAST: usize = 3;

/// The number of characters of a URL that are looked at. Without a limit, long content without spaces would be looked at again for
/// each URL in it.
const LONGEST_URL: usize = 16 * 1024;

/// Returns the secrets of a request in HTTP/1.1: values of fields and parameters whose names say so, and users of URLs.
pub fn sent_secrets(request: &[u8]) -> Vec<String> {
    let head = memmem::find(request, b"\r\n\r\n").map_or(request.len(), |at| at + 4);
    let (head, content) = request.split_at(head);
    let mut found = secrets_of_head(head);
    found.extend(secrets_of_content(content));
    found
}

/// Returns the secrets of the request line and the header section of a request in HTTP/1.1.
pub fn secrets_of_head(head: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(head);
    let mut lines = text.split("\r\n");
    let mut found = Vec::new();
    let target = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    if let Some((_, query)) = target.split_once('?') {
        add_parameters(query, &mut found);
    }
    add_urls(&percent_decode_str(target).decode_utf8_lossy(), &mut found);
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if redact::is_secret_field(name) {
            add_field(name, value.trim(), &mut found);
        }
        add_urls(value.trim(), &mut found);
    }
    found.retain(|secret| secret.len() >= LEAST);
    found
}

/// Returns the secrets of the content of a request.
pub fn secrets_of_content(content: &[u8]) -> Vec<String> {
    let content = String::from_utf8_lossy(content);
    let mut found = Vec::new();
    match serde_json::from_str(&content) {
        Ok(json) => add_members(&json, &mut found),
        Err(_) => {
            match content.contains("form-data") {
                true => add_parts(&content, &mut found),
                false => add_parameters(&content, &mut found),
            }
            add_urls(&content, &mut found);
        }
    }
    found.retain(|secret| secret.len() >= LEAST);
    found
}

/// Adds the secrets of the URLs in a text, also of those that are percent-encoded, as in a form.
fn add_urls(text: &str, found: &mut Vec<String>) {
    add_plain_urls(text, found);
    for pair in text.split('&').filter(|pair| pair.contains('%')) {
        let plain = form_decoded(pair);
        if plain.matches("://").count() > pair.matches("://").count() {
            add_plain_urls(&plain, found);
        }
    }
}

/// Adds the users of the URLs in a text, with their passwords, and the secret parameters of these URLs.
fn add_plain_urls(text: &str, found: &mut Vec<String>) {
    let is_of_url = |c: &char| !c.is_whitespace() && !"\"<>".contains(*c);
    for (at, _) in text.match_indices("://") {
        let length: usize = text[at..].chars().take(LONGEST_URL).take_while(is_of_url).map(char::len_utf8).sum();
        let url = &text[at..at + length];
        // A password may have a '&'; in a form, an '@' behind one is not the URL's.
        let (longer, shorter) = (redact::user(url), url.split('&').next().and_then(redact::user));
        for user in longer.into_iter().chain(shorter.filter(|_| shorter != longer)) {
            for part in user.split_once(':').map(|(_, password)| password).into_iter().chain([user]) {
                found.push(percent_decode_str(part).decode_utf8_lossy().into_owned());
                found.push(part.to_owned());
            }
        }
        if let Some((_, query)) = url.split_once('?') {
            add_parameters(query.split('#').next().unwrap_or_default(), found);
        }
    }
}

/// Adds the secrets of a field, which may be credentials behind the name of their scheme, or cookies.
fn add_field(name: &str, value: &str, found: &mut Vec<String>) {
    if name.eq_ignore_ascii_case("cookie") {
        let values = value.split(';').filter_map(|cookie| cookie.split_once('='));
        found.extend(values.map(|(_, value)| value.trim().trim_matches('"').to_owned()));
        return;
    }
    if !name.to_ascii_lowercase().contains("authorization") {
        found.push(value.to_owned());
        return;
    }
    let is_scheme = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let (scheme, credentials) = value.split_once(' ').filter(|(scheme, _)| is_scheme(scheme)).unwrap_or(("", value));
    found.push(credentials.trim().to_owned());
    if scheme.eq_ignore_ascii_case("basic") {
        let decoded = BASE64_STANDARD.decode(credentials.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let both = decoded.unwrap_or_else(|| credentials.to_owned());
        found.extend(both.split_once(':').map(|(_, password)| password.to_owned()));
        found.push(both);
    }
}

/// Adds the secrets of a query or a form.
fn add_parameters(text: &str, found: &mut Vec<String>) {
    for (name, value) in text.split(['&', ';']).filter_map(|pair| pair.split_once('=')) {
        if redact::is_secret_parameter(&percent_decode_str(name).decode_utf8_lossy()) {
            found.push(form_decoded(value));
            found.push(value.to_owned());
        }
    }
}

/// Adds the secrets of JSON.
fn add_members(json: &Value, found: &mut Vec<String>) {
    match json {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if redact::is_secret_parameter(name) => found.push(text.clone()),
                    Value::Number(number) if redact::is_secret_parameter(name) => found.push(number.to_string()),
                    _ => {}
                }
                add_members(value, found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| add_members(item, found)),
        Value::String(text) => add_urls(text, found),
        _ => {}
    }
}

/// Adds the secrets of a multipart form.
fn add_parts(content: &str, found: &mut Vec<String>) {
    for part in content.split("\r\n--") {
        let Some((head, value)) = part.split_once("\r\n\r\n") else { continue };
        let name = head.split("name=\"").nth(1).and_then(|rest| rest.split('"').next());
        if name.is_some_and(redact::is_secret_parameter) {
            found.push(value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_the_names_of_fields_and_parameters() {
        let request = "POST /a?token=t%26k&page=200 HTTP/1.1\r\nHost: h\r\nAuthorization: Basic bWlhOnBhc3M=\r\n\
            Cookie: sid=s3ss; theme=\"dark\"; a=1\r\nX-Api-Key: key 1\r\nAccept: text/html\r\n\r\n";
        let of = |content: &str| {
            let mut found = sent_secrets(format!("{request}{content}").as_bytes());
            found.retain(|secret| {
                !["t&k", "t%26k", "bWlhOnBhc3M=", "pass", "mia:pass", "s3ss", "dark"].contains(&&**secret)
            });
            found
        };
        assert_eq!(of(""), ["1"].iter().map(|_| "key 1".to_owned()).collect::<Vec<_>>());
        assert_eq!(of("user=mia&password=a+b%21"), ["key 1", "a b!", "a+b%21"]);
        assert_eq!(of(r#"{"user": {"name": "mia", "password": "x\"yz", "pwd": 1234}}"#), ["key 1", "x\"yz", "1234"]);
        let part = |name: &str| format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{name}1\r\n");
        assert_eq!(of(&format!("{}{}--b--", part("secret"), part("other"))), ["key 1", "secret1"]);
        let bearer = b"GET / HTTP/1.1\r\nAuthorization: Bearer abc\r\nProxy-Authorization: raw\r\n\r\n";
        assert_eq!(sent_secrets(bearer), ["abc", "raw"]);
    }

    #[test]
    fn secrets_of_urls_are_known_wherever_a_url_stands() {
        for (head, expected) in [
            (
                "GET / HTTP/1.1\r\nReferer: http://mia:pa%26s@h/?token=t0k&a=1#x\r\n\r\n",
                &["pa&s", "pa%26s", "mia:pa&s", "mia:pa%26s", "t0k", "t0k"][..],
            ),
            ("GET /?to=http%3A%2F%2Fmia:pass@h HTTP/1.1\r\n\r\n", &["pass", "pass", "mia:pass", "mia:pass"]),
            (
                "GET /?to=http%3A%2F%2Fmia:pass@h&from=me@h HTTP/1.1\r\n\r\n",
                &[
                    "pass@h&from=me",
                    "pass@h&from=me",
                    "mia:pass@h&from=me",
                    "mia:pass@h&from=me",
                    "pass",
                    "pass",
                    "mia:pass",
                    "mia:pass",
                ],
            ),
            ("GET / HTTP/1.1\r\nUser-Agent: bot (+http://h/bot.html; me@h)\r\nOrigin: http://h:8080\r\n\r\n", &[]),
        ] {
            assert_eq!(sent_secrets(head.as_bytes()), expected, "{head}");
        }
    }

    #[test]
    fn secrets_of_urls_are_known_wherever_a_url_stands_in_content() {
        let mia = ["pass", "pass", "mia:pass", "mia:pass"];
        let part = "--b\r\nContent-Disposition: form-data; name=\"to\"\r\n\r\nhttp://mia:pass@h/\r\n--b--";
        for (content, expected) in [
            (r#"{"callback": "http://mia:pass@h/", "from": "me@h"}"#, &mia[..]),
            (
                r#"["see http://mia:pass@h", {"token": "http:\/\/h?pwd=1234"}]"#,
                &[&mia[..], &["http://h?pwd=1234", "1234", "1234"]].concat(),
            ),
            ("from=me@h&to=http%3A%2F%2Fmia:pass@h&cc=you@h", &mia),
            ("to=http%3A%2F%2Fmia%3Apass%40h%2F%3Ftoken%3Dt0k&a=1", &[&mia[..], &["t0k", "t0k"]].concat()),
            ("to=http://mia:pass@h", &mia),
            ("see http://mia:12%2F34@h\nor me@h", &["12/34", "12%2F34", "mia:12/34", "mia:12%2F34"]),
            ("<a href=\"http://mia:pass@h/\">me@h</a>", &mia),
            (part, &mia),
            ("see=1+http%3A%2F%2Fmia%3Apass%40h+or+me%40h", &mia),
            (r#"{"callback": "http://h/", "from": "me@h"}"#, &[]),
            ("to=http%3A%2F%2Fh%2F&from=me@h", &[]),
        ] {
            assert_eq!(secrets_of_content(content.as_bytes()), expected, "{content}");
        }
    }
}
