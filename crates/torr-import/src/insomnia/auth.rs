//! Authentication, which requests inherit from folders.

use super::address;
use super::content::write_form;
use super::item::{Item, Level};
use super::reader::Reader;
use crate::draft::{DraftEntry, LeftOut};
use crate::form::FORM;
use crate::node::Node;
use crate::parts::{
    NOWHERE, add_basic, aws_options, capture, digest_options, entry, has_field, joined, option, pair, response,
};
use crate::reason::AUTHENTICATION;
use torr_session::hurl::ast::{KeyValue, OptionName, OptionValue, Piece, Query, Request, Template};

/// Returns the level whose authentication a request has: its own, or that of the innermost folder with one.
pub(super) fn of<'c>(levels: &[&'c Level], item: &'c Item) -> Option<&'c Level> {
    let has_one = |level: &&&'c Level| !level.auth.get("type").is_null() && !level.auth.get("disabled").is_true();
    [&item.level].iter().chain(levels.iter().rev()).find(has_one).copied()
}

/// Returns the parameter of the URL that an authentication adds.
pub(super) fn in_url<'a>(
    reader: &mut Reader<'_>,
    auth: &'a Node,
    left_out: &mut Vec<LeftOut>,
) -> Option<(&'a str, Template)> {
    let is_it = auth.get("type").text() == Some("apikey") && auth.get("addTo").text() == Some("queryParams");
    let key = auth.get("key").text().filter(|key| is_it && !key.is_empty())?;
    let value = reader.credential(name_of_key(key), &auth.get("value").plain(), left_out);
    Some((key, value))
}

/// Adds the credentials of a request.
pub(super) fn add<'c>(reader: &mut Reader<'c>, level: &'c Level, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let auth = &level.auth;
    let kind = auth.get("type").text_or_empty();
    let value = |name: &str| auth.get(name).plain();
    let is_given = has_field(request, "authorization");
    if is_given && matches!(kind, "basic" | "digest" | "bearer" | "apikey" | "oauth2") {
        if !(kind == "apikey" && value("addTo") == "queryParams") {
            left_out.push(LeftOut::new("authentication", kind, "the field Authorization is sent"));
        }
        return;
    }
    match kind {
        "" | "none" => {}
        "basic" => {
            if auth.get("useISO88591").is_true() && !format!("{}{}", value("username"), value("password")).is_ascii() {
                left_out.push(LeftOut::new("encoding", "ISO 8859-1", "the credentials are sent in UTF-8"));
            }
            let user = reader.template(&value("username"), left_out);
            let password = reader.credential("password", &value("password"), left_out);
            add_basic(request, user, password);
        }
        "digest" => {
            let user = reader.template(&value("username"), left_out);
            let password = reader.credential("password", &value("password"), left_out);
            request.options.extend(digest_options(user, password));
        }
        "netrc" => request.options.push(option(OptionName::Netrc, OptionValue::Boolean(true))),
        "bearer" => {
            let token = reader.credential("token", &value("token"), left_out);
            bearer(&value("prefix"), token, request);
        }
        "apikey" => {
            let (key, secret) = (value("key"), value("value"));
            if value("addTo") == "queryParams" || key.is_empty() || secret.is_empty() {
                // The query is the URL's, and half a key is not sent.
                return;
            }
            let secret = reader.credential(name_of_key(&key), &secret, left_out);
            let name = reader.template(&key, left_out);
            if value("addTo") == "cookie" {
                request.headers.push(pair("Cookie", joined([name, "=".into(), secret])));
            } else {
                request.headers.push(KeyValue { name, value: secret, at: NOWHERE });
            }
        }
        "iam" => iam(reader, auth, request, left_out),
        "oauth2" => {
            let token = oauth2(reader, level, left_out);
            bearer(&value("tokenPrefix"), token, request);
        }
        other => left_out.push(LeftOut::new("authentication", other, AUTHENTICATION)),
    }
}

/// Returns the name of the variable for an API key.
fn name_of_key(key: &str) -> &str {
    if key.contains("{{") || key.contains("{%") { "api_key" } else { key }
}

/// Adds a token with the prefix that people chose, if there is a token.
fn bearer(prefix: &str, token: Template, request: &mut Request) {
    if token.0.is_empty() {
        return;
    }
    let prefix = match prefix {
        "NO_PREFIX" => String::new(),
        "" => "Bearer ".to_owned(),
        prefix => format!("{prefix} "),
    };
    request.headers.push(pair("Authorization", joined([prefix.as_str().into(), token])));
}

