//! From the path of a URL to a path below a folder.

use percent_encoding::percent_decode;
use std::borrow::Cow;

/// The one name with a dot in front that is meant to be seen (RFC 8615).
const WELL_KNOWN: &[u8] = b".well-known";

/// Returns the path of a file or, with a slash at its end or empty, of a folder, relative and without empty segments. `None` if the path
/// leads out of the folder or has an encoded slash, a NUL, or a name with a dot in front that is not shown.
pub(super) fn below(path: &str, shows_hidden: bool) -> Option<Cow<'_, [u8]>> {
    let bytes = path.as_bytes();
    let is_plain = !bytes.contains(&b'%') && !bytes.contains(&0);
    let is_whole = !path.starts_with('/') && !path.contains("//");
    if is_plain && is_whole {
        let sound = bytes.split(|byte| *byte == b'/').all(|name| is_shown(name, shows_hidden));
        return sound.then_some(Cow::Borrowed(bytes));
    }
    let mut whole = Vec::with_capacity(bytes.len());
    let mut segments = path.split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        if segment.is_empty() {
            continue;
        }
        let name: Cow<'_, [u8]> = percent_decode(segment.as_bytes()).into();
        // What is not encoded properly would be decoded to itself: no name of a file that is meant.
        if name.contains(&b'/') || name.contains(&0) || !is_shown(&name, shows_hidden) {
            return None;
        }
        whole.extend_from_slice(&name);
        if !is_last {
            whole.push(b'/');
        }
    }
    Some(Cow::Owned(whole))
}

fn is_shown(name: &[u8], shows_hidden: bool) -> bool {
    match name {
        b"." | b".." => false,
        [b'.', ..] => shows_hidden || name == WELL_KNOWN,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::below;

    #[track_caller]
    fn leads_to(path: &str, expected: Option<&str>) {
        let found = below(path, false);
        assert_eq!(found.as_deref().map(String::from_utf8_lossy).as_deref(), expected, "{path}");
    }

    #[test]
    fn paths_are_decoded_and_stay_below() {
        for plain in ["", "a", "a/b.css", "a/", ".well-known/acme-challenge/x", "a..b/c.", "..."] {
            let expected = if plain == "..." { None } else { Some(plain) };
            leads_to(plain, expected);
        }
        leads_to("a%20b/%C3%A4", Some("a b/ä"));
        leads_to("a//b///", Some("a/b/"));
        leads_to("/a", Some("a"));
        leads_to("100%", Some("100%"));
        for bad in
            ["..", "../a", "a/../b", "a/%2e%2E/b", "%2e", ".git/config", "a/.env", "a%2fb", "a%00", "a\0", "%2egit"]
        {
            leads_to(bad, None);
        }
    }

    #[test]
    fn hidden_names_are_shown_where_they_are_to_be() {
        assert_eq!(below(".git/%2econfig", true).as_deref(), Some(&b".git/.config"[..]));
        assert_eq!(below("..", true), None);
    }
}
