//! The URL of a request: its scheme, parameters of its path, and how Bruno encodes it.

use super::item::{Item, Row};
use super::reader::Reader;
use super::scope::{Part, parts};
use crate::draft::LeftOut;
use crate::parts::push;
use crate::pattern::pattern;
use crate::target::is_http;
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{Expression, Filter, Piece, Source, Template};

/// The characters that JavaScript's `encodeURIComponent` encodes.
const COMPONENT: &AsciiSet =
    &torr_wire::percent::COMPONENT.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');

/// The characters that the query of a URL with http encodes (URL Standard, special-query).
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');

/// A segment with parameters in parentheses, as OData has them.
static CALL: LazyLock<Regex> = LazyLock::new(|| pattern(r"^[A-Za-z0-9_.-]+\([^)]*\)$"));
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| pattern(r":([a-zA-Z_]\w*)"));

/// Returns the URL's template; `None` for a URL that is none.
pub(super) fn template(reader: &mut Reader, item: &Item, url: &str, left_out: &mut Vec<LeftOut>) -> Option<Template> {
    let mut text = url.trim().to_owned();
    if !has_scheme(&reader.scope.known(&text)) {
        text.insert_str(0, "http://");
    }
    if !item.path.is_empty() {
        text = with_path(reader, &text, &item.path, left_out);
    }
    if !is_valid(reader, &text) {
        return None;
    }
    if item.settings.encodes_url {
        let mut made = encoded(reader, &text, !item.path.is_empty(), left_out);
        let begins_with_name = matches!(made.0.first(), Some(Piece::Placeholder(_)));
        without_empty_query(&mut made);
        // A number may be a host and a port.
        let text = |piece: &Piece| if let Piece::Text(text) = piece { text.clone() } else { "1".to_owned() };
        return is_url(&made.0.iter().map(text).collect::<String>(), begins_with_name).then_some(made);
    }
    // No client sends a fragment.
    let (text, _) = split_at(&text, &['#']);
    let mut made = reader.template(text, left_out);
    without_empty_query(&mut made);
    Some(made)
}

/// Removes a question mark with nothing behind it, which Bruno does not send.
fn without_empty_query(url: &mut Template) {
    let is_mark = |piece: &Piece| matches!(piece, Piece::Text(text) if text.contains('?'));
    let count = url.0.iter().filter(|piece| is_mark(piece)).count();
    if let Some(Piece::Text(last)) = url.0.last_mut()
        && count == 1
        && last.find('?').is_some_and(|at| at + 1 == last.len())
    {
        last.pop();
    }
    url.0.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
}

/// Whether a URL is one with the values of variables that are known, and some value of each other. Bruno sends nothing to one
/// that is none.
fn is_valid(reader: &Reader, text: &str) -> bool {
    let known = reader.scope.known(text);
    let begins_with_name = matches!(parts(&known).first(), Some(Part::Name(name)) if name.trim() == *name);
    let part = |part: Part<'_>| match part {
        Part::Text(text) => text.to_owned(),
        Part::Name(name) if name.trim() == name => "1".to_owned(),
        Part::Name(name) => format!("{{{{{name}}}}}"),
    };
    is_url(&parts(&known).into_iter().map(part).collect::<String>(), begins_with_name)
}

/// Whether text is a URL; `begins_with_name` tells whether a `1` at its beginning stands for the value of a variable.
fn is_url(text: &str, begins_with_name: bool) -> bool {
    let whole = match begins_with_name {
        true if text.starts_with("1://") => format!("http{}", &text[1..]),
        true => format!("http://{text}"),
        false => text.to_owned(),
    };
    is_http(&whole)
}

/// Whether text begins with a scheme and `://`. A variable that is not known is taken to have one.
fn has_scheme(text: &str) -> bool {
    if let Some(Part::Name(name)) = parts(text).first()
        && name.trim() == *name
    {
        return true;
    }
    let Some((scheme, _)) = text.split_once("://") else { return false };
    let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_scheme)
}

