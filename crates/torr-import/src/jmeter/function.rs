//! Text with references to variables and calls of functions: `${name}` and `${__P(host,localhost)}`.

use crate::draft::LeftOut;
use crate::parts::push;
use crate::reason;
use crate::secret::Secrets;
use crate::variables::{Variables, new_date, new_uuid};
use torr_session::hurl::ast::{Piece, Template};

/// A piece of text.
pub(super) enum Part<'t> {
    Text(&'t str),
    Reference(&'t str),
}

/// Splits text at its references, of which some hold others.
pub(super) fn split(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let Some(length) = reference_length(&rest[start + 2..]) else { break };
        if start > 0 {
            parts.push(Part::Text(&rest[..start]));
        }
        parts.push(Part::Reference(&rest[start + 2..start + 2 + length]));
        rest = &rest[start + 2 + length + 1..];
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest));
    }
    parts
}

/// Returns the length of a reference, up to the brace that closes it.
fn reference_length(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, next) in text.char_indices() {
        match next {
            '{' if before == '$' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
        before = next;
    }
    None
}

/// Returns the names of all variables that a plan's text refers to.
pub(super) fn names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for (start, _) in text.match_indices("${") {
        let name: String = text[start + 2..].chars().take_while(|c| !"}(${<\n".contains(*c)).take(200).collect();
        let is_name = text[start + 2 + name.len()..].starts_with('}') && !name.starts_with("__");
        if is_name && !name.is_empty() {
            names.push(name);
        }
    }
    names
}

/// Returns a template of text.
pub(super) fn template(
    variables: &mut Variables,
    secrets: &mut Secrets,
    text: &str,
    left_out: &mut Vec<LeftOut>,
) -> Template {
    let mut pieces = Vec::new();
    for part in split(text) {
        match part {
            Part::Text(text) => push(&mut pieces, Piece::Text(text.to_owned())),
            Part::Reference(inner) if inner.starts_with("__") => {
                let made = call(variables, secrets, inner, left_out);
                made.0.into_iter().for_each(|piece| push(&mut pieces, piece));
            }
            Part::Reference(name) => {
                let name = name.trim();
                let expression = variables.used(name, secrets, &mut |variables, secrets, value| {
                    template(variables, secrets, value, left_out)
                });
                push(&mut pieces, Piece::Placeholder(expression));
            }
        }
    }
    Template(pieces)
}

/// Returns what stands for a call of a function.
fn call(variables: &mut Variables, secrets: &mut Secrets, call: &str, left_out: &mut Vec<LeftOut>) -> Template {
    let (name, arguments) = call.split_once('(').unwrap_or((call, ")"));
    let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
    let arguments = arguments_of(arguments);
    let argument = |at: usize| arguments.get(at).map(|argument| argument.trim()).unwrap_or_default();
    let one = |piece: Piece| Template(vec![piece]);
    let mut constant = |text: &str| {
        left_out.push(LeftOut::new("function", name, reason::CONSTANT));
        Template::from(text)
    };
    match name {
        "__UUID" => one(new_uuid()),
        "__P" | "__property" => {
            let default = argument(if name == "__P" { 1 } else { 2 });
            let property = argument(0);
            // A variable's definition takes the default, since the variable often has the property's name.
            if variables.is_defining() {
                return template(variables, secrets, default, left_out);
            }
            if variables.value(property).is_none() && !default.is_empty() {
                variables.know(property, default, false);
            }
            template(variables, secrets, &format!("${{{property}}}"), left_out)
        }
        "__V" => template(variables, secrets, &format!("${{{}}}", argument(0)), left_out),
        "__urlencode" | "__urldecode" | "__escapeXml" | "__unescape" => {
            left_out.push(LeftOut::new("function", name, "replaced by its argument"));
            template(variables, secrets, argument(0), left_out)
        }
        "__time" => match date_format(argument(0)) {
            Some(format) => one(new_date(&format)),
            None => constant("0"),
        },
        "__Random" => constant(argument(0)),
        "__RandomString" => constant("x"),
        _ => constant("1"),
    }
}

/// Returns the default of a property that a call names, such as `__P(host,localhost)`; `None` for other references.
pub(super) fn default_of(reference: &str) -> Option<String> {
    let (name, arguments) = reference.split_once('(')?;
    let at = match name {
        "__P" => 1,
        "__property" => 2,
        _ => return None,
    };
    arguments_of(arguments.strip_suffix(')')?).get(at).map(|default| default.trim().to_owned())
}

/// Splits the arguments of a call at commas that stand outside of other calls; a backslash keeps a comma.
fn arguments_of(text: &str) -> Vec<String> {
    let (mut arguments, mut depth, mut escaped) = (vec![String::new()], 0usize, false);
    for next in text.chars() {
        match next {
            '\\' if !escaped => {
                escaped = true;
                continue;
            }
            ',' if depth == 0 && !escaped => {
                arguments.push(String::new());
                continue;
            }
            '{' | '(' => depth += 1,
            '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if escaped && !matches!(next, ',' | '\\' | '$') {
            arguments.last_mut().into_iter().for_each(|argument| argument.push('\\'));
        }
        escaped = false;
        arguments.last_mut().into_iter().for_each(|argument| argument.push(next));
    }
    arguments
}

/// Returns a date's format in the notation of `strftime`, from the notation of Java; `None` for words without a counterpart.
fn date_format(java: &str) -> Option<String> {
    match java {
        "" => return Some("%s%3f".to_owned()),
        "/1000" => return Some("%s".to_owned()),
        _ => {}
    }
    let mut format = String::new();
    let mut rest = java;
    while let Some(next) = rest.chars().next() {
        if next == '\'' {
            let (quoted, after) = rest[1..].split_once('\'')?;
            format.push_str(&quoted.replace('%', "%%"));
            rest = after;
            continue;
        }
        let length = rest.chars().take_while(|c| *c == next).count() * next.len_utf8();
        let run = &rest[..length];
        match run {
            "yyyy" | "uuuu" => format.push_str("%Y"),
            "yy" => format.push_str("%y"),
            "MM" => format.push_str("%m"),
            "dd" => format.push_str("%d"),
            "HH" => format.push_str("%H"),
            "mm" => format.push_str("%M"),
            "ss" => format.push_str("%S"),
            "SSS" => format.push_str("%3f"),
            "X" | "XXX" | "Z" => format.push_str("+00:00"),
            other if !other.starts_with(|c: char| c.is_alphabetic()) => format.push_str(&other.replace('%', "%%")),
            _ => return None,
        }
        rest = &rest[length..];
    }
    Some(format)
}
