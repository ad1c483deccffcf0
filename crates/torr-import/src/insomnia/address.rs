//! The URL of a request: its scheme, parameters of its path and query, and how Insomnia encodes it.

use super::item::Item;
use super::reader::Reader;
use super::scope::MOST;
use super::template::{Part, parts};
use super::text::Reading;
use crate::draft::LeftOut;
use crate::parts::{filled, push};
use crate::pattern::pattern;
use crate::target::is_http;
use percent_encoding::{AsciiSet, percent_decode_str, utf8_percent_encode};
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{Filter, Piece, Source, Template};

/// The characters that JavaScript's `encodeURIComponent` encodes.
const COMPONENT: &AsciiSet =
    &torr_wire::percent::COMPONENT.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');

/// The characters that a path encodes, its slashes left out.
const PATH: &AsciiSet = &COMPONENT
    .add(b'\'')
    .remove(b':')
    .remove(b'@')
    .remove(b'$')
    .remove(b'+')
    .remove(b',')
    .remove(b';')
    .remove(b'=')
    .remove(b'/');

/// A parameter of the path.
static PARAMETER: LazyLock<Regex> = LazyLock::new(|| pattern(r"/:([^/?#:]+)"));

/// A name and a value of a query; the value is missing where the pair has no `=`.
type Pair = (Vec<Piece>, Option<Vec<Piece>>);

/// Returns the URL's template; `None` for a URL that is none. `more` is a parameter that the authorization adds.
pub(super) fn template(
    reader: &mut Reader<'_>,
    item: &Item,
    more: Option<(&str, Template)>,
    left_out: &mut Vec<LeftOut>,
) -> Option<Template> {
    reader.plain.clear();
    let mut text = item.url.trim().to_owned();
    if !has_scheme(reader, &text) {
        text.insert_str(0, "http://");
    }
    let url = reader.template_as(Reading::Url, &text, left_out);
    let (base, mut query) = split(without_fragment(with_path(reader, url, item, left_out)));
    for row in &item.parameters {
        if !row.is_on {
            left_out.push(LeftOut::new("query parameter", row.name.as_str(), "disabled in the collection"));
            continue;
        }
        let name = reader.template_as(Reading::Query, &row.name, left_out);
        let value = reader.template_as(Reading::Query, &row.value, left_out);
        add(reader, &mut query, name, value);
    }
    if let Some((name, value)) = more {
        let name = reader.template_as(Reading::Query, name, left_out);
        add(reader, &mut query, name, value);
    }
    if item.settings.encodes_url {
        query.retain(|(name, _)| !name.is_empty());
    }
    let mut made = if item.settings.encodes_url { encoded(base) } else { base };
    for (at, (name, value)) in query.into_iter().enumerate() {
        push(&mut made, Piece::Text(if at == 0 { "?" } else { "&" }.to_owned()));
        let encodes = item.settings.encodes_url;
        let part = |piece: Piece, keeps_commas: bool| if encodes { again(reader, piece, keeps_commas) } else { piece };
        name.into_iter().for_each(|piece| push(&mut made, part(piece, false)));
        if let Some(value) = value {
            push(&mut made, Piece::Text("=".to_owned()));
            value.into_iter().for_each(|piece| push(&mut made, part(piece, true)));
        }
    }
    let made = Template(made);
    is_url(&made).then_some(made)
}

/// Returns a template of an address alone, such as that of a server of tokens.
pub(super) fn alone(reader: &mut Reader<'_>, text: &str, left_out: &mut Vec<LeftOut>) -> Option<Template> {
    let scheme = if has_scheme(reader, text.trim()) { "" } else { "http://" };
    let made = reader.template_as(Reading::Url, &format!("{scheme}{}", text.trim()), left_out);
    is_url(&made).then_some(made)
}

