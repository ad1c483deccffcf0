//! One operation, as an entry.

use super::document::Document;
use super::parameter::{self, Parameter};
use super::sample::{Sampler, given};
use super::security;
use super::server::{self, BASE_URL};
use crate::draft::{DraftEntry, LeftOut};
use crate::node::Node;
use crate::parts::{NOWHERE, drop_nameless, entry, has_field, pair, response, status_between, variable};
use crate::secret::Secrets;
use std::collections::BTreeMap;
use torr_session::hurl::ast::{Body, MultipartPart, Piece, Request, Template, TextHint};

const FORM: &str = "application/x-www-form-urlencoded";

/// The names and values of path parameters for which the description has no value, each with the number of operations.
pub(super) type Invented = BTreeMap<(String, String), usize>;

/// An operation, with what stands around it in the description.
pub(super) struct Operation<'d> {
    pub(super) document: &'d Document<'d>,
    pub(super) path: &'d str,
    pub(super) item: &'d Node,
    pub(super) method: &'d str,
    pub(super) operation: &'d Node,
    /// The URL that the variable of all requests holds.
    pub(super) base: &'d str,
}

impl<'d> Operation<'d> {
    /// Returns the entry.
    pub(super) fn entry(&self, secrets: &mut Secrets, invented: &mut Invented) -> DraftEntry {
        let mut left_out = Vec::new();
        let mut request = Request::new(self.method.to_ascii_uppercase(), Template::default(), NOWHERE);
        let mut path = self.path.to_owned();
        let mut query: Vec<String> = Vec::new();
        for parameter in parameter::all(self.document, self.item, self.operation) {
            match parameter.location {
                "path" => self.path_parameter(&parameter, &mut path, invented),
                _ => self.parameter(&parameter, &mut request, &mut query, secrets, &mut left_out),
            }
        }
        let target = if query.is_empty() { path.clone() } else { format!("{path}?{}", query.join("&")) };
        request.url = secrets.url(self.url(&target));
        left_out.extend(crate::target::respelled(&request.url));
        if path.contains('{') {
            left_out.push(LeftOut::new("path parameter", self.path, "the description does not define it"));
        }
        security::add(self.document, self.operation, &mut request, secrets, &mut left_out);
        self.accept(&mut request);
        self.content(&mut request, secrets, &mut left_out);
        for (name, _) in self.operation.get("callbacks").members() {
            left_out.push(LeftOut::new("callbacks", name, "requests that the service sends"));
        }
        drop_nameless(&mut request);
        let named = ["operationId", "summary"].iter().find_map(|name| self.operation.get(name).text());
        let mut made = entry(named.unwrap_or_default(), request);
        self.expect(&mut made, &mut left_out);
        DraftEntry::new(made, left_out)
    }

    /// Returns the URL: with the variable of all requests, unless path or operation have a server of their own.
    fn url(&self, path: &str) -> Template {
        let own = [self.operation, self.item].iter().find_map(|node| node.get("servers").items().first());
        let own = own
            .map(server::url)
            .filter(|url| url.starts_with("http") && url.contains("://") && url.trim_end_matches('/') != self.base);
        match own {
            Some(url) => format!("{}{path}", url.trim_end_matches('/')).as_str().into(),
            None => Template(vec![Piece::Placeholder(variable(BASE_URL)), Piece::Text(path.to_owned())]),
        }
    }

    /// Puts a parameter into the path.
    fn path_parameter(&self, parameter: &Parameter<'d>, path: &mut String, invented: &mut Invented) {
        let placeholder = format!("{{{}}}", parameter.name);
        let value = parameter.given(self.document).unwrap_or_else(|| {
            let value = parameter.named_sample(self.document);
            if path.contains(&placeholder) {
                *invented.entry((parameter.name.to_owned(), value.plain())).or_default() += 1;
            }
            value
        });
        *path = path.replace(&placeholder, &parameter.segment(&value));
    }

