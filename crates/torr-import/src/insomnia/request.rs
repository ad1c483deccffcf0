//! One request of a collection as an entry.

use super::item::{Item, Level, Row, Settings};
use super::reader::Reader;
use super::{address, auth, content, script};
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{
    NOWHERE, drop_field, drop_nameless, entry, has_field, is_token, nothing, option, response, sent_method,
};
use crate::script::Phase;
use crate::target::respelled;
use std::collections::HashMap;
use torr_session::hurl::ast::{EntryOption, KeyValue, OptionName, OptionValue, Piece, Request};

/// Fields of which the innermost is sent; all others are joined.
const SINGLE: &[&str] = &[
    "proxy-authorization",
    "content-length",
    "content-type",
    "content-encoding",
    "content-location",
    "connection",
    "host",
    "upgrade",
    "range",
    "trailer",
];

/// Adds the entry of a request. `levels` is what it inherits, from outside in.
pub(super) fn add<'c>(reader: &mut Reader<'c>, levels: &[&'c Level], item: &'c Item) {
    if item.url.trim().is_empty() {
        reader.inner.leave_out("requests", "without a URL");
        return;
    }
    reader.open.push(&item.id);
    make(reader, levels, item);
    reader.open.pop();
}

fn make<'c>(reader: &mut Reader<'c>, levels: &[&'c Level], item: &'c Item) {
    reader.scope.enter(levels);
    reader.around =
        std::iter::once(&item.level).chain(levels.iter().rev().copied()).map(|level| level.name.clone()).collect();
    let mut left_out = Vec::new();
    let mut made = DraftEntry::new(entry(&item.level.name, nothing()), std::iter::empty::<LeftOut>());
    let all: Vec<&Level> = levels.iter().copied().chain([&item.level]).collect();
    made.entry.request.options.append(&mut reader.pending);
    // The scripts before the request give values to its variables.
    all.iter().for_each(|level| script::read(reader, Phase::Before, &level.before, &mut made));
    let definitions = std::mem::take(&mut made.entry.request.options);
    let first = reader.inner.draft.entries.len();
    let effective = auth::of(levels, item);
    let more = effective.and_then(|level| auth::in_url(reader, &level.auth, &mut left_out));
    let Some(url) = address::template(reader, item, more, &mut left_out) else {
        reader.inner.draft.left_out.push(LeftOut::new("requests", item.level.name.as_str(), "invalid URL"));
        define(reader, first, definitions);
        return;
    };
    let url = reader.inner.secrets.url(url);
    left_out.extend(respelled(&url));
    let name = match item.method.as_str() {
        "" => "GET",
        // Those are the two that Insomnia gives to its client as such.
        name if name.eq_ignore_ascii_case("POST") => "POST",
        name if name.eq_ignore_ascii_case("HEAD") => "HEAD",
        name => name,
    };
    let method = sent_method(name, &mut |what, reason| left_out.push(LeftOut::new(what, "", reason)));
    let mut request = Request::new(method, url, NOWHERE);
    fields(reader, &all, &mut request, &mut left_out);
    if let Some(level) = effective {
        auth::add(reader, level, &mut request, &mut left_out);
    }
    content::add(reader, &item.body, item.settings.renders_body, &mut request, &mut left_out);
    drop_nameless(&mut request);
    define(reader, first, definitions);
    request.options.splice(0..0, std::mem::take(&mut reader.pending));
    settings(&item.settings, &mut request, &mut left_out);
    made.entry.request = request;
    left_out.append(&mut made.left_out);
    made.left_out = left_out;
    all.iter().for_each(|level| script::read(reader, Phase::After, &level.after, &mut made));
    if let Some(captures) = reader.captures.get(&item.id) {
        response(&mut made.entry).captures.extend(captures.iter().cloned());
    }
    if !item.id.is_empty() {
        reader.entries.insert(item.id.clone(), reader.inner.draft.entries.len());
    }
    reader.inner.draft.entries.push(made);
}

/// Adds definitions to the first of the entries that the request needs before it, such as one that gets a token; where there is none,
/// to the next entry.
fn define(reader: &mut Reader<'_>, first: usize, mut definitions: Vec<EntryOption>) {
    match reader.inner.draft.entries.get_mut(first) {
        Some(needed) => {
            definitions.append(&mut needed.entry.request.options);
            needed.entry.request.options = definitions;
        }
        None => reader.pending.extend(definitions),
    }
}

/// Adds the fields of all levels: those of one name become one field.
fn fields(reader: &mut Reader<'_>, levels: &[&Level], request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in levels.iter().flat_map(|level| &level.headers) {
        if !row.is_on {
            left_out.push(LeftOut::new("field", row.name.as_str(), "disabled in the collection"));
            continue;
        }
        if row.name.trim().is_empty() {
            continue;
        }
        let lower = row.name.to_ascii_lowercase();
        let at = *places.entry(lower.clone()).or_insert(rows.len());
        match rows.get_mut(at) {
            Some(other) if !SINGLE.contains(&lower.as_str()) => {
                other.value.push_str(", ");
                other.value.push_str(&row.value);
                other.name.clone_from(&row.name);
            }
            Some(other) => other.clone_from(row),
            None => rows.push(row.clone()),
        }
    }
    for row in rows {
        let value = reader.template(&row.value, left_out);
        let value = reader.inner.secrets.in_field(&row.name, value);
        let name = reader.template(&row.name, left_out);
        let is_wrong = name.0.iter().any(|piece| matches!(piece, Piece::Text(text) if !is_token(text)));
        if is_wrong {
            left_out.push(LeftOut::new("field", row.name.as_str(), "not a name of a field"));
            continue;
        }
        request.headers.push(KeyValue { name, value, at: NOWHERE });
    }
    // What frames the content is written for the request that is sent.
    drop_field(request, "content-length");
    if has_field(request, "transfer-encoding") {
        drop_field(request, "transfer-encoding");
        left_out.push(LeftOut::new("field", "Transfer-Encoding", "content is sent with its length"));
    }
}

fn settings(settings: &Settings, request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let mut on = |name: OptionName| request.options.push(option(name, OptionValue::Boolean(true)));
    if settings.follows {
        on(OptionName::Location);
    }
    if !settings.rebuilds_path {
        on(OptionName::PathAsIs);
    }
    match (settings.sends_cookies, settings.stores_cookies) {
        (true, true) => {}
        (false, false) => on(OptionName::NoCookieStore),
        (true, false) => left_out.push(LeftOut::new("setting", "cookies.store", "cookies that responses set are kept")),
        (false, true) => {
            on(OptionName::NoCookieStore);
            left_out.push(LeftOut::new("setting", "cookies.store", "cookies of this response are not kept"));
        }
    }
}
