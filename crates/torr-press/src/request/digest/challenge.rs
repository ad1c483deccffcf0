//! Challenges of `WWW-Authenticate`, and the values of `Authorization` that meet them (RFC 7616, sections 3.3 and 3.4).

use super::credentials::Credentials;
use crate::request::hex::hex;
use bytes::Bytes;
use md5::Md5;
use sha2::{Digest, Sha256, Sha512_256};

/// A challenge that can be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Challenge {
    realm: String,
    nonce: String,
    opaque: Option<String>,
    algorithm: Algorithm,
    /// The algorithm as the server has written it, which is sent back; none if it wrote none.
    algorithm_name: Option<String>,
    /// Whether hashes begin with one of the session: the algorithm's name ends in `-sess`.
    is_of_session: bool,
    protection: Protection,
    hashes_user: bool,
    /// Whether only the nonce of the latest request was wrong.
    pub is_stale: bool,
}

/// A hash function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Algorithm {
    Md5,
    Sha256,
    Sha512_256,
}

/// What a hash protects (`qop`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protection {
    /// Method and target, without a count: servers older than RFC 2617.
    Unnamed,
    /// Method and target.
    Request,
    /// Method, target and content.
    Content,
}

/// What of a request is hashed.
pub(super) struct Hashed<'r> {
    pub method: &'r str,
    pub target: &'r str,
    pub content: &'r dyn Fn() -> Bytes,
}

impl Algorithm {
    /// Returns the algorithm of a name without `-sess`.
    fn named(name: &str) -> Option<Self> {
        let known = [("MD5", Self::Md5), ("SHA-256", Self::Sha256), ("SHA-512-256", Self::Sha512_256)];
        known.into_iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, algorithm)| algorithm)
    }

    /// Returns the hash of these parts with colons between them, in hexadecimal digits.
    fn hash(self, parts: &[&[u8]]) -> String {
        let text = parts.join(&b':');
        match self {
            Self::Md5 => hex(&Md5::digest(text)),
            Self::Sha256 => hex(&Sha256::digest(text)),
            Self::Sha512_256 => hex(&Sha512_256::digest(text)),
        }
    }
}