fn iam(reader: &mut Reader<'_>, auth: &Node, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let value = |name: &str| auth.get(name).plain();
    let of_scope = ["region", "service"].map(value);
    let of_scope = of_scope.iter().take_while(|part| !part.is_empty());
    let scope = of_scope.map(|part| reader.template(part, left_out)).collect();
    let key = reader.template(&value("accessKeyId"), left_out);
    let secret = reader.credential("secret_key", &value("secretAccessKey"), left_out);
    request.options.extend(aws_options(scope, key, secret));
    if !value("sessionToken").is_empty() {
        let token = reader.credential("session_token", &value("sessionToken"), left_out);
        request.headers.push(pair("X-Amz-Security-Token", token));
    }
}

/// Returns a token of OAuth 2, which an entry before captures where Insomnia gets it without a person.
fn oauth2<'c>(reader: &mut Reader<'c>, level: &'c Level, left_out: &mut Vec<LeftOut>) -> Template {
    let auth = &level.auth;
    let shown = |variable: &str| Template(vec![Piece::Placeholder(crate::parts::variable(variable))]);
    if let Some((_, variable)) = reader.tokens.iter().find(|(known, _)| std::ptr::eq(*known, level)) {
        return shown(variable);
    }
    let grant = auth.get("grantType").plain();
    if matches!(grant.as_str(), "client_credentials" | "password")
        && let Some(request) = token_request(reader, auth, &grant, left_out)
    {
        let name = reader.name_of(&format!("token of {} {}", level.name, reader.tokens.len()), "oauth2_access_token");
        let variable = reader.inner.variables.assign(&name);
        let mut made = DraftEntry::new(entry("OAuth 2 token", request), std::iter::empty::<LeftOut>());
        response(&mut made.entry).captures.push(capture(&variable, Query::JsonPath("$.access_token".into())));
        let at = reader.inner.draft.entries.len() + 1;
        let note = format!("captured: '{variable}' from the response of request {at}, which gets the token");
        reader.inner.draft.notes.push(note);
        reader.inner.draft.entries.push(made);
        reader.tokens.push((level, variable.clone()));
        return shown(&variable);
    }
    let reason = "the token is not fetched: give it as the variable access_token";
    left_out.push(LeftOut::new("authentication oauth2", grant, reason));
    reader.inner.secrets.whole("access_token", "authentication", &auth.get("accessToken").plain())
}

/// Returns the request by which Insomnia gets a token.
fn token_request(reader: &mut Reader<'_>, auth: &Node, grant: &str, left_out: &mut Vec<LeftOut>) -> Option<Request> {
    let value = |name: &str| auth.get(name).plain();
    let url = address::alone(reader, &value("accessTokenUrl"), left_out)?;
    let mut request = Request::new("POST", reader.inner.secrets.url(url), NOWHERE);
    request.headers.push(pair("Accept", "application/x-www-form-urlencoded, application/json".into()));
    if !value("origin").is_empty() {
        request.headers.push(pair("Origin", reader.template(&value("origin"), left_out)));
    }
    request.headers.push(pair("Content-Type", FORM.into()));
    let mut form = vec![pair("grant_type", grant.into())];
    let names: &[(&str, &str)] = match grant {
        "password" => {
            &[("username", "username"), ("password", "password"), ("scope", "scope"), ("audience", "audience")]
        }
        _ => &[("scope", "scope"), ("audience", "audience"), ("resource", "resource")],
    };
    let of_client = [("client_id", "clientId"), ("client_secret", "clientSecret")];
    let in_body = auth.get("credentialsInBody").is_true();
    for (name, of) in names.iter().chain(if in_body { &of_client[..] } else { &[] }) {
        let template = match *name {
            "password" | "client_secret" => reader.credential(name, &value(of), left_out),
            _ => reader.template(&value(of), left_out),
        };
        if !template.0.is_empty() {
            form.push(pair(name, template));
        }
    }
    if !in_body {
        let name = reader.template(&value("clientId"), left_out);
        let secret = reader.credential("client_secret", &value("clientSecret"), left_out);
        request.basic_auth = Some(KeyValue { name, value: secret, at: NOWHERE }).filter(|pair| !pair.name.0.is_empty());
    }
    write_form(form, &mut request);
    request.options.push(option(OptionName::Location, OptionValue::Boolean(true)));
    Some(request)
}
