//! Error messages: lower case, one line, no full stop at the end.

use super::files;
use super::lexer::{Piece, content, pieces};
use super::phrases::{is_of_program, production};

/// The calls and attributes whose first string literal is an error message, or a part of one.
const MAKERS: &[&str] = &[
    "#[error(",
    "AddressError(",
    "CliError::Failed(",
    "CliError::Unreachable(",
    "CliError::Usage(",
    "EvaluationError(",
    "FleetError::Agents(",
    "FleetError::NoResult(",
    "FleetError::Unreachable(",
    "FleetError::Usage(",
    "Halt::Agents(",
    "Halt::Command(",
    "ImportError(",
    "MessageError::Malformed(",
    "ServeError::Address(",
    "ServeError::HandedOver(",
    "ServeError::PidFile(",
    "ServeError::Settings(",
    "TlsError::File(",
    "TlsError::Protocol(",
    "io::Error::other(",
    "notice::inform(",
    "notice::warn(",
    "output::note(",
    "cursor.error(",
    "open.error(",
    "start.error(",
    "FailureSide::Client,",
    "FailureSide::Network,",
    "FailureSide::Server,",
    "Broken::protocol(",
    "Broken::size(",
    "Err(",
    "bad(",
    "wrong(",
];

/// Names that keep their capital at the start of a message.
const NAMES: &[&str] = &["Content", "HTTP", "JSON", "Postman", "Redis", "Torr", "Unix"];

/// The parts of the workspace that have the messages of other programs.
const OF_OTHERS: &str = "crates/torr-fronts/";

/// Returns whether a literal behind this code is an error message.
fn is_message(before: &str) -> bool {
    let mut before = before.trim_end();
    for wrapper in ["&", "format!(", "format_args!("] {
        before = before.strip_suffix(wrapper).unwrap_or(before).trim_end();
    }
    before = before.strip_suffix('&').unwrap_or(before).trim_end();
    MAKERS.iter().any(|maker| before.ends_with(maker))
}

/// Returns what is wrong with the form of a message.
fn mistake(message: &str) -> Option<&'static str> {
    let first = message.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let is_name = first.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit()) || NAMES.contains(&first);
    match () {
        () if first.starts_with(char::is_uppercase) && !is_name => Some("begins with a capital"),
        () if message.ends_with('.') && !message.ends_with("...") => Some("ends with a full stop"),
        () if message.contains("\\n") => Some("has several lines"),
        () if message.trim() != message && message.len() > 1 && message.ends_with(' ') => Some("ends with a space"),
        () => None,
    }
}

#[test]
fn error_messages_have_one_form() {
    let (mut count, mut mistakes) = (0, vec![]);
    let of_program = |path: &str| is_of_program(path) && !path.starts_with(OF_OTHERS);
    for (path, source) in files("rs").iter().filter(|(path, _)| of_program(path)) {
        for (line, piece) in pieces(production(source)) {
            let Piece::Literal(literal, before) = piece else { continue };
            let message = content(literal);
            if !is_message(before) || !message.contains(' ') {
                continue;
            }
            count += 1;
            mistakes.extend(mistake(&message).map(|what| format!("{path}:{line}: '{message}' {what}")));
        }
    }
    assert!(mistakes.is_empty(), "{}", mistakes.join("\n"));
    assert!(count > 500, "only {count} messages are found: the names of their makers have changed");
}
