//! A lexer of Rust that finds comments, identifiers and string literals.

/// A comment, an identifier or a string literal of a source.
#[derive(Debug, PartialEq)]
pub enum Piece<'s> {
    /// A line comment or a block comment, with its delimiters.
    Comment(&'s str),
    Identifier(&'s str),
    /// A string literal with its prefix and quotation marks, and the source before it.
    Literal(&'s str, &'s str),
}

impl<'s> Piece<'s> {
    pub fn text(&self) -> &'s str {
        match self {
            Self::Comment(text) | Self::Identifier(text) | Self::Literal(text, _) => text,
        }
    }
}

/// Returns the content of a string literal on one line: without its quotation marks and continuations of lines.
pub fn content(literal: &str) -> String {
    let inner = literal.trim_start_matches(['b', 'c', 'r', '#']).trim_end_matches('#');
    let inner = inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(inner);
    let mut lines = inner.split("\\\n");
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + line.trim_start())
}

/// Returns the comments, identifiers and string literals of a source with the numbers of their lines.
pub fn pieces(source: &str) -> Vec<(usize, Piece<'_>)> {
    let (mut found, mut at, mut line) = (vec![], 0, 1);
    while let Some(&first) = source.as_bytes().get(at) {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
        let rest = &source[at..];
        let (length, piece) = match first {
            b'\n' => {
                line += 1;
                (1, None)
            }
            b'/' if rest.starts_with("//") => {
                let length = rest.find('\n').unwrap_or(rest.len());
                (length, Some(Piece::Comment(&rest[..length])))
            }
            b'/' if rest.starts_with("/*") => {
                let length = rest.find("*/").map_or(rest.len(), |end| end + 2);
                (length, Some(Piece::Comment(&rest[..length])))
            }
            b'"' => {
                let length = 1 + string(&rest[1..]);
                (length, Some(Piece::Literal(&rest[..length], &source[..at])))
            }
            b'\'' => (quote(rest), None),
            _ if is_word(first) => match literal(rest) {
                Some(length) => {
                    let is_string = rest[..length].ends_with(['"', '#']);
                    (length, is_string.then(|| Piece::Literal(&rest[..length], &source[..at])))
                }
                None => {
                    let length = rest.bytes().position(|byte| !is_word(byte)).unwrap_or(rest.len());
                    (length, Some(Piece::Identifier(&rest[..length])))
                }
            },
            _ => (1, None),
        };
        found.extend(piece.map(|piece| (line, piece)));
        if length > 1 {
            line += rest[..length].bytes().filter(|&byte| byte == b'\n').count();
        }
        at += length;
    }
    found
}

/// Returns the length of a string's rest after the opening quotation mark, the closing one included.
fn string(rest: &str) -> usize {
    let mut escaped = false;
    let end = rest.bytes().position(|byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    });
    end.map_or(rest.len(), |end| end + 1)
}

/// Returns the length of a literal with a prefix, such as `b"..."`, `r#"..."#` or `b'x'`, `None` for an identifier.
fn literal(rest: &str) -> Option<usize> {
    if !rest.starts_with(['b', 'c', 'r']) {
        return None;
    }
    let prefix = ["br", "cr", "r", "b", "c"].into_iter().find(|prefix| {
        let behind = &rest[rest.len().min(prefix.len())..];
        rest.starts_with(prefix) && behind.trim_start_matches('#').starts_with('"')
    });
    let Some(prefix) = prefix else {
        return rest.starts_with("b'").then(|| 1 + quote(&rest[1..]));
    };
    let behind = &rest[prefix.len()..];
    if !prefix.ends_with('r') {
        return behind.starts_with('"').then(|| prefix.len() + 1 + string(&behind[1..]));
    }
    let hashes = behind.find('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let content = &behind[hashes + 1..];
    let end = content.find(&close).map_or(content.len(), |end| end + close.len());
    Some(prefix.len() + hashes + 1 + end)
}

/// Returns the length of a character literal, or 1 for the quote of a lifetime.
fn quote(rest: &str) -> usize {
    let mut chars = rest[1..].char_indices();
    match chars.next() {
        Some((_, '\\')) => rest[3..].find('\'').map_or(1, |end| 3 + end + 1),
        Some((_, c)) if rest[1 + c.len_utf8()..].starts_with('\'') => 2 + c.len_utf8(),
        _ => 1,
    }
}

/// Calls `each` with the words of a text, those of identifiers in camel case or snake case apart.
pub fn each_word<'s>(text: &'s str, mut each: impl FnMut(&'s str)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for at in 0..=bytes.len() {
        let is_letter = bytes.get(at).is_some_and(u8::is_ascii_alphabetic);
        let begins = is_letter && bytes[at].is_ascii_uppercase() && at > start && bytes[at - 1].is_ascii_lowercase();
        if !is_letter || begins {
            if at > start {
                each(&text[start..at]);
            }
            start = if is_letter { at } else { at + 1 };
        }
    }
}

#[test]
fn comments_identifiers_and_literals_are_found() {
    let source = "let a = \"// no \\\" x\"; // one\nlet b = r#\"y \" z\"#; /* two\n */ let c: &'d str = b\"q\"; let e = ['\\'', '\"', b'w'];";
    let all = pieces(source);
    let is_literal = |piece: &Piece<'_>| matches!(piece, Piece::Literal(..));
    let literals: Vec<_> =
        all.iter().filter(|(_, piece)| is_literal(piece)).map(|(_, piece)| content(piece.text())).collect();
    assert_eq!(literals, ["// no \\\" x", "y \" z", "q"]);
    assert_eq!(content("\"one \\\n    two\""), "one two");
    let found: Vec<_> =
        all.iter().filter(|(_, piece)| !is_literal(piece)).map(|(line, piece)| (*line, piece.text())).collect();
    let expected = [
        (1, "let"),
        (1, "a"),
        (1, "// one"),
        (2, "let"),
        (2, "b"),
        (2, "/* two\n */"),
        (3, "let"),
        (3, "c"),
        (3, "d"),
        (3, "str"),
        (3, "let"),
        (3, "e"),
    ];
    assert_eq!(found, expected);
    let mut words = vec![];
    each_word("// AnswerBody, HTTP_PLACE \u{e9}x9", |word| words.push(word));
    assert_eq!(words, ["Answer", "Body", "HTTP", "PLACE", "x"]);
}
