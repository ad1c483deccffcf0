//! Values that a response gave and that a later request sends back: tokens, ids, hidden fields of forms. Such a value differs
//! for every virtual user, so the response captures the value and the requests use the variable.
//!
//! A value counts if a response gave it before any request had it, and if it can hardly be the same by chance: it is long,
//! or its name says that it identifies something.

use super::record::Record;
use crate::parts::{NOWHERE, variable, variable_name};
use regex::Regex;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;
use torr_session::hurl::ast::{Capture, Filter, JsonPiece, Pattern, Piece, Query, Template};

/// A value of this length or more is not the same by chance.
const LONG: usize = 12;
/// A value of this length or more counts if its name identifies something.
const SHORT: usize = 2;

/// Names whose values identify something.
static IDENTIFIES: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?i)(^|[_\-.])(id|uuid|guid|key|token|csrf|xsrf|nonce|state|code|session|cart|order|ticket|etag)$|[a-z](Id|Uuid|Token|Key|Code)$|(?i)(token|csrf|nonce|verification)";
    Regex::new(pattern).expect("the pattern is constant and tested")
});
/// A hidden field of a form, its attributes in either order.
static HIDDEN: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?is)<(?:input|meta)\b[^>]*>").expect("the pattern is constant and tested"));
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?is)\b(name|type|value|content)\s*=\s*"([^"]*)""#).expect("the pattern is constant and tested")
});

/// A value that goes from a response to later requests.
#[derive(Debug, Clone)]
pub(super) struct Correlation {
    /// The number of the record whose response gives the value.
    from: usize,
    /// The numbers of the records whose requests have the value.
    to: Vec<usize>,
    pub(super) variable: String,
    value: String,
    query: Query,
    filters: Vec<Filter>,
    /// Where the response has the value, in words.
    place: String,
}

impl Correlation {
    /// Returns what was found and where, for people. The value may be a secret, and is not shown.
    pub(super) fn evidence(&self) -> String {
        let to: Vec<_> = self.to.iter().map(|number| (number + 1).to_string()).collect();
        format!(
            "captured: '{}' from {} of response {}, sent again by request {}",
            self.variable,
            self.place,
            self.from + 1,
            to.join(", ")
        )
    }
}

/// A value of a response, and where it stands.
struct Given {
    name: String,
    value: String,
    query: Query,
    filters: Vec<Filter>,
    place: String,
}

impl Given {
    fn new(name: impl Into<String>, value: impl Into<String>, query: Query, place: impl Into<String>) -> Self {
        Self { name: name.into(), value: value.into(), query, filters: Vec::new(), place: place.into() }
    }
}

/// Finds all correlations.
pub(super) fn find(records: &[Record]) -> Vec<Correlation> {
    let requests: Vec<String> = records.iter().map(request_text).collect();
    let index = Index::new(&requests);
    let mut found: Vec<Correlation> = Vec::new();
    let (mut values, mut names) = (HashSet::new(), HashSet::new());
    for (from, record) in records.iter().enumerate() {
        // A request that began before the response ended cannot have a value from it.
        let ended = record.ended();
        for given in given(record) {
            if !can_count(&given) || values.contains(&given.value) {
                continue;
            }
            let holding: Vec<_> = index.holding(&given.value).collect();
            if holding.first().is_none_or(|first| *first <= from) {
                continue;
            }
            let to: Vec<_> = holding.into_iter().filter(|to| records[*to].started >= ended).collect();
            if !to.is_empty() {
                let variable = variable_name(&given.name, |name| names.contains(name));
                names.insert(variable.clone());
                values.insert(given.value.clone());
                found.push(Correlation {
                    from,
                    to,
                    variable,
                    value: given.value,
                    query: given.query,
                    filters: given.filters,
                    place: given.place,
                });
            }
        }
    }
    found
}

/// The words of all requests: a value can only stand in requests that have its first word.
struct Index<'r> {
    requests: &'r [String],
    /// The numbers of the requests that have a word, in order.
    words: HashMap<&'r str, Vec<usize>>,
}

