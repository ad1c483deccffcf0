//! The checks that each response has to pass.

use super::decode::Encoding;
use regex::bytes::Regex;
use std::ops::RangeInclusive;
use thiserror::Error;
use torr_wire::Header;

/// The most bytes of a body that are kept to be checked, decoded or not. A longer one fails.
pub(crate) const MOST_BODY: usize = 16 * 1024 * 1024;

/// An expectation of each response.
#[derive(Debug, Clone)]
pub struct Check {
    /// The name in reports, such as `status 200`.
    pub name: String,
    expects: Expects,
}

#[derive(Debug, Clone)]
enum Expects {
    Status(Vec<RangeInclusive<u16>>),
    Header(String, Option<Text>),
    Body(Text),
}

/// The expectation of a text.
#[derive(Debug, Clone)]
enum Text {
    Is(Vec<u8>),
    Contains(Vec<u8>),
    Matches(Regex),
}

/// The reason for which a text is no check.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CheckError {
    /// The text is no list of status codes.
    #[error("expected status codes such as 200, 2xx or 200-204, found '{0}'")]
    Status(String),
    /// The text is no expectation of a header field.
    #[error("expected 'Name', 'Name: value' or 'Name: ~regex', found '{0}'")]
    Header(String),
    /// The text is no regular expression.
    #[error("invalid regular expression '{text}': {why}")]
    Regex {
        /// The expression as given.
        text: String,
        /// The defect of the expression.
        why: String,
    },
}

impl Check {
    /// Returns the check that a response has one of these status codes: `200`, `2xx`, `200-204`, with commas between them.
    ///
    /// # Errors
    /// [`CheckError::Status`].
    pub fn status(text: &str) -> Result<Self, CheckError> {
        let range = |part: &str| {
            let code = |text: &str| text.parse::<u16>().ok().filter(|code| (100..1000).contains(code));
            match (part.strip_suffix("xx"), part.split_once('-')) {
                (Some(class), _) => {
                    class.parse::<u16>().ok().filter(|c| (1..10).contains(c)).map(|c| c * 100..=c * 100 + 99)
                }
                (None, Some((from, to))) => Some(code(from)?..=code(to)?).filter(|range| !range.is_empty()),
                (None, None) => code(part).map(|code| code..=code),
            }
        };
        let ranges = text.split(',').map(|part| range(part.trim())).collect::<Option<Vec<_>>>();
        let ranges = ranges.ok_or_else(|| CheckError::Status(text.to_owned()))?;
        Ok(Self { name: format!("status {text}"), expects: Expects::Status(ranges) })
    }

    /// Returns the check of a header field: `Name` for a field that exists, `Name: value` for a value, `Name: ~regex` for a match.
    ///
    /// # Errors
    /// [`CheckError::Header`], [`CheckError::Regex`].
    pub fn header(text: &str) -> Result<Self, CheckError> {
        let (name, value) = text.split_once(':').map_or((text, None), |(name, value)| (name, Some(value.trim())));
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            return Err(CheckError::Header(text.to_owned()));
        }
        let value = match value {
            None | Some("") => None,
            Some(value) => match value.strip_prefix('~') {
                Some(expression) => Some(matches(expression)?),
                None => Some(Text::Is(value.into())),
            },
        };
        Ok(Self { name: format!("header {text}"), expects: Expects::Header(name.to_owned(), value) })
    }

    /// Returns the check that the body contains a text, or, behind a `~`, matches a regular expression.
    ///
    /// # Errors
    /// [`CheckError::Regex`].
    pub fn body(text: &str) -> Result<Self, CheckError> {
        let expected = match text.strip_prefix('~') {
            Some(expression) => matches(expression)?,
            None => Text::Contains(text.into()),
        };
        Ok(Self { name: format!("body {text}"), expects: Expects::Body(expected) })
    }

    /// Returns the check that the body equals `body` to the byte. The text `name` names the source of `body` in reports.
    pub fn whole_body(name: &str, body: Vec<u8>) -> Self {
        Self { name: format!("body {name}"), expects: Expects::Body(Text::Is(body)) }
    }

    /// Whether the body has to be kept for it.
    pub(crate) fn needs_body(&self) -> bool {
        matches!(self.expects, Expects::Body(_))
    }

    /// Whether the head is as expected; a check of the body says nothing of it.
    pub(crate) fn holds_for_head(&self, status: u16, fields: &[Header<'_>]) -> bool {
        match &self.expects {
            Expects::Status(ranges) => ranges.iter().any(|range| range.contains(&status)),
            Expects::Header(name, expected) => fields
                .iter()
                .filter(|field| field.name.eq_ignore_ascii_case(name))
                .any(|field| expected.as_ref().is_none_or(|text| text.is_in(field.value.trim_ascii()))),
            Expects::Body(_) => true,
        }
    }

    /// Whether the body is as expected; a check of the head says nothing of it. `None` is a body that could not be had.
    pub(crate) fn holds_for_body(&self, body: Option<&[u8]>) -> bool {
        match &self.expects {
            Expects::Body(text) => body.is_some_and(|body| text.is_in(body)),
            _ => true,
        }
    }
}

