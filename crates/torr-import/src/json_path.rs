//! Paths into JSON, in the dialects of other programs.

use regex::Regex;
use torr_session::pattern::is_json_path;

/// Returns a path of a dialect in which the `$` at the beginning may be missing.
pub(crate) fn json_path(path: &str) -> Option<String> {
    let path = if path.starts_with(['$', '@']) { path.to_owned() } else { format!("$.{path}") };
    is_json_path(&path).then_some(path)
}

/// Returns the JSONPath of a JMESPath that has only names and indices.
pub(crate) fn jmes_path(path: &str) -> Option<String> {
    let is_plain = Regex::new(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*$").is_ok_and(|plain| plain.is_match(path));
    Some(format!("$.{path}")).filter(|path| is_plain && is_json_path(path))
}
