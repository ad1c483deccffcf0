//! Filters: from one value to another.

use crate::error::EvaluationError;
use crate::hurl::{ParseError, Position, ast, filter_name};
use crate::pattern::Compiled;
use crate::references;
use crate::scope::{Names, Variables};
use crate::template::{self, Template};
use crate::value::Value;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use encoding_rs::Encoding;
use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use serde_json_path::JsonPath;
use torr_wire::percent::COMPONENT;
use torr_xpath::{Expression, Outcome, Tree};
use url::Url;

/// What `urlEncode` leaves as it is: unreserved characters (RFC 3986, section 2.3) and the slash.
const URL: AsciiSet = COMPONENT.remove(b'/');

/// A filter, its argument compiled.
#[derive(Debug, Clone)]
pub enum Filter {
    /// A filter without an argument, and its name for messages.
    Plain(ast::Filter, &'static str),
    /// `charsetDecode`
    Decode(Compiled<&'static Encoding>),
    /// `dateFormat`
    DateFormat(Template),
    /// `toDate`
    ToDate(Template),
    /// `jsonpath`
    JsonPath(JsonQuery),
    /// `nth`
    Nth(Index),
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

/// The argument of `nth`, compiled.
#[derive(Debug, Clone)]
pub enum Index {
    /// A number of the file.
    Number(i64),
    /// An expression.
    Expression(template::Expression),
}

impl Index {
    fn get(&self, variables: &Variables) -> Result<i64, EvaluationError> {
        let expression = match self {
            Self::Number(number) => return Ok(*number),
            Self::Expression(expression) => expression,
        };
        match &*expression.evaluate(variables)? {
            Value::Integer(number) => Ok(*number),
            other => Err(EvaluationError(format!("nth takes an integer, not {}", other.describe()))),
        }
    }
}

/// A JSONPath expression with what becomes of its results.
#[derive(Debug, Clone)]
pub struct JsonQuery {
    path: Compiled<JsonPath>,
    /// Whether results stay a list however many there are (the option `no-jsonpath-coercion`).
    keeps_lists: bool,
    /// Whether a filter takes the results that is for lists: the results of an expression that can find several are one.
    feeds_list: bool,
}

impl JsonQuery {
    /// Compiles an expression of a hurl file.
    ///
    /// # Errors
    /// If the text is no JSONPath expression.
    pub fn compile(path: &ast::Template, at: Position, names: &mut Names) -> Result<Self, ParseError> {
        Ok(Self { keeps_lists: names.keeps_json_lists, feeds_list: false, path: Compiled::new(path, at, names)? })
    }

    /// Lets the results be a list where the first of these filters is for lists.
    pub fn before(&mut self, filters: &[Filter]) {
        use ast::Filter as F;
        self.feeds_list = match filters.first() {
            Some(Filter::Nth(_)) => true,
            Some(Filter::Plain(plain, _)) => matches!(plain, F::Count | F::First | F::Last),
            _ => false,
        };
    }

    /// Returns what the expression finds: nothing, one value as itself, several as a list.
    ///
    /// # Errors
    /// If a variable has no value, or the filled-in text is no JSONPath expression.
    pub fn evaluate(&self, json: &serde_json::Value, variables: &Variables) -> Result<Option<Value>, EvaluationError> {
        let path = self.path.get(variables)?;
        let found = path.query(json).all();
        let is_list = self.keeps_lists || self.feeds_list && !is_singular(&path.to_string());
        Ok(match &found[..] {
            [] if !is_list => None,
            [one] if !is_list => Some(Value::from_json(one)),
            several => Some(Value::List(several.iter().map(|json| Value::from_json(json)).collect())),
        })
    }
}

/// Compiles the filters of a hurl file.
///
/// # Errors
/// Where a pattern or an encoding's name is none.
pub fn compile(filters: &[ast::Filter], at: Position, names: &mut Names) -> Result<Vec<Filter>, ParseError> {
    let mut filters: Vec<_> = filters.iter().map(|filter| compile_one(filter, at, names)).collect::<Result<_, _>>()?;
    for at in 0..filters.len() {
        let (before, after) = filters.split_at_mut(at + 1);
        if let Filter::JsonPath(query) = &mut before[at] {
            query.before(after);
        }
    }
    Ok(filters)
}

/// Whether a JSONPath expression finds one value at most (RFC 9535, section 2.3.5.1): only names and indexes lead to it.
fn is_singular(path: &str) -> bool {
    let mut rest = path;
    while let Some(at) = rest.find(['\'', '"', '*', '?', ':', ',']).into_iter().chain(rest.find("..")).min() {
        let Some(quote) = rest[at..].chars().next().filter(|c| matches!(c, '\'' | '"')) else { return false };
        let mut is_escaped = false;
        let end = rest[at + 1..].find(|c| {
            let is_end = c == quote && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        rest = end.map_or("", |end| &rest[at + end + 2..]);
    }
    true
}

fn compile_one(filter: &ast::Filter, at: Position, names: &mut Names) -> Result<Filter, ParseError> {
    let mut template = |template: &ast::Template| Template::compile(template, names);
    Ok(match filter {
        ast::Filter::DateFormat(format) => Filter::DateFormat(template(format)?),
        ast::Filter::ToDate(format) => Filter::ToDate(template(format)?),
        ast::Filter::Replace(old, new) => Filter::Replace(template(old)?, template(new)?),
        ast::Filter::Split(separator) => Filter::Split(template(separator)?),
        ast::Filter::UrlQueryParameter(name) => Filter::UrlQueryParameter(template(name)?),
        ast::Filter::Nth(ast::Index::Number(number)) => Filter::Nth(Index::Number(*number)),
        ast::Filter::Nth(ast::Index::Placeholder(expression)) => {
            Filter::Nth(Index::Expression(template::Expression::compile(expression, names)?))
        }
        ast::Filter::JsonPath(path) => Filter::JsonPath(JsonQuery::compile(path, at, names)?),
        ast::Filter::Regex(pattern) => Filter::Regex(Compiled::pattern(pattern, at, names)?),
        ast::Filter::ReplaceRegex(pattern, new) => {
            Filter::ReplaceRegex(Compiled::pattern(pattern, at, names)?, Template::compile(new, names)?)
        }
        ast::Filter::Decode(name) => Filter::Decode(Compiled::new(name, at, names)?),
        ast::Filter::XPath(path) => Filter::XPath(Compiled::new(path, at, names)?),
        plain => Filter::Plain(plain.clone(), filter_name(plain)),
    })
}

/// Applies filters in order. The last one may find nothing, which leaves no value.
///
/// # Errors
/// If a filter does not fit the value, or there is no value for it.
pub fn apply(
    filters: &[Filter],
    value: Option<Value>,
    variables: &Variables,
) -> Result<Option<Value>, EvaluationError> {
    let mut value = value;
    for filter in filters {
        let none = || EvaluationError(format!("nothing, to which the filter {} cannot be applied", filter.name()));
        value = filter.apply(value.ok_or_else(none)?, variables)?;
    }
    Ok(value)
}

impl Filter {
    fn name(&self) -> &'static str {
        match self {
            Self::Plain(_, name) => name,
            Self::Decode(_) => "charsetDecode",
            Self::DateFormat(_) => "dateFormat",
            Self::ToDate(_) => "toDate",
            Self::JsonPath(_) => "jsonpath",
            Self::Nth(_) => "nth",
            Self::Regex(_) => "regex",
            Self::Replace(..) => "replace",
            Self::ReplaceRegex(..) => "replaceRegex",
            Self::Split(_) => "split",
            Self::UrlQueryParameter(_) => "urlQueryParam",
            Self::XPath(_) => "xpath",
        }
    }

    fn apply(&self, value: Value, variables: &Variables) -> Result<Option<Value>, EvaluationError> {
        Ok(Some(match self {
            Self::Plain(plain, name) => return apply_plain(plain, name, value),
            Self::Decode(encoding) => {
                let (encoding, encoded) = (encoding.get(variables)?, bytes("charsetDecode", &value)?);
                let text = encoding.decode_without_bom_handling_and_without_replacement(encoded);
                Value::Text(text.ok_or_else(|| wrong("charsetDecode", &value))?.into_owned())
            }
            Self::DateFormat(format) => {
                let Value::Date(date) = &value else { return Err(wrong("dateFormat", &value)) };
                Value::Text(formatted(date, &format.render(variables)?)?)
            }
            Self::ToDate(format) => Value::Date(parse_date(text("toDate", &value)?, &format.render(variables)?)?),
            // As in hurl, only text is read: an object or a list is no text any more.
            Self::JsonPath(path) => {
                let json = serde_json::from_str(text("jsonpath", &value)?).map_err(|_| wrong("jsonpath", &value))?;
                return path.evaluate(&json, variables);
            }
            Self::Nth(index) => {
                let index = index.get(variables)?;
                let mut items = list("nth", value)?;
                let at = if index < 0 { index.checked_add_unsigned(items.len() as u64) } else { Some(index) };
                let at = at.and_then(|at| usize::try_from(at).ok()).filter(|at| *at < items.len());
                let none = || EvaluationError(format!("the list of {} has no item {index}", items.len()));
                let at = at.ok_or_else(none)?;
                items.swap_remove(at)
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
                let url = text("urlQueryParam", &value)?;
                let wrong = |reason| EvaluationError(format!("'{url}' is not a URL: {reason}"));
                let url = Url::parse(url).map_err(wrong)?;
                let mut pairs = url.query_pairs();
                return Ok(pairs.find(|(key, _)| *key == *name).map(|(_, value)| Value::Text(value.into_owned())));
            }
            // As in hurl, a string is read as HTML.
            Self::XPath(path) => {
                let tree = torr_xpath::html(text("xpath", &value)?).map_err(EvaluationError)?;
                x_path(&*path.get(variables)?, &tree)?
            }
        }))
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
        F::Base64UrlSafeDecode => decoded(BASE64_URL_SAFE_NO_PAD.decode(text(name, &value)?))?,
        F::Base64Encode => Value::Text(BASE64_STANDARD.encode(bytes(name, &value)?)),
        F::Base64UrlSafeEncode => Value::Text(BASE64_URL_SAFE_NO_PAD.encode(bytes(name, &value)?)),
        F::Count => {
            // A string or an object is one value, which may be empty but is not counted.
            let counted = value.count().filter(|_| !matches!(value, Value::Text(_) | Value::Object(_)));
            Value::Integer(counted.ok_or_else(|| wrong(name, &value))? as i64)
        }
        F::DaysAfterNow => Value::Integer((date(name, &value)? - Utc::now()).num_days()),
        F::DaysBeforeNow => Value::Integer((Utc::now() - date(name, &value)?).num_days()),
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

fn empty(filter: &str) -> EvaluationError {
    EvaluationError(format!("the filter {filter} cannot be applied to a list without items"))
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
