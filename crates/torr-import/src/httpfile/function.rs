//! The clients' own functions, such as `{{$uuid}}`.

use crate::draft::LeftOut;
use crate::parts::NOWHERE;
use crate::reason;
use crate::variables::{new_date, new_uuid};
use torr_session::hurl::ast::{Expression, Piece, Source};

/// Returns what stands for a function; `None` for a variable's name.
pub(super) fn piece(name: &str, left_out: &mut Vec<LeftOut>) -> Option<Piece> {
    let words: Vec<&str> = name.split_whitespace().collect();
    let constant = |text: &str, left_out: &mut Vec<LeftOut>| {
        left_out.push(LeftOut::new("function", name, reason::CONSTANT));
        Piece::Text(text.to_owned())
    };
    Some(match &words[..] {
        ["$uuid" | "$guid" | "$random.uuid"] => new_uuid(),
        ["$timestamp"] => new_date("%s"),
        ["$isoTimestamp"] | ["$datetime", "iso8601"] => new_date("%Y-%m-%dT%H:%M:%S%.3fZ"),
        ["$datetime", "rfc1123"] => new_date("%a, %d %b %Y %H:%M:%S GMT"),
        ["$processEnv", name] if is_name(name) => environment(name),
        ["$dotenv", name] if is_name(name) => {
            left_out.push(LeftOut::new("file .env", *name, "read from the environment of the run instead"));
            environment(name)
        }
        ["$randomInt", from, _] if from.parse::<i64>().is_ok() => constant(from, left_out),
        [first, ..] if first.starts_with('$') => match first.strip_prefix("$env.").filter(|name| is_name(name)) {
            Some(name) => environment(name),
            None => constant("1", left_out),
        },
        _ if name.contains(['(', '+', '[', '?', '`', '\'']) => constant("1", left_out),
        _ => return None,
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|next| next.is_ascii_alphanumeric() || next == '_')
}

fn environment(name: &str) -> Piece {
    Piece::Placeholder(Expression { source: Source::Environment(name.to_owned()), filters: Vec::new(), at: NOWHERE })
}
