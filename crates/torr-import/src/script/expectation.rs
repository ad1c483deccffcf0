//! Statements of test scripts that expect something of a response, in the notations of `pm.expect`, `pm.response.to` and `tests[]`.

use crate::draft::DraftEntry;
use crate::parts::{assert, integer, response, status_between};
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{Assert, Filter, Number, Pattern, Predicate, Query, Value};
use torr_session::pattern::is_json_path;

static EXPECT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^pm\.expect\((.+?)\)\.((?:to|not|is)\..+)$"));
static RESPONSE: LazyLock<Regex> = LazyLock::new(|| pattern(r"^pm\.response\.to\.(.+)$"));
static TESTS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^tests\[(?:"[^"]*"|'[^']*'|`[^`]*`)\]\s*=\s*(.+?)\s*(===?|!==?|<=|>=|<|>)\s*(.+)$"#));
static HAS: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^tests\[(?:"[^"]*"|'[^']*'|`[^`]*`)\]\s*=\s*responseBody\.has\((.+)\)$"#));
/// A last word with its arguments, behind words that only make sentences read well.
static CHAIN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"^((?:(?:to|be|been|is|that|which|and|has|have|with|of|same|does|deep|not|at)\.)*)([A-Za-z]+)(?:\((.*)\))?$",
    )
});
/// A step of a path into parsed content.
static STEP: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"^(?:\??\.([A-Za-z_$][\w$]*)|\[(\d+)\]|\[\s*(?:"([^"\\]+)"|'([^'\\]+)')\s*\])"#));
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"^(pm\.response\.headers\.get|postman\.getResponseHeader|pm\.cookies\.get|postman\.getResponseCookie)\(\s*["']([^"']+)["']\s*\)(\.value)?$"#,
    )
});

/// What a statement expects.
pub(crate) enum Expectation {
    Status(u16),
    Asserts(Vec<Assert>),
}

impl Expectation {
    /// Adds what is expected to an entry; `false` for a status that contradicts one before.
    pub(crate) fn add_to(self, made: &mut DraftEntry) -> bool {
        let expected = response(&mut made.entry);
        match self {
            Self::Status(code) => *expected.status.get_or_insert(code) == code,
            Self::Asserts(asserts) => {
                expected.asserts.extend(asserts);
                true
            }
        }
    }
}

/// A value of a response.
#[derive(Debug, Clone)]
pub(crate) struct Expression {
    pub(crate) query: Query,
    pub(crate) filters: Vec<Filter>,
}

impl Expression {
    /// Whether it is the whole content.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(&self.query, Query::JsonPath(path) if path.literal() == Some("$")) && self.filters.is_empty()
    }
}

/// A value that a script writes out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    Text(String),
    Integer(i64),
    Float(f64),
    Boolean(bool),
    Null,
}

impl Literal {
    /// Reads a literal: text without escapes, a number, true, false or null.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        for quote in ['"', '\'', '`'] {
            let inner = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            if let Some(inner) = inner {
                let is_plain = !inner.contains([quote, '\\']) && !inner.contains("${");
                return is_plain.then(|| Self::Text(inner.to_owned()));
            }
        }
        match text {
            "true" => Some(Self::Boolean(true)),
            "false" => Some(Self::Boolean(false)),
            "null" => Some(Self::Null),
            _ => {
                let float = || text.parse::<f64>().ok().filter(|float| float.is_finite()).map(Self::Float);
                let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
                text.parse().map(Self::Integer).ok().or_else(float).filter(|_| begins)
            }
        }
    }

    /// Returns the value to compare with.
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Text(text) => Value::Text(text.as_str().into()),
            Self::Integer(value) => integer(*value),
            Self::Float(value) => Value::Number(Number::Float(*value)),
            Self::Boolean(value) => Value::Boolean(*value),
            Self::Null => Value::Null,
        }
    }

    fn plain(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Boolean(value) => value.to_string(),
            Self::Null => "null".to_owned(),
        }
    }
}

