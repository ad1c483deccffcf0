//! Tags of templates, such as `{% uuid %}`: what has a counterpart is carried over, a value of a response becomes a capture, and
//! everything else becomes a variable that people give a value.

use super::reader::Reader;
use super::scope::MOST;
use super::template::{Argument, arguments};
use crate::draft::LeftOut;
use crate::dynamic;
use crate::parts::{capture, response, variable};
use crate::variables::{new_date, new_uuid};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use torr_session::hurl::ast::{Filter, Piece, Query, Template};
use torr_session::pattern::is_json_path;

/// Letters of dates, as Insomnia and as hurl files spell them.
const DATES: &[(&str, &str)] = &[
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("dd", "%d"),
    ("EEEE", "%A"),
    ("EEE", "%a"),
    ("HH", "%H"),
    ("hh", "%I"),
    ("mm", "%M"),
    ("ss", "%S"),
    ("SSS", "%3f"),
    ("a", "%p"),
    ("t", "%s"),
];

/// Returns what stands for a tag. `within` is the name of the variable whose value it is part of.
pub(super) fn pieces(
    reader: &mut Reader<'_>,
    name: &str,
    text: &str,
    within: Option<&str>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Piece> {
    let found = arguments(text);
    let argument = |at: usize| found.get(at).map(Argument::text).unwrap_or_default();
    match name {
        "uuid" => vec![new_uuid()],
        "now" | "timestamp" => match date(&argument(0), &argument(1), left_out) {
            Some(piece) => vec![piece],
            None => given(reader, name, text, within, "no counterpart", left_out),
        },
        "faker" => {
            let name = format!("${}", argument(0));
            dynamic::piece(&name, left_out).into_iter().collect()
        }
        "base64" => base64(reader, &found, left_out)
            .unwrap_or_else(|| given(reader, name, text, within, "no counterpart", left_out)),
        "response" => match captured(reader, &found, within) {
            Ok(piece) => vec![piece],
            Err(reason) => given(reader, name, text, within, reason, left_out),
        },
        "request" => own(reader, &argument(0), found.get(2))
            .unwrap_or_else(|| given(reader, name, text, within, "no counterpart", left_out)),
        "prompt" => {
            let title = argument(0);
            let (value, is_masked) = (argument(2), argument(4) == "true");
            let variable = reader.name_of(text, &title);
            vec![reader.variable(
                &variable,
                Some(&value).filter(|value| !value.is_empty()).map(String::as_str),
                is_masked,
            )]
        }
        "external" | "vault" => {
            let variable = reader.name_of(text, within.unwrap_or("external_secret"));
            vec![reader.variable(&variable, None, true)]
        }
        "file" => given(reader, name, text, within, "only a whole content can be a file", left_out),
        _ => given(reader, name, text, within, "no counterpart", left_out),
    }
}

/// Returns the name of a file that is a whole text; `None` for any other text.
pub(super) fn whole_file(text: &str) -> Option<String> {
    let mut parts = super::template::parts(text.trim()).into_iter();
    match (parts.next(), parts.next()) {
        (Some(super::template::Part::Tag("file", text)), None) => match arguments(text).first() {
            Some(Argument::Text(_)) => arguments(text).first().map(Argument::text).filter(|name| !name.is_empty()),
            _ => None,
        },
        _ => None,
    }
}

/// Returns a variable whose value people give, and says so.
fn given(
    reader: &mut Reader<'_>,
    name: &str,
    text: &str,
    within: Option<&str>,
    reason: &str,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Piece> {
    let whole = format!("{name} {text}");
    let variable = reader.name_of(&whole, within.unwrap_or(name));
    left_out.push(LeftOut::new("tag", whole.as_str(), format!("{reason}: give its value as the variable {variable}")));
    vec![reader.variable(&variable, None, false)]
}

/// Returns the current time in a format.
fn date(kind: &str, format: &str, left_out: &mut Vec<LeftOut>) -> Option<Piece> {
    match kind.to_ascii_lowercase().as_str() {
        "" | "iso-8601" => Some(new_date("%Y-%m-%dT%H:%M:%S%.3fZ")),
        "millis" | "ms" => Some(new_date("%s%3f")),
        "unix" | "seconds" | "s" => Some(new_date("%s")),
        "custom" => {
            let piece = new_date(&strftime(format)?);
            left_out.push(LeftOut::new("time zone", format, "the time is sent in UTC"));
            Some(piece)
        }
        _ => None,
    }
}

/// Returns a format of dates in the notation of hurl files; `None` where a part has no counterpart.
fn strftime(format: &str) -> Option<String> {
    let mut made = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let (inner, behind) = rest[1..].split_once('\'')?;
            made.push_str(&if inner.is_empty() { "'".to_owned() } else { inner.replace('%', "%%") });
            rest = behind;
            continue;
        }
        let length = rest.find(|c: char| c != first).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(length);
        rest = behind;
        if first.is_ascii_alphabetic() {
            made.push_str(DATES.iter().find(|(letters, _)| *letters == run)?.1);
        } else {
            made.push_str(&run.replace('%', "%%"));
        }
    }
    (!made.is_empty()).then_some(made)
}

