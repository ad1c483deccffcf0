//! The parts of a URL, as far as placeholders allow: they may stand in its path and query.

/// Scheme, user, host with port, and path with query, where they are given.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct UrlParts<'u> {
    pub scheme: Option<&'u str>,
    pub userinfo: Option<&'u str>,
    pub authority: &'u str,
    pub path: &'u str,
}

/// Splits a URL without validating its parts.
pub(crate) fn split(url: &str) -> UrlParts<'_> {
    let ends = ['/', '?', '#'];
    let (scheme, rest) = match url.split_once("://") {
        Some((scheme, rest)) if !scheme.contains(ends) => (Some(scheme), rest),
        _ => (None, url),
    };
    let (authority, path) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
    let (userinfo, authority) = match authority.rsplit_once('@') {
        Some((userinfo, authority)) => (Some(userinfo), authority),
        None => (None, authority),
    };
    UrlParts { scheme, userinfo, authority, path: without_fragment(path) }
}

/// Returns the part of a path that is sent.
pub(crate) fn without_fragment(path: &str) -> &str {
    &path[..find_outside(path, |c| c == '#').unwrap_or(path.len())]
}

/// Returns the position of the first such character outside of placeholders.
pub(crate) fn find_outside(text: &str, is: impl Fn(char) -> bool) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = text[at..].chars().next() {
        let rest = &text[at..];
        if rest.starts_with("{{{{") {
            at += 4;
        } else if let Some(length) = rest.starts_with("{{").then(|| rest.find("}}")).flatten() {
            at += length + 2;
        } else if is(next) {
            return Some(at);
        } else {
            at += next.len_utf8();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_taken_apart() {
        for (url, scheme, userinfo, authority, path) in [
            ("http://h:1/p?q#f", Some("http"), None, "h:1", "/p?q"),
            ("h", None, None, "h", ""),
            ("h/?next=http://other", None, None, "h", "/?next=http://other"),
            ("http://u:p%40@h?q", Some("http"), Some("u:p%40"), "h", "?q"),
            ("http://h/@x", Some("http"), None, "h", "/@x"),
            ("http://h/{{a#b}}/{{rand 1 2}}#f", Some("http"), None, "h", "/{{a#b}}/{{rand 1 2}}"),
            ("http://h/{{{{#f", Some("http"), None, "h", "/{{{{"),
        ] {
            assert_eq!(split(url), UrlParts { scheme, userinfo, authority, path }, "{url}");
        }
    }
}
