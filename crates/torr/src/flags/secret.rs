//! Which values of a command's own arguments are secrets; those of settings are known by their rows.

use torr_gauge::redact;
use torr_load::find;

/// Returns whether an argument of any command is a secret or has one in it. One that is no setting may be a URL, or a command of a
/// server with URLs in it.
pub fn hides(id: &str, value: &str) -> bool {
    match find(id) {
        Some(setting) => setting.is_secret(value),
        None => redact::hides(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_any_argument() {
        for (value, expected) in
            [("http://u:s3cret@h/", true), ("http://h/?token=s3cret", true), ("plain", false), ("p99<50ms", false)]
        {
            assert_eq!(hides("argument", value), expected, "{value}");
        }
    }
}
