//! One request of a flow as an entry.

use super::reader::{Found, Reader};
use super::text::{self, Part};
use super::{capture, condition, content, expect, query};
use crate::draft::{DraftEntry, LeftOut};
use crate::javascript;
use crate::node::Node;
use crate::parts::{NOWHERE, drop_nameless, entry, filled, has_field, is_token, option, pair, push, sent_method};
use crate::target::is_http;
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::collections::HashMap;
use torr_session::hurl::ast::{KeyValue, OptionName, OptionValue, Piece, Request, Template};
use torr_session::hurl::write_entry;

/// What stands in no request line.
const UNSENT: &AsciiSet = &CONTROLS.add(b' ');
/// What Artillery accepts of content codings.
const CODINGS: &str = "gzip, deflate, br";

/// Members that this importer reads.
const READ: &[&str] = &[
    "url",
    "uri",
    "name",
    "headers",
    "qs",
    "json",
    "body",
    "form",
    "formData",
    "cookie",
    "auth",
    "gzip",
    "followRedirect",
    "capture",
    "match",
    "expect",
    "ifTrue",
    "beforeRequest",
    "afterResponse",
];

/// Adds the entry of a request.
pub(super) fn add(reader: &mut Reader<'_>, method: &str, params: &Node) {
    let url = [params.get("uri"), params.get("url")].into_iter().find(|url| !url.is_null());
    let url = url.map(Node::plain).unwrap_or_default();
    let shown = format!("{} {url}", method.to_uppercase());
    if let Some(condition) = params.get("ifTrue").text() {
        match condition::holds(reader, condition) {
            Some(false) => return reader.leave_out("request", shown, &format!("ifTrue never holds: {condition}")),
            Some(true) => {}
            None => reader.leave_out("ifTrue", condition, "its request is always sent"),
        }
    }
    if let Some(reason) = content::refused(method, params) {
        return reader.leave_out("request", shown, reason);
    }
    let Some(url) = address(reader, &url) else {
        return reader.leave_out("request", shown, "no URL of HTTP: Artillery ends the session here");
    };
    let mut left_out = Vec::new();
    let method = sent_method(&method.to_uppercase(), &mut |what, reason| left_out.push(LeftOut::new(what, "", reason)));
    reader.pending.append(&mut left_out);
    let mut request = Request::new(method, url, NOWHERE);
    query::add(reader, params.get("qs"), &mut request);
    request.url = reader.secrets.url(std::mem::take(&mut request.url));
    fields(reader, params, &mut request);
    cookies(reader, params, &mut request);
    credentials(reader, params.get("auth"), &mut request);
    content::add(reader, params, &mut request);
    drop_nameless(&mut request);
    options(reader, params, &mut request);
    reader.hooks(params);
    for (name, of) in params.members().iter().filter(|(name, _)| !READ.contains(&name.as_str())) {
        let reason = if name == "probability" { "its request is always sent" } else { "no counterpart" };
        reader.leave_out("setting", format!("{name}: {}", of.plain()), reason);
    }
    let name = match params.get("name").text() {
        Some(name) => filled_name(reader, name),
        None => String::new(),
    };
    let mut made = DraftEntry::new(entry(&name, request), std::iter::empty::<LeftOut>());
    capture::add(reader, params, &mut made);
    expect::add(reader, params.get("expect"), &mut made);
    made.left_out = std::mem::take(&mut reader.pending);
    if reader.grow(write_entry(&made.entry).len()) {
        reader.draft.entries.push(made);
    }
}

/// Returns the name of an entry, in which the names of variables stand for their values.
fn filled_name(reader: &Reader<'_>, name: &str) -> String {
    let part = |part: Part<'_>| match part {
        Part::Text(text) => text.to_owned(),
        Part::Name(name) | Part::Call(name, _) => {
            reader.known(name).as_ref().map_or(name.to_owned(), javascript::in_text)
        }
    };
    text::parts(name).into_iter().map(part).collect()
}

/// Returns a URL; `None` for one that is none.
fn address(reader: &mut Reader<'_>, text: &str) -> Option<Template> {
    let first = text::parts(text).first().copied();
    let begins_with_slash = match first {
        Some(Part::Text(text)) => text.starts_with('/'),
        Some(Part::Name("target")) => false,
        Some(Part::Name(name)) => match reader.known(name) {
            Some(known) => javascript::in_text(&known).starts_with('/'),
            None => {
                if !reader.config.is_undefined(name) || reader.config.variable(name).is_none() {
                    let reason = "taken as the beginning of a whole URL: write the target before it if it is a path";
                    reader.leave_out("URL", text, reason);
                }
                false
            }
        },
        _ => false,
    };
    let mut url = Template::default();
    if begins_with_slash {
        match reader.find("target") {
            Found::Piece(piece, _) => push(&mut url.0, piece),
            Found::Constant(value) => push(&mut url.0, Piece::Text(javascript::in_text(&value))),
            Found::Undefined => return None,
        }
    }
    for piece in reader.template(text).0 {
        match piece {
            Piece::Text(text) => {
                // No client sends a fragment.
                let (sent, rest) =
                    text.split_once('#').map_or((text.as_str(), None), |(sent, rest)| (sent, Some(rest)));
                push(&mut url.0, Piece::Text(encoded(sent)));
                if rest.is_some() {
                    break;
                }
            }
            placeholder => push(&mut url.0, placeholder),
        }
    }
    let whole = match url.0.first() {
        Some(Piece::Placeholder(_)) => format!("http://{}", filled(&url)),
        _ => filled(&url),
    };
    is_http(&whole).then_some(url)
}

