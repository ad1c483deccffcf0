//! The patterns of a URL, of which curl makes several: `{a,b}`, `[1-10]`, `[a-z:2]`.

use crate::draft::ImportError;
use torr_gauge::redact;

/// The requests that the patterns of a command may make.
pub(super) const MOST_REQUESTS: usize = 1000;

/// Returns the texts that a pattern stands for.
///
/// # Errors
/// If a brace or a bracket is not closed, a range is none, or the pattern stands for too many texts.
pub(super) fn expand(pattern: &str) -> Result<Vec<String>, ImportError> {
    let wrong = |what: &str| {
        let shown = super::shell::shown(&redact::url(pattern));
        ImportError(format!("{what} in '{shown}': add -g (--globoff) if these braces or brackets belong to the URL"))
    };
    let mut texts = vec![String::new()];
    let mut rest = pattern;
    while let Some(next) = rest.chars().next() {
        let literal = match next {
            '{' => {
                let (choices, after) = choices(rest).ok_or_else(|| wrong("unclosed or empty {"))?;
                texts = combined(&texts, &choices).ok_or_else(|| wrong("more than 1000 URLs"))?;
                rest = after;
                continue;
            }
            '[' if rest.starts_with("[]") => "[]",
            '[' => match address(rest) {
                Some(address) => address,
                None => {
                    let (inner, after) = rest[1..].split_once(']').ok_or_else(|| wrong("unclosed ["))?;
                    let choices = range(inner).ok_or_else(|| wrong("invalid range"))?;
                    texts = combined(&texts, &choices).ok_or_else(|| wrong("more than 1000 URLs"))?;
                    rest = after;
                    continue;
                }
            },
            '}' | ']' => return Err(wrong(&format!("unmatched {next}"))),
            '\\' if rest[1..].starts_with(['{', '}', '[', ']']) => {
                texts.iter_mut().for_each(|text| text.push_str(&rest[1..2]));
                rest = &rest[2..];
                continue;
            }
            next => &rest[..next.len_utf8()],
        };
        texts.iter_mut().for_each(|text| text.push_str(literal));
        rest = &rest[literal.len()..];
    }
    Ok(texts)
}

fn combined(texts: &[String], choices: &[String]) -> Option<Vec<String>> {
    let count = texts.len().checked_mul(choices.len()).filter(|count| *count <= MOST_REQUESTS)?;
    let mut all = Vec::with_capacity(count);
    for text in texts {
        all.extend(choices.iter().map(|choice| format!("{text}{choice}")));
    }
    Some(all)
}

/// Returns the choices of `{a,b}`, and what follows.
fn choices(text: &str) -> Option<(Vec<String>, &str)> {
    let mut choices = vec![String::new()];
    let mut rest = text[1..].char_indices();
    while let Some((at, next)) = rest.next() {
        match next {
            '}' if at == 0 => return None,
            '}' => return Some((choices, &text[at + 2..])),
            '{' | '[' | ']' => return None,
            ',' => choices.push(String::new()),
            next => {
                let next = if next == '\\' { rest.next()?.1 } else { next };
                choices.last_mut()?.push(next);
            }
        }
    }
    None
}

/// Returns an address of IPv6 in brackets.
fn address(text: &str) -> Option<&str> {
    let end = text.find(']')?;
    let inner = text[1..end].split('%').next().unwrap_or_default();
    inner.parse::<std::net::Ipv6Addr>().ok().map(|_| &text[..=end])
}

/// Returns the texts of a range: `1-10`, `001-100`, `a-z`, each with a step behind a colon.
fn range(text: &str) -> Option<Vec<String>> {
    let (range, step) = text.split_once(':').map_or((text, None), |(range, step)| (range, Some(step)));
    let step: u64 = step.map_or(Some(1), |step| step.parse().ok()).filter(|step| *step > 0)?;
    let (from, to) = range.split_once('-')?;
    let within = |from: u64, to: u64| {
        let count = to.checked_sub(from)? / step;
        let count = usize::try_from(count).ok().filter(|count| *count < MOST_REQUESTS)?;
        Some((0..=count).map(move |at| from + at as u64 * step))
    };
    let letter = |text: &str| match text.as_bytes() {
        [letter] if letter.is_ascii_alphabetic() => Some(u64::from(*letter)),
        _ => None,
    };
    if let (Some(from), Some(to)) = (letter(from), letter(to)) {
        // The numbers are those of letters.
        return Some(within(from, to)?.filter_map(|at| Some(char::from(u8::try_from(at).ok()?).to_string())).collect());
    }
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    if !is_number(from) || !is_number(to) {
        return None;
    }
    let width = if from.starts_with('0') { from.len() } else { 0 };
    Some(within(from.parse().ok()?, to.parse().ok()?)?.map(|number| format!("{number:0width$}")).collect())
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn patterns_become_urls_and_mistakes_are_refused() {
        for (pattern, urls) in [
            ("a", &["a"][..]),
            ("{a,b}/[1-2]", &["a/1", "a/2", "b/1", "b/2"]),
            ("[08-10]", &["08", "09", "10"]),
            ("[a-e:2]", &["a", "c", "e"]),
            ("{,x}", &["", "x"]),
            ("\\[1\\]x[]=\\{", &["[1]x[]={"]),
            ("http://[::1]:80/", &["http://[::1]:80/"]),
            ("{a\\,b}", &["a,b"]),
        ] {
            assert_eq!(expand(pattern).expect(pattern), urls, "{pattern}");
        }
        for pattern in ["{a", "{}", "a}", "[1", "[5-1]", "[a]", "[1-99999]", "{a,{b}}", "[1-100][1-100]", "[1-2:0]"] {
            assert!(expand(pattern).is_err(), "{pattern}");
        }
    }
}
