//! Filters: from one value to another.

use crate::error::EvaluationError;
use crate::hurl::{ParseError, Position, ast, filter_name};
use crate::pattern::Compiled;
use crate::scope::{Names, Variables};
use crate::template::Template;
use crate::value::Value;
use crate::xpath::{self, Expression, Outcome, Tree};
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use encoding_rs::Encoding;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use serde_json_path::JsonPath;

/// What `urlEncode` leaves as it is: unreserved characters (RFC 3986, section 2.3) and the slash.
const URL: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// A filter, its argument compiled.
#[derive(Debug, Clone)]
pub enum Filter {
    /// A filter without an argument, and its name for messages.
    Plain(ast::Filter, &'static str),
    /// `decode`
    Decode(&'static Encoding),
    /// `dateFormat`
    DateFormat(Template),
    /// `toDate`
    ToDate(Template),
    /// `jsonpath`
    JsonPath(Compiled<JsonPath>),
    /// `nth`
    Nth(i64),
    /// `regex`
    Regex(Compiled<Regex>),
    /// `replace`
    Replace(Template, Template),
    /// `replaceRegex`
    ReplaceRegex(Compiled<Regex>, Template),
    /// `split`
    Split(Template),
    /// `urlQueryParam`
    UrlQueryParameter(Template),
    /// `xpath`
    XPath(Compiled<Expression>),
}

/// Compiles the filters of a hurl file.
///
/// # Errors
/// Where a pattern or an encoding's name is none.
pub fn compile(filters: &[ast::Filter], at: Position, names: &mut Names) -> Result<Vec<Filter>, ParseError> {
    filters.iter().map(|filter| compile_one(filter, at, names)).collect()
}

fn compile_one(filter: &ast::Filter, at: Position, names: &mut Names) -> Result<Filter, ParseError> {
    let mut template = |template: &ast::Template| Template::compile(template, names);
    Ok(match filter {
        ast::Filter::DateFormat(format) => Filter::DateFormat(template(format)?),
        ast::Filter::ToDate(format) => Filter::ToDate(template(format)?),
        ast::Filter::Replace(old, new) => Filter::Replace(template(old)?, template(new)?),
        ast::Filter::Split(separator) => Filter::Split(template(separator)?),
        ast::Filter::UrlQueryParameter(name) => Filter::UrlQueryParameter(template(name)?),
        ast::Filter::Nth(index) => Filter::Nth(*index),
        ast::Filter::JsonPath(path) => Filter::JsonPath(Compiled::new(path, at, names)?),
        ast::Filter::Regex(pattern) => Filter::Regex(Compiled::pattern(pattern, at, names)?),
        ast::Filter::ReplaceRegex(pattern, new) => {
            Filter::ReplaceRegex(Compiled::pattern(pattern, at, names)?, Template::compile(new, names)?)
        }
        ast::Filter::Decode(name) => {
            let encoding = name.literal().and_then(|name| Encoding::for_label(name.as_bytes()));
            let unknown =
                || ParseError { at, message: "decode takes the name of an encoding, such as \"utf-8\"".to_owned() };
            Filter::Decode(encoding.ok_or_else(unknown)?)
        }
        ast::Filter::XPath(path) => Filter::XPath(Compiled::new(path, at, names)?),
        plain => Filter::Plain(plain.clone(), filter_name(plain)),
    })
}

/// Applies filters in order. A filter that finds nothing leaves no value, and the ones after it have nothing to do.
///
/// # Errors
/// If a filter does not fit the value.
pub fn apply(
    filters: &[Filter],
    value: Option<Value>,
    variables: &Variables,
) -> Result<Option<Value>, EvaluationError> {
    let mut value = value;
    for filter in filters {
        let Some(before) = value else { return Ok(None) };
        value = filter.apply(before, variables)?;
    }
    Ok(value)
}

impl Filter {
    fn apply(&self, value: Value, variables: &Variables) -> Result<Option<Value>, EvaluationError> {
        Ok(Some(match self {
            Self::Plain(plain, name) => return apply_plain(plain, name, value),
            Self::Decode(encoding) => {
                let text = encoding.decode_without_bom_handling_and_without_replacement(bytes("decode", &value)?);
                Value::Text(text.ok_or_else(|| wrong("decode", &value))?.into_owned())
            }
            Self::DateFormat(format) => {
                let Value::Date(date) = &value else { return Err(wrong("dateFormat", &value)) };
                Value::Text(formatted(date, &format.render(variables)?)?)
            }
            Self::ToDate(format) => Value::Date(parse_date(text("toDate", &value)?, &format.render(variables)?)?),
            Self::JsonPath(path) => {
                let parsed;
                let json = match &value {
                    Value::Text(text) => {
                        parsed = serde_json::from_str(text).map_err(|_| wrong("jsonpath", &value))?;
                        &parsed
                    }
                    Value::List(_) | Value::Object(_) => {
                        parsed = serde_json::from_str(&value.to_json()?).map_err(|_| wrong("jsonpath", &value))?;
                        &parsed
                    }
                    _ => return Err(wrong("jsonpath", &value)),
                };
                return Ok(json_path(&*path.get(variables)?, json));
            }
            Self::Nth(index) => {
                let Value::List(mut items) = value else { return Err(wrong("nth", &value)) };
                let at = if *index < 0 { *index + items.len() as i64 } else { *index };
                let at = usize::try_from(at).ok().filter(|at| *at < items.len());
                return Ok(at.map(|at| items.swap_remove(at)));
            }
            Self::Regex(pattern) => {
                let pattern = pattern.get(variables)?;
                let group = pattern.captures(text("regex", &value)?).and_then(|groups| groups.get(1));
                return Ok(group.map(|group| Value::Text(group.as_str().to_owned())));
            }
            Self::Replace(old, new) => {
                let (old, new) = (old.render(variables)?, new.render(variables)?);
                Value::Text(text("replace", &value)?.replace(&*old, &new))
            }
            Self::ReplaceRegex(pattern, new) => {
                let (pattern, new) = (pattern.get(variables)?, new.render(variables)?);
                Value::Text(pattern.replace_all(text("replaceRegex", &value)?, &*new).into_owned())
            }
            Self::Split(separator) => {
                let separator = separator.render(variables)?;
                let parts = text("split", &value)?.split(&*separator);
                Value::List(parts.map(|part| Value::Text(part.to_owned())).collect())
            }
            Self::UrlQueryParameter(name) => {
                let name = name.render(variables)?;
                let url = text("urlQueryParam", &value)?.split('#').next().unwrap_or_default();
                let pairs = url.split_once('?').map_or("", |(_, query)| query).split('&');
                let mut pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
                return Ok(pairs
                    .find(|(key, _)| form_decode(key) == *name)
                    .map(|(_, value)| Value::Text(form_decode(value))));
            }
            // As in hurl, a string is read as HTML.
            Self::XPath(path) => {
                let tree = xpath::html(text("xpath", &value)?).map_err(EvaluationError)?;
                x_path(&*path.get(variables)?, &tree)?
            }
        }))
    }
}

/// Returns what a JSONPath expression finds: nothing, one value as itself, several as a list.
pub fn json_path(path: &JsonPath, json: &serde_json::Value) -> Option<Value> {
    let found = path.query(json).all();
    match &found[..] {
        [] => None,
        [one] => Some(Value::from_json(one)),
        several => Some(Value::List(several.iter().map(|json| Value::from_json(json)).collect())),
    }
}

/// Returns what an XPath expression finds. Nodes are counted and have no text; none are a value as well, of which the count is 0.
pub fn x_path(path: &Expression, tree: &Tree) -> Result<Value, EvaluationError> {
    Ok(match path.evaluate(tree).map_err(EvaluationError)? {
        Outcome::Nodes(count) => Value::Nodes(count),
        Outcome::Text(text) => Value::Text(text),
        Outcome::Number(number) => Value::Float(number),
        Outcome::Boolean(boolean) => Value::Boolean(boolean),
    })
}

fn apply_plain(filter: &ast::Filter, name: &str, value: Value) -> Result<Option<Value>, EvaluationError> {
    use ast::Filter as F;
    let decoded =
        |bytes: Result<Vec<u8>, base64::DecodeError>| bytes.map(Value::Bytes).map_err(|_| wrong(name, &value));
    Ok(Some(match filter {
        F::Base64Decode => decoded(BASE64_STANDARD.decode(text(name, &value)?))?,
        F::Base64UrlSafeDecode => decoded(BASE64_URL_SAFE_NO_PAD.decode(text(name, &value)?.trim_end_matches('=')))?,
        F::Base64Encode => Value::Text(BASE64_STANDARD.encode(bytes(name, &value)?)),
        F::Base64UrlSafeEncode => Value::Text(BASE64_URL_SAFE_NO_PAD.encode(bytes(name, &value)?)),
        F::Count => {
            // A string or an object is one value, which may be empty but is not counted.
            let counted = value.count().filter(|_| !matches!(value, Value::Text(_) | Value::Object(_)));
            Value::Integer(counted.ok_or_else(|| wrong(name, &value))? as i64)
        }
        F::DaysAfterNow => Value::Integer((date(name, &value)? - Utc::now()).num_days()),
        F::DaysBeforeNow => Value::Integer((Utc::now() - date(name, &value)?).num_days()),
        F::First => return list(name, value).map(|items| items.into_iter().next()),
        F::Last => return list(name, value).map(|mut items| items.pop()),
        F::HtmlEscape => Value::Text(html_escape::encode_safe(text(name, &value)?).into_owned()),
        F::HtmlUnescape => Value::Text(html_escape::decode_html_entities(text(name, &value)?).into_owned()),
        F::Location => {
            let Value::Object(members) = value else { return Err(wrong(name, &value)) };
            return Ok(members.into_iter().find(|(name, _)| name == "location").map(|(_, location)| location));
        }
        F::ToFloat => Value::Float(match &value {
            Value::Integer(integer) => *integer as f64,
            Value::Float(float) => *float,
            Value::Text(text) => text.trim().parse().map_err(|_| wrong(name, &value))?,
            _ => return Err(wrong(name, &value)),
        }),
        F::ToInt => Value::Integer(match &value {
            Value::Integer(integer) => *integer,
            Value::Float(float) => *float as i64,
            Value::Text(text) => text.trim().parse().map_err(|_| wrong(name, &value))?,
            _ => return Err(wrong(name, &value)),
        }),
        F::ToHex => Value::Text(bytes(name, &value)?.iter().map(|byte| format!("{byte:02x}")).collect()),
        F::ToText => Value::Text(value.render()?.into_owned()),
        F::UrlDecode => Value::Text(percent_decode_str(text(name, &value)?).decode_utf8_lossy().into_owned()),
        F::UrlEncode => Value::Text(utf8_percent_encode(&value.render()?, &URL).to_string()),
        F::Utf8Decode => {
            Value::Text(String::from_utf8(bytes(name, &value)?.to_vec()).map_err(|_| wrong(name, &value))?)
        }
        F::Utf8Encode => Value::Bytes(text(name, &value)?.as_bytes().to_vec()),
        with_argument => unreachable!("{with_argument:?} has an argument, so it was compiled to its own variant"),
    }))
}

fn wrong(filter: &str, value: &Value) -> EvaluationError {
    EvaluationError(format!("the filter {filter} cannot be applied to {}", value.describe()))
}

fn text<'v>(filter: &str, value: &'v Value) -> Result<&'v str, EvaluationError> {
    if let Value::Text(text) = value { Ok(text) } else { Err(wrong(filter, value)) }
}

