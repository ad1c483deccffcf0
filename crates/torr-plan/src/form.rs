//! Parts of a multipart form, as curl's `--form` writes them.

use super::input::{Input, file_name};
use crate::error::PlanError;
use torr_press::request::{Content, Part};

/// Media types by extension; curl knows about as many.
const TYPES: [(&str, &str); 10] = [
    ("gif", "image/gif"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("html", "text/html"),
    ("pdf", "application/pdf"),
    ("xml", "application/xml"),
    ("json", "application/json"),
];

/// One part: `name=value`, `name=@FILE` or `name=<FILE`, then `;type=TYPE` and `;filename=NAME`.
pub(crate) fn part(text: &str, input: &mut Input) -> Result<Part, PlanError> {
    let (name, rest) = text
        .split_once('=')
        .ok_or_else(|| PlanError::Usage("each part of --form must be name=value or name=@FILE".into()))?;
    let (value, media_type, file_name_given) = attributes(rest);
    let what = format!("form part '{name}'");
    let part = |content, file_name, media_type: Option<&str>| Part {
        name: name.to_owned(),
        content,
        file_name,
        media_type: media_type.map(str::to_owned),
    };
    let file_name_given = file_name_given.map(str::to_owned);
    if let Some(path) = value.strip_prefix('@') {
        let file_name = file_name_given.unwrap_or_else(|| file_name(path));
        let media_type = media_type.unwrap_or_else(|| type_of(&file_name));
        return Ok(part(Content::File(input.read(path, &what)?), Some(file_name), Some(media_type)));
    }
    let content = match value.strip_prefix('<') {
        Some(path) => input.read_text(path, &what)?,
        None => value.to_owned(),
    };
    Ok(part(Content::Text(content), file_name_given, media_type))
}

/// Returns the file that a part names, if it names one.
pub fn file(text: &str) -> Option<&str> {
    let (value, ..) = attributes(text.split_once('=')?.1);
    value.strip_prefix(['@', '<'])
}

/// Takes `;type=` and `;filename=` from the end; any other semicolon belongs to the value.
fn attributes(mut text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (mut media_type, mut file_name) = (None, None);
    loop {
        let at = [";type=", ";filename="].map(|name| text.rfind(name));
        match at {
            [Some(at), other] if media_type.is_none() && other.is_none_or(|other| other < at) => {
                media_type = Some(text[at + ";type=".len()..].trim());
                text = &text[..at];
            }
            [_, Some(at)] if file_name.is_none() => {
                file_name = Some(text[at + ";filename=".len()..].trim_matches('"'));
                text = &text[..at];
            }
            _ => return (text, media_type, file_name),
        }
    }
}

fn type_of(file_name: &str) -> &'static str {
    let extension = file_name.rsplit('.').next().unwrap_or_default();
    let known = TYPES.iter().find(|(known, _)| extension.eq_ignore_ascii_case(known));
    known.map_or("application/octet-stream", |(_, media_type)| media_type)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_stand_at_the_end() {
        for (text, parts) in [
            ("a;b", ("a;b", None, None)),
            ("a;type=text/x; charset=utf-8", ("a", Some("text/x; charset=utf-8"), None)),
            ("@f;filename=\"g h\";type=t/u", ("@f", Some("t/u"), Some("g h"))),
            ("@f;type=t/u;filename=g", ("@f", Some("t/u"), Some("g"))),
        ] {
            assert_eq!(attributes(text), parts, "{text}");
        }
    }
}
