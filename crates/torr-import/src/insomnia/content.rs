//! Content of requests.

use super::reader::Reader;
use super::tag::whole_file;
use super::template::is_template;
use crate::content::with_values_as_they_are;
use crate::draft::LeftOut;
use crate::form::{ESCAPES, FORM, is_serialized_alike, serialized};
use crate::multipart::{Part, write_out};
use crate::node::Node;
use crate::parts::{NOWHERE, beside, drop_field, filled, plain_name, sent_media_type};
use torr_session::hurl::ast::{Body, KeyValue, MultipartPart, Piece, Request, Template, TextHint};

/// The media type of a multipart form.
const MULTIPART: &str = "multipart/form-data";

/// Adds the content of a request, whose fields are there already. `renders` tells whether variables and tags count.
pub(super) fn add(
    reader: &mut Reader<'_>,
    body: &Node,
    renders: bool,
    request: &mut Request,
    left_out: &mut Vec<LeftOut>,
) {
    let kind = body.get("mimeType").text();
    match kind {
        Some(MULTIPART) => multipart(reader, body, renders, request, left_out),
        Some(FORM) => form(reader, body, renders, request, left_out),
        kind => {
            let expects = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
            let file = body.get("fileName").text().filter(|name| !name.is_empty());
            let text = body.get("text").plain();
            if let Some(name) = file.map(str::to_owned).or_else(|| whole_file(&text).filter(|_| renders)) {
                request.body = Some(Body::File(file_name(reader, &name, renders, left_out)));
            } else if !text.is_empty() && (kind.is_some() || expects) {
                let text = if kind == Some("application/graphql") { graphql(&text) } else { text };
                let template = template(reader, &text, renders, left_out);
                let secrets = &mut reader.inner.secrets;
                request.body = Some(match media_type(request) {
                    Some(kind) => with_values_as_they_are(template, kind == FORM, secrets),
                    // JSON of a hurl file brings a media type, and Insomnia sends what the fields say.
                    None => Body::Text { text: secrets.text(template, false), hint: TextHint::Plain },
                });
            } else if !text.is_empty() {
                let reason = format!("without a type, Insomnia sends none with {}", request.method);
                left_out.push(LeftOut::new("content", "", reason));
            }
        }
    }
}

/// Returns text that is rendered, or stands as it is.
fn template(reader: &mut Reader<'_>, text: &str, renders: bool, left_out: &mut Vec<LeftOut>) -> Template {
    if renders { reader.template(text, left_out) } else { text.into() }
}

/// Returns the media type that a field gives.
fn media_type(request: &Request) -> Option<String> {
    let is_it = |field: &&KeyValue| field.name.literal().is_some_and(|name| name.eq_ignore_ascii_case("content-type"));
    request.headers.iter().find(is_it).map(|field| filled(&field.value))
}

/// Returns text of a query as Insomnia writes it anew: JSON without space, and with space where a comment of the template would end.
fn graphql(text: &str) -> String {
    let Ok(Node::Object(mut members)) = Node::read(text, "query", false) else { return text.to_owned() };
    let Some((_, Node::Text(query))) = members.iter_mut().find(|(name, _)| name == "query") else {
        return text.to_owned();
    };
    *query = query.replace("#}", "# }");
    Node::Object(members).to_json()
}

/// Returns the rows of a form that are on, and says which are off.
fn on<'b>(body: &'b Node, kind: &str, left_out: &mut Vec<LeftOut>) -> Vec<&'b Node> {
    let rows = body.get("params").items().iter();
    let (off, on): (Vec<&Node>, Vec<&Node>) = rows.partition(|row| row.get("disabled").is_true());
    let said = off.iter().map(|row| LeftOut::new(kind, row.get("name").plain(), "disabled in the collection"));
    left_out.extend(said);
    on
}

