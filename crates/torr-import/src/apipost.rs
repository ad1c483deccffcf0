//! Projects of Apipost: its own JSON export (of versions 7 and 8), and what it exports as OpenAPI or as a Postman collection.
//!
//! Its own format has the parts of a Postman collection under other names, so that it is rewritten as one and read as such.

use crate::draft::{Draft, ImportError, LeftOut};
use crate::node::Node;
use crate::{openapi, postman};
use std::collections::HashMap;

/// Imports an export.
///
/// # Errors
/// If the text is none of the exports, or has no request.
pub fn import(text: &str) -> Result<Draft, ImportError> {
    let root = Node::read(text, "Apipost export", true)?;
    if !root.get("openapi").is_null() || !root.get("swagger").is_null() {
        return openapi::import(text, &openapi::Options::default());
    }
    if !root.get("item").is_null() || !root.get("collection").is_null() {
        return postman::import(text, None);
    }
    let apis = root.get("apis");
    if apis.items().is_empty() {
        return Err(ImportError("not an Apipost export: 'apis' is missing".to_owned()));
    }
    let mut project = Project { left_out: Vec::new(), base: base(&root) };
    let items = project.items(apis.items());
    let collection = object([
        ("info", object([("schema", "https://schema.getpostman.com/json/collection/v2.1.0/collection.json".into())])),
        ("auth", auth(project_request(&root).get("auth"))),
        ("item", Node::List(items)),
        ("variable", Node::List(variables(&root))),
    ]);
    let mut draft = postman::import_nodes(text, &collection, None, None)
        .map_err(|ImportError(line)| ImportError(line.replace("the collection", "the project")))?;
    draft.left_out.extend(project.left_out);
    Ok(draft)
}

struct Project {
    left_out: Vec<LeftOut>,
    /// The URL before paths that have no host.
    base: Option<String>,
}

impl Project {
    /// Returns the items of a list: nested ones as they are, and flat ones with their parents' numbers as a tree.
    fn items(&mut self, apis: &[Node]) -> Vec<Node> {
        let ids: Vec<String> = apis.iter().map(|api| api.get("target_id").plain()).collect();
        let indices: HashMap<&str, usize> = ids.iter().enumerate().rev().map(|(at, id)| (id.as_str(), at)).collect();
        let mut children: HashMap<&str, Vec<&Node>> = HashMap::new();
        let mut top = Vec::new();
        let parents: Vec<String> = apis.iter().map(|api| api.get("parent_id").plain()).collect();
        for (at, api) in apis.iter().enumerate() {
            let parent = indices.get(parents[at].as_str()).copied().filter(|_| !parents[at].is_empty());
            // A parent stands before its children, so that there is no circle.
            match parent.filter(|parent| *parent < at) {
                Some(parent) => children.entry(ids[parent].as_str()).or_default().push(api),
                None => top.push(api),
            }
        }
        top.into_iter().filter_map(|api| self.item(api, &children, 0)).collect()
    }

    fn item(&mut self, api: &Node, children: &HashMap<&str, Vec<&Node>>, depth: usize) -> Option<Node> {
        let kind = api.get("target_type").text_or_empty();
        let id = api.get("target_id").plain();
        let below = children.get(id.as_str()).cloned().unwrap_or_default();
        let nested = api.get("children").items();
        match kind {
            "folder" | "group" => {
                let mut items: Vec<Node> = Vec::new();
                if depth < 60 {
                    items.extend(below.iter().filter_map(|child| self.item(child, children, depth + 1)));
                    items.extend(nested.iter().filter_map(|child| self.item(child, children, depth + 1)));
                }
                let request = api.get("request");
                Some(object([
                    ("name", api.get("name").clone()),
                    ("auth", auth(request.get("auth"))),
                    ("event", Node::List(events(api))),
                    ("item", Node::List(items)),
                ]))
            }
            "api" | "" | "sample" if !api.get("request").is_null() || !api.get("url").is_null() => {
                Some(self.request(api))
            }
            other => {
                let kind = if other.is_empty() { "items" } else { other };
                self.left_out.push(LeftOut::new(kind, "", "not HTTP requests"));
                None
            }
        }
    }

