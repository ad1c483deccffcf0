//! Tags of templates, such as `{% uuid %}`, and what they mean.

use super::template::{Argument, Part, arguments, parts};
use torr_session::hurl::ast::Filter;

/// Letters of dates, as Insomnia and as hurl files spell them.
const DATES: &[(&str, &str)] = &[
    ("yyyy", "%Y"),
    ("yy", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("dd", "%d"),
    ("EEEE", "%A"),
    ("EEE", "%a"),
    ("HH", "%H"),
    ("hh", "%I"),
    ("mm", "%M"),
    ("ss", "%S"),
    ("SSS", "%3f"),
    ("a", "%p"),
    ("t", "%s"),
];

/// What a tag means.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Tag {
    /// A new UUID.
    Uuid,
    /// The current time in a format of `strftime`; whether its time zone is that of the computer.
    Date(String, bool),
    /// A value that Insomnia makes up, by the name that Postman has for it.
    MadeUp(String),
    /// A value that is encoded or decoded: by a function for text that is known, by filters for what a variable has.
    Base64(Base64, Argument),
    /// A value of a response.
    Response(Response),
    /// The name of the request.
    Name,
    /// The name of a folder around the request, counted from inside.
    Folder(usize),
    /// A value that people give: its name, its default, and whether it is a secret.
    Given(String, String, bool),
    /// A secret of another program.
    Secret,
    /// What has no counterpart, and why.
    Other(&'static str),
}

/// What Base64 does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base64 {
    Encode,
    EncodeForUrls,
    Decode,
}

/// A value of the response to another request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Response {
    /// `body`, `raw`, `header` or `url`.
    pub(super) field: String,
    /// The id of the request.
    pub(super) id: String,
    /// A JSONPath, an XPath or the name of a field.
    pub(super) filter: String,
    /// When the request is sent for the tag: `never`, `no-history`, `when-expired` or `always`.
    pub(super) trigger: String,
}

impl Base64 {
    /// Returns text encoded or decoded; `None` for text that is not encoded.
    pub(super) fn apply(self, text: &str) -> Option<String> {
        use base64::Engine;
        use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
        match self {
            Self::Encode => Some(STANDARD.encode(text)),
            Self::EncodeForUrls => Some(URL_SAFE_NO_PAD.encode(text)),
            Self::Decode => String::from_utf8(STANDARD.decode(text).ok()?).ok(),
        }
    }

    /// Returns the filters that do the same in a run.
    pub(super) fn filters(self) -> Vec<Filter> {
        match self {
            Self::Encode => vec![Filter::ToText, Filter::Utf8Encode, Filter::Base64Encode],
            Self::EncodeForUrls => vec![Filter::ToText, Filter::Utf8Encode, Filter::Base64UrlSafeEncode],
            Self::Decode => vec![Filter::Base64Decode, Filter::Utf8Decode],
        }
    }
}

/// Reads a tag with its arguments.
pub(super) fn read(name: &str, text: &str) -> Tag {
    let found = arguments(text);
    let argument = |at: usize| found.get(at).map(Argument::text).unwrap_or_default();
    let other = Tag::Other("no counterpart");
    match name {
        "uuid" => Tag::Uuid,
        "now" | "timestamp" => date(&argument(0), &argument(1)).unwrap_or(other),
        "faker" => Tag::MadeUp(format!("${}", argument(0))),
        "base64" => {
            let action = match (argument(0).as_str(), argument(1).as_str()) {
                ("encode", "normal") => Base64::Encode,
                ("encode", "url") => Base64::EncodeForUrls,
                ("decode", "normal" | "url") => Base64::Decode,
                _ => return other,
            };
            found.get(2).map_or(other, |value| Tag::Base64(action, value.clone()))
        }
        "response" => Tag::Response(Response {
            field: argument(0),
            id: argument(1),
            filter: argument(2).trim().to_owned(),
            trigger: argument(3).to_ascii_lowercase(),
        }),
        "request" => match (argument(0).as_str(), argument(2).as_str()) {
            ("name", _) => Tag::Name,
            ("folder", "") => Tag::Folder(0),
            ("folder", index) => index.parse().map_or(other, Tag::Folder),
            _ => other,
        },
        "prompt" => Tag::Given(argument(0), argument(2), argument(4) == "true"),
        "external" | "vault" => Tag::Secret,
        "file" => Tag::Other("only a whole content can be a file"),
        _ => other,
    }
}

/// Returns the name of a file that is a whole text; `None` for any other text.
pub(super) fn whole_file(text: &str) -> Option<String> {
    let mut parts = parts(text.trim()).into_iter();
    let (Some(Part::Tag("file", text)), None) = (parts.next(), parts.next()) else { return None };
    let first = arguments(text).into_iter().next().filter(|first| matches!(first, Argument::Text(_)))?;
    Some(first.text()).filter(|name| !name.is_empty())
}

/// Returns the current time in a format.
fn date(kind: &str, format: &str) -> Option<Tag> {
    let in_utc = |format: &str| Some(Tag::Date(format.to_owned(), false));
    match kind.to_ascii_lowercase().as_str() {
        "" | "iso-8601" => in_utc("%Y-%m-%dT%H:%M:%S%.3fZ"),
        "millis" | "ms" => in_utc("%s%3f"),
        "unix" | "seconds" | "s" => in_utc("%s"),
        "custom" => Some(Tag::Date(strftime(format)?, true)),
        _ => None,
    }
}

/// Returns a format of dates in the notation of hurl files; `None` where a part has no counterpart.
fn strftime(format: &str) -> Option<String> {
    let mut made = String::new();
    let mut rest = format;
    while let Some(first) = rest.chars().next() {
        if first == '\'' {
            let (inner, behind) = rest[1..].split_once('\'')?;
            made.push_str(&if inner.is_empty() { "'".to_owned() } else { inner.replace('%', "%%") });
            rest = behind;
            continue;
        }
        let length = rest.find(|c: char| c != first).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(length);
        rest = behind;
        if first.is_ascii_alphabetic() {
            made.push_str(DATES.iter().find(|(letters, _)| *letters == run)?.1);
        } else {
            made.push_str(&run.replace('%', "%%"));
        }
    }
    (!made.is_empty()).then_some(made)
}
