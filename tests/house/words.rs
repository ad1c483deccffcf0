//! The vocabulary: comments and identifiers use the words of RFC 9110, the man pages and queueing theory, a file has one job
//! and so a bounded length, and prose fits a terminal.

mod exceptions;
mod help;
mod lexer;
mod messages;
mod phrases;

use exceptions::{LONG_FILES, NOT_YET, WIDE_DOCUMENTS, WORDS};
use lexer::{Piece, each_word, pieces};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The limit of a source file in lines.
const MAX_FILE_LINES: usize = 600;
/// The limit of a line of a document's prose in characters.
const MAX_PROSE_WIDTH: usize = 120;
/// Folders with no sources and documents of the project's own: build results, archived measurements.
const SKIPPED_FOLDERS: [&str; 5] = ["target", "runs", "node_modules", "seeds", "corpus"];

/// Returns the root of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the files with this extension as relative path and text.
pub fn files(extension: &str) -> Vec<(String, String)> {
    let (root, mut found) = (repository(), vec![]);
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("the folder can be read").map(|entry| entry.expect("as before")) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if !name.starts_with('.') && !SKIPPED_FOLDERS.contains(&name.as_str()) {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|has| has == extension) {
                let relative = path.strip_prefix(&root).expect("the path begins with the root");
                let text = fs::read_to_string(&path).expect("sources and documents are UTF-8");
                found.push((relative.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// Returns the part of the workspace that a file belongs to, such as `torr-net`, `bench` or `tests`.
fn part(path: &str) -> &str {
    let mut folders = path.split('/');
    match folders.next().unwrap_or_default() {
        "crates" => folders.next().unwrap_or_default(),
        folder => folder,
    }
}

/// Returns the lines of a document with their numbers, without code blocks and tables.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut in_code = false;
    let is_prose = |(_, line): &(usize, &str)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence && !line.trim_start().starts_with('|')
    };
    (1..).zip(text.lines()).filter(is_prose).collect()
}

/// Returns the forbidden words in a comment or identifier.
fn violations(piece: &Piece<'_>) -> Vec<&'static (&'static str, &'static str)> {
    let mut found = vec![];
    if matches!(piece, Piece::Literal(..)) {
        return found;
    }
    each_word(piece.text(), |word| found.extend(WORDS.iter().filter(|(entry, _)| entry.eq_ignore_ascii_case(word))));
    if let Piece::Comment(text) = piece {
        let begins = text.trim_start_matches(['/', '!', '*', ' ']);
        found.extend(WORDS.iter().filter(|(entry, _)| entry.contains(' ') && begins.starts_with(entry)));
    }
    found
}

/// The uses of forbidden words, which two tests need.
static USES: LazyLock<BTreeMap<(&str, String), Vec<String>>> = LazyLock::new(uses);

/// Returns the uses of forbidden words, by the word and the part of the workspace.
fn uses() -> BTreeMap<(&'static str, String), Vec<String>> {
    let mut uses: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for (path, text) in files("rs").iter().filter(|(path, _)| !path.starts_with("tests/house/words")) {
        for (line, piece) in pieces(text) {
            for (word, instead) in violations(&piece) {
                let message = format!("{path}:{line}: '{word}' should be {instead}");
                uses.entry((*word, part(path).to_owned())).or_default().push(message);
            }
        }
    }
    uses
}

/// Returns the sources above the limit of lines.
fn long_files() -> Vec<String> {
    let long = files("rs").into_iter().filter(|(_, text)| text.lines().count() > MAX_FILE_LINES);
    long.map(|(path, _)| path).collect()
}

/// Returns the documents with lines of prose above the limit of width, each with the number of the first one.
fn wide_documents() -> Vec<(String, usize)> {
    let is_wide = |(_, line): &(usize, &str)| line.chars().count() > MAX_PROSE_WIDTH;
    let documents = files("md").into_iter();
    documents.filter_map(|(path, text)| Some((path, prose(&text).into_iter().find(is_wide)?.0))).collect()
}

fn is_exempt(word: &str, part: &str) -> bool {
    NOT_YET.iter().any(|(exempt, parts)| *exempt == word && parts.split_whitespace().any(|has| has == part))
}

#[test]
fn sources_use_the_vocabulary() {
    let found: Vec<_> = USES.iter().filter(|((word, part), _)| !is_exempt(word, part)).collect();
    let messages: Vec<_> = found.iter().flat_map(|(_, messages)| messages.iter()).map(String::as_str).collect();
    assert!(messages.is_empty(), "{} violations:\n{}", messages.len(), messages.join("\n"));
}

#[test]
fn files_are_short() {
    let long: Vec<_> =
        long_files().into_iter().filter(|path| LONG_FILES.iter().all(|(excepted, _)| excepted != path)).collect();
    assert!(long.is_empty(), "more than {MAX_FILE_LINES} lines: {long:?}");
}

#[test]
fn prose_fits_a_terminal() {
    let is_new = |(path, _): &(String, usize)| WIDE_DOCUMENTS.iter().all(|(excepted, _)| excepted != path);
    let wide: Vec<_> = wide_documents().into_iter().filter(is_new).collect();
    assert!(wide.is_empty(), "wider than {MAX_PROSE_WIDTH} characters, from this line on: {wide:?}");
}

#[test]
fn every_exception_is_needed() {
    let (long, wide) = (long_files(), wide_documents());
    let words = NOT_YET.iter().flat_map(|(word, parts)| parts.split_whitespace().map(move |part| (*word, part)));
    let clean = words.filter(|(word, part)| !USES.contains_key(&(*word, (*part).to_owned())));
    let mut needless: Vec<_> = clean.map(|(word, part)| format!("{part} is free of '{word}'")).collect();
    let short = LONG_FILES.iter().filter(|(path, _)| !long.iter().any(|long| long == path));
    needless.extend(short.map(|(path, _)| format!("{path} is short or gone")));
    let narrow = WIDE_DOCUMENTS.iter().filter(|(path, _)| !wide.iter().any(|(wide, _)| wide == path));
    needless.extend(narrow.map(|(path, _)| format!("{path} fits or is gone")));
    assert!(needless.is_empty(), "delete from words/exceptions.rs:\n{}", needless.join("\n"));
}
