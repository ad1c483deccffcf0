//! Files of OpenCollection, Bruno's format in YAML.

use super::item::{Auth, Content, Environment, Folder, Item, Level, Row, Settings, typed};
use crate::node::Node;

/// Names of values of an authentication, as YAML and as the Bru language spell them.
const NAMES: &[(&str, &str)] = &[
    ("accessTokenUrl", "access_token_url"),
    ("flow", "grant_type"),
    ("clientId", "client_id"),
    ("clientSecret", "client_secret"),
];

/// Returns a request.
pub(super) fn item(root: &Node) -> Item {
    let info = root.get("info");
    let kind = info.get("type").text().filter(|kind| !kind.is_empty()).unwrap_or("http");
    let of = if kind == "graphql" { root.get("graphql") } else { root.get("http") };
    let runtime = root.get("runtime");
    let mut params: Vec<Node> = of.get("params").items().to_vec();
    for kind in ["query", "path"] {
        // Some files have a list for each kind.
        let typed = of.get("params").get(kind).items().iter().map(|row| match row {
            Node::Object(members) => Node::Object([members.clone(), vec![("type".to_owned(), kind.into())]].concat()),
            other => other.clone(),
        });
        params.extend(typed);
    }
    let is_path = |row: &&Node| row.get("type").text() == Some("path");
    let off = |row: &&Node| !is_path(row) && row.get("disabled").is_true();
    Item {
        level: Level {
            name: info.get("name").plain(),
            headers: rows(of.get("headers")),
            auth: auth(of.get("auth")),
            ..inherited(runtime)
        },
        sequence: info.get("seq").number().unwrap_or(1.0) as i64,
        kind: kind.to_owned(),
        method: of.get("method").plain().to_uppercase(),
        url: of.get("url").plain(),
        path: params.iter().filter(is_path).map(row).collect(),
        off: params.iter().filter(off).map(|row| row.get("name").plain()).collect(),
        content: if kind == "graphql" { graphql(of.get("body")) } else { content(of.get("body")) },
        asserts: runtime.get("assertions").items().iter().map(assertion).collect(),
        settings: settings(root.get("settings")),
    }
}

/// Returns what a collection or a folder says, and the folder's place.
pub(super) fn folder(root: &Node) -> (Level, Option<i64>) {
    let request = root.get("request");
    let level = Level {
        name: root.get("info").get("name").plain(),
        headers: rows(request.get("headers")),
        auth: auth(request.get("auth")),
        ..inherited(request)
    };
    let sequence = root.get("info").get("seq").number().map(|number| number as i64);
    (level, sequence.filter(|sequence| *sequence > 0))
}

/// Returns the folders and requests that stand within one file.
pub(super) fn bundle(root: &Node, depth: usize) -> Folder {
    let (level, sequence) = folder(root);
    let mut made = Folder { level, sequence, ..Folder::default() };
    for inner in root.get("items").items() {
        let is_folder = inner.get("info").get("type").text() == Some("folder") || !inner.get("items").is_null();
        match is_folder {
            // JSON and YAML have a limit near.
            true if depth < 64 => made.folders.push(bundle(inner, depth + 1)),
            true => {}
            false => made.items.push(item(inner)),
        }
    }
    made
}

/// Returns an environment.
pub(super) fn environment(root: &Node) -> Environment {
    let mut environment = Environment::default();
    for variable in root.get("variables").items() {
        let name = variable.get("name").plain();
        match variable.get("secret").is_true() {
            true if !variable.get("disabled").is_true() => environment.secrets.push(name),
            true => {}
            false => environment.variables.push(row(variable)),
        }
    }
    let external = root.get("externalSecrets").get("variables").items();
    environment.secrets.extend(external.iter().map(|variable| variable.get("name").plain()));
    environment
}

/// Returns variables and scripts of `runtime` or `request`.
fn inherited(of: &Node) -> Level {
    let mut level = Level { variables: rows(of.get("variables")), ..Level::default() };
    for script in of.get("scripts").items() {
        let code = script.get("code").plain();
        match script.get("type").text_or_empty() {
            "before-request" => level.before = code,
            "after-response" => level.after = code,
            "tests" => level.tests = code,
            other => level.left_out.push((format!("script {other}"), "no counterpart".to_owned())),
        }
    }
    for action in of.get("actions").items() {
        let is_known = action.get("type").text() == Some("set-variable")
            && action.get("phase").text() == Some("after-response")
            && !action.get("selector").get("expression").is_null();
        if is_known {
            let name = action.get("variable").get("name").plain();
            let is_on = !action.get("disabled").is_true();
            let value = action.get("selector").get("expression").plain();
            level.captures.push(Row { is_on, ..Row::new(&name, &value) });
        } else {
            let kind = format!("action {}", action.get("type").plain());
            level.left_out.push((kind, "no counterpart".to_owned()));
        }
    }
    level
}

fn rows(list: &Node) -> Vec<Row> {
    list.items().iter().map(row).collect()
}

fn row(node: &Node) -> Row {
    let value = match node.get("value") {
        // A value with a type.
        Node::Object(_) => {
            let value = node.get("value");
            typed(&value.get("data").plain(), value.get("type").text_or_empty())
        }
        value => value.plain(),
    };
    Row { is_on: !node.get("disabled").is_true(), ..Row::new(&node.get("name").plain(), &value) }
}

