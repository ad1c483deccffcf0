//! Authorization, which requests inherit from folders and the collection.

use super::address;
use super::item::{Auth, Item, Level};
use super::reader::Reader;
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{
    NOWHERE, add_basic, aws_options, capture, digest_options, drop_field, entry, joined, option, pair, response,
};
use crate::reason::AUTHENTICATION;
use torr_session::hurl::ast::{KeyValue, OptionName, OptionValue, Piece, Query, Request, Template};

/// Returns the authorization of a request: its own, or that of the innermost folder that has one, or that of the collection.
pub(super) fn of<'l>(levels: &[&'l Level], own: &'l Auth) -> &'l Auth {
    if own.mode != "inherit" {
        return own;
    }
    let mut effective = levels.first().map_or(own, |root| &root.auth);
    for level in levels.iter().skip(1) {
        if !matches!(level.auth.mode.as_str(), "" | "none" | "inherit") {
            effective = &level.auth;
        }
    }
    effective
}

/// Adds the credentials of a request.
pub(super) fn add(reader: &mut Reader, auth: &Auth, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    match auth.mode.as_str() {
        "" | "none" | "inherit" => {}
        "basic" => {
            let user = reader.template(auth.get("username"), left_out);
            let password = reader.credential("password", auth.get("password"), left_out);
            drop_field(request, "authorization");
            add_basic(request, user, password);
        }
        "digest" => {
            let user = reader.template(auth.get("username"), left_out);
            let password = reader.credential("password", auth.get("password"), left_out);
            request.options.extend(digest_options(user, password));
        }
        "bearer" => {
            let token = reader.credential("token", auth.get("token"), left_out);
            set(request, "Authorization".into(), joined(["Bearer ".into(), token]));
        }
        "apikey" => {
            let key = auth.get("key").to_owned();
            let name = if key.contains("{{") { "api_key" } else { key.as_str() };
            match auth.get("placement") {
                // The query is the URL's.
                "queryparams" | "query" => {}
                _ if key.is_empty() => left_out.push(LeftOut::new("authorization", "apikey", "without a name")),
                _ => {
                    let secret = reader.credential(name, auth.get("value"), left_out);
                    let name = reader.template(&key, left_out);
                    set(request, name, secret);
                }
            }
        }
        "awsv4" => awsv4(reader, auth, request, left_out),
        "oauth2" => oauth2(reader, auth, request, left_out),
        other => left_out.push(LeftOut::new("authorization", other, AUTHENTICATION)),
    }
}

/// Returns the URL of a request with the API key that its authorization puts there. Bruno does so before it fills in
/// variables, and leaves a URL that is none then as it is.
pub(super) fn in_url(auth: &Auth, address: &str, left_out: &mut Vec<LeftOut>) -> String {
    let (key, value) = (auth.get("key"), auth.get("value"));
    if auth.mode != "apikey" || !matches!(auth.get("placement"), "queryparams" | "query") || key.is_empty() {
        return address.to_owned();
    }
    let is_url = address.contains("://") && !address.contains("{{") && !value.contains("{{") && !key.contains("{{");
    let Some(mut url) = url::Url::parse(address).ok().filter(|_| is_url) else {
        let reason = "Bruno sends it only with a URL and a key that have no variables";
        left_out.push(LeftOut::new("API key in the query", key, reason));
        return address.to_owned();
    };
    let mut is_set = false;
    let mut pairs: Vec<(String, String)> = Vec::new();
    for (name, old) in url.query_pairs() {
        if name == key {
            if !is_set {
                pairs.push((name.into_owned(), value.to_owned()));
            }
            is_set = true;
        } else {
            pairs.push((name.into_owned(), old.into_owned()));
        }
    }
    if !is_set {
        pairs.push((key.to_owned(), value.to_owned()));
    }
    url.query_pairs_mut().clear().extend_pairs(pairs);
    url.to_string()
}

fn awsv4(reader: &mut Reader, auth: &Auth, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    if !auth.get("profileName").is_empty() && auth.get("accessKeyId").is_empty() {
        left_out.push(LeftOut::new("authorization awsv4", "", "with a profile of this computer"));
        return;
    }
    let of_scope = ["region", "service"].map(|name| auth.get(name));
    let of_scope = of_scope.iter().take_while(|part| !part.is_empty());
    let scope = of_scope.map(|part| reader.template(part, left_out)).collect();
    let key = reader.template(auth.get("accessKeyId"), left_out);
    let secret = reader.credential("secret_key", auth.get("secretAccessKey"), left_out);
    request.options.extend(aws_options(scope, key, secret));
    if !auth.get("sessionToken").is_empty() {
        let token = reader.credential("session_token", auth.get("sessionToken"), left_out);
        set(request, "X-Amz-Security-Token".into(), token);
    }
}