/// Encodes or decodes a value, which is known or a variable.
fn base64(reader: &mut Reader<'_>, found: &[Argument], left_out: &mut Vec<LeftOut>) -> Option<Vec<Piece>> {
    let argument = |at: usize| found.get(at).map(Argument::text).unwrap_or_default();
    let (action, kind) = (argument(0), argument(1));
    let known = match found.get(2)? {
        Argument::Text(text) => Some(text.clone()),
        Argument::Other(text) => {
            super::template::path(text).and_then(|steps| reader.scope.literal(&steps, &mut MOST.clone()))
        }
    };
    if let Some(text) = known {
        let decode = |text: &str| String::from_utf8(STANDARD.decode(text).ok()?).ok();
        let made = match (action.as_str(), kind.as_str()) {
            ("encode", "normal") => STANDARD.encode(text),
            ("encode", "url") => URL_SAFE_NO_PAD.encode(text),
            ("decode", "normal" | "url") => decode(&text)?,
            _ => return None,
        };
        return Some(vec![Piece::Text(made)]);
    }
    let filters = match (action.as_str(), kind.as_str()) {
        ("encode", "normal") => vec![Filter::ToText, Filter::Utf8Encode, Filter::Base64Encode],
        ("encode", "url") => vec![Filter::ToText, Filter::Utf8Encode, Filter::Base64UrlSafeEncode],
        ("decode", "normal" | "url") => vec![Filter::Base64Decode, Filter::Utf8Decode],
        _ => return None,
    };
    let template = reader.argument(&found[2].text(), left_out)?;
    match <[Piece; 1]>::try_from(template.0) {
        Ok([Piece::Placeholder(mut expression)]) => {
            expression.filters.extend(filters);
            Some(vec![Piece::Placeholder(expression)])
        }
        _ => None,
    }
}

/// Returns a value of the response of a request before, which its entry captures.
fn captured(reader: &mut Reader<'_>, found: &[Argument], within: Option<&str>) -> Result<Piece, &'static str> {
    let argument = |at: usize| found.get(at).map(Argument::text).unwrap_or_default();
    let (field, id) = (argument(0), argument(1));
    let filter = argument(2).trim().to_owned();
    let Some(at) = reader.entries.get(&id).copied() else {
        return Err("the request that it names comes later, or is no entry");
    };
    let query = match field.as_str() {
        "body" if filter.starts_with('$') => match is_json_path(&filter) {
            true => Query::JsonPath(filter.as_str().into()),
            false => return Err("not supported as a JSONPath"),
        },
        "body" if !filter.is_empty() => Query::XPath(format!("string({filter})").as_str().into()),
        "raw" => Query::Body,
        "header" if !filter.is_empty() => Query::Header(filter.as_str().into()),
        "url" => Query::Url,
        _ => return Err("no counterpart"),
    };
    let key = format!("response {field} {id} {filter}");
    let known = reader.tags.contains_key(&key);
    let name = filter.rsplit(['.', '/', '@']).next().unwrap_or_default().trim_matches(|c: char| !c.is_alphanumeric());
    let name = if name.is_empty() { field.as_str() } else { name };
    let entry = reader.inner.draft.entries.get_mut(at).ok_or("no entry")?;
    let of_request = entry.entry.name.clone().unwrap_or_default();
    let base = within.map_or_else(|| format!("{of_request} {name}"), |within| format!("{within} of {of_request}"));
    let name = reader.name_of(&key, &base);
    let assigned = reader.inner.variables.assign(&name);
    if !known {
        let entry = reader.inner.draft.entries.get_mut(at).ok_or("no entry")?;
        response(&mut entry.entry).captures.push(capture(&assigned, query));
        let note = format!("captured: '{assigned}' from the response of request {}", at + 1);
        reader.inner.draft.notes.push(note);
    }
    Ok(Piece::Placeholder(variable(&assigned)))
}

/// Returns an attribute of the request that has the tag.
fn own(reader: &Reader<'_>, attribute: &str, index: Option<&Argument>) -> Option<Vec<Piece>> {
    let text = match attribute {
        "name" => reader.around.first()?,
        "folder" => {
            let index = index.map(Argument::text).unwrap_or_default();
            reader.around.get(1 + if index.is_empty() { 0 } else { index.parse::<usize>().ok()? })?
        }
        _ => return None,
    };
    Some(Template::from(text.as_str()).0)
}