/// Adds a parameter, which is encoded in any case.
fn add(reader: &Reader<'_>, query: &mut Vec<Pair>, name: Template, value: Template) {
    if !name.0.is_empty() {
        let of = |template: Template, keeps_commas: bool| {
            template.0.into_iter().map(|piece| once(reader, piece, keeps_commas)).collect()
        };
        query.push((of(name, false), Some(of(value, true))));
    }
}

/// Whether a URL has a scheme. A variable that is not known is taken to have one.
fn has_scheme(reader: &Reader<'_>, text: &str) -> bool {
    text.contains("://")
        || match parts(text).first() {
            Some(Part::Name(steps)) => {
                reader.scope.literal(steps, &mut MOST.clone()).is_none_or(|value| value.contains("://"))
            }
            Some(Part::Text(_)) | None => false,
            Some(_) => true,
        }
}

/// Whether a template is a URL with some value of each placeholder.
fn is_url(template: &Template) -> bool {
    let begins_with_name = matches!(template.0.first(), Some(Piece::Placeholder(_)));
    // A number may be a host and a port.
    let text = |piece: &Piece| if let Piece::Text(text) = piece { text.clone() } else { "1".to_owned() };
    let text: String = template.0.iter().map(text).collect();
    let text = match begins_with_name {
        true if text.starts_with("1://") => format!("http{}", &text[1..]),
        true => format!("http://{text}"),
        false => text,
    };
    is_http(&text) && !filled(template).contains("://unix:/")
}

/// Fills in the parameters of the path, which are encoded. One without a value stays.
fn with_path(reader: &mut Reader<'_>, url: Template, item: &Item, left_out: &mut Vec<LeftOut>) -> Vec<Piece> {
    if item.path.is_empty() {
        return url.0;
    }
    let mut made = Vec::new();
    for piece in url.0 {
        let Piece::Text(text) = piece else {
            push(&mut made, piece);
            continue;
        };
        let mut end = 0;
        for found in PARAMETER.captures_iter(&text) {
            let Some(row) = item.path.iter().find(|row| row.name == found[1]) else { continue };
            let value = reader.template_as(Reading::Query, &row.value, left_out);
            let Some(whole) = found.get(0).filter(|_| !value.0.is_empty()) else { continue };
            push(&mut made, Piece::Text(format!("{}/", &text[end..whole.start()])));
            for piece in value.0 {
                push(
                    &mut made,
                    match piece {
                        Piece::Text(text) => Piece::Text(utf8_percent_encode(&text, COMPONENT).to_string()),
                        placeholder => placeholder,
                    },
                );
            }
            end = whole.end();
        }
        push(&mut made, Piece::Text(text[end..].to_owned()));
    }
    made
}

/// Returns what no client leaves out of a URL.
fn without_fragment(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut made = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(text) => match text.split_once('#') {
                Some((before, _)) => {
                    push(&mut made, Piece::Text(before.to_owned()));
                    return made;
                }
                None => push(&mut made, Piece::Text(text)),
            },
            placeholder => push(&mut made, placeholder),
        }
    }
    made
}

/// Splits a URL into what stands before its query, and the pairs of that.
fn split(pieces: Vec<Piece>) -> (Vec<Piece>, Vec<Pair>) {
    let (mut base, mut query): (Vec<Piece>, Vec<Pair>) = (Vec::new(), Vec::new());
    let mut is_query = false;
    for piece in pieces {
        let text = match piece {
            Piece::Text(text) if !is_query => match text.split_once('?') {
                Some((before, behind)) => {
                    push(&mut base, Piece::Text(before.to_owned()));
                    is_query = true;
                    query.push((Vec::new(), None));
                    behind.to_owned()
                }
                None => {
                    push(&mut base, Piece::Text(text));
                    continue;
                }
            },
            Piece::Text(text) => text,
            placeholder if !is_query => {
                push(&mut base, placeholder);
                continue;
            }
            placeholder => {
                if let Some((name, value)) = query.last_mut() {
                    push(value.as_mut().unwrap_or(name), placeholder);
                }
                continue;
            }
        };
        for (at, pair) in text.split('&').enumerate() {
            if at > 0 {
                query.push((Vec::new(), None));
            }
            let Some((name, value)) = query.last_mut() else { continue };
            match (value, pair.split_once('=')) {
                (Some(value), _) => push(value, Piece::Text(pair.to_owned())),
                (value @ None, Some((before, behind))) => {
                    push(name, Piece::Text(before.to_owned()));
                    push(value.insert(Vec::new()), Piece::Text(behind.to_owned()));
                }
                (None, None) => push(name, Piece::Text(pair.to_owned())),
            }
        }
    }
    // A question mark with nothing behind it begins no pair.
    if query.len() == 1 && query[0] == (Vec::new(), None) {
        query.clear();
    }
    (base, query)
}

