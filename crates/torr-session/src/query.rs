//! Queries: values that are taken from a response.

use crate::error::EvaluationError;
use crate::filter::{json_path, x_path};
use crate::hurl::ast::{self, CookieAttribute};
use crate::hurl::{ParseError, Position};
use crate::pattern::Compiled;
use crate::scope::{Names, Variables};
use crate::template::Template;
use crate::value::Value;
use crate::xpath::{self, Expression, Tree};
use chrono::{DateTime, Utc};
use encoding_rs::{Encoding, UTF_8};
use md5::{Digest, Md5};
use regex::Regex;
use serde_json_path::JsonPath;
use sha2::Sha256;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::net::IpAddr;
use std::time::Duration;

/// A response as the asserts and captures of an entry see it.
#[derive(Debug, Default)]
pub struct Received<'r> {
    /// The status code.
    pub status: u16,
    /// The version: `1.0`, `1.1` or `2`.
    pub version: &'r str,
    /// The field lines in their order: names and values.
    pub fields: Vec<(&'r str, &'r [u8])>,
    /// The content, content codings removed.
    pub content: Cow<'r, [u8]>,
    /// The content as received; `None` if it had no content coding.
    pub raw_content: Option<&'r [u8]>,
    /// The URL of the last request.
    pub url: &'r str,
    /// The redirects that were followed: status code and target.
    pub redirects: Vec<(u16, &'r str)>,
    /// The server's address.
    pub address: Option<IpAddr>,
    /// The response time.
    pub duration: Duration,
    /// The server's certificate, over TLS.
    pub certificate: Option<Certificate<'r>>,
    /// The content as JSON, parsed at the first query that needs it: empty at first.
    pub json: ParsedJson,
    /// The content as HTML or XML, parsed at the first query that needs it: empty at first.
    pub tree: ParsedTree,
}

/// JSON that is parsed once.
#[derive(Debug, Default)]
pub struct ParsedJson(OnceCell<Option<serde_json::Value>>);

/// HTML or XML that is parsed once.
#[derive(Debug, Default)]
pub struct ParsedTree(OnceCell<Result<Tree, EvaluationError>>);

/// The attributes of a server's certificate (RFC 5280).
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Certificate<'r> {
    pub subject: &'r str,
    pub issuer: &'r str,
    pub start: DateTime<Utc>,
    pub expire: DateTime<Utc>,
    pub serial_number: &'r str,
    pub subject_alt_name: &'r str,
    pub value: &'r str,
}

impl Received<'_> {
    /// Returns the values of a field, in their order; names are compared without regard to case.
    pub fn values<'f>(&'f self, name: &'f str) -> impl Iterator<Item = Cow<'f, str>> {
        let named = self.fields.iter().filter(move |(field, _)| field.eq_ignore_ascii_case(name));
        named.map(|(_, value)| String::from_utf8_lossy(value))
    }

    /// Returns the content as text, by the charset of its `Content-Type`.
    ///
    /// # Errors
    /// If the charset is unknown, or the content is not of this charset.
    pub fn text(&self) -> Result<Cow<'_, str>, EvaluationError> {
        let content_type = self.values("content-type").next().unwrap_or_default();
        let parameter = |parameter: &str| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
        };
        let charset = content_type.split(';').skip(1).find_map(parameter);
        let encoding = match &charset {
            Some(charset) => Encoding::for_label(charset.as_bytes())
                .ok_or_else(|| EvaluationError(format!("the response's charset '{charset}' is unknown")))?,
            None => UTF_8,
        };
        let text = encoding.decode_without_bom_handling_and_without_replacement(&self.content);
        text.ok_or_else(|| EvaluationError(format!("the content is not {}", encoding.name())))
    }

    fn json(&self) -> Result<&serde_json::Value, EvaluationError> {
        let json = self.json.0.get_or_init(|| serde_json::from_slice(&self.content).ok());
        json.as_ref().ok_or_else(|| EvaluationError("the content is not JSON".to_owned()))
    }

    /// Returns the content as a document. As in hurl, it is XML unless the response says that it is HTML.
    fn tree(&self) -> Result<&Tree, EvaluationError> {
        let tree = self.tree.0.get_or_init(|| {
            let content_type = self.values("content-type").next().unwrap_or_default();
            let is_html = content_type.trim().get(..9).is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"));
            let text = self.text()?;
            if is_html { xpath::html(&text) } else { xpath::xml(&text) }.map_err(EvaluationError)
        });
        tree.as_ref().map_err(Clone::clone)
    }
}

/// A query, its argument compiled.
#[derive(Debug, Clone)]
pub enum Query {
    /// A query without an argument.
    Plain(ast::Query),
    /// `header`
    Header(Template),
    /// `cookie`
    Cookie(Template, CookieAttribute),
    /// `jsonpath`
    JsonPath(Compiled<JsonPath>),
    /// `xpath`
    XPath(Compiled<Expression>),
    /// `regex`
    Regex(Compiled<Regex>),
    /// `variable`, by number.
    Variable(usize),
}

impl Query {
    /// Compiles a query of a hurl file.
    ///
    /// # Errors
    /// Where an expression is none.
    pub fn compile(query: &ast::Query, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        let error = |message: &str| ParseError { at, message: message.to_owned() };
        Ok(match query {
            ast::Query::Header(name) => Self::Header(Template::compile(name, names)?),
            ast::Query::Cookie { name, attribute } => {
                Self::Cookie(Template::compile(name, names)?, attribute.unwrap_or(CookieAttribute::Value))
            }
            ast::Query::JsonPath(path) => Self::JsonPath(Compiled::new(path, at, names)?),
            ast::Query::Regex(pattern) => Self::Regex(Compiled::pattern(pattern, at, names)?),
            ast::Query::Variable(name) => {
                let name = name.literal().ok_or_else(|| error("variable takes a name without placeholders"))?;
                Self::Variable(names.number(name))
            }
            ast::Query::XPath(path) => Self::XPath(Compiled::new(path, at, names)?),
            plain => Self::Plain(plain.clone()),
        })
    }

