//! Regular expressions, those that are written in the code and those of sources.

use crate::reason::OTHER_REGEX;
use regex::Regex;

/// Returns a regular expression.
///
/// # Panics
/// If the text is none: it is constant, and its tests use it.
pub(crate) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is constant and tested")
}

/// Returns a pattern whose first group is the one that is wanted; 0 is all that the pattern finds.
pub(crate) fn only_group(pattern: &str, wanted: usize) -> Result<String, &'static str> {
    let groups = Regex::new(pattern).map_err(|_| OTHER_REGEX)?.captures_len() - 1;
    if wanted == 0 {
        return Ok(format!("({pattern})"));
    }
    if wanted > groups {
        return Err("no such group in its pattern");
    }
    let mut made = String::new();
    let (mut group, mut is_escaped, mut is_class) = (0, false, false);
    let mut rest = pattern.chars().peekable();
    while let Some(next) = rest.next() {
        made.push(next);
        let begins = next == '(' && !is_escaped && !is_class && rest.peek() != Some(&'?');
        match next {
            '[' if !is_escaped => is_class = true,
            ']' if !is_escaped => is_class = false,
            _ => {}
        }
        is_escaped = next == '\\' && !is_escaped;
        if begins {
            group += 1;
            if group < wanted {
                made.push_str("?:");
            }
        }
    }
    let is_same = Regex::new(&made).is_ok_and(|made| made.captures_len() == groups + 2 - wanted);
    if is_same { Ok(made) } else { Err("only the first group of this pattern is supported") }
}