/// Returns text without what stands from the first of these characters on, those between braces left out, and the rest.
fn split_at<'t>(text: &'t str, ends: &[char]) -> (&'t str, &'t str) {
    let mut at = 0;
    for part in parts(text) {
        match part {
            Part::Text(part) => {
                if let Some(found) = part.find(ends) {
                    return text.split_at(at + found);
                }
                at += part.len();
            }
            Part::Name(name) => at += name.len() + 4,
        }
    }
    (text, "")
}

/// Fills in the parameters of the path. Bruno sends neither empty segments nor a fragment then, and no user of the URL.
fn with_path(reader: &Reader, text: &str, rows: &[Row], left_out: &mut Vec<LeftOut>) -> String {
    let (before, rest) = split_at(text, &['?', '#']);
    let (query, _) = split_at(rest, &['#']);
    let start = before.find("://").map_or(0, |at| at + 3);
    let (authority, path) = split_at(&before[start..], &['/']);
    let authority = match split_at(authority, &['@']) {
        (_, "") => authority,
        (_, host) => {
            left_out.push(LeftOut::new("user of the URL", "", "Bruno sends none beside parameters of the path"));
            &host[1..]
        }
    };
    let value = |name: &str| {
        let row = rows.iter().find(|row| row.name == name)?;
        Some(row.value.as_str()).filter(|value| row.is_on && !reader.scope.known(value).trim().is_empty())
    };
    let mut made = format!("{}{authority}", &before[..start]);
    for segment in path.split('/').filter(|segment| !segment.is_empty()) {
        made.push('/');
        match segment.strip_prefix(':') {
            Some(name) => made.push_str(value(name).unwrap_or(segment)),
            None if CALL.is_match(segment) => {
                let filled = |found: &regex::Captures<'_>| value(&found[1]).unwrap_or(&found[0]).to_owned();
                made.push_str(&PARAMETER.replace_all(segment, filled));
            }
            None => made.push_str(segment),
        }
    }
    if path.ends_with('/') || path.is_empty() && !authority.starts_with("{{") {
        made.push('/');
    }
    made.push_str(query);
    made
}

/// Where in a URL encoding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Authority,
    Path,
    Name,
    Value,
}

