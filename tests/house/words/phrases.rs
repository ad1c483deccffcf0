//! Plain English: phrases that string literals, help texts and documents do not use.

use super::lexer::{Piece, content, pieces};
use super::{files, help, prose};

/// Phrases that no text for users has, in lower case, and what to write instead. A phrase matches at the boundaries of words, and
/// a star at its end any continuation of its last word.
pub const PHRASES: &[(&str, &str)] = &[
    ("' is no", "'unknown', 'invalid' or 'not a'"),
    ("16 to begin with", "'start with 16'"),
    ("a part of a file is missing", "'file transfer incomplete'"),
    ("after how long", "a verb in the imperative"),
    ("anew", "'again'"),
    ("answered", "'got a response', or 'responded' of a server"),
    ("anybody", "a noun that names who"),
    ("at what a connection costs", "a share of the CPU time"),
    ("bring more", "'raise throughput'"),
    ("brings more", "'raises throughput'"),
    ("cannot be told", "'cannot be determined'"),
    ("cannot compare with such", "'needs ..., found ...'"),
    ("could not be written", "'cannot write ...'"),
    ("could show what it can do", "'shows neither limit'"),
    ("does not go with", "'is not supported in' or 'cannot be used with'"),
    ("for https:// put", "what is supported"),
    ("given up", "'cancelled' or 'aborted'"),
    ("gives way", "'is replaced' or 'decreases'"),
    ("go on", "'continue' or 'run'"),
    ("goes on", "'continues' or 'runs'"),
    ("had little to do", "'was nearly idle'"),
    ("has no meaning", "'is not supported for' or 'has no effect'"),
    ("has no value here", "'has no value'"),
    ("in its hands", "'in flight' or 'being processed'"),
    ("is no name of", "'invalid name'"),
    ("is not here", "'is not available' or 'is missing'"),
    ("is not of the form", "'must be ...'"),
    ("is what it is told", "'already has a fixed rate'"),
    ("it is for", "what to use it with"),
    ("it said nothing", "'no output'"),
    ("lends", "'provides'"),
    ("never more requests per second", "'limit the request rate'"),
    ("no more pass", "'get no more'"),
    ("nobody", "'none', or a noun that names who"),
    ("one at a time goes on", "'one runs at a time'"),
    ("press again", "'run again'"),
    ("press as", "'load' or 'test'"),
    ("press harder", "'load' or 'test'"),
    ("press it", "'load' or 'test'"),
    ("press so long", "'warm up for this long'"),
    ("press the", "'load' or 'test'"),
    ("press with", "'load' or 'test'"),
    ("presses", "'loads' or 'tests'"),
    ("pressing", "'loading' or 'testing'"),
    ("say it in the file", "'use ... in the file instead'"),
    ("says it in the file", "'use ... in the file instead'"),
    ("server's hands", "'in flight' or 'being processed'"),
    ("should end here", "'expected ... to close ...'"),
    ("should stand here", "'expected ...'"),
    ("somebody", "a noun that names who"),
    ("stands here", "'is here'"),
    ("that there is not", "'no such file' or 'unknown ...'"),
    ("the system refused", "'system error' or 'cannot ...'"),
    ("they may be other programs'", "'another program may have opened them'"),
    ("this is no", "'not a' or 'invalid'"),
    ("what begins here", "the name of what is not closed"),
    ("what limits it is unknown", "'limiting factor unknown'"),
    ("what was seen does not tell", "'the evidence does not single out'"),
    ("whole response*", "'complete response'"),
    ("worth pressing", "'worth a test'"),
];

/// The part of a source before its tests.
pub fn production(source: &str) -> &str {
    let tests = ["\n#[cfg(test)]\nmod tests {", "\n#[test]\n"];
    let end = tests.iter().filter_map(|start| source.find(start)).min();
    &source[..end.unwrap_or(source.len())]
}

/// The source with rows of another project: those of the table of fortunes.
const QUOTED: &str = "crates/torr-data/src/tables.rs";

/// Returns whether a path is that of a source of the program or its crates, tests aside.
pub fn is_of_program(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !path.ends_with("/tests.rs") && !path.contains("/tests/")
}

/// Returns the phrases of the list that begin in a text, and may end in what follows it.
fn found(text: &str, follows: &str) -> Vec<&'static (&'static str, &'static str)> {
    let plain = |text: &str| text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    let text = plain(text);
    let whole = format!("{text} {}", plain(follows));
    PHRASES.iter().filter(|(phrase, _)| position(&whole, phrase).is_some_and(|at| at < text.len())).collect()
}

/// Returns where a text has a phrase at boundaries of words first.
fn position(text: &str, phrase: &str) -> Option<usize> {
    let (phrase, is_open) = phrase.strip_suffix('*').map_or((phrase, false), |phrase| (phrase, true));
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let is_whole = |at: &usize| {
        let (before, after) = (text[..*at].chars().next_back(), text[at + phrase.len()..].chars().next());
        let begins = !is_word(before) || !is_word(phrase.chars().next());
        begins && (is_open || !is_word(after) || !is_word(phrase.chars().next_back()))
    };
    text.match_indices(phrase).map(|(at, _)| at).find(is_whole)
}

#[test]
fn texts_for_users_are_plain_english() {
    let mut messages = vec![];
    let mut check = |path: &str, line: usize, text: &str, follows: &str| {
        for (phrase, instead) in found(text, follows) {
            messages.push(format!("{path}:{line}: '{phrase}': write {instead}"));
        }
    };
    let mut helps = 0;
    for (path, source) in files("rs").iter().filter(|(path, _)| is_of_program(path) && path != QUOTED) {
        let source = production(source);
        for (line, piece) in pieces(source) {
            let Piece::Literal(literal, _) = piece else { continue };
            let text = content(literal);
            // A word alone is a key or a value.
            if text.contains(' ') {
                check(path, line, &text, "");
            }
        }
        for (line, text) in help::comments(source) {
            check(path, line, &text, "");
            helps += 1;
        }
    }
    let is_guide =
        |path: &str| path == "README.md" || path.starts_with("docs/") && !path.starts_with("docs/decisions/");
    for (path, text) in files("md").iter().filter(|(path, _)| is_guide(path)) {
        let lines = prose(text);
        for (at, (line, text)) in lines.iter().enumerate() {
            let next = lines.get(at + 1).filter(|(number, _)| *number == line + 1);
            check(path, *line, text, next.map_or("", |(_, text)| text));
        }
    }
    assert!(messages.is_empty(), "{} phrases:\n{}", messages.len(), messages.join("\n"));
    assert!(helps > 150, "only {helps} comments become help: the marks of clap's types have changed");
}

#[test]
fn phrases_begin_in_a_text_and_may_end_in_the_next() {
    let phrases = |text, follows| found(text, follows).iter().map(|(phrase, _)| *phrase).collect::<Vec<_>>();
    assert_eq!(phrases("It  Goes", "on"), ["goes on"]);
    assert_eq!(phrases("it goes on", ""), ["goes on"]);
    assert_eq!(phrases("it", "goes on"), [""; 0]);
    assert_eq!(phrases("it goes on", "and goes on"), ["goes on"]);
}

#[test]
fn phrases_match_at_words() {
    let contains = |text, phrase| position(text, phrase).is_some();
    assert!(contains("it is there now", "is there") && contains("is there", "is there"));
    assert!(
        !contains("this therefore", "is there")
            && contains("presses it", "press*")
            && !contains("express it", "press*")
    );
    assert!(contains("'x' is no number", "' is no"));
}