    fn parameter(
        &self,
        parameter: &Parameter<'d>,
        request: &mut Request,
        query: &mut Vec<String>,
        secrets: &mut Secrets,
        left_out: &mut Vec<LeftOut>,
    ) {
        let given = parameter.given(self.document);
        if given.is_none() && !parameter.is_required() {
            let kind = format!("optional {} parameter", parameter.location);
            left_out.push(LeftOut::new(kind, parameter.name, "no example and no default"));
            return;
        }
        let value = given.unwrap_or_else(|| parameter.sample(self.document));
        let of_content = ["accept", "content-type", "authorization"];
        match parameter.location {
            "query" if parameter.raw_query(&value).is_some() => query.extend(parameter.raw_query(&value)),
            "query" => {
                let pairs = parameter.pairs(&value).into_iter();
                request.query.extend(pairs.map(|(name, value)| pair(&name, secrets.parameter(&name, &value))));
            }
            "cookie" => {
                let pairs = parameter.pairs(&value).into_iter();
                request.cookies.extend(pairs.map(|(name, value)| pair(&name, secrets.parameter(&name, &value))));
            }
            // The format says that these are described elsewhere.
            "header" if of_content.contains(&parameter.name.to_ascii_lowercase().as_str()) => {
                left_out.push(LeftOut::new("header parameter", parameter.name, "it follows from content and security"));
            }
            "header" => {
                let value = parameter.joined(&value);
                request.headers.push(pair(parameter.name, secrets.field(parameter.name, &value)));
            }
            other => left_out.push(LeftOut::new("parameter", parameter.name, format!("unknown location '{other}'"))),
        }
    }

    /// Returns the content types of a request or a response.
    fn content_of(&self, described: &'d Node) -> &'d Node {
        self.document.resolve(described.get("content"))
    }

    /// Adds the field that says which content the response may have: as browsers do, what the description names first.
    fn accept(&self, request: &mut Request) {
        let responses = self.document.resolve(self.operation.get("responses")).members();
        let content = responses.iter().filter(|(status, _)| status.starts_with('2'));
        let mut content =
            content.filter_map(|(_, response)| self.content_of(self.document.resolve(response)).members().first());
        if let Some((media_type, _)) = content.next().filter(|_| !has_field(request, "accept")) {
            request.headers.push(pair("Accept", media_type.as_str().into()));
        }
    }

    fn content(&self, request: &mut Request, secrets: &mut Secrets, left_out: &mut Vec<LeftOut>) {
        let body = self.document.resolve(self.operation.get("requestBody"));
        let kinds = self.content_of(body).members();
        if kinds.is_empty() {
            if !self.operation.get("requestBody").is_null() {
                left_out.push(LeftOut::new("content", "", "its description is empty or in another file"));
            }
            return;
        }
        let chosen = kinds.iter().min_by_key(|(media_type, media)| self.rank(media_type, media));
        let Some((media_type, media)) = chosen else { return };
        let media = self.document.resolve(media);
        for (other, _) in kinds.iter().filter(|(other, _)| other != media_type) {
            left_out.push(LeftOut::new("content type", other, "another content type of the operation is used"));
        }
        let example = self.example(media);
        let essence = media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let schema = self.document.resolve(media.get("schema"));
        match essence.as_str() {
            FORM | "multipart/form-data" => {
                let value = example.or_else(|| Sampler::new(self.document).value(media.get("schema")));
                let value = value.unwrap_or(Node::Null);
                for (name, value) in value.members() {
                    if essence == FORM {
                        let encoding = media.get("encoding").get(name);
                        let style = encoding.get("style").text_or_empty();
                        let pairs = parameter::pairs(name, value, style, encoding.get("explode"));
                        let field = |(name, value): (String, String)| pair(&name, secrets.parameter(&name, &value));
                        request.form.extend(pairs.into_iter().map(field));
                    } else {
                        let property = self.document.resolve(schema.get("properties").get(name));
                        self.part(name, value, property, request, secrets, left_out);
                    }
                }
            }
            json if is_json(json) => {
                let value = example.or_else(|| Sampler::new(self.document).value(media.get("schema")));
                let text = match value.unwrap_or(Node::Null) {
                    // An example may be JSON as text.
                    Node::Text(text) if schema.get("type").text() != Some("string") && crate::parts::is_json(&text) => {
                        text
                    }
                    value => value.to_pretty_json(),
                };
                request.body = Some(match crate::parts::is_json(&text) {
                    true => Body::Json(secrets.json(&text)),
                    // A lone value could be taken for a line of the section above it.
                    false => Body::Text { text: text.as_str().into(), hint: TextHint::Json },
                });
                if json != "application/json" {
                    request.headers.push(pair("Content-Type", media_type.as_str().into()));
                }
            }
            _ => match example {
                Some(value) => {
                    request.headers.push(pair("Content-Type", media_type.as_str().into()));
                    request.body = Some(Body::Text { text: value.plain().as_str().into(), hint: TextHint::Plain });
                }
                None if essence.starts_with("text/") && !essence.ends_with("xml") => {
                    let value = Sampler::new(self.document).value(media.get("schema")).unwrap_or("text".into());
                    request.headers.push(pair("Content-Type", media_type.as_str().into()));
                    request.body = Some(Body::Text { text: value.plain().as_str().into(), hint: TextHint::Plain });
                }
                None => {
                    let kind = format!("content of type {essence}");
                    left_out.push(LeftOut::new(kind, "", "no example, and none can be generated from a schema"));
                }
            },
        }
    }

    /// Returns how well a content type can be imported: the lowest is best.
    fn rank(&self, media_type: &str, media: &Node) -> usize {
        match media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/json" => 0,
            other if is_json(other) => 1,
            FORM => 2,
            "multipart/form-data" => 3,
            other if other.starts_with("text/") && !other.ends_with("xml") => 4,
            _ if given(media).is_some() || !media.get("examples").members().is_empty() => 5,
            _ => 6,
        }
    }

