//! Texts of others and of the user, as they may be shown: without what a terminal acts on, and without passwords.
//!
//! Whatever is printed, logged or written to a file and may hold either goes through this file.

use std::borrow::Cow;
pub use torr_signals::printable;

/// The replacement of a secret.
pub const HIDDEN: &str = "***";

/// The placeholder for user and password in this program's own hints.
const EXAMPLES: [&str; 4] = ["USER", "USER:PASSWORD", "NAME:PASSWORD", ":PASSWORD"];

/// Parameters of a query or a form, and members of JSON, whose values are secrets, in lower case.
const SECRET_PARAMETERS: [&str; 19] = [
    "password",
    "passwd",
    "pwd",
    "passphrase",
    "sslpassword",
    "secret",
    "client_secret",
    "private_key",
    "token",
    "access_token",
    "refresh_token",
    "id_token",
    "authenticity_token",
    "csrf_token",
    "csrftoken",
    "api_key",
    "apikey",
    "api-key",
    "x-api-key",
];

/// Parts of the names of secret header fields, in lower case.
const SECRET_FIELDS: [&str; 7] = ["auth", "cookie", "token", "secret", "password", "session", "key"];

/// The characters behind a parameter of a query.
const PARTS: [char; 3] = ['&', '#', '?'];

/// Returns whether a header field of this name has a value that is not to be shown.
pub fn is_secret_field(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    // A challenge names a way to authenticate, and no credentials.
    !lower.ends_with("-authenticate") && SECRET_FIELDS.iter().any(|part| lower.contains(part))
}

/// Returns a header section without the values of secret fields and the secrets of URLs.
pub fn header_section(head: &str) -> String {
    let line = |line: &str| match line.split_once(':') {
        Some((name, _)) if is_secret_field(name) && !name.contains(' ') => {
            format!("{name}: {}\r\n", HIDDEN)
        }
        Some((name, value)) if value.contains("://") => {
            let shown = value.trim_end_matches(['\r', '\n']);
            format!("{name}:{}{}", urls(shown), &value[shown.len()..])
        }
        _ => line.to_owned(),
    };
    head.split_inclusive('\n').map(line).collect()
}

/// Returns a URL, or what was given as one, without the user, the password and secret parameters of its query.
///
/// A password that should have been percent-encoded can have any character: what a URL's grammar takes for a path is taken
/// for a part of the password if an '@' follows and what stands before is no host with a port.
pub fn url(url: &str) -> Cow<'_, str> {
    let without_users = without_users(url);
    match without_users.split_once('?') {
        // A URL may follow in a value, or behind this one.
        Some((front, query)) if query.split(PARTS).any(is_secret) => {
            let shown = query.split_inclusive(PARTS).map(|part| {
                let end = if part.ends_with(PARTS) { &part[part.len() - 1..] } else { "" };
                match part.split_once('=') {
                    Some((name, _)) if is_secret(part) => format!("{name}={HIDDEN}{end}"),
                    _ => part.to_owned(),
                }
            });
            Cow::Owned(format!("{front}?{}", shown.collect::<String>()))
        }
        _ => without_users,
    }
}

fn is_secret(parameter: &str) -> bool {
    parameter.split_once('=').is_some_and(|(name, _)| is_secret_parameter(name))
}

/// Returns whether a parameter of this name, in a query, a form or JSON, has a value that is not to be shown.
pub fn is_secret_parameter(name: &str) -> bool {
    SECRET_PARAMETERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Returns the user of a URL, with the password if there is one.
pub fn user(url: &str) -> Option<&str> {
    let at = url.find("://").map_or(0, |at| at + 3);
    userinfo(&url[at..]).map(|length| &url[at..at + length])
}

/// Returns a text that is a URL, or has URLs in it, with each of them as [`url`] shows it.
///
/// A text that is a URL may have spaces in its password; one that has several may have secrets behind the first '?'.
pub fn urls(text: &str) -> String {
    urls_within(&url(text))
}

/// Returns whether a text is a URL with a secret, or has such URLs in it.
pub fn hides(text: &str) -> bool {
    urls(text) != text
}

/// Returns how many bytes user and password take at the front of what follows a URL's scheme, if they are there.
fn userinfo(rest: &str) -> Option<usize> {
    let authority = authority(rest);
    let end = match authority.rfind('@') {
        Some(at) => at,
        None if is_host_and_port(authority) => return None,
        None => rest.rfind('@')?,
    };
    (!EXAMPLES.contains(&&rest[..end])).then_some(end)
}

fn authority(rest: &str) -> &str {
    &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())]
}

