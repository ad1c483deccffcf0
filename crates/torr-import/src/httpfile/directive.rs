//! Comments that say how a request is sent, such as `# @no-redirect`.

use super::block::Block;
use super::made::Made;
use torr_session::hurl::ast::{OptionName, OptionValue};

/// The longest pause, in milliseconds: an hour, as much as a hurl file's own.
const LONGEST: u64 = 3_600_000;

/// Comments that do not concern what is sent, and those that are read elsewhere.
const WITHOUT_EFFECT: &[&str] = &[
    "debug",
    "description",
    "extension",
    "force-region-delimiter",
    "force-ref",
    "import",
    "inject-variables",
    "keep-streaming",
    "language",
    "loop",
    "name",
    "no-client-cert",
    "no-cookie-jar",
    "no-gql-parsing",
    "no-log",
    "no-proxy",
    "no-redirect",
    "no-reject-unauthorized",
    "no-response-view",
    "no-streaming-log",
    "note",
    "open-with",
    "response-ref",
    "save",
    "tag",
    "title",
    "verbose",
];

/// Adds the options of a request's comments.
pub(super) fn add(made: &mut Made<'_>, block: &Block) {
    for (name, value) in &block.directives {
        let milliseconds = |made: &mut Made<'_>, name: OptionName, of: u64| {
            made.option(name, OptionValue::Milliseconds(of));
        };
        match (name.as_str(), duration(value)) {
            ("no-cookie-jar", _) => made.option(OptionName::NoCookieStore, OptionValue::Boolean(true)),
            ("no-reject-unauthorized", _) => made.option(OptionName::Insecure, OptionValue::Boolean(true)),
            (known, _) if WITHOUT_EFFECT.contains(&known) => {}
            // Entries run in order, so that what a request refers to has run.
            ("ref", _) if made.named.contains_key(value) => {}
            ("ref", _) => made.leave_out("@ref", value, "no request before it has this name"),
            ("sleep", Some((pause, _))) if pause <= LONGEST => milliseconds(made, OptionName::Delay, pause),
            ("timeout", Some((limit, true))) => milliseconds(made, OptionName::MaxTime, limit),
            ("timeout", Some((_, false))) => {
                made.leave_out(
                    "@timeout",
                    value,
                    "seconds in JetBrains, milliseconds in httpyac: set the option max-time",
                );
            }
            ("connection-timeout", Some((limit, true))) => milliseconds(made, OptionName::ConnectTimeout, limit),
            ("connection-timeout", Some((limit, false))) => {
                milliseconds(made, OptionName::ConnectTimeout, limit.saturating_mul(1000));
            }
            _ => made.leave_out(&format!("@{name}"), value, "no counterpart"),
        }
    }
    if block.directive("no-redirect").is_none() {
        made.option(OptionName::Location, OptionValue::Boolean(true));
    }
}

/// Returns a time in milliseconds, and whether it has a unit.
fn duration(text: &str) -> Option<(u64, bool)> {
    let text = text.trim();
    let digits = text.find(|next: char| !next.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    let factor = match text[digits..].trim() {
        "" | "ms" => 1,
        "s" => 1000,
        "m" => 60_000,
        _ => return None,
    };
    Some((number.saturating_mul(factor), digits < text.len()))
}
