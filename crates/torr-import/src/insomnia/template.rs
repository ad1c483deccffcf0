//! Text with variables (`{{ _.name }}`) and tags (`{% uuid %}`), as Insomnia's template engine divides it.

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part<'t> {
    Text(&'t str),
    /// The path of a variable: names of members, and indices of lists.
    Name(Vec<String>),
    /// Any other expression, such as one with a filter.
    Expression(&'t str),
    /// A tag: its name and its arguments.
    Tag(&'t str, &'t str),
}

/// An argument of a tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Argument {
    Text(String),
    /// A variable, a number or any other expression.
    Other(String),
}

impl Argument {
    /// Returns the text of an argument, decoded where Insomnia has encoded it.
    pub(super) fn text(&self) -> String {
        use base64::Engine;
        let (Self::Text(text) | Self::Other(text)) = self;
        let inner = text.strip_prefix("b64::").and_then(|rest| rest.strip_suffix("::46b"));
        let decoded = inner.and_then(|inner| base64::engine::general_purpose::STANDARD.decode(inner).ok());
        decoded.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.clone())
    }
}

/// Whether text has something that the template engine replaces.
pub(super) fn is_template(text: &str) -> bool {
    [("{{", "}}"), ("{%", "%}"), ("{#", "#}")].iter().any(|(open, close)| text.contains(open) && text.contains(close))
}

/// Splits text at variables and tags. Comments are no part of it; what is never closed is text.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut rest, mut is_trimmed) = (text, false);
    while let Some((at, open)) = next_open(rest) {
        let Some(end) = close(&rest[at + 2..], open) else { break };
        let inner = &rest[at + 2..at + 2 + end];
        let before = if is_trimmed { rest[..at].trim_start() } else { &rest[..at] };
        let before = if inner.starts_with('-') { before.trim_end() } else { before };
        add_text(&mut parts, before);
        is_trimmed = inner.ends_with('-');
        rest = &rest[at + 2 + end + 2..];
        let inner = inner.trim_matches('-').trim();
        match open {
            '{' => parts.push(path(inner).map_or(Part::Expression(inner), Part::Name)),
            '%' => {
                let (name, arguments) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
                if name == "raw" || name == "verbatim" {
                    let ends = [format!("{{% end{name} %}}"), format!("{{%end{name}%}}")];
                    if let Some((end, length)) = ends.iter().find_map(|end| Some((rest.find(end)?, end.len()))) {
                        add_text(&mut parts, &rest[..end]);
                        rest = &rest[end + length..];
                        continue;
                    }
                }
                parts.push(Part::Tag(name, arguments.trim()));
            }
            _ => {}
        }
    }
    add_text(&mut parts, if is_trimmed { rest.trim_start() } else { rest });
    parts
}

fn add_text<'t>(parts: &mut Vec<Part<'t>>, text: &'t str) {
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
}

/// Returns the place of the next `{{`, `{%` or `{#`, and its second character.
fn next_open(text: &str) -> Option<(usize, char)> {
    let bytes = text.as_bytes();
    let is_open = |at: &usize| bytes[*at] == b'{' && matches!(bytes.get(at + 1), Some(b'{' | b'%' | b'#'));
    (0..bytes.len()).find(is_open).map(|at| (at, char::from(bytes[at + 1])))
}

