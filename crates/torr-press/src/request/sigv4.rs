//! Signatures of requests by AWS Signature Version 4, which other providers use as well.
//!
//! What is signed is the method, path, query, host, media type, all `X-Amz-` fields and a hash of the content (AWS, "Create a signed
//! request"); a proxy may change all other fields. Each request is signed when it is written, as a signature is valid for
//! some minutes only.

use super::hex::hex;
use hmac::{Hmac, KeyInit, Mac};
use percent_encoding::{AsciiSet, percent_decode_str, percent_encode, utf8_percent_encode};
use sha2::{Digest, Sha256};
use std::fmt;
use torr_wire::percent::COMPONENT;

/// The characters that a signed path encodes: all but the unreserved ones and the slashes.
const SIGNED_PATH: &AsciiSet = &COMPONENT.remove(b'/');
/// The length in bytes of the longest part of a scope.
const LONGEST_PART: usize = 64;

/// What signatures are for: the provider, the region and the service, as curl's `--aws-sigv4` names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The provider in lower case: `aws`.
    provider: String,
    /// The provider in names of fields, in lower case: `amz`.
    of_fields: String,
    region: String,
    service: String,
}

/// A scope that is none, with what is wrong in it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// The text has other parts.
    #[error("'{0}' must be PROVIDER:PROVIDER:REGION:SERVICE, such as aws:amz:eu-west-1:s3")]
    Malformed(String),
    /// Parts are missing, and the host has no labels for them.
    #[error("cannot take region and service from the host '{0}': write them, as in aws:amz:eu-west-1:s3")]
    NotInHost(String),
}

impl Scope {
    /// Reads `PROVIDER[:PROVIDER[:REGION[:SERVICE]]]`. As in curl, a region and a service that are missing are the second and the
    /// first label of the host, and the second provider is the first.
    ///
    /// # Errors
    /// If a part is empty, too long, or has other characters than letters, digits and `-`, or one is missing and not in the host.
    pub fn read(text: &str, host: &str) -> Result<Self, ScopeError> {
        let is_part = |part: &str| {
            (1..=LONGEST_PART).contains(&part.len())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        };
        let parts: Vec<&str> = text.split(':').collect();
        if parts.len() > 4 || !parts.iter().all(|part| is_part(part)) {
            return Err(ScopeError::Malformed(text.to_owned()));
        }
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let mut labels = name.split('.').filter(|_| name.parse::<std::net::Ipv4Addr>().is_err());
        let (first, second) = (labels.next(), labels.next());
        let of_host = |label: Option<&str>| {
            let label = label.filter(|label| is_part(label) && second.is_some());
            label.map(str::to_owned).ok_or_else(|| ScopeError::NotInHost(host.to_owned()))
        };
        let given = |at: usize| parts.get(at).map(|part| (*part).to_owned());
        let provider = parts[0].to_ascii_lowercase();
        Ok(Self {
            of_fields: parts.get(1).map_or_else(|| provider.clone(), |part| part.to_ascii_lowercase()),
            provider,
            region: given(2).map_or_else(|| of_host(second), Ok)?,
            service: given(3).map_or_else(|| of_host(first), Ok)?,
        })
    }
}

/// A scope with the key by which requests are signed.
#[derive(Clone, PartialEq, Eq)]
pub struct Signing {
    /// What signatures are for.
    pub scope: Scope,
    /// The name of the key, which is sent.
    pub key: String,
    /// The secret key, which is not.
    pub secret: String,
}

impl fmt::Debug for Signing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signing").field("scope", &self.scope).field("key", &self.key).finish_non_exhaustive()
    }
}

/// A key that cannot sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a key and its secret, as in KEY:SECRET")]
pub struct KeyError;

impl Signing {
    /// Returns the signing by a key, from `KEY:SECRET`.
    ///
    /// # Errors
    /// If a part is missing, or the name of the key could not be sent.
    pub fn new(scope: Scope, credentials: &str) -> Result<Self, KeyError> {
        let (key, secret) = credentials.split_once(':').ok_or(KeyError)?;
        let is_sent = |byte: u8| byte.is_ascii_graphic() && !b",/".contains(&byte);
        if key.is_empty() || secret.is_empty() || !key.bytes().all(is_sent) {
            return Err(KeyError);
        }
        Ok(Self { scope, key: key.to_owned(), secret: secret.to_owned() })
    }
}

