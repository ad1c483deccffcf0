//! Values of variables, queries and predicates.

use crate::error::EvaluationError;
use chrono::{DateTime, SecondsFormat, Utc};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A value of a variable or of a part of a response.
#[derive(Debug, Clone)]
pub enum Value {
    /// `null`
    Null,
    /// A truth value.
    Boolean(bool),
    /// An integer of 64 bits.
    Integer(i64),
    /// An integer that 64 bits cannot hold, in decimal digits.
    Large(String),
    /// Any other number.
    Float(f64),
    /// A string.
    Text(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list.
    List(Vec<Value>),
    /// Names with values, in the order of the response.
    Object(Vec<(String, Value)>),
    /// A moment.
    Date(DateTime<Utc>),
    /// The nodes of a document that XPath has found, how many.
    Nodes(usize),
    /// A redirect that was followed: status code and URL.
    Redirect(u16, String),
    /// What is there or not, but has no value, such as a cookie's `Secure`.
    Present,
}

impl Value {
    /// Returns the value that a text of the command line, a file or the environment stands for: `null`, a truth value or a
    /// number if it is spelled so, otherwise a string. A string in double quotes is the text between them.
    pub fn given(text: &str) -> Self {
        match text {
            "null" => Self::Null,
            "true" => Self::Boolean(true),
            "false" => Self::Boolean(false),
            _ => {
                let quoted = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
                let is_number = text.starts_with(|c: char| matches!(c, '-' | '+' | '.') || c.is_ascii_digit());
                if let Some(inner) = quoted {
                    Self::Text(inner.to_owned())
                } else if let Ok(integer) = text.parse() {
                    Self::Integer(integer)
                } else if let Ok(large) = text.parse::<u64>() {
                    Self::Large(large.to_string())
                } else if let Some(float) = text.parse().ok().filter(|float: &f64| is_number && float.is_finite()) {
                    Self::Float(float)
                } else {
                    Self::Text(text.to_owned())
                }
            }
        }
    }

    /// Returns a JSON value as a value of a session.
    pub fn from_json(json: &serde_json::Value) -> Self {
        match json {
            serde_json::Value::Null => Self::Null,
            serde_json::Value::Bool(boolean) => Self::Boolean(*boolean),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(integer), _) => Self::Integer(integer),
                (None, Some(large)) => Self::Large(large.to_string()),
                (None, None) => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Self::Text(text.clone()),
            serde_json::Value::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            serde_json::Value::Object(members) => {
                Self::Object(members.iter().map(|(name, value)| (name.clone(), Self::from_json(value))).collect())
            }
        }
    }

    /// Returns the value as JSON text.
    ///
    /// # Errors
    /// For values that JSON has not: bytes, dates and presence.
    pub fn to_json(&self) -> Result<String, EvaluationError> {
        Ok(match self {
            Self::Text(text) => serde_json::Value::from(text.as_str()).to_string(),
            Self::List(items) => {
                let items: Result<Vec<_>, _> = items.iter().map(Self::to_json).collect();
                format!("[{}]", items?.join(","))
            }
            Self::Object(members) => {
                let member = |(name, value): &(String, Self)| {
                    value.to_json().map(|value| format!("{}:{value}", serde_json::Value::from(name.as_str())))
                };
                let members: Result<Vec<_>, _> = members.iter().map(member).collect();
                format!("{{{}}}", members?.join(","))
            }
            plain => plain.render()?.into_owned(),
        })
    }

    /// Returns the value as JSON text for a placeholder outside a string. Text stands there as it is, as in hurl, so it has to be
    /// a number, a truth value or `null`.
    ///
    /// # Errors
    /// For other text, and for values that JSON has not.
    pub fn in_json(&self) -> Result<String, EvaluationError> {
        let Self::Text(text) = self else { return self.to_json() };
        let is_literal = |json: serde_json::Value| json.is_number() || json.is_boolean() || json.is_null();
        if text.trim() == text && serde_json::from_str(text).is_ok_and(is_literal) {
            return Ok(text.clone());
        }
        let message = format!("{} is not a JSON value: put the placeholder in double quotes", self.describe());
        Err(EvaluationError(message))
    }

