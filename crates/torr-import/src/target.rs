//! The target of a request, as a client of HTTP sends it.

use crate::draft::LeftOut;
use crate::parts::filled;
use torr_session::hurl::ast::{Piece, Template};
use url::Url;

/// Says that a target goes out in another spelling than the source's client sends: a URL of a hurl file is parsed as
/// the URL Standard has it, which percent-encodes braces and other characters that some clients send as they are. What
/// is said quotes the URL, so its credentials must be variables already.
pub(crate) fn respelled(url: &Template) -> Option<LeftOut> {
    let text = filled(url);
    let text = match url.0.first() {
        Some(Piece::Placeholder(_)) if text.starts_with("x://") => format!("http{}", &text[1..]),
        Some(Piece::Placeholder(_)) => format!("http://{text}"),
        _ => text,
    };
    let parsed = Url::parse(&text).ok()?;
    let sent = &parsed[url::Position::BeforePath..url::Position::AfterQuery];
    let rest = text.split_once("://").map_or(text.as_str(), |(_, rest)| rest);
    let own = rest.find(['/', '?', '#']).map_or("/", |start| &rest[start..]);
    let own = own.split('#').next().unwrap_or_default();
    let changed: String = own.chars().filter(|next| is_respelled(*next, own, sent)).collect();
    if changed.is_empty() {
        return None;
    }
    let mut seen: Vec<char> = Vec::new();
    changed.chars().for_each(|next| {
        if !seen.contains(&next) {
            seen.push(next)
        }
    });
    let which: String = seen.into_iter().collect();
    let reason = format!("the target is sent as {sent}");
    Some(LeftOut::new("characters of the URL", which, reason))
}

/// Whether a character of a target is sent in another way. Every client encodes what is no ASCII, and spaces.
fn is_respelled(next: char, own: &str, sent: &str) -> bool {
    let count = |text: &str| text.chars().filter(|other| *other == next).count();
    next.is_ascii_graphic() && !matches!(next, '.' | '/' | '%') && count(sent) < count(own) && !next.is_alphanumeric()
}

/// Whether text is a URL of HTTP with a host.
pub(crate) fn is_http(text: &str) -> bool {
    Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
}
