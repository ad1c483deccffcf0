//! Content of requests: `json`, `body`, `form` and `formData`.

use super::payload::Kind;
use super::query::{Parameters, in_order};
use super::reader::{Found, Reader};
use super::text;
use super::value;
use crate::content::{content, is_kept, json};
use crate::form::FORM;
use crate::javascript;
use crate::multipart::{self, Part};
use crate::node::Node;
use crate::parts::{
    NOWHERE, beside, drop_field, filled, has_field, is_json, pair, plain_name, push, sent_media_type, within_json,
};
use torr_session::hurl::ast::{Body, KeyValue, MultipartPart, Piece, Request, Template, TextHint};

/// The media type of JSON.
const JSON: &str = "application/json";

/// Why a value whose type no script shows stands in quotes.
const QUOTED: &str = "sent as a string: remove its quotes if it is a number";

/// Returns why Artillery does not send a request with this content, but ends the session.
pub(super) fn refused(method: &str, params: &Node) -> Option<&'static str> {
    let has = |name: &str| !params.get(name).is_null();
    let is_form = matches!(params.get("form"), Node::Object(_));
    let count = [has("json"), has("body") && !value::is_true(params.get("json")), is_form, has("formData")];
    let count = count.into_iter().filter(|has| *has).count();
    if count > 1 {
        return Some("content of two kinds: Artillery ends the session here");
    }
    if count > 0 && matches!(method.to_ascii_lowercase().as_str(), "get" | "head") {
        return Some("GET and HEAD with content: Artillery ends the session here");
    }
    if has("body") && count == 1 && !has("json") && params.get("body").text().is_none() {
        return Some("content that is no text: Artillery ends the session here");
    }
    let is_sent = |(_, value): &(String, Node)| match value {
        Node::Boolean(_) | Node::Null | Node::List(_) => false,
        Node::Object(_) => !value.get("fromFile").is_null() || value::is_true(value.get("value")),
        _ => true,
    };
    let parts = params.get("formData").members();
    (!parts.iter().all(is_sent)).then_some("a part that is no text, number or file: Artillery ends the session here")
}

/// Adds the content of a request, whose fields are there already.
pub(super) fn add(reader: &mut Reader<'_>, params: &Node, request: &mut Request) {
    let get = |name: &str| params.get(name);
    if !get("formData").is_null() {
        parts(reader, get("formData"), request);
        if get("setContentLengthHeader").is_true() {
            reader.leave_out("setContentLengthHeader", "", "Torr sends the length of the content");
        }
    } else if matches!(get("form"), Node::Object(_)) {
        add_form(reader, get("form"), request);
    } else if !get("json").is_null() {
        add_json(reader, get("json"), request);
    } else if let Some(text) = get("body").text() {
        add_text(reader, text, request);
    }
}

fn add_json(reader: &mut Reader<'_>, value: &Node, request: &mut Request) {
    let mut pieces = Vec::new();
    write(reader, value, &mut pieces);
    let text = Template(pieces);
    let made = content(text, &mut reader.secrets);
    if !matches!(made, Body::Json(_)) && !has_field(request, "content-type") {
        request.headers.push(pair("content-type", JSON.into()));
    }
    request.body = Some(made);
}

/// Writes a value as JSON, with the values of its names. A name that is all of a string keeps its type.
fn write(reader: &mut Reader<'_>, value: &Node, pieces: &mut Vec<Piece>) {
    let mut add = |text: &str| push(pieces, Piece::Text(text.to_owned()));
    match value {
        Node::List(items) => {
            add("[");
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    push(pieces, Piece::Text(",".to_owned()));
                }
                // A value that is undefined is null in a list.
                if is_undefined(reader, item) {
                    write(reader, &Node::Null, pieces)
                } else {
                    write(reader, item, pieces)
                }
            }
            push(pieces, Piece::Text("]".to_owned()));
        }
        Node::Object(members) => {
            add("{");
            let mut is_first = true;
            for (name, value) in in_order(members) {
                if is_undefined(reader, value) {
                    continue;
                }
                if !is_first {
                    push(pieces, Piece::Text(",".to_owned()));
                }
                is_first = false;
                let name = reader.template(name);
                as_string(name, pieces);
                push(pieces, Piece::Text(":".to_owned()));
                write(reader, value, pieces);
            }
            push(pieces, Piece::Text("}".to_owned()));
        }
        Node::Text(text) => match text::whole(text) {
            Some(name) => of_name(reader, name, pieces),
            None => {
                let template = reader.template(text);
                as_string(template, pieces);
            }
        },
        literal => add(&javascript::json(literal)),
    }
}

fn is_undefined(reader: &mut Reader<'_>, value: &Node) -> bool {
    let name = value.text().and_then(text::whole);
    name.is_some_and(|name| matches!(reader.find(name), Found::Undefined))
}

