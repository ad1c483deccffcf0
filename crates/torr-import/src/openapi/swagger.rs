//! Descriptions of OpenAPI 2.0, which was called Swagger, in the form of version 3.0.

use super::document::{Document, METHODS};
use crate::node::Node;

/// Members of a parameter that describe its value; version 3 has them in a schema.
const OF_SCHEMA: &[&str] = &[
    "type",
    "format",
    "items",
    "default",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
];

const FORM: &str = "application/x-www-form-urlencoded";
const MULTIPART: &str = "multipart/form-data";

/// Returns a description of version 2.0 as one of version 3.0. What it defines stays where it is, so that references hold.
pub(super) fn converted(document: &Document<'_>) -> Node {
    let root = document.root;
    let paths = root.get("paths").members().iter();
    let paths = paths.map(|(path, item)| (path.clone(), path_item(document, document.resolve(item)))).collect();
    let mut members = vec![
        ("openapi".to_owned(), "3.0.3".into()),
        ("servers".to_owned(), servers(root)),
        ("paths".to_owned(), Node::Object(paths)),
        ("components".to_owned(), object([("securitySchemes", schemes(root.get("securityDefinitions")))])),
    ];
    for name in ["security", "definitions", "parameters", "responses"] {
        members.push((name.to_owned(), root.get(name).clone()));
    }
    Node::Object(members)
}

