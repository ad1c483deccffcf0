//! What the plugin `expect` expects of a response.

use super::capture::expected;
use super::reader::Reader;
use super::text;
use super::value;
use crate::draft::DraftEntry;
use crate::javascript;
use crate::json_path::jmes_path;
use crate::node::Node;
use crate::parts::{assert, integer};
use crate::reason::OTHER_REGEX;
use crate::script::expectation::Expectation;
use regex::Regex;
use torr_session::hurl::ast::{Assert, Filter, Pattern, Predicate, Query, Value};

/// Adds the expectations of a request.
pub(super) fn add(reader: &mut Reader<'_>, expect: &Node, made: &mut DraftEntry) {
    let plugin = reader.config.get("plugins").get("expect");
    let is_on = !plugin.is_null();
    let by_default = plugin.get("expectDefault200");
    if expect.is_null() {
        if is_on && (by_default.is_true() || by_default.text() == Some("true")) {
            Expectation::Status(200).add_to(made);
        }
        return;
    }
    if !is_on {
        reader.leave_out("expect", "", "the plugin is not in the script's list, so that Artillery ignores it");
        return;
    }
    let all = if matches!(expect, Node::Object(_)) { std::slice::from_ref(expect) } else { expect.items() };
    // Of an object in a list Artillery reads the first member.
    let first_only = matches!(expect, Node::List(_));
    for of in all {
        let members = of.members();
        for (kind, of) in if first_only { members.get(..1).unwrap_or_default() } else { members } {
            match one(reader, kind, of) {
                Ok(expectations) => {
                    for of in expectations {
                        if !of.add_to(made) {
                            reader.leave_out("expect", "statusCode", "another status is expected already");
                        }
                    }
                }
                Err(reason) => reader.leave_out("expect", format!("{kind}: {}", of.plain()), reason),
            }
        }
    }
}

fn asserts(asserts: Vec<Assert>) -> Result<Vec<Expectation>, &'static str> {
    Ok(vec![Expectation::Asserts(asserts)])
}

fn one(reader: &mut Reader<'_>, kind: &str, of: &Node) -> Result<Vec<Expectation>, &'static str> {
    match kind {
        "statusCode" => {
            let codes = codes(reader, of).ok_or("a status that is no number")?;
            match codes[..] {
                [code] => Ok(vec![Expectation::Status(u16::try_from(code).map_err(|_| "a status that is none")?)]),
                [] => Err("no status"),
                _ => {
                    let words: Vec<String> = codes.iter().map(i64::to_string).collect();
                    let pattern = Pattern::Literal(format!("^({})$", words.join("|")));
                    let filters = vec![Filter::ToText];
                    asserts(vec![assert(Query::Status, filters, false, Predicate::Matches(pattern))])
                }
            }
        }
        "notStatusCode" => {
            let codes = codes(reader, of).ok_or("a status that is no number")?;
            let not = |code: &i64| assert(Query::Status, Vec::new(), false, Predicate::NotEqual(integer(*code)));
            asserts(codes.iter().map(not).collect())
        }
        "contentType" => {
            let name = Query::Header("Content-Type".into());
            if of.text() == Some("json") {
                let json = Pattern::Literal("application/(json|problem\\+json|ld\\+json)".to_owned());
                return asserts(vec![
                    assert(name, Vec::new(), false, Predicate::Matches(json)),
                    assert(Query::JsonPath("$".into()), Vec::new(), false, Predicate::Exists),
                ]);
            }
            let text = of.text().ok_or("a media type that is no text")?;
            if text::has_names(text) {
                return Err("a pattern with a variable is not supported");
            }
            let pattern = Pattern::Literal(format!("(?i)^{}$", regex::escape(text)));
            asserts(vec![assert(name, Vec::new(), false, Predicate::Matches(pattern))])
        }
        "hasHeader" => {
            let name = reader.template(&of.plain());
            asserts(vec![assert(Query::Header(name), Vec::new(), false, Predicate::Exists)])
        }
        "headerEquals" => {
            let [name, value] = of.items() else { return Err("expected a name and a value") };
            let name = reader.template(&name.plain());
            let value = Value::Text(reader.template(&value.plain()));
            asserts(vec![assert(Query::Header(name), Vec::new(), false, Predicate::Equal(value))])
        }
        "hasProperty" | "notHasProperty" => {
            let path = of.text().filter(|text| !text::has_names(text)).ok_or("a path that is no text")?;
            let steps = value::steps(path).ok_or("a path that is none")?;
            let path = format!("${}", value::json_path(&steps));
            let query = Query::JsonPath(path.as_str().into());
            asserts(vec![assert(query, Vec::new(), kind == "notHasProperty", Predicate::Exists)])
        }
        "matchesRegexp" => {
            let pattern = of.text().filter(|text| !text::has_names(text)).ok_or("a pattern that is no text")?;
            Regex::new(pattern).map_err(|_| OTHER_REGEX)?;
            let pattern = Pattern::Literal(pattern.to_owned());
            asserts(vec![assert(Query::Body, Vec::new(), false, Predicate::Matches(pattern))])
        }
        "equals" => equals(reader, of),
        "jmespath" | "jpath" => {
            let path = of.text().and_then(jmes_path).ok_or("this JMESPath is not supported")?;
            asserts(vec![assert(Query::JsonPath(path.as_str().into()), Vec::new(), false, Predicate::Exists)])
        }
        _ => Err("no counterpart"),
    }
}

/// Returns the asserts that values are equal: a variable is compared with each of the others.
fn equals(reader: &mut Reader<'_>, of: &Node) -> Result<Vec<Expectation>, &'static str> {
    let items = of.items();
    let captured = |item: &Node| {
        let name = item.text().and_then(text::whole)?;
        reader.captured.get(name).map(|_| name.to_owned())
    };
    let at = items.iter().position(|item| captured(item).is_some());
    let Some((at, name)) = at.and_then(|at| Some((at, captured(items.get(at)?)?))) else {
        return Err("without a captured value");
    };
    let query = Query::Variable(reader.variables.name(&name).as_str().into());
    let others = items.iter().enumerate().filter(|(other, _)| *other != at);
    let mut made = Vec::new();
    for (_, other) in others {
        let other = match other {
            Node::Text(_) => other.clone(),
            other => Node::Text(javascript::string(other)),
        };
        let value = expected(reader, &other).ok_or("a value that is no text")?;
        made.push(assert(query.clone(), vec![Filter::ToText], false, Predicate::Equal(value)));
    }
    asserts(made)
}

/// Returns the status codes of an expectation.
fn codes(reader: &Reader<'_>, of: &Node) -> Option<Vec<i64>> {
    let items = if let Node::List(items) = of { &items[..] } else { std::slice::from_ref(of) };
    let code = |item: &Node| {
        let known = item.text().and_then(text::whole).and_then(|name| reader.known(name));
        let code = value::as_number(known.as_ref().unwrap_or(item))?;
        (code.fract() == 0.0 && (100.0..=999.0).contains(&code)).then_some(code as i64)
    };
    items.iter().map(code).collect()
}
