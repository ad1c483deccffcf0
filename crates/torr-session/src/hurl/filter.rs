//! The names of filters without an argument.

use super::ast::Filter;
use super::names::name_of;

/// Filters without an argument, by their names in the file.
pub(super) const PLAIN: &[(&str, Filter)] = &[
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