/// Writes the value of a name in the place of a value.
fn of_name(reader: &mut Reader<'_>, name: &str, pieces: &mut Vec<Piece>) {
    match reader.find(name) {
        Found::Constant(value) => push(pieces, Piece::Text(javascript::json(&value))),
        Found::Piece(piece, Kind::Literal) => push(pieces, piece),
        Found::Piece(piece, kind) => {
            if kind == Kind::Unknown {
                reader.leave_out("type of a variable in JSON", name, QUOTED);
            }
            as_string(Template(vec![piece]), pieces);
        }
        Found::Undefined => push(pieces, Piece::Text("null".to_owned())),
    }
}

fn as_string(template: Template, pieces: &mut Vec<Piece>) {
    push(pieces, Piece::Text("\"".to_owned()));
    template.0.into_iter().map(within_json).for_each(|piece| push(pieces, piece));
    push(pieces, Piece::Text("\"".to_owned()));
}

fn add_text(reader: &mut Reader<'_>, text: &str, request: &mut Request) {
    let template = reader.template(text);
    let kind = request.headers.iter().find(|field| field.name.literal() == Some("content-type"));
    let kind = kind.map(|field| filled(&field.value)).unwrap_or_default();
    // JSON of a hurl file brings a media type, which Artillery gives only to `json`.
    let is_json_text = kind.contains("json") && template.literal().is_some_and(is_json) && is_kept(&template);
    if is_json_text && let Some(pieces) = json(&template, &mut reader.secrets) {
        request.body = Some(Body::Json(pieces));
        return;
    }
    let text = reader.secrets.text(template, kind.starts_with(FORM));
    request.body = Some(Body::Text { text, hint: TextHint::Plain });
}

fn add_form(reader: &mut Reader<'_>, form: &Node, request: &mut Request) {
    let mut parameters = Parameters::new();
    for (name, value) in javascript::in_order(form.members()) {
        let value = form_value(reader, value);
        parameters.add(reader, name.as_str().into(), value);
    }
    let has_type = has_field(request, "content-type");
    if parameters.is_same && !parameters.pairs.is_empty() && !has_type {
        request.form = parameters.pairs;
        return;
    }
    if !has_type {
        request.headers.push(pair("content-type", FORM.into()));
    }
    request.body = Some(Body::Text { text: parameters.text(), hint: TextHint::Plain });
}

/// Returns the value of a parameter of a form.
fn form_value(reader: &mut Reader<'_>, value: &Node) -> Template {
    match value {
        Node::Text(text) => match text::whole(text).map(|name| reader.find(name)) {
            Some(Found::Constant(value)) => javascript::string(&value).as_str().into(),
            _ => reader.template(text),
        },
        Node::List(items) => {
            let mut made = Template::default();
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    push(&mut made.0, Piece::Text(",".to_owned()));
                }
                form_value(reader, item).0.into_iter().for_each(|piece| push(&mut made.0, piece));
            }
            made
        }
        other => javascript::string(other).as_str().into(),
    }
}

/// Adds a multipart form.
fn parts(reader: &mut Reader<'_>, form: &Node, request: &mut Request) {
    drop_field(request, "content-type");
    let members = javascript::in_order(form.members());
    let is_file = |value: &Node| !value.get("fromFile").is_null();
    let has_type = |value: &Node| !is_file(value) && !value.get("contentType").is_null();
    let is_written_out = members.iter().any(|(_, value)| has_type(value))
        && members.iter().all(|(name, value)| !is_file(value) && !name.contains(['"', '\r', '\n']));
    if is_written_out {
        let values = form.to_json();
        let part = |(name, value): &&(String, Node)| {
            let content_type = value.get("contentType").plain();
            Part { name: name.as_str().into(), content_type, value: part_value(reader, name, value) }
        };
        multipart::write_out(
            ("content-type", "multipart/form-data"),
            members.iter().map(part).collect(),
            &values,
            request,
        );
        return;
    }
    for (name, value) in members {
        if let Some(file) = value.get("fromFile").text() {
            let (file, moved) = beside(file.strip_prefix("./").unwrap_or(file));
            reader.pending.extend(moved);
            let template = reader.template(file);
            let (plain, changed) = plain_name(template, file);
            reader.pending.extend(changed);
            let kind = value.get("contentType").text().unwrap_or_else(|| sent_media_type(file));
            let content_type = Some(Template::from(kind));
            request.multipart.push(MultipartPart::File {
                name: name.as_str().into(),
                file: plain,
                content_type,
                at: NOWHERE,
            });
            continue;
        }
        if has_type(value) {
            let shown = format!("{name}: {}", value.get("contentType").plain());
            reader.leave_out("media type of a part", shown, "only files can have one");
        }
        let value = part_value(reader, name, value);
        request.multipart.push(MultipartPart::Field(KeyValue { name: name.as_str().into(), value, at: NOWHERE }));
    }
}

fn part_value(reader: &mut Reader<'_>, name: &str, value: &Node) -> Template {
    let value = if matches!(value, Node::Object(_)) { value.get("value") } else { value };
    let template = match value {
        Node::Text(text) => reader.template(text),
        other => javascript::string(other).as_str().into(),
    };
    reader.secrets.in_parameter(name, template)
}