/// What of a request is signed.
#[derive(Debug, Clone, Copy)]
pub struct Signable<'r> {
    /// The method.
    pub method: &'r str,
    /// The path as it is sent.
    pub path: &'r str,
    /// The query as it is sent.
    pub query: Option<&'r str>,
    /// The value of `Host`.
    pub host: &'r str,
    /// The field lines; others than `Content-Type` and those of the provider are not signed.
    pub fields: &'r [(String, String)],
    /// The content.
    pub content: &'r [u8],
}

impl Signing {
    /// Returns the fields that sign a request at a time, such as `20150830T123600Z`, unless the request has the provider's field for
    /// the time itself.
    pub fn fields(&self, request: &Signable<'_>, now: &str) -> Vec<(String, String)> {
        let Scope { provider, of_fields, region, service } = &self.scope;
        let (prefix, mut added) = (format!("x-{of_fields}-"), Vec::new());
        let given = |name: &str| {
            let of_name = |(field, _): &&(String, String)| field.eq_ignore_ascii_case(name);
            request.fields.iter().find(of_name).map(|(_, value)| value.trim())
        };
        let (of_time, of_content) = (format!("{prefix}date"), format!("{prefix}content-sha256"));
        let time = given(&of_time).unwrap_or(now);
        if given(&of_time).is_none() {
            added.push((in_capitals(&of_time), now.to_owned()));
        }
        let hash = given(&of_content).map_or_else(|| hex(&Sha256::digest(request.content)), str::to_owned);
        let is_of = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(service));
        if provider == "aws" && is_of(&["s3"]) && given(&of_content).is_none() {
            added.push((in_capitals(&of_content), hash.clone()));
        }

        let own = request.fields.iter().chain(&added).map(|(name, value)| (name.to_ascii_lowercase(), one_line(value)));
        let mut signed: Vec<_> = own.filter(|(name, _)| name == "content-type" || name.starts_with(&prefix)).collect();
        signed.push(("host".to_owned(), request.host.to_owned()));
        // Values of one name stay in their order.
        signed.sort_by(|one, other| one.0.cmp(&other.0));
        signed.dedup_by(|next, first| {
            let is_same = next.0 == first.0;
            if is_same {
                first.1 = format!("{},{}", first.1, next.1);
            }
            is_same
        });
        let names = signed.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(";");
        let lines: String = signed.iter().map(|(name, value)| format!("{name}:{value}\n")).collect();

        let path = path(request.path, is_of(&["s3", "s3-express", "s3-outposts"]));
        let query = request.query.map_or_else(String::new, query);
        let canonical = format!("{}\n{path}\n{query}\n{lines}\n{names}\n{hash}", request.method);
        let day = time.get(..8).unwrap_or(time);
        let terminator = format!("{provider}4_request");
        let algorithm = format!("{}4-HMAC-SHA256", provider.to_ascii_uppercase());
        let scope = format!("{day}/{region}/{service}/{terminator}");
        let to_sign = format!("{algorithm}\n{time}\n{scope}\n{}", hex(&Sha256::digest(canonical.as_bytes())));
        let first = format!("{}4{}", provider.to_ascii_uppercase(), self.secret).into_bytes();
        let parts = [day, region, service, &terminator, &to_sign];
        let signature = hex(&parts.iter().fold(first, |key, part| authenticated(&key, part.as_bytes())));
        let value =
            format!("{algorithm} Credential={}/{scope}, SignedHeaders={names}, Signature={signature}", self.key);
        added.push(("Authorization".to_owned(), value));
        added
    }
}

/// Returns HMAC-SHA-256 (RFC 2104) of a message.
fn authenticated(key: &[u8], message: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("a key of HMAC may have any length");
    mac.update(message);
    mac.finalize().into_bytes().to_vec()
}

