//! Filters: from one value to another, by arguments that have been evaluated.

use crate::error::EvaluationError;
use crate::hurl::ast;
use crate::references;
use crate::value::Value;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use encoding_rs::Encoding;
use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use torr_wire::percent::COMPONENT;
use torr_xpath::{Expression, Outcome, Tree};
use url::Url;

/// What `urlEncode` leaves as it is: unreserved characters (RFC 3986, section 2.3) and the slash.
const URL: AsciiSet = COMPONENT.remove(b'/');

/// Applies a filter without an argument, which has this name.
///
/// # Errors
/// If the filter does not fit the value.
pub fn plain(filter: &ast::Filter, name: &str, value: Value) -> Result<Option<Value>, EvaluationError> {
    use ast::Filter as F;
    let decoded =
        |bytes: Result<Vec<u8>, base64::DecodeError>| bytes.map(Value::Bytes).map_err(|_| wrong(name, &value));
    Ok(Some(match filter {
        F::Base64Decode => decoded(BASE64_STANDARD.decode(text(name, &value)?))?,
        F::Base64UrlSafeDecode => decoded(BASE64_URL_SAFE_NO_PAD.decode(text(name, &value)?))?,
        F::Base64Encode => Value::Text(BASE64_STANDARD.encode(bytes(name, &value)?)),
        F::Base64UrlSafeEncode => Value::Text(BASE64_URL_SAFE_NO_PAD.encode(bytes(name, &value)?)),
        F::Count => {
            // A string or an object is one value, which may be empty but is not counted.
            let counted = value.count().filter(|_| !matches!(value, Value::Text(_) | Value::Object(_)));
            Value::Integer(counted.ok_or_else(|| wrong(name, &value))? as i64)
        }
        F::DaysAfterNow => Value::Integer((*date(name, &value)? - Utc::now()).num_days()),
        F::DaysBeforeNow => Value::Integer((Utc::now() - *date(name, &value)?).num_days()),
        F::First => list(name, value)?.into_iter().next().ok_or_else(|| empty(name))?,
        F::Last => list(name, value)?.pop().ok_or_else(|| empty(name))?,
        F::HtmlEscape => Value::Text(references::escape(text(name, &value)?)),
        F::HtmlUnescape => Value::Text(references::unescape(text(name, &value)?)),
        F::Location => {
            let Value::Redirect(_, location) = value else { return Err(wrong(name, &value)) };
            Value::Text(location)
        }
        F::ToFloat => Value::Float(match &value {
            Value::Integer(integer) => *integer as f64,
            Value::Float(float) => *float,
            Value::Text(text) => text.parse().map_err(|_| wrong(name, &value))?,
            _ => return Err(wrong(name, &value)),
        }),
        F::ToInt => Value::Integer(match &value {
            Value::Integer(integer) => *integer,
            Value::Float(float) => *float as i64,
            Value::Text(text) => text.parse().map_err(|_| wrong(name, &value))?,
            _ => return Err(wrong(name, &value)),
        }),
        F::ToHex => Value::Text(bytes(name, &value)?.iter().map(|byte| format!("{byte:02x}")).collect()),
        F::ToText => Value::Text(value.render()?.into_owned()),
        F::UrlDecode => Value::Text(percent_decode_str(text(name, &value)?).decode_utf8_lossy().into_owned()),
        F::UrlEncode => Value::Text(utf8_percent_encode(text(name, &value)?, &URL).to_string()),
        F::Utf8Decode => Value::Text(String::from_utf8_lossy(bytes(name, &value)?).into_owned()),
        F::Utf8Encode => Value::Bytes(text(name, &value)?.as_bytes().to_vec()),
        with_argument => unreachable!("{with_argument:?} has an argument, so it was compiled to its own variant"),
    }))
}

/// Returns bytes as text of a character encoding.
///
/// # Errors
/// If the value is not bytes of this encoding.
pub fn charset_decode(encoding: &'static Encoding, value: &Value) -> Result<Value, EvaluationError> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes("charsetDecode", value)?);
    text.map(|text| Value::Text(text.into_owned())).ok_or_else(|| wrong("charsetDecode", value))
}

/// Returns a date as text.
///
/// # Errors
/// If the value is no date, or the format none of a date.
pub fn date_format(format: &str, value: &Value) -> Result<Value, EvaluationError> {
    let date = date("dateFormat", value)?;
    let items = chrono::format::StrftimeItems::new(format).parse();
    let items = items.map_err(|_| EvaluationError(format!("invalid date format '{format}'")))?;
    Ok(Value::Text(date.format_with_items(items.iter()).to_string()))
}

