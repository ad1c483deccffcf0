//! Queries: values that are taken from a response.

use crate::certificate;
use crate::error::EvaluationError;
use crate::filter::x_path;
use crate::hurl::ast::{self, CookieAttribute};
use crate::hurl::{ParseError, Position};
use crate::scope::{Names, Variables};
use crate::template::{Compiled, Filter, JsonQuery, Template};
use crate::value::Value;
use chrono::{DateTime, NaiveDateTime};
use encoding_rs::{Encoding, UTF_8};
use md5::{Digest, Md5};
use regex::Regex;
use sha2::Sha256;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::net::IpAddr;
use std::time::Duration;
use torr_xpath::{Expression, Tree};

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
    /// The server's certificate in DER, over TLS.
    pub certificate: Option<&'r [u8]>,
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
                .ok_or_else(|| EvaluationError(format!("unknown charset '{charset}' in the response")))?,
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
            if is_html { torr_xpath::html(&text) } else { torr_xpath::xml(&text) }.map_err(EvaluationError)
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
    JsonPath(JsonQuery),
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
            ast::Query::JsonPath(path) => Self::JsonPath(JsonQuery::compile(path, at, names)?),
            ast::Query::Regex(pattern) => Self::Regex(Compiled::pattern(pattern, at, names)?),
            ast::Query::Variable(name) => {
                let name = name.literal().ok_or_else(|| error("variable needs a name without placeholders"))?;
                Self::Variable(names.number(name))
            }
            ast::Query::XPath(path) => Self::XPath(Compiled::new(path, at, names)?),
            plain => Self::Plain(plain.clone()),
        })
    }

    /// Takes the filters that the query's value goes through.
    pub fn before(&mut self, filters: &[Filter]) {
        if let Self::JsonPath(query) = self {
            query.before(filters);
        }
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
            Self::Cookie(name, attribute) => cookie(received, &name.render(variables)?, *attribute)?,
            Self::JsonPath(path) => path.evaluate(received.json()?, variables)?,
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
            let redirect = |(status, location): &(u16, &str)| Value::Redirect(*status, (*location).to_owned());
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
            return Ok(received.certificate.and_then(|der| certificate::attribute(der, *attribute)));
        }
        with_argument => unreachable!("{with_argument:?} has an argument, so it was compiled to its own variant"),
    }))
}

/// Returns an attribute of a cookie that the response sets (RFC 6265, section 4.1). As in hurl, the first cookie of a name counts.
fn cookie(received: &Received<'_>, name: &str, wanted: CookieAttribute) -> Result<Option<Value>, EvaluationError> {
    let fields: Vec<_> = received.values("set-cookie").collect();
    let mut cookies = fields.iter().filter_map(|field| {
        let (pair, attributes) = field.split_once(';').unwrap_or((field, ""));
        let (name, value) = pair.split_once('=')?;
        Some((name.trim(), value.trim(), attributes))
    });
    let Some((_, value, attributes)) = cookies.find(|(found, ..)| *found == name) else { return Ok(None) };
    let split = |attribute: &'_ str| {
        let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        (name.trim().to_owned(), value.trim().to_owned())
    };
    let attribute = |name: &str| {
        let mut attributes = attributes.split(';').map(split);
        attributes.find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    };
    Ok(match wanted {
        CookieAttribute::Value => Some(Value::Text(value.to_owned())),
        CookieAttribute::Expires => attribute("expires").map(|date| cookie_date(&date)).transpose()?,
        CookieAttribute::MaxAge => attribute("max-age").and_then(|age| age.parse().ok()).map(Value::Integer),
        CookieAttribute::Domain => attribute("domain").map(Value::Text),
        CookieAttribute::Path => attribute("path").map(Value::Text),
        CookieAttribute::Secure => attribute("secure").map(|_| Value::Present),
        CookieAttribute::HttpOnly => attribute("httponly").map(|_| Value::Present),
        CookieAttribute::SameSite => attribute("samesite").map(Value::Text),
    })
}

/// Reads the date of a cookie, also in Netscape's notation, with hyphens.
fn cookie_date(text: &str) -> Result<Value, EvaluationError> {
    let netscape = || NaiveDateTime::parse_from_str(text, "%a, %d-%b-%Y %H:%M:%S%.f GMT").map(|date| date.and_utc());
    let date = DateTime::parse_from_rfc2822(text).map(|date| date.to_utc()).or_else(|_| netscape());
    date.map(Value::Date).map_err(|_| EvaluationError(format!("invalid date of a cookie '{text}'")))
}