/// Returns text of a URL in which spaces and what is no ASCII are percent-encoded, as they are when it is sent.
fn encoded(text: &str) -> String {
    utf8_percent_encode(&text.replace(['\t', '\r', '\n'], ""), UNSENT).to_string()
}

/// Adds the fields of the defaults and those of the request, whose names are sent in small letters.
fn fields(reader: &mut Reader<'_>, params: &Node, request: &mut Request) {
    let mut rows: Vec<(String, &Node, bool)> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let defaults = reader.config.defaults("headers");
    for (of, is_config) in [(defaults, true), (params.get("headers"), false)] {
        for (name, value) in of.members() {
            let name = name.to_lowercase();
            match places.get(&name).and_then(|at| rows.get_mut(*at)) {
                Some(row) => (row.1, row.2) = (value, is_config),
                None => {
                    places.insert(name.clone(), rows.len());
                    rows.push((name, value, is_config));
                }
            }
        }
    }
    for (name, value, is_config) in rows {
        if ["content-length", "transfer-encoding"].contains(&name.as_str()) {
            reader.leave_out("field", format!("{name}: {}", value.plain()), "Torr sends the length of the content");
            continue;
        }
        if !is_token(&name) {
            reader.leave_out("field", name, "an invalid name: Artillery ends the session here");
            continue;
        }
        let Some(value) = field(reader, value, is_config) else { continue };
        let value = reader.secrets.in_field(&name, value);
        request.headers.push(pair(&name, value));
    }
    if *params.get("gzip") != Node::Boolean(false) && !has_field(request, "accept-encoding") {
        request.headers.push(pair("accept-encoding", CODINGS.into()));
    }
}

/// Returns the value of a field; `None` for one that is not sent.
fn field(reader: &mut Reader<'_>, value: &Node, is_config: bool) -> Option<Template> {
    let config = reader.config;
    match value {
        Node::Null => None,
        Node::Text(text) if is_config => {
            if text::whole(text).is_some_and(|name| config.is_undefined(name)) {
                let reason = "Artillery knows no variables there, and does not send it";
                reader.leave_out_once([LeftOut::new("field of the defaults", text, reason)]);
                return None;
            }
            Some(reader.of_defaults(text))
        }
        Node::Text(text) => {
            if let Some(name) = text::whole(text)
                && matches!(reader.find(name), Found::Undefined)
            {
                return None;
            }
            Some(reader.template(text))
        }
        other => Some(javascript::string(other).as_str().into()),
    }
}

/// Adds the cookies of the defaults, which each request sends, and those of the request.
fn cookies(reader: &mut Reader<'_>, params: &Node, request: &mut Request) {
    let config = reader.config;
    let mut rows: Vec<(&String, &Node, bool)> = Vec::new();
    for (of, is_config) in [(config.defaults("cookie"), true), (params.get("cookie"), false)] {
        for (name, value) in of.members() {
            rows.push((name, value, is_config));
        }
    }
    // Of two with one name the last is sent.
    let last: HashMap<&str, usize> = rows.iter().enumerate().map(|(at, (name, ..))| (name.as_str(), at)).collect();
    for (_, (name, value, is_config)) in rows.iter().enumerate().filter(|(at, (name, ..))| last[name.as_str()] == *at) {
        let value = match value {
            Node::Text(text) if *is_config => reader.of_defaults(text),
            Node::Text(text) => reader.template(text),
            other => javascript::string(other).as_str().into(),
        };
        let value = match value.literal() {
            Some(text) if !text.is_empty() => reader.secrets.whole(name, &format!("cookie {name}"), text),
            _ => value,
        };
        request.cookies.push(KeyValue { name: name.as_str().into(), value, at: NOWHERE });
    }
    if !params.get("cookie").members().is_empty() {
        let reason = "sent with this request only: Artillery keeps them once a response has set a cookie";
        let names: Vec<&str> = params.get("cookie").members().iter().map(|(name, _)| name.as_str()).collect();
        reader.leave_out("cookies", names.join(", "), reason);
    }
}

fn credentials(reader: &mut Reader<'_>, auth: &Node, request: &mut Request) {
    if auth.is_null() {
        return;
    }
    let (user, password) = (auth.get("user").plain(), auth.get("pass").plain());
    let (user, password) = (reader.template(&user), reader.template(&password));
    let password = match password.literal() {
        Some("") => password,
        _ => reader.secrets.credential("password", password),
    };
    if user.0.is_empty() && password.0.is_empty() {
        return;
    }
    if user.0.is_empty() {
        return reader.leave_out("auth", "", "without a user");
    }
    request.basic_auth = Some(KeyValue { name: user, value: password, at: NOWHERE });
}

fn options(reader: &mut Reader<'_>, params: &Node, request: &mut Request) {
    let mut add = |name, value| request.options.push(option(name, value));
    if *params.get("followRedirect") != Node::Boolean(false) {
        add(OptionName::Location, OptionValue::Boolean(true));
    }
    if *reader.config.get("tls").get("rejectUnauthorized") == Node::Boolean(false) {
        add(OptionName::Insecure, OptionValue::Boolean(true));
    }
    let pause = std::mem::take(&mut reader.pause);
    if pause > 0 {
        add(OptionName::Delay, OptionValue::Milliseconds(pause));
    }
}