/// Returns the date that a text of this format is.
///
/// # Errors
/// If the value is no such text.
pub fn to_date(format: &str, value: &Value) -> Result<Value, EvaluationError> {
    let text = text("toDate", value)?;
    let zoned = DateTime::parse_from_str(text, format).map(|date| date.with_timezone(&Utc));
    let local = || NaiveDateTime::parse_from_str(text, format).map(|date| date.and_utc());
    let day = || NaiveDate::parse_from_str(text, format).map(|day| day.and_time(chrono::NaiveTime::MIN).and_utc());
    let wrong = |_| EvaluationError(format!("'{text}' does not match the date format '{format}'"));
    zoned.or_else(|_| local()).or_else(|_| day()).map(Value::Date).map_err(wrong)
}

/// Returns a text read as JSON. As in hurl, only text is read: an object or a list is no text any more.
///
/// # Errors
/// If the value is no JSON text.
pub fn json(value: &Value) -> Result<serde_json::Value, EvaluationError> {
    serde_json::from_str(text("jsonpath", value)?).map_err(|_| wrong("jsonpath", value))
}

/// Returns an item of a list, counted from the end if the index is negative.
///
/// # Errors
/// If the value is no list, or has no such item.
pub fn nth(index: i64, value: Value) -> Result<Value, EvaluationError> {
    let mut items = list("nth", value)?;
    let at = if index < 0 { index.checked_add_unsigned(items.len() as u64) } else { Some(index) };
    let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < items.len());
    let none = || EvaluationError(format!("index {index} is out of range of a list of {}", items.len()));
    let at = at.ok_or_else(none)?;
    Ok(items.swap_remove(at))
}

/// Returns what the first group of a pattern finds in a text, if it finds anything.
///
/// # Errors
/// If the value is no text.
pub fn regex(pattern: &Regex, value: &Value) -> Result<Option<Value>, EvaluationError> {
    let group = pattern.captures(text("regex", value)?).and_then(|groups| groups.get(1));
    Ok(group.map(|group| Value::Text(group.as_str().to_owned())))
}

/// Returns a text with each occurrence of another text replaced.
///
/// # Errors
/// If the value is no text.
pub fn replace(old: &str, new: &str, value: &Value) -> Result<Value, EvaluationError> {
    Ok(Value::Text(text("replace", value)?.replace(old, new)))
}

/// Returns a text with each match of a pattern replaced.
///
/// # Errors
/// If the value is no text.
pub fn replace_regex(pattern: &Regex, new: &str, value: &Value) -> Result<Value, EvaluationError> {
    Ok(Value::Text(pattern.replace_all(text("replaceRegex", value)?, new).into_owned()))
}

/// Returns the parts of a text between separators, as a list.
///
/// # Errors
/// If the value is no text.
pub fn split(separator: &str, value: &Value) -> Result<Value, EvaluationError> {
    let parts = text("split", value)?.split(separator);
    Ok(Value::List(parts.map(|part| Value::Text(part.to_owned())).collect()))
}

/// Returns the value of a parameter in the query of a URL, if it has the parameter.
///
/// # Errors
/// If the value is no URL.
pub fn url_query_parameter(name: &str, value: &Value) -> Result<Option<Value>, EvaluationError> {
    let url = text("urlQueryParam", value)?;
    let wrong = |reason| EvaluationError(format!("invalid URL '{url}': {reason}"));
    let url = Url::parse(url).map_err(wrong)?;
    let mut pairs = url.query_pairs();
    Ok(pairs.find(|(key, _)| *key == *name).map(|(_, value)| Value::Text(value.into_owned())))
}

/// Returns what an XPath expression finds in a text, which as in hurl is read as HTML.
///
/// # Errors
/// If the value is no text, or the document or the expression exceeds a limit.
pub fn xpath(path: &Expression, value: &Value) -> Result<Value, EvaluationError> {
    x_path(path, &torr_xpath::html(text("xpath", value)?).map_err(EvaluationError)?)
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

fn wrong(filter: &str, value: &Value) -> EvaluationError {
    EvaluationError(format!("the filter {filter} does not support {}", value.describe()))
}

fn text<'v>(filter: &str, value: &'v Value) -> Result<&'v str, EvaluationError> {
    if let Value::Text(text) = value { Ok(text) } else { Err(wrong(filter, value)) }
}

fn bytes<'v>(filter: &str, value: &'v Value) -> Result<&'v [u8], EvaluationError> {
    if let Value::Bytes(bytes) = value { Ok(bytes) } else { Err(wrong(filter, value)) }
}

fn date<'v>(filter: &str, value: &'v Value) -> Result<&'v DateTime<Utc>, EvaluationError> {
    if let Value::Date(date) = value { Ok(date) } else { Err(wrong(filter, value)) }
}

fn list(filter: &str, value: Value) -> Result<Vec<Value>, EvaluationError> {
    if let Value::List(items) = value { Ok(items) } else { Err(wrong(filter, &value)) }
}

fn empty(filter: &str) -> EvaluationError {
    EvaluationError(format!("the filter {filter} does not support an empty list"))
}