/// Returns a URL, whose scheme may be missing, without user and password, also those of a URL in its path or query.
fn without_users(url: &str) -> Cow<'_, str> {
    let (mut shown, mut from, mut at) = (String::new(), 0, url.find("://").map_or(0, |at| at + 3));
    loop {
        let rest = &url[at..];
        let behind = match userinfo(rest) {
            Some(length) => {
                shown.push_str(&url[from..at]);
                shown.push_str(HIDDEN);
                from = at + length;
                from
            }
            None => at,
        };
        match url[behind..].find("://") {
            Some(next) => at = behind + next + 3,
            None if from == 0 => return Cow::Borrowed(url),
            None => return Cow::Owned(shown + &url[from..]),
        }
    }
}

/// Whether this can be a host, with a port or without.
fn is_host_and_port(authority: &str) -> bool {
    match authority.rsplit_once(':') {
        // An address of IPv6 has colons within its brackets.
        Some((_, port)) => port.ends_with(']') || !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()),
        None => true,
    }
}

/// Returns a line of text with all URLs in it as [`url`] shows them, and nothing that a terminal could act on. Ends of lines
/// become spaces.
pub fn line(text: &str) -> String {
    let one_line = urls_within(text).replace(|c: char| c.is_whitespace() && c.is_control(), " ");
    printable(one_line.trim_end()).into_owned()
}

