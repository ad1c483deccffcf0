//! Content of requests.

use super::comments::without_comments;
use super::item::{Content, Row};
use super::reader::Reader;
use super::scope::{self, parts};
use crate::content::{is_kept, json, with_values_as_they_are};
use crate::draft::LeftOut;
use crate::form::{ESCAPES, FORM, is_serialized_alike, serialized};
use crate::multipart::{self, Part};
use crate::node::Node;
use crate::parts::{NOWHERE, beside, drop_field, pair, plain_name, push, sent_media_type, within_json};
use crate::secret::Secrets;
use torr_session::hurl::ast::{Body, JsonPiece, KeyValue, MultipartPart, Piece, Request, Template, TextHint};

/// The media type of JSON.
const JSON: &str = "application/json";

/// Adds the content of a request, whose fields are there already.
pub(super) fn add(reader: &mut Reader, content: &Content, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    match content {
        Content::None => {}
        Content::Text { kind, text } => add_text(reader, kind, text, request, left_out),
        Content::Form(rows) => form(reader, rows, request, left_out),
        Content::Parts(rows) => {
            let own = media_type(request).filter(|own| own != "multipart/form-data");
            drop_field(request, "content-type");
            let rows = on(rows, "part of a form", left_out);
            let is_plain = |row: &&Row| row.files.is_empty() && !row.name.contains(['"', '\r', '\n']);
            let has_types = rows.iter().any(|row| row.files.is_empty() && !row.content_type.is_empty());
            let kind = own.as_deref().filter(|own| own.starts_with("multipart/") && !own.contains(';'));
            if (has_types || kind.is_some()) && rows.iter().all(is_plain) {
                return written_out(reader, kind.unwrap_or("multipart/form-data"), &rows, request, left_out);
            }
            if let Some(own) = own {
                left_out.push(LeftOut::new("media type of a form", own, "multipart/form-data is sent"));
            }
            rows.into_iter().for_each(|row| part(reader, row, request, left_out));
        }
        Content::GraphQl { query, variables } => graphql(reader, query, variables, request, left_out),
        Content::File(rows) => file(reader, rows, request, left_out),
        Content::Other(kind) => left_out.push(LeftOut::new("content", kind.as_str(), "unknown type")),
    }
}

/// Returns the media type that a field gives, in small letters.
fn media_type(request: &Request) -> Option<String> {
    let is_it = |name: &Template| name.literal().is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
    let field = request.headers.iter().find(|field| is_it(&field.name))?;
    Some(crate::parts::filled(&field.value))
}

fn set_media_type(request: &mut Request, kind: &str) {
    if media_type(request).is_none() {
        request.headers.push(pair("Content-Type", kind.into()));
    }
}

fn add_text(reader: &mut Reader, kind: &str, text: &str, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    if text.is_empty() {
        return empty(kind, request);
    }
    let text = if kind == "json" { without_comments(text) } else { text.to_owned() };
    let default = media_type_of_kind(kind);
    let own = media_type(request);
    let sent = own.as_deref().unwrap_or(default);
    let template = if sent == FORM {
        // Bruno puts the values of variables into forms only where it encodes them itself.
        if parts(&text).iter().any(|part| matches!(part, scope::Part::Name(_))) {
            left_out.push(LeftOut::new("variables", "in content", "Bruno sends them as they are in text of a form"));
        }
        Template::from(text.as_str())
    } else {
        reader.template(&text, left_out)
    };
    let is_form = sent == FORM;
    let known = reader.scope.known(&text);
    let template = match sent.contains(JSON) {
        // The values of variables decide whether it is JSON.
        true if !is_sent_as_json(&known) => as_string(reader.template(&known, &mut Vec::new())),
        true => trimmed(template),
        false => template,
    };
    let made = with_values_as_they_are(template, is_form, &mut reader.secrets);
    if !(matches!(made, Body::Json(_)) && own.is_none() && default == JSON) {
        set_media_type(request, default);
    }
    request.body = Some(made);
}

fn media_type_of_kind(kind: &str) -> &'static str {
    match kind {
        "json" => JSON,
        "text" => "text/plain",
        "xml" => "application/xml",
        _ => "application/sparql-query",
    }
}

/// Adds the media type of content without text.
fn empty(kind: &str, request: &mut Request) {
    match kind {
        // The default of the library that sends the request.
        "json" if matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") => set_media_type(request, FORM),
        "json" => {}
        kind => set_media_type(request, media_type_of_kind(kind)),
    }
}