/// Returns a value without spaces around it and with one for several.
fn one_line(value: &str) -> String {
    value.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a name of a field with capitals where people write them.
fn in_capitals(name: &str) -> String {
    let parts = name.split('-').map(|part| match part.split_at_checked(1) {
        Some((first, rest)) => first.to_ascii_uppercase() + rest,
        None => String::new(),
    });
    parts.collect::<Vec<_>>().join("-")
}

/// Returns a path in its canonical form: encoded once for S3, and once more for all other services.
fn path(sent: &str, is_s3: bool) -> String {
    if is_s3 {
        let decoded: Vec<u8> = percent_decode_str(sent).collect();
        return percent_encode(&decoded, SIGNED_PATH).to_string();
    }
    utf8_percent_encode(sent, SIGNED_PATH).to_string()
}

/// Returns a query in its canonical form: encoded parameters in the order of their names, then of their values.
fn query(sent: &str) -> String {
    let encoded = |text: &str| {
        let decoded: Vec<u8> = percent_decode_str(&text.replace('+', " ")).collect();
        percent_encode(&decoded, COMPONENT).to_string()
    };
    let parameters = sent.split('&').filter(|parameter| !parameter.is_empty());
    let mut parameters: Vec<_> = parameters
        .map(|parameter| {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            (encoded(name), encoded(value))
        })
        .collect();
    parameters.sort();
    let parameters = parameters.iter().map(|(name, value)| format!("{name}={value}"));
    parameters.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::{Scope, ScopeError, Signable, Signing};

    /// The time of the examples of AWS.
    const TIME: &str = "20150830T123600Z";

    fn signature(method: &str, path: &str, query: Option<&str>, fields: &[(&str, &str)], content: &str) -> String {
        let scope = Scope::read("aws:amz:us-east-1:service", "").expect("it is a scope");
        let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY".to_owned();
        let signing = Signing { scope, key: "AKIDEXAMPLE".to_owned(), secret };
        assert!(!format!("{signing:?}").contains("wJalr"));
        let fields: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = Signable {
            method,
            path,
            query,
            host: "example.amazonaws.com",
            fields: &fields,
            content: content.as_bytes(),
        };
        let added = signing.fields(&request, TIME);
        assert_eq!(added[0], ("X-Amz-Date".to_owned(), TIME.to_owned()));
        let value = &added.last().expect("it is signed").1;
        let start = "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=";
        let rest = value.strip_prefix(start).unwrap_or_else(|| panic!("{value}"));
        rest.replace(", Signature=", " ")
    }

    #[test]
    fn the_examples_of_aws() {
        let of = |method, path, query| signature(method, path, query, &[], "");
        let date = "host;x-amz-date";
        for (method, path, query, expected) in [
            ("GET", "/", None, "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("POST", "/", None, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
            (
                "GET",
                "/",
                Some("Param2=value2&Param1=value1"),
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
            ),
        ] {
            assert_eq!(of(method, path, query), format!("{date} {expected}"), "{method} {path} {query:?}");
        }
        let form = [("Content-Type", "application/x-www-form-urlencoded")];
        assert_eq!(
            signature("POST", "/", None, &form, "Param1=value1"),
            "content-type;host;x-amz-date ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"
        );
    }

    #[test]
    fn fields_of_one_name_are_one_line_and_other_fields_are_not_signed() {
        let fields = [("X-Amz-Meta-A", " a  b "), ("Accept", "*/*"), ("x-amz-meta-a", "c")];
        let same = signature("GET", "/", None, &[("X-Amz-Meta-A", "a b,c")], "");
        assert_eq!(signature("GET", "/", None, &fields, ""), same);
        assert!(same.starts_with("host;x-amz-date;x-amz-meta-a "), "{same}");
    }

    #[test]
    fn a_query_is_signed_as_servers_read_it() {
        let of = |query| signature("GET", "/", Some(query), &[], "");
        assert_eq!(of("b=x+y&a"), of("a=&b=x%20y"));
        assert_ne!(of("a=1&a=2"), of("a=1&a=3"));
        assert_eq!(of("a=2&a=1"), of("a=1&a=2"));
    }

    #[test]
    fn a_scope_has_its_parts_from_the_host_where_they_are_missing() {
        let read = |text: &str, host: &str| Scope::read(text, host).map(|scope| (scope.region, scope.service));
        let of = |region: &str, service: &str| Ok((region.to_owned(), service.to_owned()));
        assert_eq!(read("aws:amz", "dynamodb.eu-west-1.amazonaws.com:443"), of("eu-west-1", "dynamodb"));
        assert_eq!(read("aws:amz:us-east-2", "s3.eu-west-1.amazonaws.com"), of("us-east-2", "s3"));
        let missing = |host: &str| Err(ScopeError::NotInHost(host.to_owned()));
        assert_eq!(read("aws", "127.0.0.1:9000"), missing("127.0.0.1:9000"));
        assert_eq!(read("aws", "localhost"), missing("localhost"));
        for wrong in ["", "aws::x:y", "a:b:c:d:e", "aws:amz:eu west:s3", &"a".repeat(65)] {
            assert_eq!(read(wrong, "a.b.c"), Err(ScopeError::Malformed(wrong.to_owned())));
        }
    }
}
