//! Conditional requests (RFC 9110, section 13).

use super::form::Form;
use crate::message::request::Request;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the conditions of a request make of it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The content is to be sent.
    Send,
    /// The client has it already.
    NotModified,
    /// A condition does not hold.
    Failed,
}

/// The fields of a request that are about its content, each the first of its name, but for lists of tags.
#[derive(Debug, Default)]
pub(super) struct Conditions<'r> {
    method: &'r str,
    if_match: Vec<&'r [u8]>,
    if_none_match: Vec<&'r [u8]>,
    if_modified_since: Option<&'r [u8]>,
    if_unmodified_since: Option<&'r [u8]>,
    if_range: Option<&'r [u8]>,
    range: Option<&'r [u8]>,
}

impl<'r> Conditions<'r> {
    /// Reads the fields of a request.
    pub fn of(request: &Request<'r>) -> Self {
        let mut read = Self { method: request.method(), ..Self::default() };
        for (name, value) in request.headers() {
            let place = match name.len() {
                5 if name.eq_ignore_ascii_case("range") => &mut read.range,
                8 if name.eq_ignore_ascii_case("if-match") => {
                    read.if_match.push(value);
                    continue;
                }
                8 if name.eq_ignore_ascii_case("if-range") => &mut read.if_range,
                13 if name.eq_ignore_ascii_case("if-none-match") => {
                    read.if_none_match.push(value);
                    continue;
                }
                17 if name.eq_ignore_ascii_case("if-modified-since") => &mut read.if_modified_since,
                19 if name.eq_ignore_ascii_case("if-unmodified-since") => &mut read.if_unmodified_since,
                _ => continue,
            };
            place.get_or_insert(value);
        }
        read
    }

    /// Returns what is to be done, in the order of section 13.2.2.
    pub fn verdict(&self, form: &Form) -> Verdict {
        let is_safe = matches!(self.method, "GET" | "HEAD");
        let name = |lists: &[&[u8]], weakly| lists.iter().any(|list| names(list, form.tag(), weakly));
        if !self.if_match.is_empty() {
            if !name(&self.if_match, false) {
                return Verdict::Failed;
            }
        } else if self.if_unmodified_since.and_then(seconds).is_some_and(|since| form.is_newer_than(since)) {
            return Verdict::Failed;
        }
        if !self.if_none_match.is_empty() {
            if name(&self.if_none_match, true) {
                return if is_safe { Verdict::NotModified } else { Verdict::Failed };
            }
        } else if is_safe && self.if_modified_since.and_then(seconds).is_some_and(|since| !form.is_newer_than(since)) {
            return Verdict::NotModified;
        }
        Verdict::Send
    }

    /// Returns the range that a GET wants, unless it is wanted of another version of the content.
    pub fn range(&self, form: &Form) -> Option<&'r [u8]> {
        let range = self.range.filter(|_| self.method == "GET")?;
        let holds = match self.if_range {
            None => true,
            Some(tag) if tag.starts_with(b"\"") => tag == form.tag(),
            // A date has to be the very one; a weak tag never holds.
            Some(date) => seconds(date).is_some_and(|date| form.is_of(date)),
        };
        holds.then_some(range)
    }
}

/// Whether a list of entity tags names this one, or is `*`. A weak comparison does not care whether tags are weak.
fn names(list: &[u8], tag: &[u8], weakly: bool) -> bool {
    let own = |item: &[u8]| {
        let item = item.trim_ascii();
        let strong = if weakly { item.strip_prefix(b"W/").unwrap_or(item) } else { item };
        item == b"*" || strong == tag
    };
    // Our own tags have no comma.
    list.split(|byte| *byte == b',').any(own)
}

/// Reads a date as seconds since 1970. What is no date is as good as none.
fn seconds(date: &[u8]) -> Option<u64> {
    let time: SystemTime = httpdate::parse_http_date(std::str::from_utf8(date).ok()?).ok()?;
    time.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn tags_are_compared_strongly_and_weakly() {
        for (list, strong, weak) in [
            ("\"a\"", true, true),
            ("W/\"a\"", false, true),
            ("\"b\", \"a\"", true, true),
            ("\"b\",W/\"a\"", false, true),
            ("*", true, true),
            ("\"b\"", false, false),
            ("a", false, false),
            ("", false, false),
        ] {
            let found = (names(list.as_bytes(), b"\"a\"", false), names(list.as_bytes(), b"\"a\"", true));
            assert_eq!(found, (strong, weak), "{list}");
        }
    }
}