impl<'r> Index<'r> {
    fn new(requests: &'r [String]) -> Self {
        let mut words: HashMap<_, Vec<_>> = HashMap::new();
        for (number, request) in requests.iter().enumerate() {
            for word in request.split(|c| !is_word(c)).filter(|word| !word.is_empty()) {
                let numbers = words.entry(word).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        }
        Self { requests, words }
    }

    /// Returns the numbers of the requests that have a value, in order. A value without a word identifies nothing.
    fn holding(&self, value: &str) -> impl Iterator<Item = usize> {
        let first = value.split(|c| !is_word(c)).find(|word| !word.is_empty());
        let numbers = first.and_then(|word| self.words.get(word)).map_or(&[][..], Vec::as_slice);
        numbers.iter().copied().filter(move |number| holds(&self.requests[*number], value))
    }
}

/// Returns the captures of a response.
pub(super) fn captures(correlations: &[Correlation], number: usize) -> Vec<Capture> {
    let capture = |correlation: &Correlation| Capture {
        name: correlation.variable.as_str().into(),
        query: correlation.query.clone(),
        filters: correlation.filters.clone(),
        redact: false,
        at: NOWHERE,
    };
    correlations.iter().filter(|correlation| correlation.from == number).map(capture).collect()
}

/// Puts variables in the place of captured values.
pub(super) fn insert(template: Template, correlations: &[Correlation], number: usize) -> Template {
    let mut pieces = template.0;
    for correlation in correlations.iter().filter(|correlation| correlation.to.contains(&number)) {
        let replace = |piece: Piece| match piece {
            Piece::Text(text) => split(&text, &correlation.value)
                .into_iter()
                .map(|part| part.map_or_else(|| Piece::Placeholder(variable(&correlation.variable)), Piece::Text))
                .collect(),
            placeholder => vec![placeholder],
        };
        pieces = pieces.into_iter().flat_map(replace).collect();
    }
    Template(pieces)
}

/// Puts variables in the place of captured values of JSON content, within strings and as numbers.
pub(super) fn insert_json(pieces: Vec<JsonPiece>, correlations: &[Correlation], number: usize) -> Vec<JsonPiece> {
    let mut pieces = pieces;
    for correlation in correlations.iter().filter(|correlation| correlation.to.contains(&number)) {
        let mut is_string = false;
        let mut out = Vec::new();
        for piece in pieces {
            let JsonPiece::Text(text) = piece else {
                out.push(piece);
                continue;
            };
            for part in split(&text, &correlation.value) {
                match part {
                    Some(text) => {
                        is_string ^= quotes(&text) % 2 == 1;
                        out.push(JsonPiece::Text(text));
                    }
                    None if is_string => out.push(JsonPiece::InString(variable(&correlation.variable))),
                    None => out.push(JsonPiece::Value(variable(&correlation.variable))),
                }
            }
        }
        pieces = out;
    }
    pieces
}

/// Returns the number of quotes of JSON text that open or close a string.
fn quotes(text: &str) -> usize {
    let mut escaped = false;
    text.chars()
        .filter(|&next| {
            let is_quote = next == '"' && !escaped;
            escaped = next == '\\' && !escaped;
            is_quote
        })
        .count()
}

/// Splits text at a value that stands alone: `None` stands for the value.
fn split(text: &str, value: &str) -> Vec<Option<String>> {
    let mut parts = Vec::new();
    let mut rest = text;
    let mut before = None;
    let mut kept = String::new();
    while let Some(at) = rest.find(value) {
        let end = at + value.len();
        let previous = rest[..at].chars().next_back().or(before);
        let alone = !previous.is_some_and(is_word) && !rest[end..].chars().next().is_some_and(is_word);
        kept.push_str(&rest[..at]);
        if alone {
            if !kept.is_empty() {
                parts.push(Some(std::mem::take(&mut kept)));
            }
            parts.push(None);
        } else {
            kept.push_str(value);
        }
        before = value.chars().next_back();
        rest = &rest[end..];
    }
    kept.push_str(rest);
    if !kept.is_empty() || parts.is_empty() {
        parts.push(Some(kept));
    }
    parts
}

fn holds(text: &str, value: &str) -> bool {
    split(text, value).iter().any(Option::is_none)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

/// Returns all of a request in which a value can stand.
fn request_text(record: &Record) -> String {
    let fields = record.request.headers.iter().filter(|header| !header.name.eq_ignore_ascii_case("cookie"));
    let mut text = vec![record.request.url.clone()];
    text.extend(fields.map(|header| header.value.clone()));
    if let Some(data) = &record.request.post_data {
        text.extend(data.text.clone());
        // Values of forms are percent-encoded in the text.
        if let Some(form) = data.text.as_ref().filter(|_| data.mime_type.contains("urlencoded")) {
            text.extend(url::form_urlencoded::parse(form.as_bytes()).map(|(_, value)| value.into_owned()));
        }
        text.extend(data.params.iter().filter_map(|param| param.value.clone()));
    }
    text.join("\n")
}

fn can_count(given: &Given) -> bool {
    let is_plain = !given.value.contains(['\n', '"', '\\']);
    let length = given.value.chars().count();
    is_plain && (length >= LONG || (length >= SHORT && IDENTIFIES.is_match(&given.name)))
}

/// Returns the values that a response gives: members of JSON, hidden fields, fields of the header section.
fn given(record: &Record) -> Vec<Given> {
    let mut given = Vec::new();
    let Some(response) = &record.response else { return given };
    if let Some(text) = response.content.text() {
        match serde_json::from_str(&text) {
            Ok(json) => members(&json, "$", &mut given),
            Err(_) if response.content.mime_type.contains("html") => given.extend(hidden(&text)),
            Err(_) => {}
        }
    }
    if let Some(location) = record.redirect() {
        given.extend(parameters(location));
    }
    // Of a redirect the parameters count; all of its URL would hide where later requests go to.
    let location = if record.redirect().is_some() { "location" } else { "" };
    let own = [location, "set-cookie", "date", "content-length", "content-type", "last-modified", "expires", "server"];
    for header in &response.headers {
        if !own.iter().any(|own| header.name.eq_ignore_ascii_case(own)) {
            let query = Query::Header(header.name.as_str().into());
            given.push(Given::new(&header.name, &header.value, query, format!("the field {}", header.name)));
        }
    }
    given
}

/// Returns the parameters of a redirect's target, as they stand in its URL.
fn parameters(location: &str) -> Vec<Given> {
    let query = location.split('#').next().and_then(|url| url.split_once('?')).map_or("", |(_, query)| query);
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    // What is encoded would be captured without its encoding.
    let plain = pairs.filter(|(name, value)| !name.contains(['%', '+']) && !value.contains(['%', '+']));
    plain
        .map(|(name, value)| {
            let place = format!("the parameter {name} of the field Location");
            let filters = vec![Filter::UrlQueryParameter(name.into())];
            Given { filters, ..Given::new(name, value, Query::Header("Location".into()), place) }
        })
        .collect()
}

fn members(json: &serde_json::Value, path: &str, given: &mut Vec<Given>) {
    match json {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                let is_plain = is_word && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
                let member = if is_plain { format!(".{name}") } else { format!("['{}']", name.replace('\'', "\\'")) };
                member_or_item(name, value, format!("{path}{member}"), given);
            }
        }
        serde_json::Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                member_or_item("", value, format!("{path}[{index}]"), given);
            }
        }
        _ => {}
    }
}

