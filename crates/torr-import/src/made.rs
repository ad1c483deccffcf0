//! What tests look at of hurl files that were made.

use crate::draft::Draft;
use torr_session::hurl::parse;

/// Returns the text of a file, which can be parsed, and its summary.
pub(crate) fn checked(draft: &Draft) -> (String, String) {
    let text = draft.text();
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    (text, draft.summary())
}

/// Returns the part of a file that begins with a name.
pub(crate) fn entry<'t>(file: &'t str, name: &str) -> &'t str {
    let start = file.find(&format!("# name: {name}\n")).unwrap_or_else(|| panic!("no {name} in {file}"));
    let rest = &file[start..];
    &rest[..rest[1..].find("# name: ").map_or(rest.len(), |end| end + 1)]
}