/// Whether text is JSON with some value of each variable. What is none is sent as a string of JSON.
fn is_sent_as_json(known: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(with_placeholders_filled(known).trim_start_matches('\u{feff}')).is_ok()
}

/// Returns text as a string of JSON.
fn as_string(template: Template) -> Template {
    let mut quoted = Template::default();
    push(&mut quoted.0, Piece::Text("\"".to_owned()));
    template.0.into_iter().map(within_json).for_each(|piece| push(&mut quoted.0, piece));
    push(&mut quoted.0, Piece::Text("\"".to_owned()));
    quoted
}

/// Returns text without space around it, as JSON is sent.
fn trimmed(mut template: Template) -> Template {
    let is_space = |c: char| c.is_whitespace() || c == '\u{feff}';
    if let Some(Piece::Text(first)) = template.0.first_mut() {
        *first = first.trim_start_matches(is_space).to_owned();
    }
    if let Some(Piece::Text(last)) = template.0.last_mut() {
        *last = last.trim_end_matches(is_space).to_owned();
    }
    template.0.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
    template
}

/// Returns text in which each name is a number, or a letter where it is within a string.
fn with_placeholders_filled(text: &str) -> String {
    let (mut made, mut is_string, mut is_escaped) = (String::new(), false, false);
    for part in parts(text) {
        match part {
            scope::Part::Text(part) => {
                for next in part.chars() {
                    is_string ^= next == '"' && !(is_string && is_escaped);
                    is_escaped = next == '\\' && !is_escaped;
                }
                made.push_str(part);
            }
            scope::Part::Name(_) => made.push(if is_string { 'x' } else { '0' }),
        }
    }
    made
}

fn form(reader: &mut Reader, rows: &[Row], request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let rows = on(rows, "parameter of a form", left_out);
    if media_type(request).is_some_and(|kind| kind != FORM) {
        let reason = "Bruno sends no form with another media type in a field";
        left_out.push(LeftOut::new("content", "form", reason));
        return;
    }
    drop_field(request, "content-type");
    let mut pairs = Vec::new();
    // A form of a hurl file has other escapes than Bruno's for some characters.
    let mut is_same = !rows.is_empty();
    for row in rows {
        is_same &= !row.name.is_empty()
            && [row.name.as_str(), &reader.scope.known(&row.value)].iter().all(|text| agrees(text));
        // Names have no variables.
        let name = Template::from(row.name.as_str());
        // A value that is known has its own escapes.
        let known = reader.scope.known(&row.value);
        let value = reader.template(if agrees(&known) { &row.value } else { &known }, left_out);
        let value = reader.secrets.in_parameter(&row.name, value);
        pairs.push(KeyValue { name, value, at: NOWHERE });
    }
    if is_same {
        request.form = pairs;
        return;
    }
    set_media_type(request, FORM);
    request.body = Some(Body::Text { text: serialized(pairs, &ESCAPES), hint: TextHint::Plain });
}

/// Whether both forms have the same escapes for a text.
fn agrees(text: &str) -> bool {
    let texts =
        parts(text).into_iter().filter_map(|part| if let scope::Part::Text(text) = part { Some(text) } else { None });
    texts.into_iter().all(is_serialized_alike)
}

fn part(reader: &mut Reader, row: &Row, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    // Names have no variables.
    let name = || Template::from(row.name.as_str());
    if row.files.is_empty() {
        if !row.content_type.is_empty() {
            let what = format!("media type {} of the part", row.content_type);
            left_out.push(LeftOut::new(what, row.name.as_str(), "only files can have one"));
        }
        let value = reader.template(&row.value, left_out);
        let value = reader.secrets.in_parameter(&row.name, value);
        request.multipart.push(MultipartPart::Field(KeyValue { name: name(), value, at: NOWHERE }));
        return;
    }
    for file in &row.files {
        let file = file.trim();
        if file.is_empty() {
            left_out.push(LeftOut::new("file of a form", row.name.as_str(), "missing in the collection"));
            continue;
        }
        let kind = if row.content_type.is_empty() { sent_media_type(file) } else { &row.content_type };
        let content_type = Some(Template::from(kind));
        let file = file_name(reader, file, left_out);
        request.multipart.push(MultipartPart::File { name: name(), file, content_type, at: NOWHERE });
    }
}

/// Adds a form whose parts have media types: a hurl file can give them to files only, so that the content is text.
fn written_out(reader: &mut Reader, kind: &str, rows: &[&Row], request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let values: String = rows.iter().map(|row| reader.scope.known(&row.value)).collect();
    let mut parts = Vec::new();
    for row in rows {
        let value = reader.template(&row.value, left_out);
        let value = reader.secrets.in_parameter(&row.name, value);
        parts.push(Part { name: row.name.as_str().into(), value, content_type: row.content_type.clone() });
    }
    multipart::write_out(("Content-Type", kind), parts, &values, request);
}