fn object<const N: usize>(members: [(&str, Node); N]) -> Node {
    Node::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn servers(root: &Node) -> Node {
    let (host, path) = (root.get("host").text_or_empty(), root.get("basePath").text_or_empty());
    let schemes = root.get("schemes").items();
    let has = |scheme: &str| schemes.iter().any(|one| one.text() == Some(scheme));
    let scheme = if has("https") { "https" } else { "http" };
    let url = if host.is_empty() { path.to_owned() } else { format!("{scheme}://{host}{path}") };
    Node::List(vec![object([("url", Node::Text(url))])])
}

fn schemes(definitions: &Node) -> Node {
    let scheme = |(name, scheme): &(String, Node)| {
        let scheme = match scheme.get("type").text() {
            Some("basic") => object([("type", "http".into()), ("scheme", "basic".into())]),
            _ => scheme.clone(),
        };
        (name.clone(), scheme)
    };
    Node::Object(definitions.members().iter().map(scheme).collect())
}

fn path_item(document: &Document<'_>, item: &Node) -> Node {
    let shared: Vec<&Node> = item.get("parameters").items().iter().map(|node| document.resolve(node)).collect();
    let operations = item.members().iter().filter(|(method, _)| METHODS.contains(&method.as_str()));
    // A reference that leads nowhere stays, and is said where the operation would be.
    let converted = |node: &Node| match document.resolve(node) {
        Node::Null => node.clone(),
        described => operation(document, &shared, described),
    };
    Node::Object(operations.map(|(method, node)| (method.clone(), converted(node))).collect())
}

fn operation(document: &Document<'_>, shared: &[&Node], operation: &Node) -> Node {
    let own: Vec<&Node> = operation.get("parameters").items().iter().map(|node| document.resolve(node)).collect();
    let is_same = |a: &Node, b: &Node| a.get("name") == b.get("name") && a.get("in") == b.get("in");
    let shared = shared.iter().copied().filter(|one| !own.iter().any(|other| is_same(one, other)));
    let all: Vec<&Node> = shared.chain(own.iter().copied()).collect();
    let place = |node: &Node| node.get("in").text_or_empty().to_owned();
    let kinds = |name: &str| {
        let own = operation.get(name);
        let kinds = if own.is_null() { document.root.get(name) } else { own };
        kinds.items().iter().filter_map(Node::text).collect::<Vec<_>>()
    };
    let others: Vec<Node> = all
        .iter()
        .filter(|node| !matches!(place(node).as_str(), "body" | "formData"))
        .map(|node| parameter(node))
        .collect();
    let form: Vec<&Node> = all.iter().copied().filter(|node| place(node) == "formData").collect();
    let body = all.iter().copied().find(|node| place(node) == "body");
    let mut members: Vec<(String, Node)> = operation.members().to_vec();
    members
        .retain(|(name, _)| !matches!(name.as_str(), "parameters" | "responses" | "consumes" | "produces" | "schemes"));
    members.push(("parameters".to_owned(), Node::List(others)));
    if let Some(body) = body {
        let mut consumes = kinds("consumes");
        consumes.retain(|kind| !matches!(*kind, FORM | MULTIPART));
        members.push(("requestBody".to_owned(), content(body, &consumes)));
    } else if !form.is_empty() {
        members.push(("requestBody".to_owned(), form_content(&form, &kinds("consumes"))));
    }
    let responses = operation.get("responses").members().iter();
    let responses =
        responses.map(|(status, node)| (status.clone(), response(document.resolve(node), &kinds("produces"))));
    members.push(("responses".to_owned(), Node::Object(responses.collect())));
    Node::Object(members)
}

/// Returns a parameter with its schema, and with the style that its lists have.
fn parameter(node: &Node) -> Node {
    let (mut members, mut schema) = (Vec::new(), Vec::new());
    for (name, value) in node.members() {
        match name.as_str() {
            "collectionFormat" => {}
            "x-example" => members.push(("example".to_owned(), value.clone())),
            name if OF_SCHEMA.contains(&name) => schema.push((name.to_owned(), value.clone())),
            _ => members.push((name.clone(), value.clone())),
        }
    }
    let (style, explodes) = match node.get("collectionFormat").text_or_empty() {
        "multi" => (None, true),
        "ssv" => (Some("spaceDelimited"), false),
        "pipes" => (Some("pipeDelimited"), false),
        _ => (None, false),
    };
    members.extend(style.map(|style| ("style".to_owned(), style.into())));
    members.push(("explode".to_owned(), Node::Boolean(explodes)));
    members.push(("schema".to_owned(), Node::Object(schema)));
    Node::Object(members)
}

fn content(body: &Node, consumes: &[&str]) -> Node {
    let example = [body.get("x-example"), body.get("example")].into_iter().find(|example| !example.is_null());
    let media = || {
        let mut members = vec![("schema".to_owned(), body.get("schema").clone())];
        members.extend(example.map(|example| ("example".to_owned(), example.clone())));
        Node::Object(members)
    };
    let kinds: &[&str] = if consumes.is_empty() { &["application/json"] } else { consumes };
    let content = kinds.iter().map(|kind| ((*kind).to_owned(), media())).collect();
    object([("content", Node::Object(content))])
}

fn form_content(form: &[&Node], consumes: &[&str]) -> Node {
    let is_file = |node: &&Node| node.get("type").text() == Some("file");
    let is_multipart = form.iter().any(is_file) || consumes.contains(&MULTIPART) && !consumes.contains(&FORM);
    let property = |node: &&Node| {
        let schema = match is_file(node) {
            true => object([("type", "string".into()), ("format", "binary".into())]),
            false => {
                let own =
                    node.members().iter().filter(|(name, _)| OF_SCHEMA.contains(&name.as_str()) || name == "x-example");
                let named = own.map(|(name, value)| (name.replace("x-example", "example"), value.clone()));
                Node::Object(named.collect())
            }
        };
        (node.get("name").plain(), schema)
    };
    let schema = object([("type", "object".into()), ("properties", Node::Object(form.iter().map(property).collect()))]);
    let kind = if is_multipart { MULTIPART } else { FORM };
    object([("content", object([(kind, object([("schema", schema)]))]))])
}

fn response(response: &Node, produces: &[&str]) -> Node {
    let has_content = !response.get("schema").is_null() || !response.get("examples").is_null();
    let kinds: &[&str] = match (has_content, produces.is_empty()) {
        (false, _) => &[],
        (true, true) => &["application/json"],
        (true, false) => produces,
    };
    let content = kinds.iter().map(|kind| ((*kind).to_owned(), Node::Object(Vec::new()))).collect();
    object([("content", Node::Object(content))])
}
