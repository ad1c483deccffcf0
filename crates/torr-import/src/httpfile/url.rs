//! The target of a request line.

use super::block::Block;
use super::made::Made;
use super::text;
use crate::pattern::pattern;
use crate::target::is_http;
use regex::Regex;
use std::sync::LazyLock;
use torr_session::hurl::ast::{OptionName, OptionValue, Piece, Template};

/// A version, and what stands behind it.
static VERSION: LazyLock<Regex> = LazyLock::new(|| pattern(r"\s+HTTP/(\d(?:\.\d)?)(?:\s+\(Prior Knowledge\))?(.*)$"));

/// Sets the URL, for a path with the host of its field. Returns `false` for what is no URL.
pub(super) fn add(made: &mut Made<'_>, block: &Block, target: &str) -> bool {
    let found = VERSION.captures(target);
    let version = found.as_ref().map(|found| found[1].to_owned());
    // Neither part is quoted, since it may have credentials.
    if found.as_ref().is_some_and(|found| !found[2].trim().is_empty()) {
        made.leave_out("target behind the version", "", "clients do not send it");
    }
    let target = target[..found.and_then(|found| found.get(0)).map_or(target.len(), |found| found.start())].trim();
    let (target, fragment) = without_fragment(target);
    if !fragment.is_empty() {
        made.leave_out("fragment of the URL", "", "clients do not send it");
    }
    let Some((url, is_clear)) = absolute(made, block, target) else { return false };
    let url = made.template(&url);
    if !is_possible(&url) {
        return false;
    }
    made.request.url = made.reader.secrets.url(url);
    // A variable for a password ends what is known of it.
    if !is_possible(&made.request.url) {
        return false;
    }
    match version.as_deref() {
        Some("2" | "2.0") if is_clear => made.leave_out("version", "HTTP/2", "clients use HTTP/1.1 without TLS"),
        Some("2" | "2.0") => made.option(OptionName::Http2, OptionValue::Boolean(true)),
        Some("1.0") => made.leave_out("version", "HTTP/1.0", "clients use HTTP/1.1"),
        Some("3" | "3.0") => made.leave_out("version", "HTTP/3", "clients do not use it"),
        _ => {}
    }
    true
}

/// Whether a URL can be one of HTTP, as far as no variable stands in it.
fn is_possible(url: &Template) -> bool {
    let text = match (url.literal(), url.0.first()) {
        (Some(text), _) => text.to_owned(),
        (None, Some(Piece::Text(front))) if !["http://", "https://"].contains(&front.as_str()) => format!("{front}1"),
        _ => return true,
    };
    is_http(&text)
}

/// Returns a URL with its scheme, and whether that is known to be without TLS.
fn absolute(made: &mut Made<'_>, block: &Block, target: &str) -> Option<(String, bool)> {
    if target.starts_with('/') {
        if let Some(host) = block.field("host").filter(|host| !host.is_empty()) {
            let is_tls = host.rsplit_once(':').is_some_and(|(_, port)| matches!(port, "443" | "8443"));
            let scheme = if is_tls { "https" } else { "http" };
            return Some((format!("{scheme}://{host}{target}"), !is_tls));
        }
        made.reader.variables.value("host")?;
        return absolute(made, block, &format!("{{{{host}}}}{target}"));
    }
    if let Some(name) = text::expressions(target).next().filter(|_| target.starts_with("{{")) {
        let behind = target.split_once("}}").map_or("", |(_, behind)| behind);
        let value = value_of(made, name);
        return Some(match value.as_deref() {
            // What is random is no scheme.
            _ if name.starts_with("$random") => (format!("http://{target}"), true),
            Some(value) if value.contains("://") => (target.to_owned(), value.starts_with("http://")),
            Some("http") if behind.starts_with("://") => (target.to_owned(), true),
            Some(value) if !value.is_empty() && !value.contains("{{") && !behind.starts_with("://") => {
                (format!("http://{target}"), true)
            }
            _ => (target.to_owned(), false),
        });
    }
    let begins = target.find("://").is_some_and(|at| !target[..at].contains(['/', '?', '#']));
    let url = if begins { target.to_owned() } else { format!("http://{target}") };
    let is_clear = url.starts_with("http://");
    Some((url, is_clear))
}

/// Returns a variable's value, and that of the variable with which it begins.
fn value_of(made: &Made<'_>, name: &str) -> Option<String> {
    let value = made.reader.variables.value(name)?;
    let inner = text::expressions(value).next().filter(|inner| value.starts_with("{{") && *inner != name);
    Some(match inner.and_then(|inner| Some((inner, made.reader.variables.value(inner)?))) {
        Some((inner, known)) => text::with_value(value, inner, known),
        None => value.to_owned(),
    })
}

/// Splits a target at its fragment; a `#` within an expression begins none.
fn without_fragment(target: &str) -> (&str, &str) {
    let mut depth = 0usize;
    for (at, next) in target.char_indices() {
        match next {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            '#' if depth == 0 => return target.split_at(at),
            _ => {}
        }
    }
    (target, "")
}