/// Reads a value of a response. `bindings` are the names of its parsed content.
pub(crate) fn expression(text: &str, bindings: &[String]) -> Option<Expression> {
    let text = text.trim();
    let plain = |query| Some(Expression { query, filters: Vec::new() });
    match text {
        "pm.response.code" | "responseCode.code" => return plain(Query::Status),
        "pm.response.responseTime" | "responseTime" => return plain(Query::Duration),
        "pm.response.text()" | "responseBody" => return plain(Query::Body),
        _ => {}
    }
    if let Some(found) = CALL.captures(text) {
        let name = found[2].into();
        let is_header = found[1].contains("eader");
        return plain(if is_header { Query::Header(name) } else { Query::Cookie { name, attribute: None } });
    }
    let parsed = ["pm.response.json()", "JSON.parse(responseBody)", "JSON.parse(pm.response.text())"].into_iter();
    let mut steps = parsed.chain(bindings.iter().map(String::as_str)).find_map(|name| {
        let rest = text.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with(['.', '[', '?'])).then_some(rest)
    })?;
    let (mut path, mut filters) = ("$".to_owned(), Vec::new());
    while !steps.is_empty() {
        let found = STEP.captures(steps)?;
        let rest = &steps[found[0].len()..];
        match (found.get(1), found.get(2), found.get(3).or(found.get(4))) {
            (Some(name), ..) if name.as_str() == "length" && rest.is_empty() => filters.push(Filter::Count),
            (Some(name), ..) => path.push_str(&member(name.as_str())),
            (_, Some(index), _) => path.push_str(&format!("[{}]", index.as_str())),
            (_, _, Some(name)) => path.push_str(&member(name.as_str())),
            _ => return None,
        }
        steps = rest;
    }
    // A JSONPath has shorter numbers than a script may have.
    is_json_path(&path).then(|| Expression { query: Query::JsonPath(path.as_str().into()), filters })
}

fn member(name: &str) -> String {
    let is_plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain { format!(".{name}") } else { format!("['{}']", name.replace('\'', "\\'")) }
}

/// Adds what a statement expects to an entry; `false` for one whose meaning is not certain, or that contradicts one before.
pub(crate) fn add(statement: &str, bindings: &[String], made: &mut DraftEntry) -> bool {
    read(statement, bindings).is_some_and(|expectation| expectation.add_to(made))
}

/// Reads a statement; `None` for one whose meaning is not certain.
fn read(statement: &str, bindings: &[String]) -> Option<Expectation> {
    if let Some(found) = RESPONSE.captures(statement) {
        return of_response(&found[1]);
    }
    if let Some(found) = HAS.captures(statement) {
        let value = Literal::read(&found[1])?.value();
        return Some(Expectation::Asserts(vec![assert(Query::Body, Vec::new(), false, Predicate::Contains(value))]));
    }
    if let Some(found) = TESTS.captures(statement) {
        let value = Literal::read(&found[3])?;
        let predicate = match &found[2] {
            "==" | "===" => {
                return compared(expression(&found[1], bindings)?, false, Predicate::Equal(value.value()), &value);
            }
            "!=" | "!==" => Predicate::NotEqual(value.value()),
            "<" => Predicate::Less(value.value()),
            ">" => Predicate::Greater(value.value()),
            "<=" => Predicate::LessOrEqual(value.value()),
            _ => Predicate::GreaterOrEqual(value.value()),
        };
        return compared(expression(&found[1], bindings)?, false, predicate, &value);
    }
    let found = EXPECT.captures(statement)?;
    let chain = CHAIN.captures(&found[2])?;
    let not = chain[1].split('.').any(|word| word == "not");
    let argument = chain.get(3).map(|argument| argument.as_str().trim());
    let at = chain[1].ends_with("at.");
    expected(expression(&found[1], bindings)?, not, at, &chain[2], argument)
}

fn compared(on: Expression, not: bool, predicate: Predicate, literal: &Literal) -> Option<Expectation> {
    if let (Query::Status, false, Predicate::Equal(_), Literal::Integer(code)) = (&on.query, not, &predicate, literal) {
        return u16::try_from(*code).ok().filter(|code| (100..1000).contains(code)).map(Expectation::Status);
    }
    Some(Expectation::Asserts(vec![assert(on.query, on.filters, not, predicate)]))
}