    /// Returns the value as text to be inserted into a request.
    ///
    /// # Errors
    /// For values that have no one text: bytes, lists, objects and presence.
    pub fn render(&self) -> Result<Cow<'_, str>, EvaluationError> {
        Ok(match self {
            Self::Null => "null".into(),
            Self::Boolean(boolean) => boolean.to_string().into(),
            Self::Integer(integer) => integer.to_string().into(),
            Self::Large(digits) => digits.into(),
            Self::Float(float) => float_text(*float).into(),
            Self::Text(text) => text.into(),
            Self::Date(date) => date.to_rfc3339_opts(SecondsFormat::Micros, true).into(),
            Self::Nodes(_) => {
                let message = "a nodeset cannot be converted to text: use string(...) in the XPath expression";
                return Err(EvaluationError(message.to_owned()));
            }
            Self::Bytes(_) | Self::List(_) | Self::Object(_) | Self::Redirect(..) | Self::Present => {
                return Err(EvaluationError(format!("a value of type {} cannot be converted to text", self.kind())));
            }
        })
    }

    /// Returns the name of the value's kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Integer(_) | Self::Large(_) => "integer",
            Self::Float(_) => "float",
            Self::Text(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Object(_) => "object",
            Self::Date(_) => "date",
            Self::Nodes(_) => "nodeset",
            Self::Redirect(..) => "redirect",
            Self::Present => "presence",
        }
    }

    /// Returns kind and value for a report, shortened.
    pub fn describe(&self) -> String {
        /// How many characters of a value a report shows: a line of a terminal.
        const SHOWN: usize = 100;
        let value = match self {
            Self::Null => return "null".to_owned(),
            Self::Present => return "something".to_owned(),
            Self::List(items) => return format!("list of {}", items.len()),
            Self::Nodes(count) => return format!("nodeset of {count}"),
            Self::Redirect(status, location) => return format!("redirect {status} to {location}"),
            Self::Object(members) => return format!("object of {} members", members.len()),
            Self::Bytes(bytes) => bytes.iter().take(SHOWN / 2 + 1).map(|byte| format!("{byte:02x}")).collect(),
            plain => plain.render().unwrap_or_default().into_owned(),
        };
        let shown: String = value.chars().take(SHOWN).collect();
        let more = if shown.len() < value.len() { " ..." } else { "" };
        let quote = if matches!(self, Self::Text(_)) { "\"" } else { "" };
        format!("{} {quote}{shown}{more}{quote}", self.kind())
    }

    /// Returns the order of two numbers, two strings or two dates; `None` for everything else.
    pub fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.cmp(b)),
            (Self::Date(a), Self::Date(b)) => Some(a.cmp(b)),
            (Self::Integer(a), Self::Integer(b)) => Some(a.cmp(b)),
            (Self::Large(a), Self::Large(b)) => Some(compare_digits(a, b)),
            _ => self.number()?.partial_cmp(&other.number()?),
        }
    }

    /// Returns the number of items, members, bytes or characters; `None` for what has none.
    pub fn count(&self) -> Option<usize> {
        match self {
            Self::List(items) => Some(items.len()),
            Self::Object(members) => Some(members.len()),
            Self::Bytes(bytes) => Some(bytes.len()),
            Self::Text(text) => Some(text.chars().count()),
            Self::Nodes(count) => Some(*count),
            _ => None,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Self::Integer(integer) => Some(*integer as f64),
            Self::Large(digits) => digits.parse().ok(),
            Self::Float(float) => Some(*float),
            _ => None,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Null, Self::Null) | (Self::Present, Self::Present) => true,
            (Self::Boolean(a), Self::Boolean(b)) => a == b,
            (Self::Nodes(a), Self::Nodes(b)) => a == b,
            (Self::Bytes(a), Self::Bytes(b)) => a == b,
            (Self::List(a), Self::List(b)) => a == b,
            (Self::Object(a), Self::Object(b)) => a == b,
            _ => self.compare(other) == Some(Ordering::Equal),
        }
    }
}

/// Compares two integers in decimal digits, each without leading zeros.
fn compare_digits(a: &str, b: &str) -> Ordering {
    let split = |digits: &str| (digits.starts_with('-'), digits.trim_start_matches('-').len());
    match (split(a), split(b)) {
        ((true, _), (false, _)) => Ordering::Less,
        ((false, _), (true, _)) => Ordering::Greater,
        ((false, m), (false, n)) => m.cmp(&n).then_with(|| a.cmp(b)),
        ((true, m), (true, n)) => n.cmp(&m).then_with(|| b.cmp(a)),
    }
}

/// Returns a float with at least one decimal place, so that it is not taken for an integer.
fn float_text(float: f64) -> String {
    if float.fract() == 0.0 { format!("{float}.0") } else { float.to_string() }
}
