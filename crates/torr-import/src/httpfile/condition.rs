//! Conditions of httpyac's on a response, such as `?? status == 200`.

use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{assert, integer, response};
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{Number, Predicate, Query, Value};

static CONDITION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^(status|header|body|duration)(?:\s+([\w-]+))??\s+(==|!=|>=|<=|>|<|equals|contains|includes|startsWith|endsWith|exists|isNumber)(?:\s+(.*))?$",
    )
});

/// Adds a condition to an entry, or says that it has no counterpart.
pub(super) fn add(condition: &str, made: &mut DraftEntry) {
    if read(condition, made).is_none() {
        made.left_out.push(LeftOut::new("condition", condition, "no counterpart"));
    }
}

fn read(condition: &str, made: &mut DraftEntry) -> Option<()> {
    // A variable's value is not known before the run.
    let found = CONDITION.captures(condition.trim()).filter(|_| !condition.contains("{{"))?;
    let query = match (&found[1], found.get(2)) {
        ("status", None) => Query::Status,
        ("duration", None) => Query::Duration,
        ("body", None) => Query::Body,
        ("header", Some(name)) => Query::Header(name.as_str().into()),
        _ => return None,
    };
    let is_number = matches!(query, Query::Status | Query::Duration);
    let text = found.get(4).map_or("", |text| text.as_str().trim());
    let value = match text.parse::<i64>() {
        Ok(value) if is_number => integer(value),
        _ if is_number => Value::Number(Number::Float(text.parse().ok().filter(|float: &f64| float.is_finite())?)),
        _ => Value::Text(text.into()),
    };
    let predicate = match &found[3] {
        "==" | "equals" => {
            if let (Query::Status, Ok(code @ 100..=599)) = (&query, text.parse::<u16>())
                && response(&mut made.entry).status.is_none_or(|known| known == code)
            {
                response(&mut made.entry).status = Some(code);
                return Some(());
            }
            Predicate::Equal(value)
        }
        "!=" => Predicate::NotEqual(value),
        ">" => Predicate::Greater(value),
        ">=" => Predicate::GreaterOrEqual(value),
        "<" => Predicate::Less(value),
        "<=" => Predicate::LessOrEqual(value),
        "contains" | "includes" if !is_number => Predicate::Contains(value),
        "startsWith" if !is_number => Predicate::StartsWith(value),
        "endsWith" if !is_number => Predicate::EndsWith(value),
        "exists" if !is_number => Predicate::Exists,
        _ => return None,
    };
    response(&mut made.entry).asserts.push(assert(query, Vec::new(), false, predicate));
    Some(())
}