/// Returns what stands before the query, with the path encoded.
fn encoded(base: Vec<Piece>) -> Vec<Piece> {
    let mut made = Vec::new();
    // The path begins at the first slash behind the host.
    let mut is_path = false;
    for piece in base {
        let Piece::Text(text) = piece else {
            // A variable at the beginning has a scheme and a host, unless the scheme ends behind it.
            push(&mut made, piece);
            continue;
        };
        let start = if is_path { 0 } else { text.find("://").map_or(0, |at| at + 3) };
        let path = if is_path { Some(0) } else { text[start..].find('/').map(|at| start + at) };
        let (before, behind) = text.split_at(path.unwrap_or(text.len()));
        is_path |= path.is_some();
        push(&mut made, Piece::Text(before.to_owned()));
        push(&mut made, Piece::Text(flexible(behind, PATH)));
    }
    made
}

/// Returns text percent-encoded; what is percent-encoded already stays.
fn flexible(text: &str, set: &'static AsciiSet) -> String {
    let mut made = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        made.extend(utf8_percent_encode(&rest[..at], set));
        let is_encoded =
            rest.get(at + 1..at + 3).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        made.push_str(if is_encoded { &rest[at..at + 3] } else { "%25" });
        rest = &rest[if is_encoded { at + 3 } else { at + 1 }..];
    }
    made.extend(utf8_percent_encode(rest, set));
    made
}

/// Returns a part of a parameter, encoded once.
fn once(reader: &Reader<'_>, piece: Piece, keeps_commas: bool) -> Piece {
    match piece {
        Piece::Text(text) => {
            let made = flexible(&text, COMPONENT);
            Piece::Text(if keeps_commas { with_commas(&made) } else { made })
        }
        Piece::Placeholder(mut expression) => {
            let is_plain = match &expression.source {
                Source::Variable(name) => reader.plain.contains(name) && expression.filters.is_empty(),
                Source::NewUuid => true,
                _ => false,
            };
            if !is_plain && !expression.filters.contains(&Filter::UrlEncode) {
                // A number that a response gave is no text yet.
                expression.filters.extend([Filter::ToText, Filter::UrlEncode]);
            }
            Piece::Placeholder(expression)
        }
    }
}

/// Returns a part of a query that is decoded and encoded.
fn again(reader: &Reader<'_>, piece: Piece, keeps_commas: bool) -> Piece {
    match piece {
        Piece::Text(text) => once(reader, Piece::Text(decoded(&text)), keeps_commas),
        placeholder => once(reader, placeholder, keeps_commas),
    }
}

fn with_commas(text: &str) -> String {
    text.replace("%2C", ",").replace("%2c", ",")
}

/// Returns text as JavaScript's `decodeURIComponent` decodes it; text that this refuses stays as it is.
fn decoded(text: &str) -> String {
    let is_valid = text
        .split('%')
        .skip(1)
        .all(|behind| behind.get(..2).is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit())));
    let decoded = percent_decode_str(text).decode_utf8().ok().filter(|_| is_valid);
    decoded.map_or_else(|| text.to_owned(), |text| text.into_owned())
}