fn bytes<'v>(filter: &str, value: &'v Value) -> Result<&'v [u8], EvaluationError> {
    if let Value::Bytes(bytes) = value { Ok(bytes) } else { Err(wrong(filter, value)) }
}

fn date(filter: &str, value: &Value) -> Result<DateTime<Utc>, EvaluationError> {
    if let Value::Date(date) = value { Ok(*date) } else { Err(wrong(filter, value)) }
}

fn list(filter: &str, value: Value) -> Result<Vec<Value>, EvaluationError> {
    if let Value::List(items) = value { Ok(items) } else { Err(wrong(filter, &value)) }
}

/// Decodes a part of a query string: `+` is a space (application/x-www-form-urlencoded).
fn form_decode(text: &str) -> String {
    percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned()
}

fn formatted(date: &DateTime<Utc>, format: &str) -> Result<String, EvaluationError> {
    let items = chrono::format::StrftimeItems::new(format).parse();
    let items = items.map_err(|_| EvaluationError(format!("'{format}' is no format of a date")))?;
    Ok(date.format_with_items(items.iter()).to_string())
}

fn parse_date(text: &str, format: &str) -> Result<DateTime<Utc>, EvaluationError> {
    let zoned = DateTime::parse_from_str(text, format).map(|date| date.with_timezone(&Utc));
    let local = || NaiveDateTime::parse_from_str(text, format).map(|date| date.and_utc());
    let day = || NaiveDate::parse_from_str(text, format).map(|day| day.and_time(chrono::NaiveTime::MIN).and_utc());
    let wrong = |_| EvaluationError(format!("'{text}' is no date of the format '{format}'"));
    zoned.or_else(|_| local()).or_else(|_| day()).map_err(wrong)
}
