//! Which values of flags are secrets. Reports and plans, which are kept and passed on, do not have them.

use torr_gauge::redact;

/// Flags of which the whole value is a secret, and the shell's variable that stands for the value in a report.
pub const SECRETS: [(&str, &str); 5] = [
    ("user", "TORR_USER"),
    ("oauth2_bearer", "TORR_TOKEN"),
    ("proxy_user", "TORR_PROXY_USER"),
    ("cookies", "TORR_COOKIE"),
    ("secrets", "TORR_SECRET"),
];

/// Flags whose values are or begin with a URL.
const URLS: [&str; 4] = ["targets", "proxy", "otlp", "referer"];

/// Flags whose values are parameters, `name=value`.
const PARAMETERS: [&str; 7] = ["data", "data_raw", "data_binary", "data_urlencode", "url_query", "form", "variables"];

/// Arguments of commands that are or have URLs, or are commands of a server with URLs in them.
const WITH_URLS: [&str; 9] = ["a", "b", "database", "databases", "served_at", "tls", "url", "versions", "via"];

/// Returns whether an argument of any command is a secret or has one in it, as [`is_secret`] does for a load.
pub fn hides(id: &str, value: &str) -> bool {
    let is_hidden = || redact::url(value) != value || redact::line(value) != redact::printable(value.trim_end());
    is_secret(id, value) || (WITH_URLS.contains(&id) && is_hidden())
}

/// Returns whether a flag's value is a secret or has one in it.
pub fn is_secret(id: &str, value: &str) -> bool {
    let hides = |text: &str| redact::url(text) != text;
    match id {
        _ if SECRETS.iter().any(|(secret, _)| *secret == id) => true,
        "headers" => {
            let (name, value) = value.split_once(':').unwrap_or((value, ""));
            redact::is_secret_field(name) && !value.trim().is_empty() && !value.contains("{{")
        }
        "json_body" => serde_json::from_str(value).is_ok_and(|json| has_secret_member(&json)),
        _ if URLS.contains(&id) => hides(value),
        // As parameters of a URL's query, whose names tell secrets.
        _ if PARAMETERS.contains(&id) => hides(&format!("http://host/?{value}")),
        _ => false,
    }
}

fn has_secret_member(json: &serde_json::Value) -> bool {
    match json {
        serde_json::Value::Object(members) => members.iter().any(|(name, value)| {
            let parameter = format!("http://host/?{name}=x");
            (!value.is_object() && redact::url(&parameter) != parameter) || has_secret_member(value)
        }),
        serde_json::Value::Array(elements) => elements.iter().any(has_secret_member),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_known_by_flag_and_name() {
        for (id, value, expected) in [
            ("user", "a:b", true),
            ("secrets", "a=b", true),
            ("headers", "Authorization: Bearer x", true),
            ("headers", "Authorization: Bearer {{env TOKEN}}", false),
            ("headers", "Accept: text/html", false),
            ("targets", "http://a:b@host/", true),
            ("targets", "http://host/?token=x", true),
            ("targets", "http://host/?page=1", false),
            ("proxy", "http://a:b@host:1", true),
            ("data", "name=a&password=b", true),
            ("data", "name=a", false),
            ("form", "password=b", true),
            ("variables", "token=b", true),
            ("variables", "host=b", false),
            ("json_body", r#"{"user": {"password": "x"}}"#, true),
            ("json_body", r#"{"user": {"name": "x"}}"#, false),
            ("duration", "10s", false),
        ] {
            assert_eq!(is_secret(id, value), expected, "{id} {value}");
        }
    }
}
