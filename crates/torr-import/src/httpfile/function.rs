//! The clients' own functions, such as `{{$uuid}}`.

use super::text;
use crate::draft::LeftOut;
use crate::pattern::pattern;
use crate::reason;
use crate::variables::{new_date, new_uuid, of_environment};
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::Piece;

/// The longest text that stands for random letters.
const LONGEST: usize = 1000;

static RANDOM: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^\$random\.(\w+)\s*(?:\(\s*(-?\d+)?\s*(?:,\s*-?\d+\s*)?\))?$"));

/// The letters of a date's format in dayjs, and what stands for them in `strftime`, the longest first.
const FORMATS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("YY", "%y"),
    ("MMMM", "%B"),
    ("MMM", "%b"),
    ("MM", "%m"),
    ("M", "%-m"),
    ("DD", "%d"),
    ("D", "%-d"),
    ("dddd", "%A"),
    ("ddd", "%a"),
    ("d", "%w"),
    ("HH", "%H"),
    ("H", "%-H"),
    ("hh", "%I"),
    ("h", "%-I"),
    ("mm", "%M"),
    ("m", "%-M"),
    ("SSS", "%3f"),
    ("ss", "%S"),
    ("s", "%-S"),
    ("ZZ", "%z"),
    ("Z", "%:z"),
    ("A", "%p"),
    ("a", "%P"),
    ("X", "%s"),
    ("x", "%s%3f"),
];

/// Returns what stands for a function; `None` for a variable's name.
pub(super) fn piece(name: &str, left_out: &mut Vec<LeftOut>) -> Option<Piece> {
    let constant = |text: &str, left_out: &mut Vec<LeftOut>| {
        left_out.push(LeftOut::new("function", name, reason::CONSTANT));
        Piece::Text(text.to_owned())
    };
    if let Some((format, rest)) = date(name) {
        if !rest.is_empty() {
            left_out.push(LeftOut::new("function", name, "no counterpart: the current time in UTC is sent"));
        }
        return Some(new_date(&format));
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    Some(match &words[..] {
        ["$uuid" | "$guid" | "$random.uuid"] => new_uuid(),
        ["$processEnv", name] if is_variable(name) => of_environment(name),
        ["$dotenv", name] if is_variable(name) => {
            left_out.push(LeftOut::new("file .env", *name, "read from the environment of the run instead"));
            of_environment(name)
        }
        ["$randomInt", from, _] if from.parse::<i64>().is_ok() => constant(from, left_out),
        [first, ..] if first.starts_with('$') => match first.strip_prefix("$env.").filter(|name| is_variable(name)) {
            Some(name) => of_environment(name),
            None => constant(&random(name).unwrap_or_else(|| "1".to_owned()), left_out),
        },
        [expression] if expression.strip_prefix("process.env.").is_some_and(is_variable) => {
            of_environment(&expression["process.env.".len()..])
        }
        ["Date.now()"] => new_date("%s%3f"),
        ["new", "Date().toISOString()"] => new_date("%Y-%m-%dT%H:%M:%S%.3fZ"),
        _ if !text::is_name(name) => constant("1", left_out),
        _ => return None,
    })
}

/// Returns the format of the current date that a function asks for, and what else the function says.
fn date(name: &str) -> Option<(String, &str)> {
    let (word, rest) = name.split_once(char::is_whitespace).unwrap_or((name, ""));
    let rest = rest.trim();
    match word {
        "$timestamp" => return Some(("%s".to_owned(), rest)),
        "$isoTimestamp" => return Some(("%Y-%m-%dT%H:%M:%S%.3fZ".to_owned(), rest)),
        "$datetime" | "$localDatetime" => {}
        _ => return None,
    }
    let (format, behind) = match rest.chars().next()? {
        quote @ ('"' | '\'') => {
            let (format, behind) = rest[1..].split_once(quote)?;
            let is_plain = |next: char| next.is_ascii_alphanumeric() || " :./,+_-[]()".contains(next);
            (format.chars().all(is_plain).then(|| translated(format))?, behind)
        }
        _ => {
            let (kind, behind) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            let format = match kind {
                "rfc1123" => "%a, %d %b %Y %H:%M:%S GMT",
                "iso8601" => "%Y-%m-%dT%H:%M:%S%.3fZ",
                _ => return None,
            };
            (format.to_owned(), behind)
        }
    };
    // The machine's own time zone is none of a file's.
    Some((format, if word == "$localDatetime" { word } else { behind.trim() }))
}

/// Returns a format of dayjs as one of `strftime`.
fn translated(format: &str) -> String {
    let (mut out, mut rest) = (String::new(), format);
    while let Some(next) = rest.chars().next() {
        if let Some((plain, behind)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            out.push_str(plain);
            rest = behind;
        } else if let Some((theirs, ours)) = FORMATS.iter().find(|(theirs, _)| rest.starts_with(theirs)) {
            out.push_str(ours);
            rest = &rest[theirs.len()..];
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

/// Returns a value that a random function could have.
fn random(name: &str) -> Option<String> {
    let found = RANDOM.captures(name)?;
    let number = found.get(2).and_then(|number| number.as_str().parse::<i64>().ok());
    let length = usize::try_from(number.unwrap_or(1)).unwrap_or(1).min(LONGEST);
    Some(match &found[1] {
        "integer" | "float" => number.unwrap_or(1).to_string(),
        "alphabetic" | "alphanumeric" => "a".repeat(length),
        "hexadecimal" => "A".repeat(length),
        "email" => "ann@example.org".to_owned(),
        _ => return None,
    })
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
}
