//! Rows of the table `assert`, such as `res.status: eq 200`.

use super::item::Row;
use super::reader::Reader;
use super::script;
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{assert, integer};
use crate::script::expectation::Expectation;
use regex::Regex;
use torr_session::hurl::ast::{Filter, Number, Pattern, Piece, Predicate, Query, Template, Value};

/// Operators without a value.
const UNARY: &[&str] = &[
    "isEmpty",
    "isNotEmpty",
    "isNull",
    "isUndefined",
    "isDefined",
    "isTruthy",
    "isFalsy",
    "isJson",
    "isNumber",
    "isString",
    "isBoolean",
    "isArray",
];
/// Operators with a value.
const BINARY: &[&str] = &[
    "eq",
    "neq",
    "gt",
    "gte",
    "lt",
    "lte",
    "in",
    "notIn",
    "contains",
    "notContains",
    "length",
    "matches",
    "notMatches",
    "startsWith",
    "endsWith",
    "between",
];

/// Adds the asserts of a request.
pub(super) fn add(reader: &mut Reader, rows: &[Row], made: &mut DraftEntry) {
    for row in rows {
        let which = format!("{}: {}", row.name, row.value);
        if !row.is_on {
            made.left_out.push(LeftOut::new("assertion", which, "disabled in the collection"));
            continue;
        }
        if !asserts(reader, row, made).is_some_and(|expectation| expectation.add_to(made)) {
            made.left_out.push(LeftOut::new("assertion", which, "no exact counterpart"));
        }
    }
}

/// Returns what a row expects; `None` for what has no exact counterpart.
fn asserts(reader: &mut Reader, row: &Row, made: &mut DraftEntry) -> Option<Expectation> {
    let on = script::expression(&row.name)?;
    let (word, value) = row.value.trim().split_once(' ').unwrap_or((row.value.trim(), ""));
    // What is no operator is the value itself.
    let (word, value) = match word {
        word if UNARY.contains(&word) => (word, ""),
        word if BINARY.contains(&word) => (word, value),
        _ => ("eq", row.value.as_str()),
    };
    let is_whole = on.is_whole();
    let mut read = |text: &str| operand(reader, text, made);
    // The whole content as text, where it is compared with text.
    let of_text = |predicate: Predicate, not: bool, value_is_text: bool| {
        let query = if is_whole && value_is_text { Query::Body } else { on.query.clone() };
        Some(Expectation::Asserts(vec![assert(query, on.filters.clone(), not, predicate)]))
    };
    let one = |predicate: Predicate, not: bool| of_text(predicate, not, false);
    match word {
        "eq" | "neq" if value.trim() == "undefined" => one(Predicate::Exists, word == "eq"),
        "eq" | "neq" => {
            let value = read(value)?;
            if let (Query::Status, "eq", Value::Number(Number::Integer(code))) = (&on.query, word, &value)
                && let Some(code) = u16::try_from(*code).ok().filter(|code| (100..1000).contains(code))
            {
                return Some(Expectation::Status(code));
            }
            let is_text = matches!(value, Value::Text(_));
            of_text(Predicate::Equal(value), word == "neq", is_text)
        }
        "gt" => one(Predicate::Greater(number(read(value)?)?), false),
        "gte" => one(Predicate::GreaterOrEqual(number(read(value)?)?), false),
        "lt" => one(Predicate::Less(number(read(value)?)?), false),
        "lte" => one(Predicate::LessOrEqual(number(read(value)?)?), false),
        "between" => {
            let (from, to) = value.split_once(',')?;
            let (from, to) = (number(read(from)?)?, number(read(to)?)?);
            let bounds = [Predicate::GreaterOrEqual(from), Predicate::LessOrEqual(to)];
            let made = bounds.map(|predicate| assert(on.query.clone(), on.filters.clone(), false, predicate));
            Some(Expectation::Asserts(made.into()))
        }
        "contains" | "notContains" => {
            let value = read(value)?;
            let is_text = matches!(value, Value::Text(_));
            of_text(Predicate::Contains(value), word == "notContains", is_text)
        }
        "startsWith" => of_text(Predicate::StartsWith(text(read(value)?)?), false, true),
        "endsWith" => of_text(Predicate::EndsWith(text(read(value)?)?), false, true),
        "matches" | "notMatches" => {
            let inner = value.strip_prefix('/').and_then(|value| value.strip_suffix('/')).unwrap_or(value);
            if inner.is_empty() || inner.contains("{{") || Regex::new(inner).is_err() {
                return None;
            }
            of_text(Predicate::Matches(Pattern::Literal(inner.replace("\\/", "/"))), word == "notMatches", true)
        }
        "in" | "notIn" => {
            let list = value.strip_prefix('[').and_then(|value| value.strip_suffix(']')).unwrap_or(value);
            let mut values = Vec::new();
            for item in list.split(',') {
                values.push(regex::escape(&plain(&read(item)?)?));
            }
            let mut filters = on.filters.clone();
            filters.push(Filter::ToText);
            let predicate = Predicate::Matches(Pattern::Literal(format!("^({})$", values.join("|"))));
            Some(Expectation::Asserts(vec![assert(on.query.clone(), filters, word == "notIn", predicate)]))
        }
        "length" => {
            let Value::Number(Number::Integer(count)) = read(value)? else { return None };
            let mut filters = on.filters.clone();
            filters.push(Filter::Count);
            Some(Expectation::Asserts(vec![assert(on.query.clone(), filters, false, Predicate::Equal(integer(count)))]))
        }
        "isEmpty" => one(Predicate::IsEmpty, false),
        "isNotEmpty" => one(Predicate::IsEmpty, true),
        "isNull" => one(Predicate::Equal(Value::Null), false),
        "isUndefined" => one(Predicate::Exists, true),
        "isDefined" => one(Predicate::Exists, false),
        "isTruthy" => one(Predicate::Equal(Value::Boolean(true)), false),
        "isFalsy" => one(Predicate::Equal(Value::Boolean(false)), false),
        "isJson" => one(Predicate::IsCollection, false),
        "isNumber" => one(Predicate::IsNumber, false),
        "isString" => of_text(Predicate::IsString, false, false),
        "isBoolean" => one(Predicate::IsBoolean, false),
        "isArray" => one(Predicate::IsList, false),
        _ => None,
    }
}

