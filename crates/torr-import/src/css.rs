//! CSS selectors as XPath expressions: element names, `#id`, `.class`, attributes, positions, descendants and children.

/// Returns the expression that finds what a selector selects; `None` for a selector that is not one of the simple ones.
pub(crate) fn x_path(selector: &str) -> Option<String> {
    let alternatives: Option<Vec<String>> = split_at_commas(selector).into_iter().map(one).collect();
    Some(alternatives?.join(" | "))
}

/// Splits a selector at the commas that stand outside of brackets and quotes.
fn split_at_commas(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut quote) = (Vec::new(), 0, 0usize, None);
    for (at, next) in text.char_indices() {
        match (quote, next) {
            (Some(end), next) if end == next => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(next),
            (None, '[' | '(') => depth += 1,
            (None, ']' | ')') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

fn one(selector: &str) -> Option<String> {
    let mut rest = selector.trim();
    let mut path = String::new();
    let mut axis = "//";
    loop {
        let (step, after) = compound(rest)?;
        path.push_str(axis);
        path.push_str(&step);
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(path);
        }
        axis = match rest.strip_prefix('>') {
            Some(after) => {
                rest = after.trim_start();
                "/"
            }
            // Only white space lies between an element and its descendant.
            None if rest.len() < after.len() => "//",
            None => return None,
        };
    }
}

/// Reads the conditions on one element, and returns its step and the text behind.
fn compound(text: &str) -> Option<(String, &str)> {
    let (name, mut rest) = match text.strip_prefix('*') {
        Some(rest) => ("*", rest),
        None => word(text),
    };
    let mut conditions = Vec::new();
    loop {
        let (condition, after) = match rest.chars().next() {
            Some('#') => {
                let (id, after) = word(&rest[1..]);
                (format!("@id='{}'", some(id)?), after)
            }
            Some('.') => {
                let (class, after) = word(&rest[1..]);
                let class = some(class)?;
                (format!("contains(concat(' ', normalize-space(@class), ' '), ' {class} ')"), after)
            }
            Some('[') => attribute(&rest[1..])?,
            Some(':') => position(&rest[1..], name)?,
            _ => break,
        };
        conditions.push(condition);
        rest = after;
    }
    if name.is_empty() && conditions.is_empty() {
        return None;
    }
    let name = if name.is_empty() { "*".to_owned() } else { name.to_ascii_lowercase() };
    let conditions: String = conditions.iter().map(|condition| format!("[{condition}]")).collect();
    Some((name + &conditions, rest))
}

/// Splits text behind its first word.
fn word(text: &str) -> (&str, &str) {
    let is_part = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    text.split_at(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

fn some(word: &str) -> Option<&str> {
    Some(word).filter(|word| !word.is_empty())
}

/// Reads the condition in brackets, and returns its counterpart and the text behind.
fn attribute(text: &str) -> Option<(String, &str)> {
    let (name, rest) = word(text.trim_start());
    let name = some(name)?.to_ascii_lowercase();
    let rest = rest.trim_start();
    if let Some(after) = rest.strip_prefix(']') {
        return Some((format!("@{name}"), after));
    }
    let (sign, rest) = rest.split_once('=')?;
    let rest = rest.trim_start();
    let (value, rest) = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split_once(quote)?,
        _ => rest.split_at(rest.find(']')?),
    };
    let after = rest.trim_start().strip_prefix(']')?;
    let value = literal(value.trim())?;
    let condition = match sign.trim_end() {
        "" => format!("@{name}={value}"),
        "^" => format!("starts-with(@{name}, {value})"),
        "*" => format!("contains(@{name}, {value})"),
        "$" => {
            let from = format!("string-length(@{name}) - string-length({value}) + 1");
            format!("substring(@{name}, {from})={value}")
        }
        _ => return None,
    };
    Some((condition, after))
}

/// Reads a pseudo-class that tells a position, and returns its counterpart and the text behind.
fn position<'t>(text: &'t str, name: &str) -> Option<(String, &'t str)> {
    let (class, after) = word(text);
    let (argument, after) = match after.strip_prefix('(') {
        Some(inner) => inner.split_once(')').map(|(argument, after)| (argument.trim(), after))?,
        None => ("", after),
    };
    let number = argument.parse::<u32>().ok();
    let is_typed = !matches!(name, "" | "*");
    let condition = match (class, number) {
        ("first-child", None) => "not(preceding-sibling::*)".to_owned(),
        ("last-child", None) => "not(following-sibling::*)".to_owned(),
        ("nth-child", Some(number @ 1..)) => format!("count(preceding-sibling::*)={}", number - 1),
        // The programs count from 0 here.
        ("eq", Some(number)) => format!("count(preceding-sibling::*)={number}"),
        ("first-of-type", None) if is_typed => format!("not(preceding-sibling::{name})"),
        ("last-of-type", None) if is_typed => format!("not(following-sibling::{name})"),
        ("nth-of-type", Some(number @ 1..)) if is_typed => format!("count(preceding-sibling::{name})={}", number - 1),
        _ => return None,
    };
    Some((condition, after))
}

/// Returns a literal of XPath, which knows no escapes.
fn literal(text: &str) -> Option<String> {
    match (text.contains('\''), text.contains('"')) {
        (false, _) => Some(format!("'{text}'")),
        (true, false) => Some(format!("\"{text}\"")),
        (true, true) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::x_path;

    #[test]
    fn simple_selectors_have_a_counterpart() {
        for (selector, expected) in [
            ("input[name=csrf]", "//input[@name='csrf']"),
            ("INPUT[Name=\"a]b\"]", "//input[@name='a]b']"),
            ("#main", "//*[@id='main']"),
            ("div.a > a", "//div[contains(concat(' ', normalize-space(@class), ' '), ' a ')]/a"),
            ("form  input[type='hidden'][value]", "//form//input[@type='hidden'][@value]"),
            ("a[href^=/x], b[c*='d']", "//a[starts-with(@href, '/x')] | //b[contains(@c, 'd')]"),
            ("a[href$=x]", "//a[substring(@href, string-length(@href) - string-length('x') + 1)='x']"),
            ("a[title=\"it's\"]", "//a[@title=\"it's\"]"),
            ("li:nth-child(2)", "//li[count(preceding-sibling::*)=1]"),
            ("ul>li:first-child", "//ul/li[not(preceding-sibling::*)]"),
            ("td:nth-of-type(1)", "//td[count(preceding-sibling::td)=0]"),
            ("*", "//*"),
        ] {
            assert_eq!(x_path(selector).as_deref(), Some(expected), "{selector}");
            torr_xpath::Expression::compile(expected).expect("it is an expression");
        }
    }

    #[test]
    fn other_selectors_have_none() {
        let refused = [
            "",
            " ",
            ",",
            "a,",
            "a + b",
            "a ~ b",
            "a:contains(x)",
            "a:has(b)",
            "a[b",
            "a[=b]",
            "[a='\"' b]",
            "a:nth-child(2n)",
            ":first-of-type",
            "a:nth-child(0)",
            "a[x~=y]",
            "a > ",
            "> a",
            "a$",
            "a[b='c\"d'e']",
        ];
        for selector in refused {
            assert_eq!(x_path(selector), None, "{selector}");
        }
    }
}
