//! The rule by which an event is recognised: `data == "[DONE]"`.

use regex::bytes::Regex;
use thiserror::Error;
use torr_wire::event_stream::Event;

/// A rule of an event's type or data.
#[derive(Debug, Clone)]
pub struct EventRule {
    text: String,
    part: Part,
    expects: Expects,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Kind,
    Data,
}

#[derive(Debug, Clone)]
enum Expects {
    Is(Vec<u8>),
    Contains(Vec<u8>),
    StartsWith(Vec<u8>),
    Matches(Regex),
}

/// The reason for which a text is no rule of an event.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EventRuleError {
    /// The text has another form.
    #[error(
        "expected data or event, then ==, contains, startsWith or matches, then a text, such as data == \"[DONE]\"; found '{0}'"
    )]
    Form(String),
    /// The text is no regular expression.
    #[error("invalid regular expression '{text}': {why}")]
    Regex {
        /// The expression as given.
        text: String,
        /// The defect of the expression.
        why: String,
    },
}

impl EventRule {
    /// Parses a rule: `data` or `event`, an operator, and a text, with or without quotation marks around it.
    ///
    /// # Errors
    /// [`EventRuleError`].
    pub fn parse(text: &str) -> Result<Self, EventRuleError> {
        let form = || EventRuleError::Form(text.to_owned());
        let word = |text: &str| -> Option<(String, String)> {
            let (word, rest) = text.trim_start().split_once(char::is_whitespace)?;
            Some((word.to_owned(), rest.trim().to_owned()))
        };
        let (part, rest) = word(text).ok_or_else(form)?;
        let (operator, value) = word(&rest).ok_or_else(form)?;
        let part = match part.as_str() {
            "data" => Part::Data,
            "event" => Part::Kind,
            _ => return Err(form()),
        };
        let value = match value.strip_prefix('"') {
            Some(quoted) => quoted.strip_suffix('"').ok_or_else(form)?,
            None => &value,
        };
        let expects = match operator.as_str() {
            "==" => Expects::Is(value.into()),
            "contains" => Expects::Contains(value.into()),
            "startsWith" => Expects::StartsWith(value.into()),
            "matches" => Expects::Matches(expression(value)?),
            _ => return Err(form()),
        };
        Ok(Self { text: text.to_owned(), part, expects })
    }

    /// Returns the rule as it was given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether an event is as the rule says. An event without a type is a `message`.
    pub(super) fn is_met(&self, event: &Event<'_>) -> bool {
        let part = match self.part {
            Part::Data => event.data,
            Part::Kind if event.kind.is_empty() => b"message",
            Part::Kind => event.kind,
        };
        match &self.expects {
            Expects::Is(text) => part == text,
            Expects::Contains(text) => memchr::memmem::find(part, text).is_some(),
            Expects::StartsWith(text) => part.starts_with(text),
            Expects::Matches(regex) => regex.is_match(part),
        }
    }
}

fn expression(text: &str) -> Result<Regex, EventRuleError> {
    // The library's error is a drawing of many lines; its last one says what is wrong.
    let why = |error: regex::Error| error.to_string().lines().last().unwrap_or_default().replace("error: ", "");
    Regex::new(text).map_err(|error| EventRuleError::Regex { text: text.to_owned(), why: why(error) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event<'a>(kind: &'a str, data: &'a str) -> Event<'a> {
        Event { kind: kind.as_bytes(), data: data.as_bytes(), id: b"", is_whole: true }
    }

    #[test]
    fn events_are_recognised_by_data_or_type() {
        let done = event("", "[DONE]");
        let other = event("end", r#"{"a": 1}"#);
        for (rule, expected) in [
            (r#"data == "[DONE]""#, [true, false]),
            ("data == [DONE]", [true, false]),
            (" data   ==  [DONE] ", [true, false]),
            ("data contains DON", [true, false]),
            (r#"data startsWith "{""#, [false, true]),
            (r#"data matches "^\{.*\d\}$""#, [false, true]),
            ("event == end", [false, true]),
            ("event == message", [true, false]),
        ] {
            let rule = EventRule::parse(rule).expect(rule);
            assert_eq!([rule.is_met(&done), rule.is_met(&other)], expected, "{}", rule.text());
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for bad in ["", "data", "data ==", "id == 3", "data = x", r#"data == "x"#, "data==x"] {
            assert_eq!(EventRule::parse(bad).err(), Some(EventRuleError::Form(bad.to_owned())), "{bad:?}");
        }
        assert!(matches!(EventRule::parse("data matches ("), Err(EventRuleError::Regex { .. })));
    }
}
