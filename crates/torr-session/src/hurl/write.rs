//! A hurl file as text that a person would want to read. What is written is read back as it was.

use super::ast::*;
use super::filter::filter_name;
use super::names::name_of;
use super::option::option_name;
use super::predicate::PLAIN as PLAIN_PREDICATES;
use super::query::{CERTIFICATE_ATTRIBUTES, COOKIE_ATTRIBUTES, PLAIN as PLAIN_QUERIES};
use ::base64::Engine;
use ::base64::prelude::BASE64_STANDARD;
use std::fmt::Write;

/// The number of bytes of base64 on a line, as MIME has it.
const BASE64_LINE: usize = 76;

/// A brace that begins no placeholder.
const BRACE: &str = "\\u{7b}";

/// Writes a file.
pub fn write(file: &File) -> String {
    let entries: Vec<_> = file.entries.iter().map(entry).collect();
    entries.join("\n")
}

/// Writes an entry.
pub fn entry(entry: &Entry) -> String {
    let mut out = Out(String::new());
    if let Some(name) = &entry.name {
        out.line(format_args!("# name: {name}"));
    }
    out.request(&entry.request);
    if let Some(response) = &entry.response {
        out.response(response);
    }
    out.0
}

/// A kind of string, by what must be escaped in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A line behind a method, where a colon at the beginning would make a field of it.
    Url,
    Key,
    Line,
    Quoted,
    FileName,
}

struct Out(String);

impl Out {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        let _ = writeln!(self.0, "{line}");
    }

    fn request(&mut self, request: &Request) {
        self.line(format_args!("{} {}", request.method, template(&request.url, Kind::Url)));
        self.pairs(&request.headers);
        self.section("Options", &request.options, option);
        self.section("Query", &request.query, pair);
        self.section("Form", &request.form, pair);
        self.section("Multipart", &request.multipart, part);
        self.section("Cookies", &request.cookies, pair);
        self.section("BasicAuth", request.basic_auth.as_slice(), pair);
        if let Some(body) = &request.body {
            self.line(format_args!("{}", content(body)));
        }
    }

    fn response(&mut self, response: &Response) {
        let version = match response.version {
            None => "HTTP",
            Some(Version::Http10) => "HTTP/1.0",
            Some(Version::Http11) => "HTTP/1.1",
            Some(Version::Http2) => "HTTP/2",
            Some(Version::Http3) => "HTTP/3",
        };
        match response.status {
            Some(status) => self.line(format_args!("{version} {status}")),
            None => self.line(format_args!("{version} *")),
        }
        self.pairs(&response.headers);
        self.section("Captures", &response.captures, capture);
        self.section("Asserts", &response.asserts, assert);
        if let Some(body) = &response.body {
            self.line(format_args!("{}", content(body)));
        }
    }

    fn pairs(&mut self, pairs: &[KeyValue]) {
        pairs.iter().for_each(|item| self.line(format_args!("{}", pair(item))));
    }

    fn section<T>(&mut self, name: &str, items: &[T], write: fn(&T) -> String) {
        if !items.is_empty() {
            self.line(format_args!("[{name}]"));
            items.iter().for_each(|item| self.line(format_args!("{}", write(item))));
        }
    }
}

fn pair(pair: &KeyValue) -> String {
    format!("{}: {}", template(&pair.name, Kind::Key), template(&pair.value, Kind::Line)).trim_end().to_owned()
}

fn part(part: &MultipartPart) -> String {
    match part {
        MultipartPart::Field(field) => pair(field),
        MultipartPart::File { name, file, content_type, .. } => {
            let content_type =
                content_type.as_ref().map_or(String::new(), |media| format!(" {}", template(media, Kind::Line)));
            format!("{}: file,{};{content_type}", template(name, Kind::Key), template(file, Kind::FileName))
        }
    }
}

fn option(option: &EntryOption) -> String {
    let value = match &option.value {
        OptionValue::Boolean(boolean) => boolean.to_string(),
        OptionValue::Count(Some(count)) => count.to_string(),
        OptionValue::Count(None) => "-1".to_owned(),
        OptionValue::Milliseconds(ms) if ms % 1000 == 0 => format!("{}s", ms / 1000),
        OptionValue::Milliseconds(ms) => format!("{ms}ms"),
        OptionValue::Text(text) => template(text, Kind::Line),
        OptionValue::Definition { name, value: Value::Text(text) } => format!("{name}={}", quoted(text)),
        OptionValue::Definition { name, value: of } => format!("{name}={}", value(of)),
        OptionValue::Placeholder(expression) => placeholder(expression),
    };
    format!("{}: {value}", option_name(option.name))
}

fn capture(capture: &Capture) -> String {
    let redact = if capture.redact { " redact" } else { "" };
    let name = template(&capture.name, Kind::Key);
    format!("{name}: {}{}{redact}", query(&capture.query), filters(&capture.filters))
}

