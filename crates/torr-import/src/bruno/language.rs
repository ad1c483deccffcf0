//! The Bru language: a file is blocks, each a table of names and values, a text, or a list.

/// What stands in a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Inside {
    /// `name {` and lines of `name: value`.
    Table(Vec<Pair>),
    /// `name {` and text, indented by two spaces.
    Text(String),
    /// `name [` and names.
    List(Vec<String>),
}

/// A name and a value of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) name: String,
    pub(super) value: String,
    /// Whether no `~` stands before the name.
    pub(super) is_on: bool,
    /// What `@` lines above the pair say, such as `number`.
    pub(super) annotations: Vec<String>,
}

/// A block of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) name: String,
    pub(super) inside: Inside,
}

impl Block {
    /// Returns the pairs of a table; of everything else none.
    pub(super) fn pairs(&self) -> &[Pair] {
        if let Inside::Table(pairs) = &self.inside { pairs } else { &[] }
    }

    /// Returns the text of a block of text; of everything else the empty text.
    pub(super) fn text(&self) -> &str {
        if let Inside::Text(text) = &self.inside { text } else { "" }
    }
}

/// Names of blocks whose inside is text.
fn is_text(name: &str) -> bool {
    let is_table =
        matches!(name, "body:form-urlencoded" | "body:multipart-form" | "body:file" | "body:grpc" | "body:ws");
    let is_body = name == "body" || name.starts_with("body:");
    (is_body && !is_table) || name.starts_with("script:") || matches!(name, "tests" | "docs" | "example")
}

/// Reads a file. `indent` is the number of characters that a line of a value between `'''` begins with.
///
/// # Errors
/// The line that is no part of a block, or where a block is not closed.
pub(super) fn read(text: &str, indent: usize) -> Result<Vec<Block>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line)).collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim();
        // The colour of an environment is no block.
        if line.is_empty() || line.starts_with("color:") {
            at += 1;
            continue;
        }
        let opening = at + 1;
        let unclosed = || format!("the block of line {opening} is not closed");
        let (name, bracket, rest) = match line.find(['{', '[']) {
            Some(open) => (line[..open].trim_end(), &line[open..=open], line[open + 1..].trim()),
            None => return Err(format!("expected a block in line {opening}, found '{line}'")),
        };
        let is_name = !name.is_empty() && !name.contains(char::is_whitespace);
        if !is_name {
            return Err(format!("expected a block in line {opening}, found '{line}'"));
        }
        let closing = if bracket == "{" { '}' } else { ']' };
        at += 1;
        if !rest.is_empty() {
            // An empty block, or a list on one line.
            let inner = rest.strip_suffix(closing).ok_or_else(unclosed)?;
            let inside = if closing == ']' { list(inner) } else { table(&[inner], opening, indent, name)? };
            blocks.push(Block { name: name.to_owned(), inside });
            continue;
        }
        let ends = |line: &&str| if closing == ']' { line.trim().starts_with(']') } else { line.starts_with(closing) };
        let end = lines[at..].iter().position(ends).map(|length| at + length).ok_or_else(unclosed)?;
        let within = &lines[at..end];
        let inside = match closing {
            ']' => list(&within.join(",")),
            _ if is_text(name) => Inside::Text(outdented(within)),
            _ => table(within, at + 1, indent, name)?,
        };
        blocks.push(Block { name: name.to_owned(), inside });
        at = end + 1;
    }
    Ok(blocks)
}

fn list(text: &str) -> Inside {
    let is_item = |item: &&str| !item.is_empty() && !item.starts_with('@');
    Inside::List(text.split([',', '\n']).map(str::trim).filter(is_item).map(str::to_owned).collect())
}

/// Returns text without the two spaces before each line, and without empty lines before the first.
fn outdented(lines: &[&str]) -> String {
    let first = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let lines: Vec<&str> = lines[first..].iter().map(|line| line.strip_prefix("  ").unwrap_or(line)).collect();
    lines.join("\n")
}

/// Reads the lines of a table; `first` is the number of the first of them.
fn table(lines: &[&str], first: usize, indent: usize, block: &str) -> Result<Inside, String> {
    let (mut pairs, mut annotations) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < lines.len() {
        let line = lines[at].trim();
        at += 1;
        if line.is_empty() {
            continue;
        }
        if let Some(annotation) = annotation(line, lines, &mut at) {
            annotations.push(annotation);
            continue;
        }
        let split = split(line).filter(|(name, ..)| block == "assert" || name.is_quoted || !name.text.contains(' '));
        let (Name { text: name, .. }, value, is_on) =
            split.ok_or_else(|| format!("expected 'name: value' in line {}, found '{line}'", first + at - 1))?;
        let value = if value == "[" {
            // A list, such as the tags of a request.
            let items = lines[at..].iter().take_while(|line| !line.trim().starts_with(']')).count();
            let items = &lines[at..at + items];
            at += items.len() + 1;
            items.iter().map(|item| item.trim()).collect::<Vec<_>>().join(",")
        } else if let Some(first) = value.strip_prefix("'''") {
            multiline(first, lines, &mut at, indent)
        } else {
            value.to_owned()
        };
        pairs.push(Pair { name, value, is_on, annotations: std::mem::take(&mut annotations) });
    }
    Ok(Inside::Table(pairs))
}

