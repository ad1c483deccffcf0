//! Content of requests.

use super::request::Made;
use crate::content::content;
use crate::draft::LeftOut;
use crate::form::FORM;
use crate::node::Node;
use crate::parts::{beside, has_field, plain_name};
use crate::variables::{Part, in_braces};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{Body, TextHint};

/// What the clients encode in a form, whose names and values stand there as people want them to be sent.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

static OPERATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^\s*(?:query|mutation|subscription)\s+(\w+)").expect("the pattern is constant and tested")
});

/// Adds the content of a request.
pub(super) fn add(made: &mut Made<'_>, lines: &[String], is_graphql: bool) {
    let is_blank = |line: &&String| line.trim().is_empty();
    let start = lines.iter().take_while(is_blank).count();
    let end = lines.len() - lines[start..].iter().rev().take_while(is_blank).count();
    let lines = &lines[start..end];
    if lines.is_empty() {
        return;
    }
    let kind = made.field("content-type").unwrap_or_default().to_ascii_lowercase();
    if let [line] = lines
        && let Some(file) = line.trim_start().strip_prefix("< ").filter(|_| !is_graphql)
    {
        let (name, moved) = beside(file.trim());
        made.left_out.extend(moved);
        let (name, changed) = plain_name(made.template(name), name);
        made.left_out.extend(changed);
        made.request.body = Some(Body::File(name));
        return;
    }
    let is_multipart = kind.starts_with("multipart/");
    let Some(text) = with_files(made, lines, if is_multipart { "\r\n" } else { "\n" }) else { return };
    let text = match () {
        () if is_graphql => graphql(&text),
        () if kind.starts_with(FORM) => form(&text),
        () => text,
    };
    let template = made.template(&text);
    let is_json = kind.contains("json") && has_field(&made.request, "content-type");
    let secrets = &mut made.reader.secrets;
    made.request.body = Some(match is_json {
        true => content(template, secrets),
        false => Body::Text { text: secrets.text(template, kind.starts_with(FORM)), hint: TextHint::Plain },
    });
}

/// Returns lines as text, with the files that some of them name; `None` for files that cannot be part of a text.
fn with_files(made: &mut Made<'_>, lines: &[String], ends: &str) -> Option<String> {
    let mut text = Vec::new();
    for line in lines {
        let Some(file) = line.strip_prefix("< ").or_else(|| line.strip_prefix("<@ ")) else {
            text.push(line.clone());
            continue;
        };
        let is_read = (made.read)(file.trim()).and_then(|bytes| {
            String::from_utf8(bytes).map_err(|_| "only text can be a part of other content".to_owned())
        });
        match is_read {
            // Braces of a file that has no variables stay as they are.
            Ok(of_file) if line.starts_with("< ") && of_file.contains("{{") => {
                made.left_out.push(LeftOut::new("content", file.trim(), "its braces would be read as variables"));
                return None;
            }
            Ok(of_file) => text.push(of_file),
            Err(reason) => {
                made.left_out.push(LeftOut::new("content", file.trim(), reason));
                return None;
            }
        }
    }
    Some(text.join(ends))
}

/// Returns the content of a form, whose lines are parts of it.
fn form(text: &str) -> String {
    let joined: String = text.lines().map(str::trim).collect();
    let trimmed = |pair: &str| match pair.split_once('=') {
        Some((name, value)) => format!("{}={}", name.trim(), value.trim()),
        None => pair.trim().to_owned(),
    };
    let joined = joined.split('&').map(trimmed).collect::<Vec<_>>().join("&");
    let part = |part: Part<'_>| match part {
        Part::Text(text) => utf8_percent_encode(text, ENCODED).to_string(),
        Part::Reference(name) => format!("{{{{{name}}}}}"),
    };
    in_braces(&joined).into_iter().map(part).collect()
}

/// Returns the JSON of a query and of its variables, which stand behind an empty line.
fn graphql(text: &str) -> String {
    let split = text.rfind("\n\n").filter(|at| text[*at..].trim_start().starts_with('{'));
    let (query, variables) = split.map_or((text, ""), |at| (&text[..at], text[at..].trim()));
    let mut json = format!("{{\"query\":{}", Node::Text(query.trim().to_owned()).to_json());
    if let Some(found) = OPERATION.captures(query) {
        json.push_str(&format!(",\"operationName\":\"{}\"", &found[1]));
    }
    if !variables.is_empty() {
        let parsed = Node::read(variables, "list of variables", false);
        json.push_str(&format!(",\"variables\":{}", parsed.map_or(variables.to_owned(), |parsed| parsed.to_json())));
    }
    json + "}"
}
