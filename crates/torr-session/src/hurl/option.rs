//! The options of an entry.

use super::ParseError;
use super::ast::{EntryOption, KeyValue, OptionName, OptionValue, Template, Value};
use super::cursor::Cursor;
use super::error::Position;
use super::literal::{boolean, number};
use super::template::{key, line, placeholder, quoted, variable_name};

/// A kind of value that an option takes.
#[derive(Clone, Copy)]
enum Takes {
    Boolean,
    /// A number from 0.
    Count,
    /// A number from 0, or -1 for no end.
    CountOrEndless,
    /// A number with `ms`, `s`, `m` or `h`; milliseconds without a unit.
    Milliseconds,
    /// A number of seconds, or one with a unit.
    Seconds,
    Text,
    Definition,
}

const OPTIONS: &[(&str, OptionName, Takes)] = &[
    ("aws-sigv4", OptionName::AwsSigV4, Takes::Text),
    ("cacert", OptionName::CaCertificate, Takes::Text),
    ("cert", OptionName::ClientCertificate, Takes::Text),
    ("compressed", OptionName::Compressed, Takes::Boolean),
    ("connect-timeout", OptionName::ConnectTimeout, Takes::Seconds),
    ("connect-to", OptionName::ConnectTo, Takes::Text),
    ("delay", OptionName::Delay, Takes::Milliseconds),
    ("digest", OptionName::Digest, Takes::Boolean),
    ("fail-with-body", OptionName::FailWithBody, Takes::Boolean),
    ("header", OptionName::Header, Takes::Text),
    ("http1.0", OptionName::Http10, Takes::Boolean),
    ("http1.1", OptionName::Http11, Takes::Boolean),
    ("http2", OptionName::Http2, Takes::Boolean),
    ("http2-prior-knowledge", OptionName::Http2PriorKnowledge, Takes::Boolean),
    ("http3", OptionName::Http3, Takes::Boolean),
    ("insecure", OptionName::Insecure, Takes::Boolean),
    ("ipv4", OptionName::Ipv4, Takes::Boolean),
    ("ipv6", OptionName::Ipv6, Takes::Boolean),
    ("key", OptionName::ClientKey, Takes::Text),
    ("limit-rate", OptionName::LimitRate, Takes::Count),
    ("location", OptionName::Location, Takes::Boolean),
    ("location-trusted", OptionName::LocationTrusted, Takes::Boolean),
    ("max-redirs", OptionName::MaxRedirects, Takes::CountOrEndless),
    ("max-time", OptionName::MaxTime, Takes::Seconds),
    ("negotiate", OptionName::Negotiate, Takes::Boolean),
    ("netrc", OptionName::Netrc, Takes::Boolean),
    ("netrc-file", OptionName::NetrcFile, Takes::Text),
    ("netrc-optional", OptionName::NetrcOptional, Takes::Boolean),
    ("no-cookie-store", OptionName::NoCookieStore, Takes::Boolean),
    ("no-header", OptionName::NoHeader, Takes::Text),
    ("no-jsonpath-coercion", OptionName::NoJsonPathCoercion, Takes::Boolean),
    ("ntlm", OptionName::Ntlm, Takes::Boolean),
    ("output", OptionName::Output, Takes::Text),
    ("path-as-is", OptionName::PathAsIs, Takes::Boolean),
    ("pinnedpubkey", OptionName::PinnedPublicKey, Takes::Text),
    ("proxy", OptionName::Proxy, Takes::Text),
    ("repeat", OptionName::Repeat, Takes::CountOrEndless),
    ("resolve", OptionName::Resolve, Takes::Text),
    ("retry", OptionName::Retry, Takes::CountOrEndless),
    ("retry-interval", OptionName::RetryInterval, Takes::Milliseconds),
    ("skip", OptionName::Skip, Takes::Boolean),
    ("tls-max", OptionName::TlsMax, Takes::Text),
    ("tls-min", OptionName::TlsMin, Takes::Text),
    ("unix-socket", OptionName::UnixSocket, Takes::Text),
    ("user", OptionName::User, Takes::Text),
    ("variable", OptionName::Variable, Takes::Definition),
    ("verbose", OptionName::Verbose, Takes::Boolean),
    ("verbosity", OptionName::Verbosity, Takes::Text),
    ("very-verbose", OptionName::VeryVerbose, Takes::Boolean),
];

/// Returns an option's name as files spell it.
pub fn option_name(name: OptionName) -> &'static str {
    OPTIONS.iter().find(|(_, known, _)| *known == name).map_or("", |(spelling, ..)| spelling)
}