    /// Whether the query looks at the content of a response.
    pub fn needs_content(&self) -> bool {
        match self {
            Self::JsonPath(_) | Self::XPath(_) | Self::Regex(_) => true,
            Self::Plain(query) => matches!(
                query,
                ast::Query::Body | ast::Query::Bytes | ast::Query::RawBytes | ast::Query::Sha256 | ast::Query::Md5
            ),
            Self::Header(_) | Self::Cookie(..) | Self::Variable(_) => false,
        }
    }

    /// Returns what the query finds; `None` for what the response has not.
    ///
    /// # Errors
    /// If the content is not what the query is for.
    pub fn evaluate(&self, received: &Received<'_>, variables: &Variables) -> Result<Option<Value>, EvaluationError> {
        Ok(match self {
            Self::Plain(query) => plain(query, received)?,
            Self::Header(name) => {
                let name = name.render(variables)?;
                let mut values: Vec<_> = received.values(&name).map(|value| Value::Text(value.into_owned())).collect();
                if values.len() > 1 { Some(Value::List(values)) } else { values.pop() }
            }
            Self::Cookie(name, attribute) => cookie(received, &name.render(variables)?, *attribute),
            Self::JsonPath(path) => json_path(&*path.get(variables)?, received.json()?),
            Self::XPath(path) => Some(x_path(&*path.get(variables)?, received.tree()?)?),
            Self::Regex(pattern) => {
                let (pattern, text) = (pattern.get(variables)?, received.text()?);
                let group = pattern.captures(&text).and_then(|groups| groups.get(1));
                group.map(|group| Value::Text(group.as_str().to_owned()))
            }
            Self::Variable(number) => variables.get(*number).cloned(),
        })
    }
}

fn plain(query: &ast::Query, received: &Received<'_>) -> Result<Option<Value>, EvaluationError> {
    let text = |text: &str| Value::Text(text.to_owned());
    Ok(Some(match query {
        ast::Query::Status => Value::Integer(received.status.into()),
        ast::Query::Version => text(received.version),
        ast::Query::Url => text(received.url),
        ast::Query::Redirects => {
            let redirect = |(status, location): &(u16, &str)| {
                let status = ("status".to_owned(), Value::Integer((*status).into()));
                Value::Object(vec![status, ("location".to_owned(), text(location))])
            };
            Value::List(received.redirects.iter().map(redirect).collect())
        }
        ast::Query::Ip => return Ok(received.address.map(|address| Value::Text(address.to_string()))),
        ast::Query::Body => Value::Text(received.text()?.into_owned()),
        ast::Query::Bytes => Value::Bytes(received.content.to_vec()),
        ast::Query::RawBytes => Value::Bytes(received.raw_content.unwrap_or(&received.content).to_vec()),
        ast::Query::Duration => Value::Integer(i64::try_from(received.duration.as_millis()).unwrap_or(i64::MAX)),
        ast::Query::Sha256 => Value::Bytes(Sha256::digest(&received.content).to_vec()),
        ast::Query::Md5 => Value::Bytes(Md5::digest(&received.content).to_vec()),
        ast::Query::Certificate(attribute) => {
            let Some(certificate) = &received.certificate else { return Ok(None) };
            match attribute {
                ast::CertificateAttribute::Subject => text(certificate.subject),
                ast::CertificateAttribute::Issuer => text(certificate.issuer),
                ast::CertificateAttribute::StartDate => Value::Date(certificate.start),
                ast::CertificateAttribute::ExpireDate => Value::Date(certificate.expire),
                ast::CertificateAttribute::SerialNumber => text(certificate.serial_number),
                ast::CertificateAttribute::SubjectAltName => text(certificate.subject_alt_name),
                ast::CertificateAttribute::Value => text(certificate.value),
            }
        }
        with_argument => unreachable!("{with_argument:?} has an argument, so it was compiled to its own variant"),
    }))
}

/// Returns an attribute of a cookie that the response sets (RFC 6265, section 4.1). The last cookie of a name counts.
fn cookie(received: &Received<'_>, name: &str, wanted: CookieAttribute) -> Option<Value> {
    let split = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    let cookies: Vec<_> = received.values("set-cookie").collect();
    let cookie = cookies.iter().rfind(|cookie| split(cookie.split(';').next().unwrap_or_default()).0 == name)?;
    let mut parts = cookie.split(';').map(split);
    let (_, value) = parts.next()?;
    let mut attribute =
        |attribute: &str| parts.find(|(name, _)| name.eq_ignore_ascii_case(attribute)).map(|(_, value)| value);
    match wanted {
        CookieAttribute::Value => Some(Value::Text(value)),
        CookieAttribute::Expires => attribute("expires").map(Value::Text),
        CookieAttribute::MaxAge => attribute("max-age")?.parse().ok().map(Value::Integer),
        CookieAttribute::Domain => attribute("domain").map(Value::Text),
        CookieAttribute::Path => attribute("path").map(Value::Text),
        CookieAttribute::Secure => attribute("secure").map(|_| Value::Present),
        CookieAttribute::HttpOnly => attribute("httponly").map(|_| Value::Present),
        CookieAttribute::SameSite => attribute("samesite").map(Value::Text),
    }
}
