//! Captures and matches of a response.

use super::payload::Kind;
use super::reader::{Captured, Found, Reader};
use super::text;
use super::value;
use crate::css;
use crate::draft::DraftEntry;
use crate::json_path::json_path;
use crate::node::Node;
use crate::parts::{assert, capture, integer, response};
use crate::pattern::only_group;
use crate::reason::{FUNCTION, OTHER_JSON_PATH};
use std::collections::HashSet;
use torr_session::hurl::ast::{Filter, Number, Pattern, Predicate, Query, Value};

/// A value of a response.
struct Taken {
    query: Query,
    filters: Vec<Filter>,
    /// The JSONPath, where that finds it.
    path: Option<String>,
    kind: Kind,
}

/// Adds the captures and matches of a request.
pub(super) fn add(reader: &mut Reader<'_>, params: &Node, made: &mut DraftEntry) {
    let mut names = HashSet::new();
    for of in value::list(params.get("capture")) {
        let name = of.get("as").plain();
        if name.is_empty() {
            reader.leave_out("capture", of.to_json(), "without a name");
            continue;
        }
        match taken(reader, of) {
            Ok(Taken { query, filters, path, kind }) => {
                let variable = reader.variables.assign(&name);
                let mut captured = capture(&variable, query);
                captured.filters = filters;
                let captures = &mut response(&mut made.entry).captures;
                if !names.insert(variable) {
                    captures.retain(|known| known.name != captured.name);
                }
                captures.push(captured);
                let entry = Some(reader.draft.entries.len());
                reader.captured.insert(name.clone(), Captured { entry, path, kind, is_made: true });
                if !is_strict(reader, of) {
                    let reason = "in a hurl file a capture that finds nothing ends the session";
                    reader.leave_out("strict: false", name, reason);
                }
            }
            Err(reason) => reader.leave_out("capture", format!("{name}: {}", of.to_json()), reason),
        }
    }
    for of in value::list(params.get("match")) {
        let Some(expected) = expected(reader, of.get("value")) else {
            reader.leave_out("match", of.to_json(), "its value is no text, number, truth value or null");
            continue;
        };
        match taken(reader, of) {
            Ok(_) if *of.get("strict") == Node::Boolean(false) => {
                reader.leave_out("match", of.to_json(), "not strict: its result counts for reports only");
            }
            Ok(Taken { query, filters, .. }) => {
                let of = assert(query, filters, false, Predicate::Equal(expected));
                response(&mut made.entry).asserts.push(of);
            }
            Err(reason) => reader.leave_out("match", of.to_json(), reason),
        }
    }
}

fn is_strict(reader: &Reader<'_>, of: &Node) -> bool {
    match of.get("strict") {
        Node::Boolean(strict) => *strict,
        _ => *reader.config.defaults("strictCapture") != Node::Boolean(false),
    }
}

/// Returns what takes a value from the response.
fn taken(reader: &mut Reader<'_>, of: &Node) -> Result<Taken, &'static str> {
    let plain = |query, kind| Ok(Taken { query, filters: Vec::new(), path: None, kind });
    let text = |name: &str| of.get(name).text().filter(|text| !text.is_empty()).map(str::to_owned);
    if !of.get("transform").is_null() {
        return Err(FUNCTION);
    }
    if let Some(path) = text("json") {
        let template = reader.template(&path);
        let path = template.literal().ok_or("a path with a variable is not supported")?;
        // JSONPath Plus compares as JavaScript does.
        let path = json_path(&path.replace("===", "==").replace("!==", "!=")).ok_or(OTHER_JSON_PATH)?;
        let may_be_many = path.contains(['*', '?', ':', ',']) || path.contains("..");
        if may_be_many && *of.get("multiple") != Node::Boolean(false) {
            reader.leave_out("capture", path.clone(), "the first result is taken: Artillery takes a random one");
            let filters = vec![Filter::First];
            return Ok(Taken {
                query: Query::JsonPath(path.as_str().into()),
                filters,
                path: None,
                kind: Kind::Unknown,
            });
        }
        let query = Query::JsonPath(path.as_str().into());
        return Ok(Taken { query, filters: Vec::new(), path: Some(path), kind: Kind::Unknown });
    }
    if let Some(expression) = text("xpath") {
        torr_xpath::Expression::compile(&expression).map_err(|_| "this XPath is not supported")?;
        let is_text = ["string(", "count(", "concat(", "normalize-space("].iter().any(|of| expression.starts_with(of));
        let made = if is_text { expression } else { format!("string({expression})") };
        return plain(Query::XPath(made.as_str().into()), Kind::Text);
    }
    if let Some(pattern) = text("regexp") {
        if text::has_names(&pattern) {
            return Err("a pattern with a variable is not supported");
        }
        let group = match of.get("group") {
            Node::Null => 0,
            group => {
                value::as_number(group).map_or(Err("groups with names are not supported"), |at| Ok(at as usize))?
            }
        };
        let flags = of.get("flags").plain();
        let kept: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
        let pattern = only_group(&pattern, group)?;
        let pattern = if kept.is_empty() { pattern } else { format!("(?{kept}){pattern}") };
        return plain(Query::Regex(Pattern::Literal(pattern)), Kind::Text);
    }
    if let Some(name) = text("header") {
        return plain(Query::Header(name.as_str().into()), Kind::Text);
    }
    if let Some(selector) = text("selector") {
        let nodes = css::x_path(&selector).ok_or("this CSS selector is not supported")?;
        let attribute = of.get("attr").plain().to_ascii_lowercase();
        if attribute.is_empty() || !attribute.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_') {
            return Err("an element has no value without an attribute (attr)");
        }
        let position = match of.get("index") {
            Node::Text(word) if word == "last" => "last()".to_owned(),
            Node::Text(word) if word == "random" => {
                reader.leave_out("capture", "index random", "the first element is taken");
                "1".to_owned()
            }
            Node::Null => "1".to_owned(),
            index => value::as_number(index).map_or("1".to_owned(), |at| format!("{}", at.max(0.0) as u32 + 1)),
        };
        let made = format!("string(({nodes})[{position}]/@{attribute})");
        return plain(Query::XPath(made.as_str().into()), Kind::Text);
    }
    Err("without json, xpath, regexp, header or selector")
}

/// Returns a value to compare with; `None` for lists and objects.
pub(super) fn expected(reader: &mut Reader<'_>, value: &Node) -> Option<Value> {
    Some(match value {
        Node::Null => Value::Null,
        Node::Boolean(value) => Value::Boolean(*value),
        Node::Number(number) => match number.as_i64() {
            Some(whole) => integer(whole),
            None => Value::Number(Number::Float(number.as_f64()?)),
        },
        Node::Text(text) => match text::whole(text).map(|name| reader.find(name)) {
            Some(Found::Constant(value)) => return expected(reader, &value),
            Some(Found::Piece(torr_session::hurl::ast::Piece::Placeholder(expression), _)) => {
                Value::Placeholder(expression)
            }
            Some(_) => return None,
            None => Value::Text(reader.template(text)),
        },
        Node::List(_) | Node::Object(_) => return None,
    })
}