impl Challenge {
    /// Returns the first challenge that can be met: servers put the one that they prefer first.
    pub fn first_of<'v>(values: impl Iterator<Item = &'v [u8]>) -> Option<Self> {
        values
            .filter_map(|value| std::str::from_utf8(value).ok())
            .flat_map(challenges)
            .find_map(|(scheme, parameters)| Self::of(&scheme, &parameters))
    }

    fn of(scheme: &str, parameters: &[(String, String)]) -> Option<Self> {
        if !scheme.eq_ignore_ascii_case("digest") {
            return None;
        }
        let get = |name: &str| {
            parameters.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
        };
        let is = |name: &str| get(name).is_some_and(|value| value.eq_ignore_ascii_case("true"));
        let name = get("algorithm").unwrap_or("MD5");
        let base = name.len().checked_sub(5).and_then(|at| name.split_at_checked(at));
        let of_session = base.filter(|(_, end)| end.eq_ignore_ascii_case("-sess")).map(|(base, _)| base);
        let offers = |protection: &str| {
            get("qop").is_some_and(|all| all.split(',').any(|one| one.trim().eq_ignore_ascii_case(protection)))
        };
        let protection = match get("qop") {
            None => Protection::Unnamed,
            Some(_) if offers("auth") => Protection::Request,
            Some(_) if offers("auth-int") => Protection::Content,
            Some(_) => return None,
        };
        Some(Self {
            realm: get("realm")?.to_owned(),
            nonce: get("nonce")?.to_owned(),
            opaque: get("opaque").map(str::to_owned),
            algorithm: Algorithm::named(of_session.unwrap_or(name))?,
            algorithm_name: get("algorithm").map(str::to_owned),
            is_of_session: of_session.is_some(),
            protection,
            hashes_user: is("userhash"),
            is_stale: is("stale"),
        })
    }

    /// Returns the value of `Authorization` for a request, the `count`th one with the nonce.
    pub fn response(&self, credentials: &Credentials, client_nonce: &str, count: u32, request: &Hashed<'_>) -> String {
        let hash = |parts: &[&[u8]]| self.algorithm.hash(parts);
        let (user, realm, nonce) = (credentials.user.as_bytes(), self.realm.as_bytes(), self.nonce.as_bytes());
        let mut secret = hash(&[user, realm, credentials.password.as_bytes()]);
        if self.is_of_session {
            secret = hash(&[secret.as_bytes(), nonce, client_nonce.as_bytes()]);
        }
        let (method, target) = (request.method.as_bytes(), request.target.as_bytes());
        let of_request = match self.protection {
            Protection::Content => hash(&[method, target, hash(&[&(request.content)()]).as_bytes()]),
            Protection::Unnamed | Protection::Request => hash(&[method, target]),
        };
        let count = format!("{count:08x}");
        let (secret, of_request) = (secret.as_bytes(), of_request.as_bytes());
        let counted = |protection: &str| {
            let parts = [nonce, count.as_bytes(), client_nonce.as_bytes(), protection.as_bytes()];
            let response = hash(&[&[secret], &parts[..], &[of_request]].concat());
            format!("cnonce=\"{client_nonce}\", nc={count}, qop={protection}, response=\"{response}\"")
        };
        let response = match self.protection {
            Protection::Unnamed => format!("response=\"{}\"", hash(&[secret, nonce, of_request])),
            Protection::Request => counted("auth"),
            Protection::Content => counted("auth-int"),
        };
        let shown_user = if self.hashes_user { hash(&[user, realm]) } else { quoted(&credentials.user) };
        let mut value = format!(
            "Digest username=\"{shown_user}\", realm=\"{}\", nonce=\"{}\", uri=\"{}\", {response}",
            quoted(&self.realm),
            quoted(&self.nonce),
            request.target
        );
        if let Some(opaque) = &self.opaque {
            value.push_str(&format!(", opaque=\"{}\"", quoted(opaque)));
        }
        if let Some(algorithm) = &self.algorithm_name {
            value.push_str(&format!(", algorithm={algorithm}"));
        }
        if self.hashes_user {
            value.push_str(", userhash=true");
        }
        value
    }
}

