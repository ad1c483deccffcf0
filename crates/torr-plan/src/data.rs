//! `--data` and its like, in the order in which they stand on the command line: together they are one body.

use super::input::Input;
use crate::error::PlanError;
use torr_load::DataKind;
use torr_press::request::Data;

/// Reads the pieces of a body, some of which are files.
///
/// # Errors
/// For a file that cannot be read.
pub(crate) fn read(pieces: &[(DataKind, String)], input: &mut Input) -> Result<Vec<Data>, PlanError> {
    pieces.iter().map(|(kind, text)| data(*kind, text, input)).collect()
}

/// A piece of data, as with curl.
fn data(kind: DataKind, text: &str, input: &mut Input) -> Result<Data, PlanError> {
    let what = "the body";
    Ok(Data::Plain(match kind {
        DataKind::Raw => text.as_bytes().to_vec(),
        DataKind::Binary => input.value(text, what)?,
        DataKind::Plain if text.starts_with('@') => {
            let mut bytes = input.value(text, what)?;
            bytes.retain(|byte| !b"\r\n\0".contains(byte));
            bytes
        }
        DataKind::Plain => text.as_bytes().to_vec(),
        DataKind::UrlEncode => return encoded(text, input),
    }))
}

/// Returns the file that a text names as `encoded` reads it, if it names one.
pub fn file(text: &str) -> Option<&str> {
    let at = text.find(['=', '@'])?;
    text[at..].strip_prefix('@')
}

/// `content`, `=content`, `name=content`, `@FILE` or `name@FILE`: whichever of `=` and `@` comes first.
pub(crate) fn encoded(text: &str, input: &mut Input) -> Result<Data, PlanError> {
    let (name, content) = match text.find(['=', '@']) {
        None => ("", text.to_owned()),
        Some(at) if text[at..].starts_with('=') => (&text[..at], text[at + 1..].to_owned()),
        Some(at) => (&text[..at], input.read_text(&text[at + 1..], "the body")?),
    };
    Ok(Data::Encoded { name: (!name.is_empty()).then(|| name.to_owned()), content })
}
