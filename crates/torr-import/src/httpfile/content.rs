//! Content of requests.

mod form;
mod graphql;

use super::block::Block;
use super::made::Made;
use super::text::{self, Part};
use crate::content::content;
use crate::form::FORM;
use crate::parts::{beside, has_field, is_json, pair, plain_name, push};
use crate::pattern::pattern;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{Body, Piece, Template, TextHint};

/// The most bytes by which values make JSON longer that is read.
const LONGEST: usize = 1 << 20;

/// A line that names a file: with variables or without, and with a character encoding.
static IMPORT: LazyLock<Regex> = LazyLock::new(|| pattern(r"^<(@?)(\w*)\s+(.+?)\s*$"));

/// A part of content.
enum Segment {
    /// Text, which has variables.
    Text(String),
    /// The bytes of a file.
    Bytes(Vec<u8>),
}

/// Adds the content of a request.
pub(super) fn add(made: &mut Made<'_>, block: &Block, is_graphql: bool) {
    let is_blank = |line: &&String| line.trim().is_empty();
    let lines = &block.content;
    let start = lines.iter().take_while(is_blank).count();
    let mut end = lines.len() - lines[start..].iter().rev().take_while(is_blank).count();
    if end > start && lines[end - 1].trim() == "<--->" {
        end -= 1;
    }
    let lines = &lines[start..end];
    if is_graphql && block.field("content-type").is_none() {
        made.request.headers.push(pair("Content-Type", "application/json".into()));
    }
    if lines.is_empty() {
        return;
    }
    let media = block.field("content-type").unwrap_or_default().split(';').next().unwrap_or_default();
    let media = media.trim().to_ascii_lowercase();
    let is_marked = block.field("x-request-type").is_some_and(|kind| kind.eq_ignore_ascii_case("graphql"));
    let is_bare = (media.is_empty() || media.contains("json"))
        && block.directive("no-gql-parsing").is_none()
        && graphql::is_query(&lines[0]);
    if is_graphql || is_marked || is_bare {
        if let Some(text) = graphql::content(made, lines) {
            add_text(made, &text, true);
        }
        return;
    }
    let injects = block.directive("inject-variables").is_some();
    if let [line] = lines
        && let Some((file, false)) = file_of(line, injects)
    {
        let (name, moved) = beside(file);
        made.left_out.extend(moved);
        let (name, changed) = plain_name(made.template(name), name);
        made.left_out.extend(changed);
        made.request.body = Some(Body::File(name));
        return;
    }
    let ends = if media == "multipart/form-data" { "\r\n" } else { "\n" };
    let Some(segments) = segments(made, lines, ends, injects) else { return };
    match &segments[..] {
        [Segment::Text(text)] if media == FORM => {
            let text = form::encoded(made, text);
            let template = made.template(&text);
            let text = made.reader.secrets.text(template, true);
            made.request.body = Some(Body::Text { text, hint: TextHint::Plain });
        }
        [Segment::Text(text)] => {
            let ends = if media == "application/x-ndjson" { "\n" } else { "" };
            add_text(made, &format!("{text}{ends}"), media.contains("json"));
        }
        _ => add_segments(made, segments),
    }
}

/// Adds text, as JSON where the variables in it cannot change its form.
fn add_text(made: &mut Made<'_>, text: &str, is_json: bool) {
    let is_json = is_json && has_field(&made.request, "content-type") && keeps_json(made, text);
    let template = made.template(text);
    let secrets = &mut made.reader.secrets;
    made.request.body = Some(match is_json {
        true => content(template, secrets),
        false => Body::Text { text: secrets.text(template, false), hint: TextHint::Plain },
    });
}

/// Whether text stays JSON with the values of its variables, which JSON of a hurl file would send as they are.
fn keeps_json(made: &Made<'_>, text: &str) -> bool {
    let mut filled = String::new();
    for part in text::parts(text) {
        let value = match part {
            Part::Plain(text) => text,
            // A digit may stand in a string and in the place of a value.
            Part::Expression(name) => match made.reader.variables.value(name) {
                Some(value) if !value.contains("{{") => value,
                _ => "0",
            },
        };
        let is_escaped = |next: char| next == '"' || next == '\\' || next.is_control();
        let is_odd =
            matches!(part, Part::Expression(_)) && (value.contains(is_escaped) || value.starts_with(['{', '[']));
        // A value may occur many times.
        if is_odd || filled.len() > text.len().saturating_add(LONGEST) {
            return false;
        }
        filled.push_str(value);
    }
    is_json(&filled)
}

/// Returns the file that a line names, and whether the file has variables.
fn file_of(line: &str, injects: bool) -> Option<(&str, bool)> {
    let found = IMPORT.captures(line).filter(|found| !found[1].is_empty() || found[2].is_empty())?;
    Some((found.get(3)?.as_str(), injects || !found[1].is_empty()))
}

/// Returns the parts of content; `None` for files that cannot be read.
fn segments(made: &mut Made<'_>, lines: &[String], ends: &str, injects: bool) -> Option<Vec<Segment>> {
    let mut segments = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match file_of(line, injects) {
            None => add_line(&mut segments, line),
            Some((file, has_variables)) => match read(made, line, file, has_variables) {
                Ok(Segment::Text(text)) => add_line(&mut segments, &text),
                Ok(bytes) => segments.push(bytes),
                Err(reason) => {
                    made.leave_out("content", file, &reason);
                    return None;
                }
            },
        }
        if at + 1 < lines.len() {
            add_line(&mut segments, ends);
        }
    }
    Some(segments)
}

/// Adds text to the text before it.
fn add_line(segments: &mut Vec<Segment>, text: &str) {
    match segments.last_mut() {
        Some(Segment::Text(before)) => before.push_str(text),
        _ => segments.push(Segment::Text(text.to_owned())),
    }
}

/// Reads the file that a line names.
fn read(made: &Made<'_>, line: &str, file: &str, has_variables: bool) -> Result<Segment, String> {
    let coding = IMPORT.captures(line).map(|found| found[2].to_ascii_lowercase()).unwrap_or_default();
    if !matches!(coding.as_str(), "" | "utf8") {
        return Err(format!("the character encoding {coding} is not supported"));
    }
    match has_variables {
        true => made.files.text(file).map(Segment::Text),
        false => made.files.bytes(file).map(Segment::Bytes),
    }
}

/// Adds content with bytes of files: as text where it is text, otherwise as bytes where it has no variables.
fn add_segments(made: &mut Made<'_>, segments: Vec<Segment>) {
    let is_text = segments.iter().all(|segment| match segment {
        Segment::Text(_) => true,
        Segment::Bytes(bytes) => std::str::from_utf8(bytes).is_ok(),
    });
    let (mut pieces, mut bytes) = (Vec::new(), Vec::new());
    for segment in segments {
        match segment {
            Segment::Text(text) => {
                bytes.extend_from_slice(text.as_bytes());
                made.template(&text).0.into_iter().for_each(|piece| push(&mut pieces, piece));
            }
            Segment::Bytes(of_file) => {
                push(&mut pieces, Piece::Text(String::from_utf8_lossy(&of_file).into_owned()));
                bytes.extend(of_file);
            }
        }
    }
    let template = Template(pieces);
    if is_text {
        let text = made.reader.secrets.text(template, false);
        made.request.body = Some(Body::Text { text, hint: TextHint::Plain });
    } else if template.literal().is_some() {
        made.request.body = Some(Body::Bytes(bytes));
    } else {
        made.leave_out("content", "", "a hurl file cannot have variables beside bytes that are no UTF-8");
    }
}
