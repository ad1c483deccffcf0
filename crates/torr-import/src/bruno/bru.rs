//! Files of the Bru language: requests, `collection.bru`, `folder.bru` and environments.

use super::item::{Auth, Content, Environment, Item, Level, Row, Settings, typed};
use super::language::{Block, Inside, Pair, read};

/// The space before lines of a value between `'''` in requests and in environments.
const INDENT: usize = 4;

/// The blocks whose name is a method.
const METHODS: &[&str] = &["get", "post", "put", "delete", "patch", "options", "head", "connect", "trace", "http"];

/// Reads a request.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn item(text: &str) -> Result<Item, String> {
    let blocks = read(text, INDENT)?;
    let mut item = Item { sequence: 1, kind: "http".to_owned(), level: level(&blocks), ..Item::default() };
    let mut body = "none";
    for block in &blocks {
        match block.name.as_str() {
            "meta" => {
                if let Some(sequence) = value(block, "seq").trim().parse::<f64>().ok().filter(|number| *number != 0.0) {
                    item.sequence = sequence as i64;
                }
                let kind = value(block, "type");
                if !kind.is_empty() {
                    item.kind = kind.to_owned();
                }
            }
            "params:path" => item.path.extend(rows(block)),
            "params:query" | "query" => {
                item.off.extend(block.pairs().iter().filter(|pair| !pair.is_on).map(|pair| pair.name.clone()));
            }
            "assert" => item.asserts.extend(rows(block)),
            "settings" => item.settings = settings(block),
            "body" => body = "json",
            name if METHODS.contains(&name) => {
                let given = value(block, "method");
                item.method = if name == "http" { given } else { name }.to_uppercase();
                item.url = value(block, "url").to_owned();
                body = Some(value(block, "body")).filter(|body| !body.is_empty()).unwrap_or(body);
                item.level.auth = auth(value(block, "auth"), &blocks);
            }
            "grpc" | "ws" => item.kind = block.name.clone(),
            _ => {}
        }
    }
    item.content = content(body, &blocks);
    Ok(item)
}

/// Reads `collection.bru` or `folder.bru`, and the folder's place.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn folder(text: &str) -> Result<(Level, Option<i64>), String> {
    let blocks = read(text, INDENT)?;
    let mut level = level(&blocks);
    let mut sequence = None;
    for block in &blocks {
        match block.name.as_str() {
            "meta" => sequence = value(block, "seq").trim().parse().ok().filter(|sequence| *sequence > 0),
            "auth" => level.auth = auth(value(block, "mode"), &blocks),
            _ => {}
        }
    }
    Ok((level, sequence))
}

/// Reads an environment.
///
/// # Errors
/// What is wrong with the text.
pub(super) fn environment(text: &str) -> Result<Environment, String> {
    let mut environment = Environment::default();
    for block in read(text, INDENT)? {
        match (block.name.as_str(), &block.inside) {
            ("vars", _) => environment.variables.extend(rows(&block)),
            ("vars:secret", Inside::List(names)) => {
                environment.secrets.extend(names.iter().filter(|name| !name.starts_with('~')).cloned());
            }
            (name, _) if name.starts_with("vars:externalsecrets") => {
                let of_block = block.pairs().iter().filter(|pair| pair.is_on);
                environment.secrets.extend(of_block.map(|pair| pair.name.clone()));
            }
            (other, _) => environment.left_out.push((format!("block {other}"), "unknown in an environment".to_owned())),
        }
    }
    Ok(environment)
}

fn level(blocks: &[Block]) -> Level {
    let mut level = Level::default();
    for block in blocks {
        match block.name.as_str() {
            "meta" => level.name = value(block, "name").to_owned(),
            "headers" => level.headers.extend(rows(block)),
            "vars:pre-request" => level.variables.extend(rows(block)),
            "vars:post-response" => level.captures.extend(rows(block)),
            "script:pre-request" => level.before = block.text().to_owned(),
            "script:post-response" => level.after = block.text().to_owned(),
            "tests" => level.tests = block.text().to_owned(),
            _ => {}
        }
    }
    level
}