fn member_or_item(name: &str, json: &serde_json::Value, path: String, given: &mut Vec<Given>) {
    let value = match json {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => number.to_string(),
        _ => return members(json, &path, given),
    };
    given.push(Given::new(name, value, Query::JsonPath(path.as_str().into()), path));
}

fn hidden(html: &str) -> Vec<Given> {
    let field = |tag: regex::Match<'_>| {
        let attribute = |wanted: &str| {
            ATTRIBUTE
                .captures_iter(tag.as_str())
                .find(|found| found[1].eq_ignore_ascii_case(wanted))
                .map(|found| found[2].to_owned())
        };
        let is_meta = tag.as_str()[1..].to_ascii_lowercase().starts_with("meta");
        if !is_meta && !attribute("type").is_some_and(|kind| kind.eq_ignore_ascii_case("hidden")) {
            return None;
        }
        let (name, holder) = (attribute("name")?, if is_meta { "content" } else { "value" });
        let value = attribute(holder)?;
        let (quoted, kind) = (regex::escape(&name), if is_meta { "meta" } else { "input" });
        let pattern = format!("<{kind}[^>]*name=\"{quoted}\"[^>]*{holder}=\"([^\"]*)\"");
        let turned = format!("<{kind}[^>]*{holder}=\"([^\"]*)\"[^>]*name=\"{quoted}\"");
        // The attributes' order in the recording is that of the service.
        let pattern =
            if Regex::new(&pattern).is_ok_and(|pattern| pattern.is_match(tag.as_str())) { pattern } else { turned };
        let query = Query::Regex(Pattern::Literal(pattern));
        let place = format!("the hidden field {name}");
        Some(Given::new(name, value, query, place))
    };
    HIDDEN.find_iter(html).filter_map(field).collect()
}
