//! Assertions, which become asserts.

use super::element::Element;
use super::extractor::kind_of;
use super::{HAS_VARIABLE, OTHER_DIALECT, OTHER_RESPONSE, PATH_HAS_VARIABLE, PATTERN_HAS_VARIABLE, Reader};
use crate::json_path::{jmes_path, json_path};
use crate::parts::{assert, integer, response};
use crate::reason::{OTHER_JSON_PATH, OTHER_REGEX};
use regex::Regex;
use torr_session::hurl::ast::{Assert, Entry, Filter, Number, Pattern, Predicate, Query, Value};
use torr_xpath::Outcome;

/// Bits of the kind of a response assertion.
const MATCH: u32 = 1;
const CONTAINS: u32 = 2;
const NOT: u32 = 4;
const EQUALS: u32 = 8;
const SUBSTRING: u32 = 16;
const OR: u32 = 32;

/// Adds the asserts of an assertion. Without one of the status code, Torr and JMeter alike take 400 and above for a failure.
pub(super) fn add(reader: &mut Reader, assertion: &Element<'_, '_>, entry: &mut Entry) {
    let asserts = match assertion.tag() {
        "ResponseAssertion" => of_response(reader, assertion),
        "JSONPathAssertion" => json(reader, assertion, json_path(&assertion.text("JSON_PATH"))),
        "JMESPathAssertion" => json(reader, assertion, jmes_path(&assertion.text("JMES_PATH"))),
        "XPathAssertion" | "XPath2Assertion" => x_path(assertion),
        "DurationAssertion" => duration(assertion),
        "SizeAssertion" => size(assertion),
        "MD5HexAssertion" => md5(assertion),
        _ => Err("no counterpart"),
    };
    match asserts {
        Ok(asserts) => asserts.into_iter().for_each(|assert| expect(entry, assert)),
        Err(reason) => reader.pending.push(assertion.left_out(reason)),
    }
}

/// Adds an assert; the first status code that is demanded stands in the status line.
fn expect(entry: &mut Entry, assert: Assert) {
    let expected = response(entry);
    let code = match &assert {
        Assert { query: Query::Status, not: false, predicate: Predicate::Equal(value), .. } => Some(value),
        _ => None,
    };
    match code {
        Some(Value::Number(Number::Integer(code))) if expected.status.is_none() => {
            expected.status = u16::try_from(*code).ok();
        }
        _ => expected.asserts.push(assert),
    }
}

type Asserts = Result<Vec<Assert>, &'static str>;

fn of_response(reader: &mut Reader, assertion: &Element<'_, '_>) -> Asserts {
    let query = match assertion.text("Assertion.test_field").as_str() {
        "Assertion.response_data" | "Assertion.response_data_as_document" | "" => Query::Body,
        "Assertion.response_code" => Query::Status,
        _ => return Err("only content and status code are supported"),
    };
    if !matches!(assertion.text("Assertion.scope").as_str(), "" | "all" | "parent") {
        return Err(OTHER_RESPONSE);
    }
    // The name is misspelt in all plans.
    let texts = assertion.texts("Asserion.test_strings");
    let texts = if texts.is_empty() { assertion.texts("Assertion.test_strings") } else { texts };
    let kind = assertion.number("Assertion.test_type").unwrap_or(0.0) as u32;
    let not = kind & NOT != 0;
    if kind & OR != 0 && texts.len() > 1 {
        return alternatives(query, kind, not, &texts);
    }
    texts.iter().map(|text| one(reader, &query, kind, not, text)).collect()
}

fn one(reader: &mut Reader, query: &Query, kind: u32, not: bool, text: &str) -> Result<Assert, &'static str> {
    let code = text.trim().parse().ok().filter(|code| (100..1000).contains(code));
    if let (Query::Status, Some(code)) = (query, code) {
        return Ok(assert(Query::Status, Vec::new(), not, Predicate::Equal(integer(code))));
    }
    let filters = if *query == Query::Status { vec![Filter::ToText] } else { Vec::new() };
    let predicate = if kind & EQUALS != 0 {
        Predicate::Equal(Value::Text(reader.template(text)))
    } else if kind & SUBSTRING != 0 {
        Predicate::Contains(Value::Text(reader.template(text)))
    } else if kind & (MATCH | CONTAINS) != 0 {
        Predicate::Matches(pattern(text, kind & MATCH != 0)?)
    } else {
        return Err("unknown type");
    };
    Ok(assert(query.clone(), filters, not, predicate))
}