/// Returns the authentication of a mode, with the values of its own block.
fn auth(mode: &str, blocks: &[Block]) -> Auth {
    let name = format!("auth:{mode}");
    let of_block = blocks.iter().filter(|block| block.name == name).flat_map(Block::pairs);
    let additional = "auth:oauth2:additional_params:access_token_req";
    let more = blocks.iter().filter(|block| mode == "oauth2" && block.name.starts_with(additional));
    let more = more.flat_map(Block::pairs).filter(|pair| pair.is_on);
    let values = of_block.map(|pair| (pair.name.clone(), pair.value.clone()));
    let values = values.chain(more.map(|pair| ("additional".to_owned(), pair.name.clone()))).collect();
    Auth { mode: mode.to_owned(), values }
}

fn content(body: &str, blocks: &[Block]) -> Content {
    let text = |name: &str| {
        let block =
            blocks.iter().rev().find(|block| block.name == name || (name == "body:json" && block.name == "body"));
        block.map(|block| block.text().to_owned()).unwrap_or_default()
    };
    let table = |name: &str| -> Vec<&Pair> {
        blocks.iter().filter(|block| block.name == name).flat_map(Block::pairs).collect()
    };
    match body {
        "" | "none" => Content::None,
        "json" => Content::Text { kind: "json", text: text("body:json") },
        "text" => Content::Text { kind: "text", text: text("body:text") },
        "xml" => Content::Text { kind: "xml", text: text("body:xml") },
        "sparql" => Content::Text { kind: "sparql", text: text("body:sparql") },
        "graphql" => Content::GraphQl { query: text("body:graphql"), variables: text("body:graphql:vars") },
        "formUrlEncoded" | "form-urlencoded" => {
            Content::Form(table("body:form-urlencoded").into_iter().map(row).collect())
        }
        "multipartForm" | "multipart-form" => {
            Content::Parts(table("body:multipart-form").into_iter().map(part).collect())
        }
        "file" => Content::File(table("body:file").into_iter().map(part).collect()),
        other => Content::Other(other.to_owned()),
    }
}

fn value<'b>(block: &'b Block, name: &str) -> &'b str {
    block.pairs().iter().rev().find(|pair| pair.name == name).map_or("", |pair| &pair.value)
}

fn rows(block: &Block) -> Vec<Row> {
    block.pairs().iter().map(row).collect()
}

fn row(pair: &Pair) -> Row {
    let kinds = ["string", "number", "boolean", "object"];
    let kind = pair.annotations.iter().rev().find(|annotation| kinds.contains(&annotation.as_str()));
    let value = kind.map_or_else(|| pair.value.clone(), |kind| typed(&pair.value, kind));
    // A variable of a request alone has an at sign.
    let name = pair.name.strip_prefix('@').unwrap_or(&pair.name);
    Row { value, is_on: pair.is_on, ..Row::new(name, "") }
}

/// Returns a part of a form, or a file: `@file(NAME|NAME)` and `@contentType(TYPE)` are read.
fn part(pair: &Pair) -> Row {
    let mut row = Row { is_on: pair.is_on, ..Row::new(&pair.name, &pair.value) };
    if let Some((value, kind)) = row.value.rsplit_once("@contentType(")
        && let Some(kind) = kind.trim_end().strip_suffix(')')
    {
        row.content_type = kind.trim().to_owned();
        row.value = value.trim_end().to_owned();
    }
    if let Some(files) = row.value.strip_prefix("@file(").and_then(|rest| rest.strip_suffix(')')) {
        row.files = files.split('|').filter(|file| !file.is_empty()).map(str::to_owned).collect();
        if row.files.is_empty() {
            row.files.push(String::new());
        }
        row.value.clear();
    }
    row
}

fn settings(block: &Block) -> Settings {
    let flag = |name: &str, otherwise: bool| match value(block, name) {
        "" => otherwise,
        value => value == "true",
    };
    Settings {
        encodes_url: flag("encodeUrl", false),
        follows: flag("followRedirects", true),
        max_redirects: value(block, "maxRedirects").parse().ok(),
        timeout: value(block, "timeout").parse().unwrap_or(0),
        forwards_credentials: flag("forwardAuthorizationHeader", true),
    }
}
