//! Regular expressions that are written in the code.

use regex::Regex;

/// Returns a regular expression.
///
/// # Panics
/// If the text is none: it is constant, and its tests use it.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is constant and tested")
}