impl Text {
    fn is_in(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Is(expected) => bytes == expected,
            Self::Contains(expected) => memchr::memmem::find(bytes, expected).is_some(),
            Self::Matches(regex) => regex.is_match(bytes),
        }
    }
}

fn matches(expression: &str) -> Result<Text, CheckError> {
    // The library's error is a drawing of many lines; its last one says what is wrong.
    let why = |error: regex::Error| error.to_string().lines().last().unwrap_or_default().replace("error: ", "");
    let bad = |error| CheckError::Regex { text: expression.to_owned(), why: why(error) };
    Regex::new(expression).map(Text::Matches).map_err(bad)
}

/// The body as its sender meant it: decoded, if it is encoded. `None` if it cannot be had.
pub(crate) fn meant(body: Vec<u8>, encoding: Option<Encoding>) -> Option<Vec<u8>> {
    match encoding {
        None => Some(body),
        // A response without content may still say how it would be encoded.
        Some(_) if body.is_empty() => Some(body),
        Some(encoding) => encoding.decode(&body, MOST_BODY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_codes_of_many_forms() {
        for (text, yes, no) in [("200", 200, 201), ("2xx,301", 301, 300), ("200-204, 404", 204, 205), ("4xx", 499, 500)]
        {
            let check = Check::status(text).unwrap();
            assert_eq!((check.holds_for_head(yes, &[]), check.holds_for_head(no, &[])), (true, false), "{text}");
        }
        for bad in ["", "ok", "20", "2xxx", "xx", "300-200", "200,", "99999", "0xx"] {
            assert!(Check::status(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn headers_are_there_or_have_a_value_or_match() {
        let fields = [Header { name: "X-A", value: b"one two " }, Header { name: "x-b", value: b"3" }];
        for (text, holds) in [
            ("x-a", true),
            ("X-B:", true),
            ("x-c", false),
            ("X-A: one two", true),
            ("X-A: one", false),
            ("X-A: ~^one", true),
            ("X-A: ~^two", false),
        ] {
            assert_eq!(Check::header(text).unwrap().holds_for_head(200, &fields), holds, "{text}");
        }
        for bad in ["", ": x", "a b: c", "X: ~("] {
            assert!(Check::header(bad).is_err(), "{bad:?} was taken");
        }
    }

    #[test]
    fn bodies_contain_or_match_or_are() {
        let body = Some(&b"hello, world"[..]);
        for (check, holds) in [
            (Check::body("world").unwrap(), true),
            (Check::body("World").unwrap(), false),
            (Check::body("~(?i)WORLD$").unwrap(), true),
            (Check::body("").unwrap(), true),
            (Check::body(r"~^\w+, \w{5}$").unwrap(), true),
            (Check::whole_body("file", b"hello, world".to_vec()), true),
            (Check::whole_body("file", b"hello".to_vec()), false),
        ] {
            assert_eq!(check.holds_for_body(body), holds, "{check:?}");
            assert!(!check.holds_for_body(None), "a body that cannot be had is not as expected");
        }
    }
}