/// Returns the name of an annotation, whose argument may have several lines; `None` for a line that is none.
fn annotation(line: &str, lines: &[&str], at: &mut usize) -> Option<String> {
    let rest = line.strip_prefix('@')?;
    let name: String = rest.chars().take_while(|c| !matches!(c, '(' | ')' | ' ' | '\t' | ':')).collect();
    let behind = &rest[name.len()..];
    if behind.trim_start().starts_with(':') {
        return None;
    }
    if behind.starts_with("('''") && !behind[4..].contains("'''") {
        let end = lines[*at..].iter().position(|line| line.contains("'''")).map_or(lines.len(), |end| *at + end + 1);
        *at = end;
    } else if !behind.is_empty() && !behind.ends_with(')') {
        return None;
    }
    Some(name)
}

/// A name of a table.
struct Name {
    text: String,
    /// Whether it stood in quotes, so that it may have any characters.
    is_quoted: bool,
}

/// Splits a line into its name, its value, and whether it is on; `None` for a line without a colon.
fn split(line: &str) -> Option<(Name, &str, bool)> {
    let (line, is_on) = line.strip_prefix('~').map_or((line, true), |line| (line, false));
    if let Some(quoted) = line.strip_prefix('"') {
        let mut name = String::new();
        let mut chars = quoted.char_indices().peekable();
        while let Some((at, next)) = chars.next() {
            match (next, chars.peek()) {
                ('\\', Some((_, '"'))) => {
                    name.push('"');
                    chars.next();
                }
                ('"', _) => {
                    if let Some(value) = quoted[at + 1..].trim_start().strip_prefix(':') {
                        return Some((Name { text: name, is_quoted: true }, value.trim(), is_on));
                    }
                    break;
                }
                _ => name.push(next),
            }
        }
    }
    let (name, value) = line.split_once(':')?;
    Some((Name { text: name.trim().to_owned(), is_quoted: false }, value.trim(), is_on))
}

/// Returns a value between `'''`, without the space before its lines, and with what stands behind it on its last line.
fn multiline(first: &str, lines: &[&str], at: &mut usize, indent: usize) -> String {
    let mut within = vec![first.to_owned()];
    let mut behind = "";
    if let Some((inside, rest)) = first.split_once("'''") {
        within = vec![inside.to_owned()];
        behind = rest;
    } else {
        while *at < lines.len() {
            let line = lines[*at];
            *at += 1;
            let (inside, rest) = line.split_once("'''").map_or((line, None), |(inside, rest)| (inside, Some(rest)));
            within.push(inside.chars().skip(indent).collect());
            if let Some(rest) = rest {
                behind = rest;
                break;
            }
        }
    }
    let value = within.join("\n");
    let behind = behind.trim();
    let value = value.trim();
    if behind.is_empty() { value.to_owned() } else { format!("{value} {behind}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_texts_and_lists() {
        let text = "meta {\r\n  name: A: b\r\n  tags: [\r\n    x\r\n  ]\r\n}\n\nget {\n  url: http://a\n}\nheaders {\n  ~X-Off: 1\n  \"a: \\\"b\\\"\": c\n  @number\n  n: '''\n    one\n      two\n  ''' @contentType(text/plain)\n}\nbody:json {\n\n  {\n    \"a\": 1\n  }\n}\nvars:secret [\n  a,\n  ~b\n]\nempty {}\n";
        let blocks = read(text, 4).expect("it is Bru");
        let names: Vec<_> = blocks.iter().map(|block| block.name.as_str()).collect();
        assert_eq!(names, ["meta", "get", "headers", "body:json", "vars:secret", "empty"]);
        let pair = |block: usize, at: usize| {
            let pair = &blocks[block].pairs()[at];
            (pair.name.clone(), pair.value.clone(), pair.is_on)
        };
        assert_eq!(pair(0, 0), ("name".into(), "A: b".into(), true));
        assert_eq!(pair(0, 1), ("tags".into(), "x".into(), true));
        assert_eq!(pair(2, 0), ("X-Off".into(), "1".into(), false));
        assert_eq!(pair(2, 1), ("a: \"b\"".into(), "c".into(), true));
        assert_eq!(pair(2, 2), ("n".into(), "one\n  two @contentType(text/plain)".into(), true));
        assert_eq!(blocks[2].pairs()[2].annotations, ["number"]);
        assert_eq!(blocks[3].text(), "{\n  \"a\": 1\n}");
        assert_eq!(blocks[4].inside, Inside::List(vec!["a".into(), "~b".into()]));
        for (text, reason) in [
            ("meta {\n", "line 1"),
            ("what\n", "'what'"),
            ("a b {\n}\n", "'a b {'"),
            ("meta {\n  a b: c\n}\n", "line 2"),
        ] {
            let error = read(text, 4).expect_err("it is no Bru");
            assert!(error.contains(reason), "{error}");
        }
    }
}
