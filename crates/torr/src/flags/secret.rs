//! Which values of a command's own arguments are secrets; those of settings are known by their rows.

use torr_gauge::redact;
use torr_load::find;

/// Arguments of commands that are or have URLs, or are commands of a server with URLs in them.
const WITH_URLS: [&str; 9] = ["a", "b", "database", "databases", "served_at", "tls", "url", "versions", "via"];

/// Returns whether an argument of any command is a secret or has one in it.
pub fn hides(id: &str, value: &str) -> bool {
    let is_hidden = || redact::url(value) != value || redact::line(value) != redact::printable(value.trim_end());
    find(id).is_some_and(|setting| setting.is_secret(value)) || (WITH_URLS.contains(&id) && is_hidden())
}
