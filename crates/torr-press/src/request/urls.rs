//! URLs: their parts, with placeholders in them, and lists of them.

use super::RequestError;
use crate::servers::target::Target;
use crate::servers::url_parts::find_outside;

/// A URL with its own weight, method and content.
#[derive(Debug, Clone)]
pub struct Url {
    /// The URL.
    pub target: Target,
    /// The share of requests, relative to the weights of the others; at least 1.
    pub weight: u32,
    /// The method of this URL; `None` is the method of the options.
    pub method: Option<String>,
    /// The body of this URL. `None` is the body of the options, or no body if `method` is given.
    pub body: Option<String>,
}

impl From<Target> for Url {
    fn from(target: Target) -> Self {
        Self { target, weight: 1, method: None, body: None }
    }
}

/// Reads a list of URLs: a line for each, as `[weight] [METHOD] URL-or-path [body]`. A path is one of `first`, or of the
/// list's first URL. Blank lines and lines that begin with `#` are ignored.
///
/// # Errors
/// [`RequestError::UrlList`] and [`RequestError::NoUrls`].
pub fn read_list(text: &str, first: Option<&Target>) -> Result<Vec<Url>, RequestError> {
    let mut urls: Vec<Url> = vec![];
    let is_url = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let lines = text.trim_start_matches('\u{feff}').lines().map(str::trim).enumerate();
    for (at, line) in lines.filter(|(_, line)| is_url(line)) {
        let first = first.or(urls.first().map(|url| &url.target));
        urls.push(read_line(line, first).map_err(|why| RequestError::UrlList { line: at + 1, why })?);
    }
    if urls.is_empty() { Err(RequestError::NoUrls) } else { Ok(urls) }
}

fn read_line(line: &str, first: Option<&Target>) -> Result<Url, String> {
    let (mut word, mut rest) = split_word(line);
    let mut weight = 1;
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit()) {
        weight = word.parse().ok().filter(|&w| w > 0).ok_or("a weight must be a whole number from 1 to 4294967295")?;
        (word, rest) = split_word(rest);
    }
    let mut method = None;
    if !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b"-_".contains(&b)) {
        method = Some(word.to_owned());
        (word, rest) = split_word(rest);
    }
    let target = match first {
        _ if word.is_empty() => return Err("missing URL".into()),
        None if word.starts_with('/') => {
            return Err(format!("'{word}' is only a path: the first line must have a URL"));
        }
        Some(first) if word.starts_with('/') => {
            let mut target = Target::parse(&first.whole(word)).map_err(|error| error.to_string())?;
            target.userinfo.clone_from(&first.userinfo);
            target
        }
        _ => Target::parse(word).map_err(|error| error.to_string())?,
    };
    Ok(Url { target, weight, method, body: (!rest.is_empty()).then(|| rest.to_owned()) })
}

/// Splits off the first word, in which a placeholder may hold spaces.
fn split_word(text: &str) -> (&str, &str) {
    let end = find_outside(text, char::is_whitespace).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_list() {
        let text = "\u{feff}# comment\n\nhttp://u@h:1/a\n 5  /b?x={{rand 1 9}}  \r\nPOST /c {\"a\": 1} \n\
                    3 M-SEARCH http://h:1/d\n/e#f a b\n";
        let urls = read_list(text, None).unwrap();
        let got: Vec<_> =
            urls.iter().map(|u| (u.weight, u.method.as_deref(), u.target.path.as_str(), u.body.as_deref())).collect();
        assert_eq!(
            got,
            [
                (1, None, "/a", None),
                (5, None, "/b?x={{rand 1 9}}", None),
                (1, Some("POST"), "/c", Some("{\"a\": 1}")),
                (3, Some("M-SEARCH"), "/d", None),
                (1, None, "/e", Some("a b")),
            ]
        );
        // A path belongs to the whole first URL, user included.
        assert_eq!(
            urls.iter().map(|u| u.target.userinfo.is_some()).collect::<Vec<_>>(),
            [true, true, true, false, true]
        );
        let first = Target::parse("http://other:2/x").unwrap();
        assert_eq!(read_list("/y", Some(&first)).unwrap()[0].target.url, "http://other:2/y");
    }

    #[test]
    fn mistakes_in_a_list_have_their_line() {
        for (text, why) in [
            ("# a\n/x\n", "line 2"),
            ("http://h/\n0 /x", "line 2"),
            ("http://h/\n99999999999 /x", "weight"),
            ("http://h/\n\nGET", "line 3"),
            ("7", "missing URL"),
            ("http://h/\nhttp://h:x/", "line 2"),
            ("", "empty"),
        ] {
            let error = read_list(text, None).unwrap_err().to_string();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }
}