/// Returns the length of what stands up to the end of a variable, a tag or a comment; its strings left out.
fn close(text: &str, open: char) -> Option<usize> {
    if open == '#' {
        return text.find("#}");
    }
    let end = if open == '{' { b'}' } else { b'%' };
    let bytes = text.as_bytes();
    let (mut quote, mut at) = (None, 0);
    while at < bytes.len() {
        match (quote, bytes[at]) {
            (Some(_), b'\\') => at += 1,
            (Some(open), next) if next == open => quote = None,
            (None, next @ (b'"' | b'\'')) => quote = Some(next),
            (None, next) if next == end && bytes.get(at + 1) == Some(&b'}') => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Reads the path of a variable, such as `_.user.name`, `_['user-name']` or `list[0]`.
pub(super) fn path(text: &str) -> Option<Vec<String>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    if rest.starts_with("_.") || rest.starts_with("_[") {
        rest = &rest[1..];
    } else {
        let (name, behind) = identifier(rest)?;
        steps.push(name.to_owned());
        rest = behind;
    }
    while !rest.is_empty() {
        if let Some(behind) = rest.strip_prefix('.') {
            let (name, behind) = identifier(behind)?;
            steps.push(name.to_owned());
            rest = behind;
            continue;
        }
        let (inner, behind) = rest.strip_prefix('[')?.split_once(']')?;
        let inner = inner.trim();
        let within = |quote: char| inner.strip_prefix(quote)?.strip_suffix(quote);
        let name = within('\'').or_else(|| within('"')).filter(|name| !name.contains(['\'', '"', '\\']));
        let is_index = !inner.is_empty() && inner.len() < 9 && inner.bytes().all(|byte| byte.is_ascii_digit());
        steps.push(name.or(is_index.then_some(inner))?.to_owned());
        rest = behind;
    }
    (!steps.is_empty()).then_some(steps)
}

fn identifier(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$'))).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let is_name =
        name.starts_with(|c: char| !c.is_numeric()) && !matches!(name, "true" | "false" | "none" | "null" | "not");
    is_name.then_some((name, rest))
}

/// Reads the arguments of a tag.
pub(super) fn arguments(text: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut rest = text.trim_start_matches(|c: char| c == ',' || c.is_whitespace()).chars().peekable();
    while let Some(first) = rest.next() {
        let quote = Some(first).filter(|first| matches!(first, '\'' | '"'));
        let mut value = String::new();
        if quote.is_none() {
            value.push(first);
        }
        while let Some(next) = rest.next() {
            match next {
                '\\' => value.extend(rest.next()),
                next if quote == Some(next) || quote.is_none() && next == ',' => break,
                next => value.push(next),
            }
        }
        found.push(if quote.is_some() { Argument::Text(value) } else { Argument::Other(value.trim().to_owned()) });
        while rest.next_if(|next| *next == ',' || next.is_whitespace()).is_some() {}
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{Argument, arguments, parts, path};

    /// As Nunjucks and Insomnia's own reader of arguments divide text.
    #[test]
    fn text_is_divided_as_nunjucks_does() {
        for (text, expected) in [
            ("a{{ _.b }}c", r#"[Text("a"), Name(["b"]), Text("c")]"#),
            ("{{_.a.b}}{{ c }}", r#"[Name(["a", "b"]), Name(["c"])]"#),
            ("{{ _['a-b'][0] }}", r#"[Name(["a-b", "0"])]"#),
            ("{{ _.a | upper }}", r#"[Expression("_.a | upper")]"#),
            ("{\"a\":{\"b\":1}}", r#"[Text("{\"a\":{\"b\":1}}")]"#),
            ("a {{- b -}} c", r#"[Text("a"), Name(["b"]), Text("c")]"#),
            ("{% uuid 'v4' %}{# no #}x", r#"[Tag("uuid", "'v4'"), Text("x")]"#),
            ("{% now 'custom', '%}' %}", r#"[Tag("now", "'custom', '%}'")]"#),
            ("{% raw %}{{ a }}{% endraw %}b", r#"[Text("{{ a }}"), Text("b")]"#),
            ("{{ a", r#"[Text("{{ a")]"#),
            ("", "[]"),
        ] {
            assert_eq!(format!("{:?}", parts(text)), expected, "{text}");
        }
        assert_eq!(
            (path("a - b"), path("1a"), path("_.a["), path("_")),
            (None, None, None, Some(vec!["_".to_owned()]))
        );
    }

    #[test]
    fn arguments_are_texts_and_others() {
        let text = |text: &str| Argument::Text(text.to_owned());
        let other = |text: &str| Argument::Other(text.to_owned());
        for (arguments_of, expected) in [
            (
                "'body', 'req_1', 'b64::JC5pZA==::46b', 'never', 60",
                vec![text("body"), text("req_1"), text("b64::JC5pZA==::46b"), text("never"), other("60")],
            ),
            ("\"a\\\"b\",_.c , ''", vec![text("a\"b"), other("_.c"), text("")]),
            ("", vec![]),
        ] {
            assert_eq!(arguments(arguments_of), expected, "{arguments_of}");
        }
        assert_eq!(text("b64::JC5pZA==::46b").text(), "$.id");
    }
}