    fn request(&mut self, api: &Node) -> Node {
        let request = api.get("request");
        let url = [api.get("url"), request.get("url")].into_iter().find_map(Node::text).unwrap_or_default();
        let mut url = match &self.base {
            Some(base) if url.starts_with('/') => format!("{}{url}", base.trim_end_matches('/')),
            None if url.starts_with('/') => format!("{{{{base_url}}}}{url}"),
            _ => url.to_owned(),
        };
        let restful = if request.get("restful").is_null() { request.get("resful") } else { request.get("restful") };
        for row in restful.get("parameter").items() {
            let (name, value) = (row.get("key").plain(), row.get("value").plain());
            url = replace_segment(&url, &name, &value);
        }
        let query = rows(request.get("query"));
        let address = url.split_once('?').map_or(url.clone(), |(address, query_text)| {
            // What the table has stands in the text too.
            if query.is_empty() { format!("{address}?{query_text}") } else { address.to_owned() }
        });
        let mut header = rows(request.get("header"));
        let cookies: Vec<String> = rows(request.get("cookie"))
            .iter()
            .filter(|row| !row.get("disabled").is_true())
            .map(|row| format!("{}={}", row.get("key").plain(), row.get("value").plain()))
            .collect();
        if !cookies.is_empty() {
            header.push(object([("key", "Cookie".into()), ("value", Node::Text(cookies.join("; ")))]));
        }
        let method = if api.get("method").is_null() { request.get("method") } else { api.get("method") };
        object([
            ("name", api.get("name").clone()),
            ("event", Node::List(events(api))),
            // Apipost sends content with every method.
            ("protocolProfileBehavior", object([("disableBodyPruning", Node::Boolean(true))])),
            (
                "request",
                object([
                    ("method", method.clone()),
                    ("url", object([("raw", Node::Text(address)), ("query", Node::List(query))])),
                    ("header", Node::List(header)),
                    ("auth", auth(request.get("auth"))),
                    ("body", body(request.get("body"))),
                ]),
            ),
        ])
    }
}