/// Adds a token that Bruno gets from a server before the first request that needs it.
fn oauth2(reader: &mut Reader, auth: &Auth, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let is_fetched = matches!(auth.get("grant_type"), "client_credentials" | "password")
        && auth.get("auto_fetch_token") != "false"
        && !auth.get("access_token_url").is_empty();
    let fetched = if is_fetched { token_variable(reader, auth, left_out) } else { None };
    let token = fetched.unwrap_or_else(|| {
        let reason = "the token is not fetched: give it as the variable access_token";
        left_out.push(LeftOut::new("authorization oauth2", auth.get("grant_type"), reason));
        reader.secrets.whole("access_token", "authorization", "")
    });
    if auth.get("token_placement") == "url" {
        let name = Some(auth.get("token_query_key")).filter(|name| !name.is_empty()).unwrap_or("access_token");
        request.query.push(KeyValue { name: name.into(), value: token, at: NOWHERE });
    } else {
        let prefix = auth.get("token_header_prefix").trim();
        let prefix = if prefix.is_empty() { String::new() } else { format!("{prefix} ") };
        set(request, "Authorization".into(), joined([prefix.as_str().into(), token]));
    }
}

/// Returns the variable of a token, which an entry before captures: one for each server and name of the credentials.
fn token_variable(reader: &mut Reader, auth: &Auth, left_out: &mut Vec<LeftOut>) -> Option<Template> {
    let or = |name: &str, otherwise: &'static str| match auth.get(name) {
        "" => otherwise.to_owned(),
        value => value.to_owned(),
    };
    let source = if auth.get("token_source") == "id_token" { "id_token" } else { "access_token" };
    let name = format!("oauth2.{}.{source}", or("credentials_id", "credentials"));
    let address = reader.scope.known(auth.get("access_token_url"));
    let key = format!("{name} of {address}");
    let shown = |variable: String| Some(Template(vec![Piece::Placeholder(crate::parts::variable(&variable))]));
    if let Some((_, variable)) = reader.tokens.iter().find(|(known, _)| *known == key) {
        return shown(variable.clone());
    }
    let of_token = Item { url: auth.get("access_token_url").to_owned(), ..Item::default() };
    let url = address::template(reader, &of_token, &of_token.url, left_out)?;
    let mut request = Request::new("POST", reader.secrets.url(url), NOWHERE);
    request.headers.push(pair("Accept", "application/json".into()));
    let is_basic = or("credentials_placement", "body") == "basic_auth_header";
    let client = reader.template(auth.get("client_id"), left_out);
    let secret = reader.credential("client_secret", auth.get("client_secret"), left_out);
    let mut add = |name: &str, value: Template| {
        if !value.0.is_empty() {
            request.form.push(pair(name, value));
        }
    };
    add("grant_type", auth.get("grant_type").into());
    if auth.get("grant_type") == "password" {
        add("username", reader.template(auth.get("username"), left_out));
        add("password", reader.credential("password", auth.get("password"), left_out));
    }
    add("scope", reader.template(auth.get("scope"), left_out));
    if is_basic {
        request.basic_auth = Some(KeyValue { name: client, value: secret, at: NOWHERE });
    } else {
        add("client_id", client);
        add("client_secret", secret);
    }
    request.options.push(option(OptionName::Location, OptionValue::Boolean(true)));
    let additional = auth.values.iter().filter(|(name, _)| name == "additional");
    let additional =
        additional.map(|(_, name)| LeftOut::new("parameter of the token request", name.as_str(), "no counterpart"));
    let mut made = DraftEntry::new(entry("OAuth 2 token", request), additional.collect::<Vec<_>>());
    let variable = reader.variables.assign(&name);
    let variable = match reader.tokens.iter().any(|(_, known)| *known == variable) {
        true => reader.variables.assign(&key),
        false => variable,
    };
    reader.scope.assign(&name, false);
    let path = format!("$.{source}");
    response(&mut made.entry).captures.push(capture(&variable, Query::JsonPath(path.as_str().into())));
    let at = reader.draft.entries.len() + 1;
    reader.draft.notes.push(format!("captured: '{variable}' from the response of request {at}, which gets the token"));
    reader.draft.entries.push(made);
    reader.tokens.push((key, variable.clone()));
    shown(variable)
}

/// Sets a field, instead of one of the same name.
pub(super) fn set(request: &mut Request, name: Template, value: Template) {
    if let Some(name) = name.literal() {
        drop_field(request, name);
    }
    request.headers.push(KeyValue { name, value, at: NOWHERE });
}