    fn example(&self, media: &'d Node) -> Option<Node> {
        let named = media.get("examples").members().iter();
        let named = named.map(|(_, example)| self.document.resolve(example).get("value"));
        let own = || given(self.document.resolve(media.get("schema")));
        let example = media.get("example");
        let example = if example.is_null() { named.clone().find(|value| !value.is_null()) } else { Some(example) };
        example.cloned().or_else(own)
    }

    fn part(
        &self,
        name: &str,
        value: &Node,
        property: &'d Node,
        request: &mut Request,
        secrets: &mut Secrets,
        left_out: &mut Vec<LeftOut>,
    ) {
        let of = if property.get("type").text() == Some("array") {
            self.document.resolve(property.get("items"))
        } else {
            property
        };
        let is_file = of.get("format").text() == Some("binary") || !property.get("contentMediaType").is_null();
        if is_file {
            let reason = format!("replaced by text: put a file next to the hurl file and write {name}: file,NAME;");
            left_out.push(LeftOut::new("file of a form", name, reason));
        }
        let values = match value {
            Node::List(items) => items.iter().map(Node::plain).collect(),
            value => vec![value.plain()],
        };
        for value in values {
            request.multipart.push(MultipartPart::Field(pair(name, secrets.parameter(name, &value))));
        }
    }

    /// Adds the status code of success.
    fn expect(&self, entry: &mut torr_session::hurl::ast::Entry, left_out: &mut Vec<LeftOut>) {
        let responses = self.document.resolve(self.operation.get("responses")).members();
        let success = responses.iter().filter(|(status, _)| status.starts_with(['2', '3']));
        let Some((status, described)) = success.min_by_key(|(status, _)| status.clone()) else { return };
        match status.parse::<u16>() {
            Ok(code) if (100..1000).contains(&code) => response(entry).status = Some(code),
            _ => {
                let class = i64::from(status.as_bytes()[0] - b'0') * 100;
                response(entry).asserts.extend(status_between(class, class + 100));
            }
        }
        for (name, _) in self.document.resolve(described).get("links").members() {
            left_out.push(LeftOut::new("links", name, "add a capture where the session needs the value"));
        }
    }
}

fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json") || media_type == "*/*"
}