/// Returns one pattern for several texts of which one is enough.
fn alternatives(query: Query, kind: u32, not: bool, texts: &[String]) -> Asserts {
    if texts.iter().any(|text| text.contains("${")) {
        return Err("alternatives with variables are not supported");
    }
    let is_plain = kind & (EQUALS | SUBSTRING) != 0;
    let texts: Vec<_> =
        texts.iter().map(|text| if is_plain { regex::escape(text) } else { format!("(?:{text})") }).collect();
    let pattern = pattern(&texts.join("|"), kind & (EQUALS | MATCH) != 0)?;
    let filters = if query == Query::Status { vec![Filter::ToText] } else { Vec::new() };
    Ok(vec![assert(query, filters, not, Predicate::Matches(pattern))])
}

/// Returns a pattern that is found in a text, or that the whole text is.
fn pattern(text: &str, whole: bool) -> Result<Pattern, &'static str> {
    if text.contains("${") {
        return Err(PATTERN_HAS_VARIABLE);
    }
    let text = if whole { format!("^(?s:{text})$") } else { text.to_owned() };
    Regex::new(&text).map_err(|_| OTHER_REGEX)?;
    Ok(Pattern::Literal(text))
}

fn x_path(assertion: &Element<'_, '_>) -> Asserts {
    if !matches!(assertion.text("Assertion.scope").as_str(), "" | "all" | "parent") {
        return Err(OTHER_RESPONSE);
    }
    let expression = assertion.text("XPath.xpath");
    let expression = expression.trim();
    if expression.contains("${") {
        return Err(HAS_VARIABLE);
    }
    let not = assertion.is_true("XPath.negate");
    let query = |text: &str| Query::XPath(text.into());
    let is_true = |text: &str| assert(query(text), Vec::new(), false, Predicate::Equal(Value::Boolean(!not)));
    Ok(vec![match kind_of(expression).ok_or(OTHER_DIALECT)? {
        Outcome::Nodes(_) => assert(query(expression), Vec::new(), not, Predicate::Exists),
        Outcome::Boolean(_) => is_true(expression),
        _ => is_true(&format!("boolean({expression})")),
    }])
}

fn json(reader: &mut Reader, assertion: &Element<'_, '_>, path: Option<String>) -> Asserts {
    let path = path.ok_or(OTHER_JSON_PATH)?;
    if path.contains("${") {
        return Err(PATH_HAS_VARIABLE);
    }
    let not = assertion.is_true("INVERT");
    let query = Query::JsonPath(path.as_str().into());
    let expected = assertion.text("EXPECTED_VALUE");
    let predicate = if !assertion.is_true("JSONVALIDATION") {
        Predicate::Exists
    } else if assertion.is_true("EXPECT_NULL") {
        Predicate::Equal(Value::Null)
    } else if assertion.is_true("ISREGEX") {
        let predicate = Predicate::Matches(pattern(&expected, true)?);
        return Ok(vec![assert(query, vec![Filter::ToText], not, predicate)]);
    } else {
        Predicate::Equal(match serde_json::from_str(&expected) {
            Ok(serde_json::Value::Bool(value)) => Value::Boolean(value),
            Ok(serde_json::Value::Number(number)) if number.is_i64() => integer(number.as_i64().unwrap_or_default()),
            Ok(serde_json::Value::Array(_) | serde_json::Value::Object(_)) => {
                return Err("a list or an object is not supported");
            }
            _ => Value::Text(reader.template(&expected)),
        })
    };
    Ok(vec![assert(query, Vec::new(), not, predicate)])
}

fn duration(assertion: &Element<'_, '_>) -> Asserts {
    let most = assertion.number("DurationAssertion.duration").ok_or("the time must be a number")?;
    Ok(vec![assert(Query::Duration, Vec::new(), false, Predicate::LessOrEqual(integer(most as i64)))])
}

fn size(assertion: &Element<'_, '_>) -> Asserts {
    if !matches!(assertion.text("Assertion.test_field").as_str(), "SizeAssertion.response_data" | "") {
        return Err("only the size of the content is supported");
    }
    let size = assertion.number("SizeAssertion.size").ok_or("the size must be a number")? as i64;
    let value = integer(size);
    let predicate = match assertion.number("SizeAssertion.operator").unwrap_or(0.0) as u32 {
        1 => Predicate::Equal(value),
        2 => Predicate::NotEqual(value),
        3 => Predicate::Greater(value),
        4 => Predicate::Less(value),
        5 => Predicate::GreaterOrEqual(value),
        6 => Predicate::LessOrEqual(value),
        _ => return Err("unknown comparison"),
    };
    Ok(vec![assert(Query::Bytes, vec![Filter::Count], false, predicate)])
}

fn md5(assertion: &Element<'_, '_>) -> Asserts {
    let text = assertion.text("MD5HexAssertion.size");
    let digits = text.trim().as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let bytes = bytes.filter(|bytes| bytes.len() == 16).ok_or("not an MD5 sum")?;
    Ok(vec![assert(Query::Md5, Vec::new(), false, Predicate::Equal(Value::Bytes(bytes)))])
}
