//! Paths into JSON, as `json()` of a response takes them: only what the path leads to is read.

use std::borrow::Cow;

/// Returns the JSON that a path leads to; `None` if there is none, or the text is no JSON as far as it is read.
#[must_use]
pub fn get<'t>(json: &'t [u8], path: &str) -> Option<Cow<'t, [u8]>> {
    let json = trimmed(json);
    find(json, &parts(path))
}

/// A part of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    /// A key, or the position in an array. `*` and `?` stand for any letters in a key.
    Key(String),
    /// All items of an array, or their number where nothing follows.
    Each,
    /// The first item, or all items, that a condition holds of.
    Where { condition: String, all: bool },
}

/// Splits a path at its dots.
fn parts(path: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut letters = path.chars().peekable();
    let mut part = String::new();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => part.extend(letters.next()),
            '.' | '|' => parts.push(Part::Key(std::mem::take(&mut part))),
            '#' if part.is_empty() && letters.peek() == Some(&'(') => {
                letters.next();
                let condition = condition(&mut letters);
                let all = letters.next_if_eq(&'#').is_some();
                letters.next_if(|next| matches!(next, '.' | '|'));
                parts.push(Part::Where { condition, all });
                if letters.peek().is_none() {
                    return parts;
                }
            }
            '#' if part.is_empty() && letters.peek().is_none_or(|next| matches!(next, '.' | '|')) => {
                letters.next();
                parts.push(Part::Each);
                if letters.peek().is_none() {
                    return parts;
                }
            }
            _ => part.push(letter),
        }
    }
    parts.push(Part::Key(part));
    parts
}

/// Returns the text up to the parenthesis that closes a condition.
fn condition(letters: &mut impl Iterator<Item = char>) -> String {
    let (mut text, mut depth, mut quoted) = (String::new(), 0, false);
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if quoted => {
                text.push(letter);
                text.extend(letters.next());
                continue;
            }
            '"' => quoted = !quoted,
            '(' if !quoted => depth += 1,
            ')' if !quoted && depth == 0 => return text,
            ')' if !quoted => depth -= 1,
            _ => {}
        }
        text.push(letter);
    }
    text
}

fn find<'t>(json: &'t [u8], parts: &[Part]) -> Option<Cow<'t, [u8]>> {
    let Some((part, rest)) = parts.split_first() else { return Some(Cow::Borrowed(json)) };
    match part {
        Part::Key(key) => match json.first()? {
            b'{' => members(json).find(|(name, _)| matches(key, name)).and_then(|(_, value)| find(value, rest)),
            b'[' => {
                let position: usize = key.parse().ok()?;
                items(json).nth(position).and_then(|value| find(value, rest))
            }
            _ => None,
        },
        Part::Each if *json.first()? != b'[' => None,
        Part::Each if rest.is_empty() => Some(Cow::Owned(items(json).count().to_string().into_bytes())),
        Part::Each => Some(array(items(json).filter_map(|item| find(item, rest)))),
        Part::Where { .. } if *json.first()? != b'[' => None,
        Part::Where { condition, all: false } => {
            items(json).find(|item| holds(item, condition)).and_then(|item| find(item, rest))
        }
        Part::Where { condition, all: true } => {
            let found = items(json).filter(|item| holds(item, condition));
            Some(array(found.filter_map(|item| find(item, rest))))
        }
    }
}

fn array<'t>(items: impl Iterator<Item = Cow<'t, [u8]>>) -> Cow<'t, [u8]> {
    let mut text = b"[".to_vec();
    for item in items {
        if text.len() > 1 {
            text.push(b',');
        }
        text.extend_from_slice(&item);
    }
    text.push(b']');
    Cow::Owned(text)
}

/// Returns whether a condition such as `id==3` holds of a value.
fn holds(json: &[u8], condition: &str) -> bool {
    const OPERATORS: [&str; 9] = ["==", "!=", "<=", ">=", "!%", "<", ">", "%", "="];
    let at = OPERATORS.iter().filter_map(|operator| Some((condition.find(operator)?, *operator)));
    let Some((at, operator)) = at.min_by_key(|(at, operator)| (*at, std::cmp::Reverse(operator.len()))) else {
        return find(json, &parts(condition.trim())).is_some();
    };
    let (path, wanted) = (condition[..at].trim(), condition[at + operator.len()..].trim());
    let found = if path.is_empty() { Some(Cow::Borrowed(json)) } else { find(json, &parts(path)) };
    let Some(found) = found else { return false };
    let found = String::from_utf8_lossy(trimmed(&found)).into_owned();
    let text = |json: &str| match serde_json::from_str::<String>(json) {
        Ok(text) => text,
        Err(_) => json.to_owned(),
    };
    let order = match (found.parse::<f64>(), wanted.parse::<f64>()) {
        (Ok(found), Ok(wanted)) => found.partial_cmp(&wanted),
        // Values of different kinds are never equal.
        _ if found.starts_with('"') != wanted.starts_with('"') => None,
        _ => Some(text(&found).cmp(&text(wanted))),
    };
    use std::cmp::Ordering::{Equal, Greater, Less};
    match operator {
        "==" | "=" => order == Some(Equal),
        "!=" => order != Some(Equal),
        "<" => order == Some(Less),
        "<=" => matches!(order, Some(Less | Equal)),
        ">" => order == Some(Greater),
        ">=" => matches!(order, Some(Greater | Equal)),
        "%" => matches(&text(wanted), &text(&found)),
        _ => !matches(&text(wanted), &text(&found)),
    }
}