fn form(reader: &mut Reader<'_>, body: &Node, renders: bool, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let mut pairs = Vec::new();
    for row in on(body, "parameter of a form", left_out) {
        let [name, value] = ["name", "value"].map(|member| {
            let text = row.get(member).plain();
            // A value that is known has its own escapes.
            let known = if renders && is_template(&text) { reader.scope.literal_text(&text) } else { None };
            let text = known.filter(|known| !is_serialized_alike(known)).unwrap_or(text);
            template(reader, &text, renders, left_out)
        });
        let value = reader.inner.secrets.in_parameter(&row.get("name").plain(), value);
        pairs.push(KeyValue { name, value, at: NOWHERE });
    }
    write_form(pairs, request);
}

/// Adds the content of a form. A form of a hurl file has other escapes than Insomnia's for some characters, and brings its media
/// type, so that it is text otherwise.
pub(super) fn write_form(pairs: Vec<KeyValue>, request: &mut Request) {
    let is_agreed = |piece: &Piece| !matches!(piece, Piece::Text(text) if !is_serialized_alike(text));
    let is_same = |pair: &KeyValue| !pair.name.0.is_empty() && pair.name.0.iter().chain(&pair.value.0).all(is_agreed);
    if pairs.is_empty() {
        return;
    }
    if media_type(request).is_some_and(|kind| kind == FORM) && pairs.iter().all(is_same) {
        drop_field(request, "content-type");
        request.form = pairs;
        return;
    }
    request.body = Some(Body::Text { text: serialized(pairs, &ESCAPES), hint: TextHint::Plain });
}

fn multipart(reader: &mut Reader<'_>, body: &Node, renders: bool, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    drop_field(request, "content-type");
    let rows = on(body, "part of a form", left_out);
    let is_file = |row: &Node| row.get("type").text() == Some("file") && !row.get("fileName").plain().is_empty();
    let is_empty = |row: &&&Node| ["name", "value", "fileName"].iter().all(|member| row.get(member).plain().is_empty());
    let rows: Vec<&Node> = rows.iter().filter(|row| !is_empty(row)).copied().collect();
    let has_types = rows.iter().any(|row| !is_file(row) && row.get("multiline").text().is_some());
    let is_nameless = rows.iter().any(|row| row.get("name").plain().is_empty());
    let has_files = rows.iter().any(|row| is_file(row));
    let writes_out = (has_types || is_nameless || rows.is_empty()) && !has_files;
    let mut texts = Vec::new();
    let mut values = String::new();
    for row in rows {
        let plain = row.get("name").plain();
        let name = template(reader, &plain, renders, left_out);
        if is_file(row) {
            let file = row.get("fileName").plain();
            let content_type = Some(Template::from(sent_media_type(&file)));
            let file = file_name(reader, &file, renders, left_out);
            if name.0.is_empty() {
                left_out.push(LeftOut::new("file of a form", filled(&file), "without a name"));
                continue;
            }
            request.multipart.push(MultipartPart::File { name, file, content_type, at: NOWHERE });
            continue;
        }
        if row.get("type").text() == Some("file") {
            left_out.push(LeftOut::new("file of a form", plain.as_str(), "missing in the collection"));
        }
        let value = row.get("value").plain();
        values.push_str(&reader.scope.literal_text(&value).unwrap_or(value.clone()));
        let value = template(reader, &value, renders, left_out);
        let value = reader.inner.secrets.in_parameter(&plain, value);
        let content_type = row.get("multiline").text().unwrap_or_default().to_owned();
        if writes_out {
            texts.push(Part { name, value, content_type });
            continue;
        }
        if !content_type.is_empty() {
            let what = format!("media type {content_type} of the part");
            left_out.push(LeftOut::new(what, plain, "only files can have one beside files"));
        }
        request.multipart.push(MultipartPart::Field(KeyValue { name, value, at: NOWHERE }));
    }
    if writes_out {
        write_out(("Content-Type", MULTIPART), texts, &values, request);
    }
}

fn file_name(reader: &mut Reader<'_>, name: &str, renders: bool, left_out: &mut Vec<LeftOut>) -> Template {
    // A name that is known is one: files are read before the run.
    let known = if renders { reader.scope.literal_text(name) } else { None };
    let name = known.as_deref().unwrap_or(name);
    let (name, moved) = beside(name);
    left_out.extend(moved);
    let (plain, changed) = plain_name(template(reader, name, renders, left_out), name);
    left_out.extend(changed);
    plain
}