/// Returns a text with all URLs in it as [`url`] shows them.
///
/// A word counts as a URL if it has `://`, or a ':' and an '@' behind it, as `name:password@host` has.
fn urls_within(text: &str) -> String {
    let pieces = text.split_inclusive(char::is_whitespace).map(|piece| {
        let word = piece.trim_end_matches(char::is_whitespace);
        // The colon of a sentence about a URL is no part of it.
        let word = word.strip_suffix(':').unwrap_or(word);
        let end = &piece[word.len()..];
        // Quotes and an option's name are no part of a user's name.
        let start = match word.find("://") {
            Some(_) => 0,
            None => word.find(|c: char| !"'\"`(<[=,".contains(c)).map_or(0, |at| {
                let name_end = word[at..].find('=').filter(|&end| word[at..at + end].starts_with("--"));
                at + name_end.map_or(0, |end| end + 1)
            }),
        };
        let (front, rest) = word.split_at(start);
        let is_url = rest.contains("://") || rest.find(':').is_some_and(|at| rest[at..].contains('@'));
        let shown = if is_url { url(rest) } else { Cow::Borrowed(rest) };
        format!("{front}{shown}{end}")
    });
    pieces.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_passwords_are_not_shown() {
        for (given, shown) in [
            ("http://host/path", "http://host/path"),
            ("http://user:secret@host:80/path?q#f", "http://***@host:80/path?q#f"),
            ("http://secret@host", "http://***@host"),
            ("http://secret:@host", "http://***@host"),
            ("redis://:secret@host/3", "redis://***@host/3"),
            ("user:secret@host:80/x", "***@host:80/x"),
            ("postgres://u:sec@ret@h/d", "postgres://***@h/d"),
            ("postgres://u:sec/ret@h/d", "postgres://***@h/d"),
            ("postgres://u:sec?ret@h/d", "postgres://***@h/d"),
            ("postgres://u:sec#ret@h/d", "postgres://***@h/d"),
            ("http://u:sec ret@h/", "http://***@h/"),
            ("http://[::1]:80/@me", "http://[::1]:80/@me"),
            ("http://host:8080/@me", "http://host:8080/@me"),
            ("host/@me", "host/@me"),
            ("postgres://h/d?user=u&password=secret&x=1", "postgres://h/d?user=u&password=***&x=1"),
            ("http://h/?Token=secret#end", "http://h/?Token=***#end"),
            ("http://host:/path", "http://host:/path"),
            ("http://a/,http://u:secret@b", "http://a/,http://***@b"),
            ("http://u:secret@a/?next=http://u:secret@b#x", "http://***@a/?next=http://***@b#x"),
            ("http://u:se://cret@h/", "http://***@h/"),
            ("http://a,http://u:secret@b", "http://***@b"),
            ("", ""),
            ("@", "@"),
        ] {
            assert_eq!(url(given), shown, "{given}");
        }
    }

    #[test]
    fn parameters_with_secrets_are_known_by_their_names() {
        for secret in [
            "password",
            "passwd",
            "pwd",
            "passphrase",
            "sslpassword",
            "secret",
            "client_secret",
            "private_key",
            "token",
            "access_token",
            "Refresh_Token",
            "id_token",
            "authenticity_token",
            "csrf_token",
            "CSRFToken",
            "api_key",
            "ApiKey",
            "api-key",
            "X-Api-Key",
        ] {
            assert!(is_secret_parameter(secret), "{secret}");
        }
        for open in ["", "user", "key", "tokens", "my_password", "page"] {
            assert!(!is_secret_parameter(open), "{open}");
        }
    }

    #[test]
    fn fields_with_secrets_are_known_by_their_names() {
        for secret in ["Authorization", "proxy-authorization", "Cookie", "Set-Cookie", "X-Api-Key", "X-CSRF-Token"] {
            assert!(is_secret_field(secret), "{secret}");
        }
        for open in ["Host", "User-Agent", "Accept", "Content-Type", "X-Request-Id", "WWW-Authenticate"] {
            assert!(!is_secret_field(open), "{open}");
        }
    }

    #[test]
    fn a_header_section_is_shown_without_secrets() {
        let head = "GET / HTTP/1.1\r\nReferer: http://u:secret@h/?token=secret\r\nCookie: secret\r\nFrom: me@h\r\n\r\n";
        let shown = "GET / HTTP/1.1\r\nReferer: http://***@h/?token=***\r\nCookie: ***\r\nFrom: me@h\r\n\r\n";
        assert_eq!(header_section(head), shown);
        let links = "Link: <http://h/a?page=2>; rel=\"next\", <http://h/?token=secret>\r\n";
        assert_eq!(header_section(links), "Link: <http://h/a?page=2>; rel=\"next\", <http://h/?token=***\r\n");
        assert_eq!(header_section("Referer: http://u:sec ret@h/\r\n"), "Referer: http://***@h/\r\n");
    }

    #[test]
    fn urls_within_a_line_are_found() {
        for (given, shown) in [
            ("invalid URL 'http://u:secret@h/': why", "invalid URL 'http://***@h/': why"),
            ("invalid URL 'u:secret@h:x'", "invalid URL '***@h:x'"),
            ("--proxy=u:secret@h:1 is wrong", "--proxy=***@h:1 is wrong"),
            ("a database is mysql://USER:PASSWORD@HOST/NAME", "a database is mysql://USER:PASSWORD@HOST/NAME"),
            ("port 80: write to me@example.com", "port 80: write to me@example.com"),
            ("at 12:30, 'a: b' and [::1]:80", "at 12:30, 'a: b' and [::1]:80"),
            ("cannot send to http://h/?token=secret: refused", "cannot send to http://h/?token=***: refused"),
            ("two  spaces stay\n", "two  spaces stay"),
        ] {
            assert_eq!(line(given), shown, "{given}");
        }
    }

    #[test]
    fn a_text_hides_what_is_a_secret_alone() {
        for (text, expected) in [
            ("a\tb", false),
            ("two\nlines \x1b\n", false),
            ("http://h/?page=2", false),
            ("u:secret@h", true),
            ("http://u:sec ret@h/", true),
            ("serve\t--db\tmysql://u:secret@h/d", true),
            ("<http://h/?page=2>, <http://h/?token=secret>", true),
            ("<http://h/?page=2>,<http://h/?token=secret>", true),
            ("http://h/?back=http://h/?token=secret", true),
        ] {
            assert_eq!(hides(text), expected, "{text:?}");
        }
    }

    #[test]
    fn nothing_is_left_for_a_terminal_to_act_on() {
        assert_eq!(line("one\ntwo\x07\n"), r"one two\u{7}");
        assert_eq!(line("http://u:secret@h/\t\u{2028}x"), r"http://***@h/ \u{2028}x");
    }
}