fn expected(on: Expression, not: bool, at: bool, word: &str, argument: Option<&str>) -> Option<Expectation> {
    let literal = argument.and_then(Literal::read);
    let value = || literal.as_ref().map(Literal::value);
    let predicate = match (word, argument) {
        ("equal" | "equals" | "eq" | "eql" | "eqls", Some(_)) => {
            return compared(on, not, Predicate::Equal(value()?), literal.as_ref()?);
        }
        ("include" | "includes" | "contain" | "contains" | "string", Some(_)) => {
            // Of lists and objects the words mean something else.
            if !matches!(on.query, Query::Body | Query::Header(_)) {
                return None;
            }
            Predicate::Contains(value()?)
        }
        ("above" | "gt" | "greaterThan", Some(_)) => Predicate::Greater(value()?),
        ("below" | "lt" | "lessThan", Some(_)) => Predicate::Less(value()?),
        ("least" | "gte", Some(_)) if at || word == "gte" => Predicate::GreaterOrEqual(value()?),
        ("most" | "lte", Some(_)) if at || word == "lte" => Predicate::LessOrEqual(value()?),
        ("match", Some(argument)) => Predicate::Matches(expression_of(argument)?),
        ("exist" | "exists", None) => Predicate::Exists,
        ("true", None) => Predicate::Equal(Value::Boolean(true)),
        ("false", None) => Predicate::Equal(Value::Boolean(false)),
        ("null", None) => Predicate::Equal(Value::Null),
        ("undefined", None) => return Some(asserted(on, !not, Predicate::Exists)),
        ("empty", None) => Predicate::IsEmpty,
        ("a" | "an", Some(_)) => match literal? {
            Literal::Text(kind) => match kind.as_str() {
                "string" => Predicate::IsString,
                "number" => Predicate::IsNumber,
                "boolean" => Predicate::IsBoolean,
                "array" => Predicate::IsList,
                "object" => Predicate::IsObject,
                _ => return None,
            },
            _ => return None,
        },
        ("length" | "lengthOf", Some(_)) => {
            let mut on = on;
            on.filters.push(Filter::Count);
            return Some(asserted(on, not, Predicate::Equal(value()?)));
        }
        ("property", Some(argument)) => return property(on, not, argument),
        ("oneOf", Some(argument)) => {
            let list = argument.strip_prefix('[')?.strip_suffix(']')?;
            let values: Option<Vec<_>> = list.split(',').map(Literal::read).collect();
            let values: Vec<_> = values?.iter().map(|value| regex::escape(&value.plain())).collect();
            let mut on = on;
            on.filters.push(Filter::ToText);
            return Some(asserted(on, not, Predicate::Matches(Pattern::Literal(format!("^({})$", values.join("|"))))));
        }
        _ => return None,
    };
    Some(asserted(on, not, predicate))
}

fn asserted(on: Expression, not: bool, predicate: Predicate) -> Expectation {
    Expectation::Asserts(vec![assert(on.query, on.filters, not, predicate)])
}

/// Reads `property("name")` and `property("name", value)` of parsed content.
fn property(on: Expression, not: bool, argument: &str) -> Option<Expectation> {
    let Query::JsonPath(path) = &on.query else { return None };
    let (name, value) = argument.split_once(',').map_or((argument, None), |(name, value)| (name, Some(value)));
    let Literal::Text(name) = Literal::read(name)? else { return None };
    let path = format!("{}{}", path.literal()?, member(&name));
    let predicate = match value {
        Some(value) => Predicate::Equal(Literal::read(value)?.value()),
        None => Predicate::Exists,
    };
    let on = Expression { query: Query::JsonPath(path.as_str().into()), filters: on.filters };
    Some(asserted(on, not, predicate))
}

/// Reads a regular expression such as `/^a+$/i`, if both languages understand it alike.
fn expression_of(text: &str) -> Option<Pattern> {
    let (inner, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let flags = match flags {
        "" => "",
        "i" => "(?i)",
        _ => return None,
    };
    let pattern = format!("{flags}{}", inner.replace("\\/", "/"));
    Regex::new(&pattern).ok()?;
    Some(Pattern::Literal(pattern))
}

fn of_response(words: &str) -> Option<Expectation> {
    let chain = CHAIN.captures(words)?;
    let not = chain[1].split('.').any(|word| word == "not");
    let argument = chain.get(3).map(|argument| argument.as_str().trim());
    let header = |name: &str| Expression { query: Query::Header(name.into()), filters: Vec::new() };
    match (&chain[2], argument) {
        ("status", Some(code)) if !not => {
            let Literal::Integer(code) = Literal::read(code)? else { return None };
            u16::try_from(code).ok().filter(|code| (100..1000).contains(code)).map(Expectation::Status)
        }
        ("ok", None) if !not => Some(Expectation::Status(200)),
        ("success", None) if !not => Some(Expectation::Asserts(status_between(200, 300).into())),
        ("header", Some(argument)) => {
            let (name, value) = argument.split_once(',').map_or((argument, None), |(name, value)| (name, Some(value)));
            let Literal::Text(name) = Literal::read(name)? else { return None };
            let predicate = match value {
                Some(value) => Predicate::Equal(Literal::read(value)?.value()),
                None => Predicate::Exists,
            };
            Some(asserted(header(&name), not, predicate))
        }
        ("json", None) if !not => {
            Some(asserted(header("Content-Type"), false, Predicate::Contains(Value::Text("json".into()))))
        }
        ("body", Some(argument)) => {
            let on = Expression { query: Query::Body, filters: Vec::new() };
            Some(asserted(on, not, Predicate::Equal(Literal::read(argument)?.value())))
        }
        _ => None,
    }
}