fn assert(assert: &Assert) -> String {
    let not = if assert.not { "not " } else { "" };
    format!("{}{} {not}{}", query(&assert.query), filters(&assert.filters), predicate(&assert.predicate))
}

fn query(query: &Query) -> String {
    match query {
        Query::Header(name) => format!("header {}", quoted(name)),
        Query::Cookie { name, attribute } => {
            let attribute = attribute.map(|attribute| format!("[{}]", name_of(COOKIE_ATTRIBUTES, &attribute)));
            format!("cookie \"{}{}\"", template(name, Kind::Quoted), attribute.unwrap_or_default())
        }
        Query::JsonPath(path) => format!("jsonpath {}", quoted(path)),
        Query::XPath(path) => format!("xpath {}", quoted(path)),
        Query::Regex(of) => format!("regex {}", pattern(of)),
        Query::Variable(name) => format!("variable {}", quoted(name)),
        Query::Certificate(attribute) => format!("certificate \"{}\"", name_of(CERTIFICATE_ATTRIBUTES, attribute)),
        plain => name_of(PLAIN_QUERIES, plain).to_owned(),
    }
}

fn filters(filters: &[Filter]) -> String {
    filters.iter().map(|each| format!(" {}", filter(each))).collect()
}

fn filter(filter: &Filter) -> String {
    match filter {
        Filter::DateFormat(format) => format!("dateFormat {}", quoted(format)),
        Filter::Decode(encoding) => format!("decode {}", quoted(encoding)),
        Filter::JsonPath(path) => format!("jsonpath {}", quoted(path)),
        Filter::Nth(Index::Number(index)) => format!("nth {index}"),
        Filter::Nth(Index::Placeholder(expression)) => format!("nth {}", placeholder(expression)),
        Filter::Regex(of) => format!("regex {}", pattern(of)),
        Filter::Replace(old, new) => format!("replace {} {}", quoted(old), quoted(new)),
        Filter::ReplaceRegex(of, new) => format!("replaceRegex {} {}", pattern(of), quoted(new)),
        Filter::Split(separator) => format!("split {}", quoted(separator)),
        Filter::ToDate(format) => format!("toDate {}", quoted(format)),
        Filter::UrlQueryParameter(name) => format!("urlQueryParam {}", quoted(name)),
        Filter::XPath(path) => format!("xpath {}", quoted(path)),
        plain => filter_name(plain).to_owned(),
    }
}

fn predicate(predicate: &Predicate) -> String {
    let (name, of) = match predicate {
        Predicate::Equal(value) => ("==", value),
        Predicate::NotEqual(value) => ("!=", value),
        Predicate::Greater(value) => (">", value),
        Predicate::GreaterOrEqual(value) => (">=", value),
        Predicate::Less(value) => ("<", value),
        Predicate::LessOrEqual(value) => ("<=", value),
        Predicate::StartsWith(value) => ("startsWith", value),
        Predicate::EndsWith(value) => ("endsWith", value),
        Predicate::Contains(value) => ("contains", value),
        Predicate::Includes(value) => ("includes", value),
        Predicate::Matches(of) => return format!("matches {}", pattern(of)),
        plain => return name_of(PLAIN_PREDICATES, plain).to_owned(),
    };
    format!("{name} {}", value(of))
}

fn pattern(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Template(text) => quoted(text),
        Pattern::Literal(text) => format!("/{}/", pattern_between_slashes(text)),
    }
}

/// Returns a pattern in which no slash and no line end is bare. An escaped one stays as it is.
fn pattern_between_slashes(text: &str) -> String {
    let mut out = String::new();
    let mut escaped = false;
    for next in text.chars() {
        match next {
            '/' if !escaped => out.push_str("\\/"),
            '\n' => out.push_str(if escaped { "n" } else { "\\n" }),
            '\r' => out.push_str(if escaped { "r" } else { "\\r" }),
            next => out.push(next),
        }
        escaped = next == '\\' && !escaped;
    }
    out
}

fn value(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Number(Number::Integer(integer)) => integer.to_string(),
        Value::Number(Number::Large(digits)) => digits.clone(),
        // The debugging form keeps a decimal place, and so the number's kind.
        Value::Number(Number::Float(float)) => format!("{float:?}"),
        Value::Text(text) => quoted(text),
        Value::Bytes(bytes) => format!("hex,{};", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
        Value::File(name) => format!("file,{};", template(name, Kind::FileName)),
        Value::Content(body) => content(body),
        Value::Placeholder(expression) => placeholder(expression),
    }
}