fn assertion(node: &Node) -> Row {
    let value = [node.get("operator").plain(), node.get("value").plain()].join(" ");
    let is_on = !node.get("disabled").is_true();
    Row { is_on, ..Row::new(&node.get("expression").plain(), value.trim()) }
}

fn auth(node: &Node) -> Auth {
    if let Some(mode) = node.text() {
        return Auth { mode: mode.to_owned(), values: Vec::new() };
    }
    let mode = node.get("type").text_or_empty();
    // Some files have the values within a member with the name of the kind.
    let inner = [node.get("credentials"), node.get(mode)];
    let mut values: Vec<(String, String)> = Vec::new();
    for (name, value) in node.members().iter().chain(inner.iter().flat_map(|inner| inner.members())) {
        let spelled = NAMES.iter().find(|(yaml, _)| yaml == name).map_or(name.as_str(), |(_, bru)| bru);
        let value = match value.plain() {
            flow if flow == "resource_owner_password_credentials" => "password".to_owned(),
            value => value,
        };
        values.push((spelled.to_owned(), value));
    }
    let additional = node.get("additionalParameters").get("accessTokenRequest").items().iter();
    values.extend(additional.map(|row| ("additional".to_owned(), row.get("name").plain())));
    let more: [(&str, &Node); 5] = [
        ("credentials_placement", node.get("credentials").get("placement")),
        ("credentials_id", node.get("tokenConfig").get("id")),
        ("token_source", node.get("tokenConfig").get("source")),
        ("username", node.get("resourceOwner").get("username")),
        ("password", node.get("resourceOwner").get("password")),
    ];
    let given = more.into_iter().filter(|(_, value)| !value.is_null());
    values.extend(given.map(|(name, value)| (name.to_owned(), value.plain())));
    if *node.get("settings").get("autoFetchToken") == Node::Boolean(false) {
        values.push(("auto_fetch_token".to_owned(), "false".to_owned()));
    }
    if let Some((place, name)) = node.get("tokenConfig").get("placement").members().first() {
        let (place, spelled) = match place.as_str() {
            "query" => ("url", "token_query_key"),
            _ => ("header", "token_header_prefix"),
        };
        values.push(("token_placement".to_owned(), place.to_owned()));
        values.push((spelled.to_owned(), name.plain()));
    }
    Auth { mode: mode.to_owned(), values }
}

fn content(body: &Node) -> Content {
    // Of several kinds of content the chosen one is sent.
    if let Node::List(variants) = body {
        let chosen = variants.iter().find(|variant| variant.get("selected").is_true()).or(variants.first());
        return chosen.map_or(Content::None, |chosen| content(chosen.get("body")));
    }
    let text = |kind| Content::Text { kind, text: body.get("data").plain() };
    match body.get("type").text_or_empty() {
        "" | "none" => Content::None,
        "json" => text("json"),
        "text" => text("text"),
        "xml" => text("xml"),
        "sparql" => text("sparql"),
        "form-urlencoded" => Content::Form(rows(body.get("data"))),
        "multipart-form" => Content::Parts(body.get("data").items().iter().map(part).collect()),
        "file" => Content::File(body.get("data").items().iter().map(file).collect()),
        other => Content::Other(other.to_owned()),
    }
}

fn graphql(body: &Node) -> Content {
    if let Node::List(variants) = body {
        let chosen = variants.iter().find(|variant| variant.get("selected").is_true()).or(variants.first());
        return chosen.map_or(Content::None, |chosen| graphql(chosen.get("body")));
    }
    Content::GraphQl { query: body.get("query").plain(), variables: body.get("variables").plain() }
}

fn part(node: &Node) -> Row {
    let mut made = row(node);
    made.content_type = node.get("contentType").plain();
    if node.get("type").text() == Some("file") {
        made.files = match node.get("value") {
            Node::List(files) => files.iter().map(Node::plain).collect(),
            file => vec![file.plain()],
        };
        made.value.clear();
        if made.files.is_empty() {
            made.files.push(String::new());
        }
    } else if let Node::List(values) = node.get("value") {
        made.value = values.iter().map(Node::plain).collect::<Vec<_>>().join(",");
    }
    made
}

fn file(node: &Node) -> Row {
    let files = vec![node.get("filePath").plain()];
    let content_type = node.get("contentType").plain();
    Row { files, content_type, is_on: node.get("selected").is_true(), ..Row::new("file", "") }
}

fn settings(node: &Node) -> Settings {
    let flag = |name: &str, otherwise: bool| match node.get(name) {
        Node::Boolean(value) => *value,
        _ => otherwise,
    };
    let count = |name: &str| node.get(name).number().filter(|number| *number >= 0.0).map(|number| number as u64);
    Settings {
        encodes_url: flag("encodeUrl", false),
        follows: flag("followRedirects", true),
        max_redirects: count("maxRedirects"),
        timeout: count("timeout").unwrap_or(0),
        forwards_credentials: flag("forwardAuthorizationHeader", true),
    }
}