/// Returns the template of a URL that Bruno encodes: segments of the path are decoded before, names and values of the query
/// are not. `is_parsed` tells whether the query has been part of a parsed URL before.
fn encoded(reader: &mut Reader, text: &str, is_parsed: bool, left_out: &mut Vec<LeftOut>) -> Template {
    let mut pieces = Vec::new();
    let mut place = Place::Authority;
    // A pair of the query whose name is empty is not sent.
    let mut dropped = false;
    let text = with_special_values(reader, text);
    for part in parts(&text) {
        let part = match part {
            Part::Text(part) => part,
            Part::Name(name) => {
                let is_first = pieces.is_empty();
                let whole = format!("{{{{{name}}}}}");
                let template = reader.template(&whole, left_out);
                if dropped {
                    continue;
                }
                let is_known = reader.scope.literal(name).is_some();
                for piece in template.0 {
                    push(
                        &mut pieces,
                        if is_known || matches!(place, Place::Authority | Place::Path) {
                            piece
                        } else {
                            in_query(piece)
                        },
                    );
                }
                // An unknown variable has a scheme and a host, unless the scheme ends behind it.
                let is_whole = reader.scope.literal(name).is_none_or(|value| value.contains("://"));
                if is_first && is_whole && !text.starts_with(&format!("{whole}://")) {
                    place = Place::Path;
                }
                continue;
            }
        };
        let mut rest = part;
        while !rest.is_empty() {
            match place {
                Place::Authority => {
                    let start = rest.find("://").map_or(0, |at| at + 3);
                    let end = rest[start..].find(['/', '?', '#']).map_or(rest.len(), |end| start + end);
                    push(&mut pieces, Piece::Text(rest[..end].to_owned()));
                    rest = &rest[end..];
                    if !rest.is_empty() {
                        place = Place::Path;
                    }
                }
                Place::Path => {
                    let end = rest.find('?').unwrap_or(rest.len());
                    let segments = rest[..end].split('/').map(|segment| component(&decoded(segment)));
                    push(&mut pieces, Piece::Text(segments.collect::<Vec<_>>().join("/")));
                    rest = &rest[end..];
                    if let Some(query) = rest.strip_prefix('?') {
                        push(&mut pieces, Piece::Text("?".to_owned()));
                        rest = query;
                        place = Place::Name;
                        dropped = rest.starts_with(['=', '&']);
                    }
                }
                Place::Name | Place::Value => {
                    let end = rest.find(if place == Place::Name { &['&', '='][..] } else { &['&'][..] });
                    let (own, behind) = rest.split_at(end.unwrap_or(rest.len()));
                    if !dropped {
                        let own = if is_parsed { utf8_percent_encode(own, QUERY).to_string() } else { own.to_owned() };
                        push(&mut pieces, Piece::Text(component(&own)));
                    }
                    let Some(next) = behind.chars().next() else { break };
                    rest = &behind[1..];
                    if next == '=' {
                        place = Place::Value;
                    } else {
                        place = Place::Name;
                    }
                    let was_dropped = dropped;
                    if next == '&' {
                        dropped = rest.is_empty() || rest.starts_with(['=', '&']);
                    }
                    let begins = matches!(pieces.last(), Some(Piece::Text(text)) if text.ends_with('?'));
                    let is_needed = if next == '=' { !was_dropped } else { !dropped && !begins };
                    if is_needed {
                        push(&mut pieces, Piece::Text(next.to_string()));
                    }
                }
            }
        }
    }
    Template(pieces)
}

/// Returns text in which a name stands as its value, if that is known and has characters that encoding changes or that divide
/// a URL. A URL before the path stays a name.
fn with_special_values(reader: &Reader, text: &str) -> String {
    let mut made = String::new();
    for (at, part) in parts(text).into_iter().enumerate() {
        let name = match part {
            Part::Text(text) => {
                made.push_str(text);
                continue;
            }
            Part::Name(name) => name,
        };
        let is_plain = |text: &str| text.split('/').all(|segment| component(segment) == segment);
        match reader.scope.literal(name) {
            Some(value) if at == 0 && value.contains("://") => {
                let (_, rest) = value.split_once("://").unwrap_or_default();
                let path = rest.split_once('/').map_or("", |(_, path)| path);
                let is_kept = is_plain(path) && !rest.contains(['?', '#']);
                made.push_str(&if is_kept { format!("{{{{{name}}}}}") } else { value });
            }
            Some(value) if !is_plain(&value) || made.contains('?') && value.contains('/') => {
                let is_authority = !made.split_once("://").map_or(made.as_str(), |(_, rest)| rest).contains(['/', '?']);
                made.push_str(&if is_authority && !value.contains(['?', '#']) {
                    format!("{{{{{name}}}}}")
                } else {
                    value
                });
            }
            _ => made.push_str(&format!("{{{{{name}}}}}")),
        }
    }
    made
}

/// Returns a placeholder whose value is percent-encoded.
fn in_query(piece: Piece) -> Piece {
    match piece {
        Piece::Placeholder(Expression { source, mut filters, at }) => {
            if source != Source::NewUuid {
                // A number that a response gave is no text yet.
                filters.extend([Filter::ToText, Filter::UrlEncode]);
            }
            Piece::Placeholder(Expression { source, filters, at })
        }
        Piece::Text(text) => Piece::Text(component(&text)),
    }
}

fn component(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

/// Returns text percent-decoded; text that is no UTF-8 then stays as it is.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8().map_or_else(|_| text.to_owned(), |text| text.into_owned())
}