fn file_name(reader: &mut Reader, name: &str, left_out: &mut Vec<LeftOut>) -> Template {
    let (name, moved) = beside(name);
    left_out.extend(moved);
    let (plain, changed) = plain_name(reader.template(name, left_out), name);
    left_out.extend(changed);
    plain
}

fn file(reader: &mut Reader, rows: &[Row], request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let Some(row) = rows.iter().find(|row| row.is_on) else {
        set_media_type(request, "application/octet-stream");
        return;
    };
    let Some(name) = row.files.first().filter(|name| !name.is_empty()) else {
        left_out.push(LeftOut::new("file", "", "missing in the collection"));
        return;
    };
    // The media type of the file wins over a field, even an empty one.
    drop_field(request, "content-type");
    request.headers.push(pair("Content-Type", row.content_type.as_str().into()));
    let name = name.clone();
    request.body = Some(Body::File(file_name(reader, &name, left_out)));
}

fn graphql(reader: &mut Reader, query: &str, variables: &str, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let variables = if variables.trim().is_empty() { "{}".to_owned() } else { without_comments(variables) };
    let filled = with_placeholders_filled(&reader.scope.known(&variables));
    if Node::read(&filled, "object", false).is_err() {
        left_out.push(LeftOut::new("variables of the query", "", "invalid JSON: Bruno sends nothing"));
        return;
    }
    let of_query = reader.template(query, left_out);
    let of_variables = compact(reader.template(&variables, left_out));
    let is_text = json_value_of(&of_variables);
    let is_plain = !query.contains("```")
        && is_kept(&of_query)
        && !query.is_empty()
        && !query.lines().any(|line| line.starts_with("variables"));
    if is_plain
        && !is_text
        && let Some(pieces) = json(&of_variables, &mut reader.secrets)
    {
        let mut query = of_query;
        push(&mut query.0, Piece::Text("\n".to_owned()));
        if media_type(request).is_some_and(|kind| kind == JSON) {
            drop_field(request, "content-type");
        }
        request.body = Some(Body::GraphQl { query, variables: Some(pieces) });
        return;
    }
    let mut whole = Template::default();
    push(&mut whole.0, Piece::Text("{\"query\":\"".to_owned()));
    of_query.0.into_iter().map(within_json).for_each(|piece| push(&mut whole.0, piece));
    push(&mut whole.0, Piece::Text("\",\"variables\":".to_owned()));
    of_variables.0.into_iter().for_each(|piece| push(&mut whole.0, piece));
    push(&mut whole.0, Piece::Text("}".to_owned()));
    let made = match json(&whole, &mut reader.secrets).filter(|_| !is_text && is_kept(&whole)) {
        Some(pieces) => Body::Json(pieces),
        None => Body::Text { text: reader.secrets.text(whole, false), hint: TextHint::Plain },
    };
    set_media_type(request, JSON);
    request.body = Some(made);
}

/// Whether JSON has a placeholder outside its strings, whose value stands there as it is.
fn json_value_of(template: &Template) -> bool {
    json(template, &mut Secrets::default())
        .is_none_or(|pieces| pieces.iter().any(|piece| matches!(piece, JsonPiece::Value(_))))
}

/// Returns JSON without the space between its parts.
fn compact(template: Template) -> Template {
    let (mut is_string, mut is_escaped) = (false, false);
    let mut made = Template::default();
    for piece in template.0 {
        match piece {
            Piece::Text(text) => {
                let mut kept = String::with_capacity(text.len());
                for next in text.chars() {
                    is_string ^= next == '"' && !(is_string && is_escaped);
                    is_escaped = next == '\\' && !is_escaped;
                    if is_string || !next.is_ascii_whitespace() {
                        kept.push(next);
                    }
                }
                push(&mut made.0, Piece::Text(kept));
            }
            placeholder => push(&mut made.0, placeholder),
        }
    }
    made
}

/// Returns the rows of a table that are on, and says which are off.
pub(super) fn on<'r>(rows: &'r [Row], kind: &str, left_out: &mut Vec<LeftOut>) -> Vec<&'r Row> {
    let (on, off): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.is_on);
    left_out.extend(off.iter().map(|row| LeftOut::new(kind, row.name.as_str(), "disabled in the collection")));
    on
}
