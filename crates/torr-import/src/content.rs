//! Content with placeholders: JSON keeps its form, everything else is text.

use crate::parts::is_json;
use crate::secret::{MARKS, Secrets, is_mark};
use torr_session::hurl::ast::{Body, Expression, JsonPiece, Piece, Template, TextHint};
use torr_wire::percent::form_decoded;

/// Returns content from text with placeholders, which sends the text's bytes: JSON where it is JSON once the placeholders have
/// values, with variables for credentials.
pub(crate) fn content(text: Template, secrets: &mut Secrets) -> Body {
    match json(&text, secrets).filter(|_| is_kept(&text)) {
        Some(pieces) => Body::Json(pieces),
        None => Body::Text { text: secrets.text(text, false), hint: TextHint::Plain },
    }
}

/// Returns content of text in which the values of variables stand as they are, also within strings of JSON. JSON without variables
/// keeps its form. `is_form` tells whether the text is a form.
pub(crate) fn with_values_as_they_are(template: Template, is_form: bool, secrets: &mut Secrets) -> Body {
    if let Some(text) = template.literal().filter(|text| is_json(text) && !is_form)
        && is_kept(&template)
        && !text.is_empty()
        && let Some(pieces) = json(&template, secrets)
    {
        return Body::Json(pieces);
    }
    Body::Text { text: secrets.text(template, is_form), hint: TextHint::Plain }
}

/// Whether JSON of a hurl file keeps the bytes of a text: without white space around it, and without braces that would be read as
/// a placeholder.
pub(crate) fn is_kept(text: &Template) -> bool {
    let has_space = |next: Option<char>| next.is_none_or(char::is_whitespace);
    let mut before = ' ';
    for (at, piece) in text.0.iter().enumerate() {
        let Piece::Text(text_of) = piece else {
            // A brace before those of a placeholder.
            if before == '{' {
                return false;
            }
            before = ' ';
            continue;
        };
        let (is_first, is_last) = (at == 0, at + 1 == text.0.len());
        if text_of.contains("{{")
            || is_first && has_space(text_of.chars().next())
            || is_last && has_space(text_of.chars().next_back())
        {
            return false;
        }
        before = text_of.chars().next_back().unwrap_or(before);
    }
    true
}

/// Returns the pieces of JSON text with placeholders; `None` for text that is no object and no list of JSON.
pub(crate) fn json(text: &Template, secrets: &mut Secrets) -> Option<Vec<JsonPiece>> {
    let mut marked = String::new();
    // Text with a value for each placeholder.
    let mut filled = String::new();
    let mut expressions: Vec<(Expression, bool)> = Vec::new();
    let mut is_string = false;
    for piece in &text.0 {
        match piece {
            Piece::Text(text) if text.contains(is_mark) => return None,
            Piece::Text(text) => {
                let mut escaped = false;
                for next in text.chars() {
                    is_string ^= next == '"' && !(is_string && escaped);
                    escaped = next == '\\' && !escaped;
                }
                marked.push_str(text);
                filled.push_str(text);
            }
            Piece::Placeholder(expression) => {
                let mark =
                    u32::try_from(expressions.len()).ok().and_then(|at| char::from_u32(u32::from(MARKS) + at))?;
                marked.push(mark);
                filled.push_str(if is_string { "x" } else { "0" });
                expressions.push((expression.clone(), is_string));
            }
        }
    }
    if !is_json(&filled) {
        return None;
    }
    let mut pieces = Vec::new();
    for piece in secrets.json(&marked) {
        match piece {
            JsonPiece::Text(text) => split_at_marks(&text, &expressions, &mut pieces),
            other => pieces.push(other),
        }
    }
    Some(pieces)
}

fn split_at_marks(text: &str, expressions: &[(Expression, bool)], pieces: &mut Vec<JsonPiece>) {
    let mut start = 0;
    let add_text = |pieces: &mut Vec<JsonPiece>, text: &str| {
        if !text.is_empty() {
            pieces.push(JsonPiece::Text(text.to_owned()));
        }
    };
    for (at, mark) in text.char_indices().filter(|(_, next)| is_mark(*next)) {
        add_text(pieces, &text[start..at]);
        start = at + mark.len_utf8();
        let number = (u32::from(mark) - u32::from(MARKS)) as usize;
        match expressions.get(number) {
            Some((expression, true)) => {
                // A brace of the text and those of the placeholder would be read as another placeholder.
                if let Some(JsonPiece::Text(before)) = pieces.last_mut().filter(|piece| ends_with_brace(piece)) {
                    before.pop();
                    before.push_str("\\u007b");
                }
                pieces.push(JsonPiece::InString(expression.clone()));
            }
            Some((expression, false)) => pieces.push(JsonPiece::Value(expression.clone())),
            None => {}
        }
    }
    add_text(pieces, &text[start..]);
}

fn ends_with_brace(piece: &JsonPiece) -> bool {
    matches!(piece, JsonPiece::Text(text) if text.ends_with('{'))
}

/// Returns a template whose texts are percent-decoded.
pub(crate) fn decoded(template: Template) -> Template {
    let piece = |piece: Piece| match piece {
        Piece::Text(text) => Piece::Text(form_decoded(&text)),
        placeholder => placeholder,
    };
    Template(template.0.into_iter().map(piece).collect())
}