/// Returns a text as it stands within quotes.
fn quoted(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// A scheme with its parameters: names and values.
type Parameters = (String, Vec<(String, String)>);

/// Reads challenges (RFC 9110, section 11.6.1): schemes, each with parameters, all separated by commas. What is malformed ends
/// the list.
fn challenges(value: &str) -> Vec<Parameters> {
    let mut found: Vec<Parameters> = Vec::new();
    let mut rest = value;
    loop {
        rest = rest.trim_start_matches([',', ' ', '\t']);
        let (name, after) = token(rest);
        if name.is_empty() {
            return found;
        }
        let Some(behind) = after.trim_start().strip_prefix('=') else {
            // A scheme, perhaps with a token of its own behind it, which is read as a scheme without parameters.
            found.push((name.to_owned(), Vec::new()));
            rest = after;
            continue;
        };
        let (Some((value, after)), Some((_, parameters))) = (parameter(behind.trim_start()), found.last_mut()) else {
            return found;
        };
        parameters.push((name.to_owned(), value));
        rest = after;
    }
}

/// Splits the value of a parameter off: a token, or text in quotes.
fn parameter(text: &str) -> Option<(String, &str)> {
    if let Some(text) = text.strip_prefix('"') {
        return unquoted(text);
    }
    let (value, after) = token(text);
    Some((value.to_owned(), after))
}

/// Splits a token off.
fn token(text: &str) -> (&str, &str) {
    let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~/".contains(c);
    text.split_at(text.find(|c| !is_token(c)).unwrap_or(text.len()))
}

/// Returns a text up to its closing quote, and what is behind it.
fn unquoted(text: &str) -> Option<(String, &str)> {
    let (mut value, mut characters) = (String::new(), text.char_indices());
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((value, &text[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            // No field line may be made of what a server sends.
            other if other.is_control() => return None,
            other => value.push(other),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 7616, section 3.9.1.
    fn of_the_rfc(algorithm: &str) -> String {
        let challenge = format!(
            "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm={algorithm}, \
             nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\""
        );
        let challenge = Challenge::first_of([challenge.as_bytes()].into_iter()).expect("it is one");
        let credentials = Credentials::read("Mufasa:Circle of Life").expect("they are");
        let request = Hashed { method: "GET", target: "/dir/index.html", content: &Bytes::new };
        challenge.response(&credentials, "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", 1, &request)
    }

    #[test]
    fn the_examples_of_the_rfc() {
        for (algorithm, response) in [
            ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
            ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ] {
            let expected = format!(
                "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", \
                 nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", uri=\"/dir/index.html\", \
                 cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", nc=00000001, qop=auth, response=\"{response}\", \
                 opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\", algorithm={algorithm}"
            );
            assert_eq!(of_the_rfc(algorithm), expected);
        }
    }

    #[test]
    fn the_first_challenge_that_can_be_met_is() {
        let of = |values: &[&str]| Challenge::first_of(values.iter().map(|value| value.as_bytes()));
        let nonce = |values: &[&str]| of(values).map(|challenge| challenge.nonce);
        let one = "Digest realm=\"a, b\", nonce=\"1\"";
        assert_eq!(nonce(&[&format!("Negotiate, Basic realm=\"x\\\"y\", {one}")]).as_deref(), Some("1"));
        assert_eq!(nonce(&["NTLM abc==", "digest Realm = r , NONCE = n,algorithm=md5-SESS"]).as_deref(), Some("n"));
        let unknown = "Digest realm=\"r\", nonce=\"0\", algorithm=SHA-1";
        assert_eq!(nonce(&[unknown, one]).as_deref(), Some("1"));
        assert_eq!(nonce(&[&format!("{unknown}, {one}")]).as_deref(), Some("1"));
        for wrong in [
            "",
            "=",
            "Digest",
            "Digest realm=\"r\"",
            "Digest nonce=\"n\"",
            "Digest realm=\"r\", nonce=\"n",
            "Digest realm=\"r\", nonce=\"a\\",
            "Digest realm=\"r\", nonce=\"a\nb\"",
            "Digest realm=\"r\", nonce=\"n\", qop=\"other\"",
            "realm=\"r\", nonce=\"n\"",
        ] {
            assert_eq!(of(&[wrong]), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn whatever_a_server_sends_makes_a_value_of_a_field_or_none(text in "(?s).{0,80}", end in "(?s).{0,40}") {
            let challenge = format!("{text} Digest realm=\"{text}\", nonce=\"{end}\", algorithm={end}");
            for value in [text.as_bytes(), challenge.as_bytes(), end.as_bytes()] {
                let Some(challenge) = Challenge::first_of([value].into_iter()) else { continue };
                let credentials = Credentials { user: "ann".to_owned(), password: "x".to_owned() };
                let request = Hashed { method: "GET", target: "/", content: &Bytes::new };
                let response = challenge.response(&credentials, "c", 1, &request);
                proptest::prop_assert!(!response.chars().any(char::is_control), "{response:?}");
            }
        }
    }

    #[test]
    fn quotes_are_escaped_as_they_were() {
        let challenge = b"Digest realm=\"a \\\"b\\\\\", nonce=\"n\", userhash=true";
        let challenge = Challenge::first_of([&challenge[..]].into_iter()).expect("it is one");
        let credentials = Credentials::read("ann:x").expect("they are");
        let value =
            challenge.response(&credentials, "", 1, &Hashed { method: "GET", target: "/", content: &Bytes::new });
        assert!(value.contains("realm=\"a \\\"b\\\\\"") && !value.contains("ann") && !value.contains("nc="), "{value}");
    }
}
