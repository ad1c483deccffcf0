//! Which values of settings are secrets. Reports and plans, which are kept and passed on, do not have them.

use crate::setting::{Secret, Setting};
use torr_gauge::redact;

impl Setting {
    /// Returns whether a value is a secret or has one in it.
    pub fn is_secret(&self, value: &str) -> bool {
        let hides = redact::hides;
        match self.secret {
            Secret::Nothing => false,
            Secret::Whole(_) => true,
            Secret::Field => {
                let (name, value) = value.split_once(':').unwrap_or((value, ""));
                let has_secret = redact::is_secret_field(name) && !value.trim().is_empty();
                has_secret && !value.contains("{{") || value.contains("://") && hides(value.trim())
            }
            Secret::Json => is_secret_json(value),
            Secret::Url => hides(value),
            // As parameters of a URL's query, whose names tell secrets, or as JSON.
            Secret::Parameters => hides(&format!("http://host/?{value}")) || is_secret_json(value),
        }
    }
}

/// Returns whether a text has a secret member of a JSON object, or a URL with a secret. JSON with placeholders, and a piece of it,
/// cannot be parsed, but names and texts in it are read all the same; what can be parsed may spell them with escapes.
fn is_secret_json(text: &str) -> bool {
    let pieces: Vec<_> = text.split('"').collect();
    let is_named = |two: &[&str]| redact::is_secret_parameter(two[0]) && two[1].trim_start().starts_with(':');
    let is_found = pieces.windows(2).any(is_named) || pieces.iter().any(|piece| has_secret_url(piece));
    is_found || serde_json::from_str(text).is_ok_and(|json| has_secret(&json))
}

fn has_secret(json: &serde_json::Value) -> bool {
    match json {
        serde_json::Value::Object(members) => {
            members.iter().any(|(name, value)| redact::is_secret_parameter(name) || has_secret(value))
        }
        serde_json::Value::Array(elements) => elements.iter().any(has_secret),
        serde_json::Value::String(text) => has_secret_url(text),
        _ => false,
    }
}

fn has_secret_url(text: &str) -> bool {
    text.split_whitespace().any(|word| word.contains("://") && redact::url(word) != word)
}

#[cfg(test)]
mod tests {
    use crate::settings::find;

    #[test]
    fn secrets_are_known_by_flag_and_name() {
        for (name, value, expected) in [
            ("user", "a:b", true),
            ("secret", "a=b", true),
            ("header", "Authorization: Bearer x", true),
            ("header", "Authorization: Bearer {{env TOKEN}}", false),
            ("header", "Accept: text/html", false),
            ("header", "Referer: http://a:b@host/", true),
            ("header", "Origin: http://host:8080", false),
            ("header", "Link: <http://h/?x=1>; rel=a, <http://h/?token=s>", true),
            ("target", "http://a:b@host/", true),
            ("target", "http://host/?token=x", true),
            ("target", "http://host/?page=1", false),
            ("proxy", "http://a:b@host:1", true),
            ("data", "name=a&password=b", true),
            ("data", "name=a", false),
            ("form", "password=b", true),
            ("variable", "token=b", true),
            ("variable", "host=b", false),
            ("json-body", r#"{"user": {"password": "x"}}"#, true),
            ("json-body", r#"{"user": {"name": "x"}}"#, false),
            ("json-body", r#"{"id": {{seq}}, "password": "x"}"#, true),
            ("json-body", r#""password" : "x"}"#, true),
            ("json-body", r#"{"pass\u0077ord": "x"}"#, true),
            ("json-body", r#"{"kind": "password"}"#, false),
            ("json-body", r#"{"to": "see http://a:b@host/"}"#, true),
            ("json-body", r#"{"to": "http:\/\/a:b@host"}"#, true),
            ("json-body", r#"{"id": {{seq}}, "to": "http://a:b@host/"}"#, true),
            ("json-body", r#"{"to": "http://host:8080 or me@host", "cc": "me@host"}"#, false),
            ("data", r#"{"password":"x"}"#, true),
            ("duration", "10s", false),
        ] {
            let setting = find(name).unwrap_or_else(|| panic!("{name} is no setting"));
            assert_eq!(setting.is_secret(value), expected, "{name} {value}");
        }
    }
}
