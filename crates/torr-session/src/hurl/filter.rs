//! Filters: what is done to a value before it is captured, compared or inserted.

use super::ParseError;
use super::ast::{Filter, Index};
use super::cursor::Cursor;
use super::expression::placeholder;
use super::names::name_of;
use super::template::quoted;
use super::value::{integer, pattern};

/// Filters without an argument, by their names in the file.
const PLAIN: &[(&str, Filter)] = &[
    ("base64Decode", Filter::Base64Decode),
    ("base64Encode", Filter::Base64Encode),
    ("base64UrlSafeDecode", Filter::Base64UrlSafeDecode),
    ("base64UrlSafeEncode", Filter::Base64UrlSafeEncode),
    ("count", Filter::Count),
    ("daysAfterNow", Filter::DaysAfterNow),
    ("daysBeforeNow", Filter::DaysBeforeNow),
    ("first", Filter::First),
    ("htmlEscape", Filter::HtmlEscape),
    ("htmlUnescape", Filter::HtmlUnescape),
    ("last", Filter::Last),
    ("location", Filter::Location),
    ("toFloat", Filter::ToFloat),
    ("toHex", Filter::ToHex),
    ("toInt", Filter::ToInt),
    ("toString", Filter::ToText),
    ("urlDecode", Filter::UrlDecode),
    ("urlEncode", Filter::UrlEncode),
    ("utf8Decode", Filter::Utf8Decode),
    ("utf8Encode", Filter::Utf8Encode),
];

/// Returns the name of a filter without an argument as files spell it; an empty one for other filters.
pub fn filter_name(filter: &Filter) -> &'static str {
    name_of(PLAIN, filter)
}

/// Reads filters as long as there are any, each after a space.
pub(super) fn filters(cursor: &mut Cursor<'_>) -> Result<Vec<Filter>, ParseError> {
    let mut filters = Vec::new();
    loop {
        let mut ahead = cursor.clone();
        if !ahead.spaces() {
            return Ok(filters);
        }
        match filter(&mut ahead)? {
            Some(filter) => filters.push(filter),
            None => return Ok(filters),
        }
        *cursor = ahead;
    }
}

/// Reads one filter, or nothing where no filter's name stands.
fn filter(cursor: &mut Cursor<'_>) -> Result<Option<Filter>, ParseError> {
    if let Some((_, filter)) = PLAIN.iter().find(|(name, _)| cursor.eat_word(name)) {
        return Ok(Some(filter.clone()));
    }
    let start = cursor.clone();
    let name = cursor.eat_while(|c| c.is_alphanumeric());
    cursor.spaces();
    Ok(Some(match name {
        "dateFormat" | "format" => Filter::DateFormat(quoted(cursor)?),
        "charsetDecode" | "decode" => Filter::Decode(quoted(cursor)?),
        "jsonpath" => Filter::JsonPath(quoted(cursor)?),
        "nth" if cursor.starts_with("{{") => Filter::Nth(Index::Placeholder(placeholder(cursor)?)),
        "nth" => Filter::Nth(Index::Number(integer(cursor)?)),
        "regex" => Filter::Regex(pattern(cursor)?),
        "replace" => {
            // An earlier version took a pattern here.
            if cursor.starts_with("/") {
                let pattern = pattern(cursor)?;
                cursor.spaces();
                Filter::ReplaceRegex(pattern, quoted(cursor)?)
            } else {
                let old = quoted(cursor)?;
                cursor.spaces();
                Filter::Replace(old, quoted(cursor)?)
            }
        }
        "replaceRegex" => {
            let pattern = pattern(cursor)?;
            cursor.spaces();
            Filter::ReplaceRegex(pattern, quoted(cursor)?)
        }
        "split" => Filter::Split(quoted(cursor)?),
        "toDate" => Filter::ToDate(quoted(cursor)?),
        "urlQueryParam" => Filter::UrlQueryParameter(quoted(cursor)?),
        "xpath" => Filter::XPath(quoted(cursor)?),
        _ => {
            *cursor = start;
            return Ok(None);
        }
    }))
}
