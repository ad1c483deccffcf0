//! One request of a collection as an entry.

use super::content::on;
use super::item::{Item, Level, Row, Settings};
use super::reader::Reader;
use super::{address, assertion, auth, content, script};
use crate::draft::{DraftEntry, LeftOut};
use crate::parts::{
    NOWHERE, drop_field, drop_nameless, entry, filled, has_field, is_token, nothing, option, sent_method, user_of,
};
use torr_session::hurl::ast::{KeyValue, OptionName, OptionValue, Piece, Request};

/// The longest time limit, in milliseconds: a day.
const LONGEST: u64 = 24 * 3_600_000;

/// Adds the entry of a request. `levels` is what it inherits, from outside in.
pub(super) fn add(reader: &mut Reader, levels: &[&Level], item: &Item) {
    if !matches!(item.kind.as_str(), "http" | "graphql") {
        let kind = format!("requests of type {}", item.kind);
        reader.leave_out(&kind, "", "not HTTP requests");
        return;
    }
    if item.url.trim().is_empty() {
        reader.leave_out("requests", "", "without a URL");
        return;
    }
    reader.scope.enter(levels, item);
    let mut left_out = Vec::new();
    let mut made = DraftEntry::new(entry(&item.level.name, nothing()), std::iter::empty::<LeftOut>());
    let of_item = [&item.level];
    let all: Vec<&Level> = levels.iter().copied().chain(of_item).collect();
    // The scripts before the request give values to its variables.
    made.entry.request.options.append(&mut reader.pending);
    all.iter().for_each(|level| script::before(reader, &level.before, &mut made));
    let definitions = std::mem::take(&mut made.entry.request.options);
    let effective = auth::of(levels, &item.level.auth);
    let url = auth::in_url(effective, &item.url, &mut left_out);
    let Some(url) = address::template(reader, item, &url, &mut left_out) else {
        reader.leave_out("requests", &item.level.name, "invalid URL");
        reader.pending.extend(definitions);
        return;
    };
    let url = reader.secrets.url(url);
    let has_user = user_of(&filled(&url)).is_some();
    let name = if item.method.is_empty() { "GET" } else { &item.method };
    let method = sent_method(name, &mut |what, reason| left_out.push(LeftOut::new(what, "", reason)));
    let mut request = Request::new(method, url, NOWHERE);
    fields(reader, &all, &mut request, &mut left_out);
    auth::add(reader, effective, &mut request, &mut left_out);
    if has_user {
        // Those of the URL win.
        drop_field(&mut request, "authorization");
        request.basic_auth = None;
    }
    content::add(reader, &item.content, &mut request, &mut left_out);
    drop_nameless(&mut request);
    request.options.splice(0..0, definitions);
    settings(&item.settings, &mut request);
    left_out.extend(
        item.off.iter().map(|name| LeftOut::new("query parameter", name.as_str(), "disabled in the collection")),
    );
    for (kind, reason) in all.iter().flat_map(|level| &level.left_out) {
        left_out.push(LeftOut::new(kind.as_str(), "", reason.as_str()));
    }
    made.entry.request = request;
    left_out.append(&mut made.left_out);
    made.left_out = left_out;
    captures(reader, &all, &mut made);
    all.iter().rev().for_each(|level| script::after(reader, &level.after, &mut made));
    assertion::add(reader, &item.asserts, &mut made);
    all.iter().rev().for_each(|level| script::after(reader, &level.tests, &mut made));
    reader.draft.entries.push(made);
}

/// Adds the fields of all levels: of two with one name the inner one is sent.
fn fields(reader: &mut Reader, levels: &[&Level], request: &mut Request, left_out: &mut Vec<LeftOut>) {
    let mut rows: Vec<&Row> = Vec::new();
    for level in levels {
        for row in on(&level.headers, "field", left_out) {
            match rows.iter_mut().find(|other| other.name == row.name) {
                Some(other) => *other = row,
                None => rows.push(row),
            }
        }
    }
    for row in rows {
        if row.name.is_empty() {
            continue;
        }
        let value = reader.template(&row.value, left_out);
        let value = reader.secrets.in_field(&row.name, value);
        let name = reader.template(&row.name, left_out);
        let is_wrong = name.0.iter().any(|piece| matches!(piece, Piece::Text(text) if !is_token(text)));
        if is_wrong {
            left_out.push(LeftOut::new("field", row.name.as_str(), "not a name of a field: Bruno sends nothing"));
            continue;
        }
        let is_it = |field: &KeyValue| match (field.name.literal(), name.literal()) {
            (Some(one), Some(other)) => one.eq_ignore_ascii_case(other),
            _ => false,
        };
        match request.headers.iter_mut().find(|field| is_it(field)) {
            Some(field) => field.value = value,
            None => request.headers.push(KeyValue { name, value, at: NOWHERE }),
        }
    }
    // What frames the content is written for the request that is sent.
    drop_field(request, "content-length");
    if has_field(request, "transfer-encoding") {
        drop_field(request, "transfer-encoding");
        left_out.push(LeftOut::new("field", "Transfer-Encoding", "content is sent with its length"));
    }
}

/// Adds the variables that the response gives a value.
fn captures(reader: &mut Reader, levels: &[&Level], made: &mut DraftEntry) {
    let mut rows: Vec<&Row> = Vec::new();
    for row in levels.iter().flat_map(|level| &level.captures).filter(|row| row.is_on) {
        match rows.iter_mut().find(|other| other.name == row.name) {
            Some(other) => *other = row,
            None => rows.push(row),
        }
    }
    for row in rows {
        if !script::capture(reader, &row.name, &row.value, false, made) {
            let which = format!("{}: {}", row.name, row.value);
            made.left_out.push(LeftOut::new("variable of a response", which, "no exact counterpart"));
        }
    }
}

fn settings(settings: &Settings, request: &mut Request) {
    let has_credentials = request.basic_auth.is_some() || has_field(request, "authorization");
    if settings.timeout > 0 {
        let time = OptionValue::Milliseconds(settings.timeout.min(LONGEST));
        request.options.push(option(OptionName::MaxTime, time));
    }
    if !settings.follows || settings.max_redirects == Some(0) {
        return;
    }
    let name = match has_credentials && settings.forwards_credentials {
        true => OptionName::LocationTrusted,
        false => OptionName::Location,
    };
    request.options.push(option(name, OptionValue::Boolean(true)));
    if let Some(count) = settings.max_redirects {
        request.options.push(option(OptionName::MaxRedirects, OptionValue::Count(Some(count))));
    }
}
