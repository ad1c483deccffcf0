//! The rule by which a message and its response are matched: a value that both have.

use super::RequestError;
use serde_json::Value;
use serde_json_path::JsonPath;

/// The name of the only kind of rule, as hurl files have it.
const KIND: &str = "jsonpath";

/// A rule of a value in JSON messages.
#[derive(Debug, Clone)]
pub struct MatchRule {
    path: JsonPath,
}

impl MatchRule {
    /// Parses a rule: a JSONPath (RFC 9535), alone or as `jsonpath "$.id"`.
    ///
    /// # Errors
    /// [`RequestError::Match`].
    pub fn parse(text: &str) -> Result<Self, RequestError> {
        let path = text.trim();
        let path = path.strip_prefix(KIND).map_or(path, str::trim_start);
        let path = path.strip_prefix('"').and_then(|quoted| quoted.strip_suffix('"')).unwrap_or(path);
        let bad = |why: String| RequestError::Match { text: text.to_owned(), why };
        JsonPath::parse(path).map(|path| Self { path }).map_err(|error| bad(error.message().to_owned()))
    }

    /// Returns the value of a message, if it has one.
    pub(crate) fn value(&self, message: &[u8]) -> Option<String> {
        let message: Value = serde_json::from_slice(message).ok()?;
        self.path.query(&message).first().map(Value::to_string)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_value_or_not() {
        for rule in ["$.a.id", "jsonpath \"$.a.id\"", " jsonpath $['a'].id "] {
            let rule = MatchRule::parse(rule).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(rule.value(br#"{"a": {"id": 7}}"#).as_deref(), Some("7"));
            assert_eq!(rule.value(br#"{"a": {"id": "7"}}"#).as_deref(), Some("\"7\""));
            assert_eq!((rule.value(br#"{"id": 7}"#), rule.value(b"no JSON")), (None, None));
        }
        for bad in ["", "id", "jsonpath", "$.a["] {
            assert!(MatchRule::parse(bad).is_err_and(|error| error.to_string().contains("JSONPath")), "{bad:?}");
        }
    }
}