fn object<const N: usize>(members: [(&str, Node); N]) -> Node {
    Node::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// Returns the part of the whole project that has requests' parts.
fn project_request(root: &Node) -> &Node {
    let global = root.get("global").get("global_param");
    if !global.get("auth").is_null() { global } else { root.get("project").get("request") }
}

/// Returns a table's rows as Postman has them. A row is on if its mark is 1, as number or as text.
fn rows(of: &Node) -> Vec<Node> {
    let rows = if of.get("parameter").is_null() { of } else { of.get("parameter") };
    let row = |row: &Node| {
        let is_off = !matches!(row.get("is_checked").plain().as_str(), "1" | "" | "true");
        let is_file = [row.get("type"), row.get("field_type")]
            .iter()
            .any(|kind| kind.text().is_some_and(|kind| kind.eq_ignore_ascii_case("file")));
        let key = row.get("key").clone();
        let value = match row.get("value") {
            Node::Null => "".into(),
            value => value.clone(),
        };
        let mut members = vec![("key".to_owned(), key), ("disabled".to_owned(), Node::Boolean(is_off))];
        if is_file {
            let named = if row.get("file_name").is_null() { row.get("fileName") } else { row.get("file_name") };
            let name = if named.is_null() { value } else { named.clone() };
            members.push(("type".to_owned(), "file".into()));
            members.push(("src".to_owned(), name));
        } else {
            members.push(("value".to_owned(), value));
        }
        Node::Object(members)
    };
    rows.items().iter().filter(|row| !row.get("key").plain().is_empty()).map(row).collect()
}

fn replace_segment(url: &str, name: &str, value: &str) -> String {
    if name.is_empty() {
        return url.to_owned();
    }
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let replace = |segment: &str| {
        let is_it = segment.strip_prefix(':') == Some(name) || segment == format!("{{{name}}}");
        if is_it { value.to_owned() } else { segment.to_owned() }
    };
    let address = address.split('/').map(replace).collect::<Vec<_>>().join("/");
    query.map_or(address.clone(), |query| format!("{address}?{query}"))
}

fn body(body: &Node) -> Node {
    let table = || Node::List(rows(body));
    match body.get("mode").text_or_empty() {
        "" | "none" => Node::Null,
        "form-data" => object([("mode", "formdata".into()), ("formdata", table())]),
        "urlencoded" => object([("mode", "urlencoded".into()), ("urlencoded", table())]),
        "binary" => {
            let binary = body.get("binary");
            let name = ["file_path", "file_name", "name"].iter().find_map(|name| binary.get(name).text());
            object([("mode", "file".into()), ("file", object([("src", name.unwrap_or_default().into())]))])
        }
        kind @ ("json" | "xml" | "html" | "javascript" | "plain") => {
            let language = object([("raw", object([("language", kind.into())]))]);
            object([("mode", "raw".into()), ("raw", body.get("raw").clone()), ("options", language)])
        }
        "msgpack" | "protobuf" => object([("mode", body.get("mode").clone())]),
        _ => object([("mode", "raw".into()), ("raw", body.get("raw").clone())]),
    }
}

fn auth(auth: &Node) -> Node {
    let kind = auth.get("type").text_or_empty();
    let of = auth.get(kind);
    match kind {
        "" | "inherit" => Node::Null,
        "kv" => object([("type", "apikey".into()), ("apikey", with(auth.get("kv"), "in", "header"))]),
        "bearer" => object([
            ("type", "bearer".into()),
            (
                "bearer",
                object([("token", if of.get("key").is_null() { of.get("token") } else { of.get("key") }.clone())]),
            ),
        ]),
        "basic" => object([("type", "basic".into()), ("basic", of.clone())]),
        other => object([("type", other.into())]),
    }
}

fn with(node: &Node, name: &str, value: &str) -> Node {
    let mut members = node.members().to_vec();
    if node.get(name).is_null() {
        members.push((name.to_owned(), value.into()));
    }
    Node::Object(members)
}

/// Returns the scripts of a request or a folder: version 7 has text, version 8 has lists of tasks.
fn events(api: &Node) -> Vec<Node> {
    let mut events = Vec::new();
    let mut add = |phase: &str, text: String| {
        if !text.trim().is_empty() {
            events.push(object([("listen", phase.into()), ("script", object([("exec", Node::Text(text))]))]));
        }
    };
    let request = api.get("request");
    for place in [request.get("event"), api.get("script"), request.get("script")] {
        add("prerequest", place.get("pre_script").plain());
        add("test", place.get("test").plain());
    }
    for (phase, name) in [("prerequest", "pre_tasks"), ("test", "post_tasks")] {
        for task in request.get(name).items() {
            let is_on = matches!(task.get("enabled").plain().as_str(), "1" | "" | "true");
            let script = [task.get("data"), task.get("script"), task.get("content")].into_iter().find_map(Node::text);
            // A task that is no script is kept as the text that it is.
            add(phase, script.map(str::to_owned).filter(|_| is_on).unwrap_or_else(|| task.to_json()));
        }
    }
    events
}

/// Returns the variables of the project and of its first environment.
fn variables(root: &Node) -> Vec<Node> {
    let mut found = Vec::new();
    let mut add = |node: &Node| {
        for row in node.items() {
            found.push(object([("key", row.get("key").clone()), ("value", current(row))]));
        }
        for (name, value) in node.members() {
            found.push(object([("key", name.as_str().into()), ("value", current(value))]));
        }
    };
    add(root.get("global").get("global_vars"));
    add(root.get("globals"));
    if let Some(environment) = environment(root) {
        for name in ["env_var_list", "env_vars", "list", "variables"] {
            add(environment.get(name));
        }
    }
    found
}

/// Returns a variable's value, which may stand in an object.
fn current(variable: &Node) -> Node {
    let members = ["current_value", "currentValue", "value"];
    if variable.members().is_empty() {
        return variable.clone();
    }
    let found = members.iter().map(|name| variable.get(name)).find(|value| !value.plain().is_empty());
    found.cloned().unwrap_or("".into())
}

fn environment(root: &Node) -> Option<&Node> {
    [root.get("global").get("envs"), root.get("env"), root.get("envs")]
        .into_iter()
        .find_map(|envs| envs.items().first())
}

/// Returns the URL before paths without a host.
fn base(root: &Node) -> Option<String> {
    let environment = environment(root);
    let of_environment = environment.and_then(|environment| {
        let servers = environment.get("server_list").items().first();
        let server = servers.and_then(|server| ["uri", "url"].iter().find_map(|name| server.get(name).text()));
        server.or_else(|| ["pre_url", "url"].iter().find_map(|name| environment.get(name).text()))
    });
    let of_project = root.get("global").get("servers").items().first();
    let of_project = of_project.and_then(|server| ["uri", "url"].iter().find_map(|name| server.get(name).text()));
    let config = [root.get("config").get("host")].into_iter().find_map(Node::text);
    let base = [of_environment, of_project, config].into_iter().flatten().find(|base| !base.is_empty());
    base.map(str::to_owned)
}

#[cfg(test)]
mod tests;