/// Returns whether a text matches a pattern, in which `*` stands for any letters and `?` for one.
fn matches(pattern: &str, text: &str) -> bool {
    if !pattern.contains(['*', '?']) {
        return pattern == text;
    }
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&letter) if letter == '?' || letter == text[t] => (p, t) = (p + 1, t + 1),
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    (p, t) = (at + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == '*')
}

/// Returns the members of an object, up to what is no JSON.
fn members(json: &[u8]) -> impl Iterator<Item = (Cow<'_, str>, &[u8])> {
    let mut rest = json.get(1..).unwrap_or_default();
    std::iter::from_fn(move || {
        rest = trimmed_start(rest);
        rest = trimmed_start(rest.strip_prefix(b",").unwrap_or(rest));
        let name = value(rest).filter(|name| name.starts_with(b"\""))?;
        rest = trimmed_start(&rest[name.len()..]).strip_prefix(b":")?;
        rest = trimmed_start(rest);
        let value = value(rest)?;
        rest = &rest[value.len()..];
        let plain = &name[1..name.len() - 1];
        let name = match memchr::memchr(b'\\', plain) {
            None => String::from_utf8_lossy(plain),
            Some(_) => Cow::Owned(serde_json::from_slice::<String>(name).ok()?),
        };
        Some((name, value))
    })
}

/// Returns the items of an array, up to what is no JSON.
fn items(json: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = json.get(1..).unwrap_or_default();
    std::iter::from_fn(move || {
        rest = trimmed_start(rest);
        rest = trimmed_start(rest.strip_prefix(b",").unwrap_or(rest));
        let value = value(rest)?;
        rest = &rest[value.len()..];
        Some(value)
    })
}

/// Returns the value that a text begins with.
fn value(text: &[u8]) -> Option<&[u8]> {
    match text.first()? {
        b'"' => string_end(text).map(|end| &text[..end]),
        b'{' | b'[' => {
            let (mut depth, mut at) = (0_usize, 0);
            while at < text.len() {
                match text[at] {
                    b'"' => {
                        at += string_end(&text[at..])?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(&text[..=at]);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
            None
        }
        b'-' | b'0'..=b'9' | b't' | b'f' | b'n' => {
            let is_end = |byte: &u8| matches!(byte, b',' | b']' | b'}') || byte.is_ascii_whitespace();
            Some(&text[..text.iter().position(is_end).unwrap_or(text.len())])
        }
        _ => None,
    }
}

/// Returns the length of the string that a text begins with.
fn string_end(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        at += memchr::memchr2(b'"', b'\\', text.get(at..)?)?;
        if text[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
}

fn trimmed_start(text: &[u8]) -> &[u8] {
    text.trim_ascii_start()
}

fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

#[cfg(test)]
mod tests {
    use super::get;

    #[test]
    fn paths_lead_to_what_they_name() {
        let json = br#" {"a": {"b": [1, "x", {"c.d": true}]}, "n\u0041me": null,
            "list": [{"id": 1, "name": "one"}, {"id": 3, "name": "th\"ree"}, {"id": 3, "name": "again"}], "e": []} "#;
        for (path, expected) in [
            ("a.b.0", Some("1")),
            ("a.b.1", Some("\"x\"")),
            ("a.b.#", Some("3")),
            ("a.b.2.c\\.d", Some("true")),
            ("nAme", Some("null")),
            ("list.#", Some("3")),
            ("list.#.name", Some(r#"["one","th\"ree","again"]"#)),
            ("list.#(id==3).name", Some(r#""th\"ree""#)),
            ("list.#(id==3)#.id", Some("[3,3]")),
            ("list.#(name==\"one\").id", Some("1")),
            ("list.#(id>1).id", Some("3")),
            ("list.#(name%\"a*\").name", Some("\"again\"")),
            ("li*.1.id", Some("3")),
            ("e.#", Some("0")),
            ("e.#.x", Some("[]")),
            ("a.b.7", None),
            ("a.z", None),
            ("list.#(id==9)", None),
            ("a.b.c", None),
        ] {
            let found = get(json, path).map(|found| String::from_utf8_lossy(&found).into_owned());
            assert_eq!(found.as_deref(), expected, "{path}");
        }
        for json in ["", "{", "{\"a", "{\"a\":", "[1", "x", "\"a\\"] {
            assert_eq!(get(json.as_bytes(), "a.b"), None, "{json}");
            assert_eq!(get(json.as_bytes(), "1"), None, "{json}");
        }
    }
}