fn content(body: &Body) -> String {
    match body {
        Body::Json(pieces) => json(pieces),
        Body::Xml(text) => text.clone(),
        Body::Text { text, hint } => {
            let hint = match hint {
                TextHint::Plain => "",
                TextHint::Json => "json",
                TextHint::Xml => "xml",
            };
            fenced(text, hint)
        }
        Body::GraphQl { query, variables } => {
            let variables = variables.as_ref().map_or(String::new(), |pieces| format!("variables {}\n", json(pieces)));
            let query: String = query.0.iter().map(verbatim).collect();
            format!("```graphql\n{query}{variables}```")
        }
        Body::Bytes(bytes) => {
            let encoded = BASE64_STANDARD.encode(bytes);
            // The alphabet of base64 is ASCII, so that lines are cut between characters.
            let lines: Vec<_> = encoded.as_bytes().chunks(BASE64_LINE).map(String::from_utf8_lossy).collect();
            format!("base64,{};", lines.join("\n"))
        }
        Body::File(name) => format!("file,{};", template(name, Kind::FileName)),
    }
}

/// Writes text between fences: verbatim where that is possible, with escapes where the text has fences or controls of its own.
fn fenced(text: &Template, hint: &str) -> String {
    let verbatim: String = text.0.iter().map(verbatim).collect();
    let plain: String =
        text.0.iter().map(|piece| if let Piece::Text(text) = piece { text.as_str() } else { "" }).collect();
    let before_placeholder = |pair: &[Piece]| matches!(pair, [Piece::Text(text), _] if text.ends_with('{'));
    let needs_escapes = text.0.windows(2).any(before_placeholder)
        || plain.contains("```")
        || plain.contains("{{")
        || plain.contains('\r')
        || plain.ends_with('`');
    if needs_escapes {
        let escaped = |piece: &Piece| match piece {
            Piece::Text(text) => {
                text.replace('\\', "\\\\").replace('{', BRACE).replace('`', "\\u{60}").replace('\r', "\\r")
            }
            Piece::Placeholder(expression) => placeholder(expression),
        };
        return format!("```{hint},escape\n{}```", text.0.iter().map(escaped).collect::<String>());
    }
    if hint.is_empty() && !verbatim.contains('\n') {
        return format!("```{verbatim}```");
    }
    format!("```{hint}\n{verbatim}```")
}

fn verbatim(piece: &Piece) -> String {
    match piece {
        Piece::Text(text) => text.clone(),
        Piece::Placeholder(expression) => placeholder(expression),
    }
}

fn json(pieces: &[JsonPiece]) -> String {
    let piece = |piece: &JsonPiece| match piece {
        JsonPiece::Text(text) => text.clone(),
        JsonPiece::InString(expression) | JsonPiece::Value(expression) => placeholder(expression),
    };
    pieces.iter().map(piece).collect()
}

fn placeholder(expression: &Expression) -> String {
    let source = match &expression.source {
        Source::Variable(name) => name.clone(),
        Source::NewUuid => "newUuid".to_owned(),
        Source::NewDate => "newDate".to_owned(),
        Source::Environment(name) => format!("getEnv {}", quoted(&Template::from(name.as_str()))),
    };
    format!("{{{{{source}{}}}}}", filters(&expression.filters))
}

fn quoted(text: &Template) -> String {
    format!("\"{}\"", template(text, Kind::Quoted))
}

fn template(template: &Template, kind: Kind) -> String {
    let mut out = String::new();
    for (at, piece) in template.0.iter().enumerate() {
        let text = match piece {
            Piece::Placeholder(expression) => {
                out.push_str(&placeholder(expression));
                continue;
            }
            Piece::Text(text) => text,
        };
        let (first, last) = (at == 0, at + 1 == template.0.len());
        let outer_space = |position: usize, next: char| {
            let is_outer = (first && position == 0) || (last && position + next.len_utf8() == text.len());
            matches!(next, ' ' | '\t') && is_outer
        };
        for (position, next) in text.char_indices() {
            let must = match kind {
                Kind::Key => {
                    !(next.is_alphanumeric() || "_-.[]@$".contains(next)) || (first && position == 0 && next == '[')
                }
                Kind::Url if first && position == 0 && next == ':' => true,
                Kind::Line | Kind::Url => next == '#' || outer_space(position, next),
                Kind::Quoted => next == '"',
                Kind::FileName => matches!(next, '#' | ';' | ' ' | '\t'),
            };
            match next {
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' if must || !matches!(kind, Kind::Line | Kind::Url) => out.push_str("\\t"),
                '{' if text[position + 1..].starts_with('{') || (!last && position + 1 == text.len()) => {
                    out.push_str(BRACE)
                }
                '{' if out.ends_with(BRACE) => out.push_str(BRACE),
                '#' | '"' if must => {
                    out.push('\\');
                    out.push(next);
                }
                next if must || (next.is_control() && next != '\t') => {
                    let _ = write!(out, "\\u{{{:x}}}", u32::from(next));
                }
                next => out.push(next),
            }
        }
    }
    out
}