/// Returns the value that text stands for: a number, true, false, null, or text, in which variables may be.
fn operand(reader: &mut Reader, given: &str, made: &mut DraftEntry) -> Option<Value> {
    let given = given.trim();
    match given {
        "" => return Some(Value::Text(Template::default())),
        "true" => return Some(Value::Boolean(true)),
        "false" => return Some(Value::Boolean(false)),
        "null" => return Some(Value::Null),
        "undefined" => return None,
        _ => {}
    }
    // A variable whose value is known may be a number.
    let known = reader.scope.known(given);
    let known = known.trim();
    if let Ok(value) = known.parse::<i64>()
        && value <= 9_007_199_254_740_991
    {
        return Some(integer(value));
    }
    if known.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'))
        && let Some(value) = known.parse::<f64>().ok().filter(|value| value.is_finite())
    {
        return Some(Value::Number(Number::Float(value)));
    }
    let quoted = ['"', '\''].iter().find_map(|quote| given.strip_prefix(*quote)?.strip_suffix(*quote));
    let inner = quoted.unwrap_or(given);
    // Text is a template of JavaScript.
    if inner.contains("${") || inner.contains(['\\', '`']) {
        return None;
    }
    let template = reader.template(inner, &mut made.left_out);
    // The type of a value that only the run knows is not known.
    match &template.0[..] {
        [Piece::Placeholder(expression)] if quoted.is_none() => Some(Value::Placeholder(expression.clone())),
        _ => Some(Value::Text(template)),
    }
}

fn number(value: Value) -> Option<Value> {
    matches!(value, Value::Number(_) | Value::Placeholder(_)).then_some(value)
}

fn text(value: Value) -> Option<Value> {
    match value {
        Value::Number(Number::Integer(value)) => Some(Value::Text(value.to_string().as_str().into())),
        Value::Text(_) => Some(value),
        _ => None,
    }
}

/// Returns a value as text, if it is known.
fn plain(value: &Value) -> Option<String> {
    Some(match value {
        Value::Text(text) => text.literal()?.to_owned(),
        Value::Number(Number::Integer(value)) => value.to_string(),
        Value::Number(Number::Float(value)) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Null => "null".to_owned(),
        _ => return None,
    })
}
