//! Content of requests.

use crate::content::{content, json};
use crate::draft::LeftOut;
use crate::node::Node;
use crate::parts::{NOWHERE, beside, drop_field, has_field, media_type_of_file, pair, plain_name, push, within_json};
use crate::reader::Reader;
use torr_session::hurl::ast::{Body, KeyValue, MultipartPart, Piece, Request, Template};

/// Methods with which Postman sends no content, unless the request's settings say otherwise.
const WITHOUT_CONTENT: &[&str] = &["GET", "HEAD", "COPY", "PURGE", "UNLOCK"];

/// Adds the content of a request. `keeps_content` tells whether it has some whatever its method.
pub(super) fn add(
    reader: &mut Reader,
    body: &Node,
    keeps_content: bool,
    request: &mut Request,
    left_out: &mut Vec<LeftOut>,
) {
    if body.get("disabled").is_true() {
        left_out.push(LeftOut::new("content", "", "disabled in the collection"));
        return;
    }
    let mode = body.get("mode").text_or_empty();
    if !matches!(mode, "" | "none") && WITHOUT_CONTENT.contains(&request.method.as_str()) && !keeps_content {
        let reason = format!("Postman sends none with {} without disableBodyPruning", request.method);
        left_out.push(LeftOut::new("content", "", reason));
        return;
    }
    match mode {
        "" | "none" => {}
        "raw" => raw(reader, body, request, left_out),
        "urlencoded" => {
            for row in enabled(body.get("urlencoded"), "parameter of a form", left_out) {
                let value = reader.template(&row.get("value").plain(), left_out);
                let name = row.get("key").plain();
                let value = reader.secrets.in_parameter(&name, value);
                let name = reader.template(&name, left_out);
                request.form.push(KeyValue { name, value, at: NOWHERE });
            }
            drop_field(request, "content-type");
        }
        "formdata" => {
            for row in enabled(body.get("formdata"), "part of a form", left_out) {
                part(reader, row, request, left_out);
            }
            drop_field(request, "content-type");
        }
        "graphql" => graphql(reader, body.get("graphql"), request, left_out),
        "file" => {
            let file = body.get("file");
            let name = if file.text().is_some() { file.plain() } else { file.get("src").plain() };
            if name.is_empty() {
                left_out.push(LeftOut::new("file", "", "missing in the collection"));
            } else {
                let (name, moved) = beside(&name);
                left_out.extend(moved);
                if let Some(media_type) = media_type_of_file(name).filter(|_| !has_field(request, "content-type")) {
                    request.headers.push(pair("Content-Type", media_type.into()));
                }
                request.body = Some(Body::File(file_name(reader, name, left_out)));
            }
        }
        other => left_out.push(LeftOut::new("content", other, "unknown type")),
    }
}

fn raw(reader: &mut Reader, body: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let text = body.get("raw").plain();
    if text.is_empty() {
        return;
    }
    let template = reader.template(&text, left_out);
    let made = content(template, &mut reader.secrets);
    let language = body.get("options").get("raw").get("language").text_or_empty();
    let media_type = match language {
        "json" => "application/json",
        "xml" => "application/xml",
        "html" => "text/html",
        "javascript" => "application/javascript",
        _ => "text/plain",
    };
    let is_known = matches!((&made, media_type), (Body::Json(_), "application/json"));
    if !is_known && !has_field(request, "content-type") {
        request.headers.push(pair("Content-Type", media_type.into()));
    }
    request.body = Some(made);
}

