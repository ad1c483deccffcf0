//! Line breaking for the width of a terminal. Continuation lines are indented below the text of their line.

use crate::table::visible;

/// Words that may begin the text of a report's line. Continuation lines begin in the column behind them.
const MARKS: [&str; 12] = [
    "because", "also", "gain", VERIFY[0], VERIFY[1], "caution", ADVICE, "where", "holder", "index", "blocked",
    "not seen",
];

/// Words that precede a command.
const VERIFY: [&str; 2] = ["verify", "verify:"];

/// The word that precedes a piece of advice.
const ADVICE: &str = "->";

/// The last column in which the text behind a label may begin; a gap further right is not a label's.
const LAST_START: usize = 24;

/// Breaks all lines that are wider than `width` columns. A longer word stays whole. Escape sequences count as zero columns.
pub fn wrap(text: &str, width: usize) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end_matches('\n');
        if visible(bare) <= width {
            out.push_str(line);
        } else {
            out.push_str(&broken(bare, width));
            out.push_str(&line[bare.len()..]);
        }
    }
    out
}

/// Breaks one line.
fn broken(line: &str, width: usize) -> String {
    let plain = anstream::adapter::strip_str(line).to_string();
    let start = Start::of(&plain, width);
    // A shell joins the lines of a broken command if each but the last ends in a backslash.
    let end = if start.is_command { " \\" } else { "" };
    let mut out = String::with_capacity(line.len() + 64);
    let (mut column, mut behind_start) = (0, false);
    for (gap, word) in pieces(line, start.is_command) {
        let wide = visible(word);
        let last = if end.is_empty() { 0 } else { end.len() };
        if behind_start && column > start.hang && column + gap.len() + wide + last > width {
            out.push_str(end);
            out.push('\n');
            out.push_str(&" ".repeat(start.hang));
            column = start.hang;
        } else {
            out.push_str(gap);
            column += gap.len();
        }
        out.push_str(word);
        column += wide;
        behind_start |= column >= start.text;
    }
    out
}

/// The columns in which the parts of a line begin.
struct Start {
    /// The column of the text, behind indentation and label.
    text: usize,
    /// The column in which continuation lines begin.
    hang: usize,
    /// Whether the text is a command for a shell.
    is_command: bool,
}

impl Start {
    fn of(plain: &str, width: usize) -> Self {
        let lead = plain.len() - plain.trim_start_matches(' ').len();
        // A heading has no label. Other lines have a label of a fixed width, or none.
        let behind_label = plain[lead..].find("  ").filter(|_| lead > 0).map(|at| {
            let gap = &plain[lead + at..];
            plain[..lead + at].chars().count() + gap.len() - gap.trim_start_matches(' ').len()
        });
        let text = behind_label.filter(|&start| start <= LAST_START).unwrap_or(lead);
        let rest: String = plain.chars().skip(text).collect();
        let behind = |mark: &&str| rest.strip_prefix(*mark).is_some_and(|behind| behind.starts_with(' '));
        let mark = MARKS.into_iter().find(behind);
        // Advice may be a command.
        let is_advised = || rest.split(' ').nth(1) == Some(VERIFY[1]);
        let is_command = mark.is_some_and(|mark| VERIFY.contains(&mark) || (mark == ADVICE && is_advised()));
        let hang = match mark {
            Some(mark) => text + mark.len() + 1,
            None if text <= 2 => text + 2,
            None => text,
        };
        // On a narrow terminal, too deep an indentation would leave no room for text.
        let hang = if hang > width * 2 / 3 { lead + 2 } else { hang };
        Self { text, hang, is_command }
    }
}

/// Returns a line's words, each with the spaces before it. A quoted argument of a command is one word.
fn pieces(line: &str, is_command: bool) -> Vec<(&str, &str)> {
    let (mut found, mut rest) = (Vec::new(), line);
    while !rest.is_empty() {
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let mut quoted = false;
        let is_end = |c: char| {
            quoted ^= is_command && c == '\'';
            c == ' ' && !quoted
        };
        let end = rest[gap..].find(is_end).map_or(rest.len(), |at| gap + at);
        found.push((&rest[..gap], &rest[gap..end]));
        rest = &rest[end..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::{FAINT, paint};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn lines_that_fit_stay_unchanged() {
        let text = "  a            b   c\n\n  d\n";
        assert_eq!(wrap(text, 22), text);
        assert_eq!(wrap(text, usize::MAX), text);
    }

    #[test]
    fn continuation_lines_begin_below_the_text() {
        let line = format!("  {:<12} one two three four\n", "errors");
        assert_eq!(wrap(&line, 26), "  errors       one two\n               three four\n");
        let line = format!("  {:<12} {} one two three\n", "", paint(FAINT, "because"));
        assert_eq!(plain(&wrap(&line, 60)), plain(&line));
        assert_eq!(plain(&wrap(&line, 34)), "               because one two\n                 three\n");
        let line = format!("  {:<12} {} one two three\n", "", paint(FAINT, "not seen"));
        assert_eq!(plain(&wrap(&line, 36)), "               not seen one two\n                        three\n");
        assert_eq!(wrap("  -> one two three four\n", 16), "  -> one two\n     three four\n");
        assert_eq!(wrap("GET http://h/  1 connection, 2 threads\n", 24), "GET http://h/  1\n  connection, 2 threads\n");
    }

    #[test]
    fn no_word_is_broken_and_no_line_is_wider_than_it_must_be() {
        let words = "a bb ccc dddd eeeee ffffff ggggggg hhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhhh i j k";
        let line = format!("  {:<12} {words}", "label");
        for width in 20..100 {
            let text = wrap(&line, width);
            assert_eq!(text.split_whitespace().skip(1).collect::<Vec<_>>().join(" "), words);
            let alone = |line: &&str| line.split_whitespace().count() == 1;
            assert!(text.lines().all(|line| visible(line) <= width || alone(&line)), "{width}:\n{text}");
        }
    }

    #[test]
    fn a_broken_command_is_still_one_for_a_shell() {
        let command = "torr http://127.0.0.1:8080/ -H 'X: a  b c d e f g h' -c 100 -d 30s --fail-if 'p99>50ms'";
        for before in [format!("  {:<12} verify", ""), "  -> verify:".to_owned()] {
            let line = format!("{before} {command}");
            for width in 24..120 {
                let text = wrap(&line, width);
                let rest = text.strip_prefix(&before).expect("it begins so");
                let joined = rest.replace("\\\n", "");
                assert_eq!(words(&joined), words(command), "{width}: {text}");
            }
        }
    }

    /// Splits a command as a shell does.
    fn words(command: &str) -> Vec<&str> {
        pieces(command.trim(), true).into_iter().map(|(_, word)| word).collect()
    }
}