/// Reads an option, from its name to the end of its value.
pub(super) fn option(cursor: &mut Cursor<'_>) -> Result<EntryOption, ParseError> {
    let (start, at) = (cursor.clone(), cursor.position());
    let name = cursor.eat_while(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    let Some((_, name, takes)) = OPTIONS.iter().find(|(known, ..)| *known == name) else {
        return Err(unknown(name, &start));
    };
    colon(cursor)?;
    Ok(EntryOption { name: *name, value: value(cursor, *takes)?, at })
}

/// Reads a name, a colon and the rest of the line.
pub(super) fn key_value(cursor: &mut Cursor<'_>) -> Result<KeyValue, ParseError> {
    let at: Position = cursor.position();
    let name = key(cursor)?;
    colon(cursor)?;
    let value: Template = line(cursor)?;
    Ok(KeyValue { name, value, at })
}

/// Reads the colon after a name, with the spaces around it.
pub(super) fn colon(cursor: &mut Cursor<'_>) -> Result<(), ParseError> {
    cursor.spaces();
    if !cursor.eat(":") {
        return Err(cursor.error("expected ':'"));
    }
    cursor.spaces();
    Ok(())
}

fn unknown(name: &str, start: &Cursor<'_>) -> ParseError {
    let near = OPTIONS.iter().map(|(known, ..)| (strsim::jaro_winkler(known, name), known));
    let near = near.filter(|(likeness, _)| *likeness > 0.85).max_by(|a, b| a.0.total_cmp(&b.0));
    let hint = near.map_or(String::new(), |(_, known)| format!(": did you mean '{known}'?"));
    start.error(format!("unknown option '{name}'{hint}"))
}

fn value(cursor: &mut Cursor<'_>, takes: Takes) -> Result<OptionValue, ParseError> {
    if cursor.starts_with("{{") && !matches!(takes, Takes::Text | Takes::Definition) {
        return Ok(OptionValue::Placeholder(placeholder(cursor)?));
    }
    let start = cursor.clone();
    Ok(match takes {
        Takes::Boolean => OptionValue::Boolean(boolean(cursor).ok_or_else(|| start.error("expected true or false"))?),
        Takes::Count => OptionValue::Count(Some(count(cursor)?)),
        Takes::CountOrEndless if cursor.eat_word("-1") => OptionValue::Count(None),
        Takes::CountOrEndless => OptionValue::Count(Some(count(cursor)?)),
        Takes::Milliseconds => OptionValue::Milliseconds(duration(cursor, 1)?),
        Takes::Seconds => OptionValue::Milliseconds(duration(cursor, 1000)?),
        Takes::Text => OptionValue::Text(line(cursor)?),
        Takes::Definition => {
            let name = variable_name(cursor)?;
            cursor.spaces();
            if !cursor.eat("=") {
                return Err(cursor.error("expected NAME=VALUE"));
            }
            cursor.spaces();
            OptionValue::Definition { name, value: definition(cursor)? }
        }
    })
}

fn count(cursor: &mut Cursor<'_>) -> Result<u64, ParseError> {
    let start = cursor.clone();
    let digits = cursor.eat_while(|c| c.is_ascii_digit());
    digits.parse().map_err(|_| start.error("expected a whole number"))
}

/// Reads a time in milliseconds; a number without a unit counts in `unit` milliseconds.
fn duration(cursor: &mut Cursor<'_>, unit: u64) -> Result<u64, ParseError> {
    let start = cursor.clone();
    let count = count(cursor)?;
    let unit = match cursor.eat_while(|c| c.is_ascii_alphabetic()) {
        "" => unit,
        "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        "h" => 3_600_000,
        other => return Err(start.error(format!("unknown unit of time '{other}': use ms, s, m or h"))),
    };
    count.checked_mul(unit).ok_or_else(|| start.error("the time is too long"))
}

/// Reads the value of a variable: what looks like a value is one, everything else is text.
fn definition(cursor: &mut Cursor<'_>) -> Result<Value, ParseError> {
    let mut ahead = cursor.clone();
    let typed = if ahead.eat_word("null") {
        Some(Value::Null)
    } else if let Some(boolean) = boolean(&mut ahead) {
        Some(Value::Boolean(boolean))
    } else if ahead.starts_with("\"") {
        Some(Value::Text(quoted(&mut ahead)?))
    } else {
        number(&mut ahead).ok().map(Value::Number)
    };
    match typed.filter(|_| ahead.clone().end_of_line().is_ok()) {
        Some(typed) => {
            *cursor = ahead;
            Ok(typed)
        }
        None => line(cursor).map(Value::Text),
    }
}