fn part(reader: &mut Reader, row: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let name = row.get("key").plain();
    if row.get("type").text() != Some("file") {
        if let Some(kind) = row.get("contentType").text().filter(|kind| !kind.is_empty()) {
            let what = format!("media type {kind} of the part");
            left_out.push(LeftOut::new(what, name.as_str(), "only files can have one"));
        }
        let value = reader.template(&row.get("value").plain(), left_out);
        let value = reader.secrets.in_parameter(&name, value);
        let name = reader.template(&name, left_out);
        request.multipart.push(MultipartPart::Field(KeyValue { name, value, at: NOWHERE }));
        return;
    }
    let files: Vec<String> = match row.get("src") {
        Node::List(files) if !files.is_empty() => files.iter().map(Node::plain).collect(),
        Node::List(_) => vec![String::new()],
        file => vec![file.plain()],
    };
    for file in files {
        if file.is_empty() {
            left_out.push(LeftOut::new("file of a form", name.as_str(), "missing in the collection"));
            continue;
        }
        if let Some(other) = row.get("fileName").text().filter(|other| !other.is_empty()) {
            left_out.push(LeftOut::new("name of a file", other, "files are sent with their own name"));
        }
        let content_type = row.get("contentType").text().map(Template::from);
        let (file, moved) = beside(&file);
        left_out.extend(moved);
        let (name, file) = (reader.template(&name, left_out), file_name(reader, file, left_out));
        request.multipart.push(MultipartPart::File { name, file, content_type, at: NOWHERE });
    }
}

fn file_name(reader: &mut Reader, name: &str, left_out: &mut Vec<LeftOut>) -> Template {
    let (plain, changed) = plain_name(reader.template(name, left_out), name);
    left_out.extend(changed);
    plain
}

fn graphql(reader: &mut Reader, graphql: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let query = graphql.get("query").plain();
    let variables = match graphql.get("variables") {
        Node::Text(text) => text.clone(),
        other => other.plain(),
    };
    let mut template = reader.template(&query, left_out);
    let of_variables = reader.template(&variables, left_out);
    let pieces = if variables.trim().is_empty() { None } else { json(&of_variables, &mut reader.secrets) };
    if pieces.is_none() && !variables.trim().is_empty() {
        left_out.push(LeftOut::new("variables of the query", "", "invalid JSON"));
    }
    let operation = graphql.get("operationName").plain();
    // A query of a hurl file has no name of its operation, and no white space around it.
    if !operation.is_empty() || query.trim() != query {
        let mut whole = Template::default();
        let mut add = |piece: Piece| push(&mut whole.0, piece);
        add(Piece::Text("{\"query\":\"".to_owned()));
        template.0.into_iter().map(within_json).for_each(&mut add);
        add(Piece::Text("\"".to_owned()));
        if !operation.is_empty() {
            add(Piece::Text(format!(",\"operationName\":{}", Node::Text(operation).to_json())));
        }
        if pieces.is_some() {
            add(Piece::Text(",\"variables\":".to_owned()));
            of_variables.0.into_iter().for_each(&mut add);
        }
        add(Piece::Text("}".to_owned()));
        request.body = Some(content(whole, &mut reader.secrets));
        if !matches!(request.body, Some(Body::Json(_))) && !has_field(request, "content-type") {
            request.headers.push(pair("Content-Type", "application/json".into()));
        }
        return;
    }
    // What ends the text of a hurl file's query cannot stand in it.
    let is_plain = !query.contains("```") && !query.lines().any(|line| line.starts_with("variables"));
    if !is_plain {
        left_out.push(LeftOut::new("query", "", "hurl files cannot express it"));
        return;
    }
    if !query.ends_with('\n') {
        template.0.push(Piece::Text("\n".to_owned()));
    }
    request.body = Some(Body::GraphQl { query: template, variables: pieces });
    drop_field(request, "content-type");
}

/// Returns the rows of a table that are on, and says which are off.
pub(super) fn enabled<'n>(rows: &'n Node, kind: &str, left_out: &mut Vec<LeftOut>) -> Vec<&'n Node> {
    let (off, on): (Vec<_>, Vec<_>) = rows.items().iter().partition(|row| row.get("disabled").is_true());
    let off = off.iter().map(|row| LeftOut::new(kind, row.get("key").plain(), "disabled in the collection"));
    left_out.extend(off);
    on
}
