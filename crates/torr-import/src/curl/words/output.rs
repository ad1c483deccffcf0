//! What a command before a pipe prints, where that is certain.

use super::lines::Stdin;

/// Returns what a command prints that reads this.
pub(super) fn of(words: &[String], stdin: Option<Stdin>) -> Stdin {
    let (program, arguments) = words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let unknown = || Stdin::Unknown(format!("the output of {program}"));
    match (program, arguments) {
        ("echo", arguments) => echo(arguments),
        ("printf", [format, values @ ..]) => printf(format, values).map_or_else(unknown, Stdin::Text),
        ("cat", []) => stdin.unwrap_or_else(unknown),
        ("cat", [name]) if name == "-" => stdin.unwrap_or_else(unknown),
        ("cat", [name]) if !name.starts_with('-') => Stdin::File(name.clone()),
        _ => unknown(),
    }
}

/// Returns what bash's `echo` prints.
fn echo(mut arguments: &[String]) -> Stdin {
    let (mut has_end, mut has_escapes) = (true, false);
    while let Some((first, rest)) = arguments.split_first() {
        let letters = first.strip_prefix('-').filter(|letters| !letters.is_empty());
        let Some(letters) = letters.filter(|letters| letters.chars().all(|letter| "neE".contains(letter))) else {
            break;
        };
        has_end &= !letters.contains('n');
        has_escapes = letters.rfind('e') > letters.rfind('E');
        arguments = rest;
    }
    let text = arguments.join(" ");
    let mut text = if has_escapes { unescaped(&text) } else { text };
    if has_end {
        text.push('\n');
    }
    Stdin::Text(text)
}

/// Returns what `printf` prints; `None` for formats other than `%s` and for repeated ones.
fn printf(format: &str, values: &[String]) -> Option<String> {
    let format = unescaped(format);
    let (mut out, mut values, mut rest) = (String::new(), values.iter(), format.chars());
    while let Some(next) = rest.next() {
        match next {
            '%' => match rest.next()? {
                '%' => out.push('%'),
                's' => out.push_str(values.next().map_or("", String::as_str)),
                _ => return None,
            },
            other => out.push(other),
        }
    }
    values.next().is_none().then_some(out)
}

fn unescaped(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text.chars());
    while let Some(next) = rest.next() {
        if next != '\\' {
            out.push(next);
            continue;
        }
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('\\') => out.push('\\'),
            Some(other) => out.extend(['\\', other]),
            None => out.push('\\'),
        }
    }
    out
}
