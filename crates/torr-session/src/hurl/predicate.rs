//! Predicates: what a value must be.

use super::ParseError;
use super::ast::{Predicate, Value};
use super::cursor::Cursor;
use super::template::pattern;
use super::value::value;

/// A kind of value that a predicate takes.
#[derive(Clone, Copy)]
enum Takes {
    /// Every value.
    Any,
    /// What has an order: numbers and strings.
    Ordered,
    /// What has a beginning and an end: strings and bytes.
    Sequence,
}

/// A predicate with a value.
type Comparing = (&'static str, Takes, fn(Value) -> Predicate);

/// Predicates with a value: name or operator, kind of value, constructor. A longer operator comes before its beginning.
const COMPARING: &[Comparing] = &[
    ("==", Takes::Any, Predicate::Equal),
    ("equals", Takes::Any, Predicate::Equal),
    ("!=", Takes::Any, Predicate::NotEqual),
    ("notEquals", Takes::Any, Predicate::NotEqual),
    (">=", Takes::Ordered, Predicate::GreaterOrEqual),
    ("greaterThanOrEquals", Takes::Ordered, Predicate::GreaterOrEqual),
    (">", Takes::Ordered, Predicate::Greater),
    ("greaterThan", Takes::Ordered, Predicate::Greater),
    ("<=", Takes::Ordered, Predicate::LessOrEqual),
    ("lessThanOrEquals", Takes::Ordered, Predicate::LessOrEqual),
    ("<", Takes::Ordered, Predicate::Less),
    ("lessThan", Takes::Ordered, Predicate::Less),
    ("startsWith", Takes::Sequence, Predicate::StartsWith),
    ("endsWith", Takes::Sequence, Predicate::EndsWith),
    ("contains", Takes::Any, Predicate::Contains),
    ("includes", Takes::Any, Predicate::Includes),
];

/// Predicates without a value.
pub(super) const PLAIN: &[(&str, Predicate)] = &[
    ("exists", Predicate::Exists),
    ("isBoolean", Predicate::IsBoolean),
    ("isCollection", Predicate::IsCollection),
    ("isDate", Predicate::IsDate),
    ("isEmpty", Predicate::IsEmpty),
    ("isFloat", Predicate::IsFloat),
    ("isInteger", Predicate::IsInteger),
    ("isIpv4", Predicate::IsIpv4),
    ("isIpv6", Predicate::IsIpv6),
    ("isIsoDate", Predicate::IsIsoDate),
    ("isList", Predicate::IsList),
    ("isNumber", Predicate::IsNumber),
    ("isObject", Predicate::IsObject),
    ("isString", Predicate::IsString),
    ("isUuid", Predicate::IsUuid),
];

/// Reads a predicate, with whether it is negated.
pub(super) fn predicate(cursor: &mut Cursor<'_>) -> Result<(bool, Predicate), ParseError> {
    let not = cursor.eat_word("not");
    cursor.spaces();
    if let Some((_, predicate)) = PLAIN.iter().find(|(name, _)| cursor.eat_word(name)) {
        return Ok((not, predicate.clone()));
    }
    if cursor.eat_word("matches") {
        cursor.spaces();
        return Ok((not, Predicate::Matches(pattern(cursor)?)));
    }
    let is_operator = |name: &str| !name.starts_with(char::is_alphabetic);
    let comparing =
        COMPARING.iter().find(|(name, ..)| if is_operator(name) { cursor.eat(name) } else { cursor.eat_word(name) });
    let Some((name, takes, make)) = comparing else {
        return Err(cursor.error("expected a filter or a predicate, such as == or contains"));
    };
    cursor.spaces();
    let start = cursor.clone();
    let value = value(cursor)?;
    let is_text = matches!(value, Value::Text(_) | Value::Content(_) | Value::Placeholder(_));
    let needed = match takes {
        Takes::Any => None,
        Takes::Ordered if is_text || matches!(value, Value::Number(_)) => None,
        Takes::Sequence if is_text || matches!(value, Value::Bytes(_) | Value::File(_)) => None,
        Takes::Ordered => Some("a number or a string"),
        Takes::Sequence => Some("a string or bytes"),
    };
    match needed {
        None => Ok((not, make(value))),
        Some(needed) => Err(start.error(format!("'{name}' needs {needed}, found {}", value.kind()))),
    }
}
