//! The official hurl as an oracle: on files that cover the format, both programs have the same verdict on each assert.
//!
//! hurl needs libxml2. `./test full` builds it; elsewhere `TORR_HURL` names it: `TORR_HURL=hurl cargo test -p torr --test cli oracle -- --ignored`.

mod cross;
mod server;

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use torr_test_support::program::{Running, run, torr_command};
use torr_test_support::required::cannot_run;

/// The environment variable that names the program of hurl.
const HURL: &str = "TORR_HURL";

/// What begins the comment on an assert on which the programs differ.
const DIFFERS: &str = "# differs: ";

/// The files, and those that they name.
const FILES: &[(&str, &[u8])] = &[
    ("queries.hurl", include_bytes!("oracle/queries.hurl")),
    ("filters.hurl", include_bytes!("oracle/filters.hurl")),
    ("predicates.hurl", include_bytes!("oracle/predicates.hurl")),
    ("jsonpath.hurl", include_bytes!("oracle/jsonpath.hurl")),
    ("xpath.hurl", include_bytes!("oracle/xpath.hurl")),
    ("feed.hurl", include_bytes!("oracle/feed.hurl")),
    ("text.hurl", include_bytes!("oracle/text.hurl")),
    ("requests.hurl", include_bytes!("oracle/requests.hurl")),
    ("walk.hurl", include_bytes!("oracle/walk.hurl")),
    ("doc.json", server::DOC),
    ("bytes.bin", server::BYTES),
    ("note.bin", b"note"),
];

const VARIABLES: &[&str] = &[
    "name=Ann",
    "seven=7",
    "one=1",
    "float=1.5",
    "truth=true",
    "nothing=null",
    "digits=\"12\"",
    "quoted=a \"b\" \\ c",
    "text=text",
    "header=X-Number",
    "cookie=theme",
    "member=name",
    "param=q",
    "charset=utf-8",
    "pattern=(Ann)",
];

/// What a program said of a file: whether all of it passed, and the verdict on each assert, by its line.
#[derive(Debug, Default)]
struct Verdicts {
    passed: bool,
    asserts: BTreeMap<usize, bool>,
}

#[test]
#[ignore = "hurl is built by ./test full"]
fn oracle_has_the_same_verdict_on_each_assert() {
    let Ok(hurl) = std::env::var(HURL) else {
        return cannot_run("oracle_has_the_same_verdict_on_each_assert", "TORR_HURL names no program of hurl");
    };
    let version = run(&hurl, &["--version"]).stdout;
    let folder = tempfile::tempdir().expect("there is room");
    let mut files: Vec<(String, Vec<u8>)> =
        FILES.iter().map(|(name, content)| ((*name).to_owned(), content.to_vec())).collect();
    files.extend(cross::files().map(|(name, text)| (name, text.into_bytes())));
    for (name, content) in &files {
        std::fs::write(folder.path().join(name), content).expect("there is room");
    }
    let server = server::start();
    let host = format!("host={}", server.address);
    let variables: Vec<&str> =
        std::iter::once(&*host).chain(VARIABLES.iter().copied()).flat_map(|value| ["--variable", value]).collect();
    let (mut compared, mut differing, mut wrong) = (0, 0, Vec::new());
    for name in files.iter().map(|(name, _)| name.as_str()).filter(|name| name.ends_with(".hurl")) {
        let text = std::fs::read_to_string(folder.path().join(name)).expect("it was written");
        let lines: Vec<&str> = text.lines().collect();
        let theirs = by_hurl(&hurl, folder.path(), name, &variables);
        let ours = by_torr(folder.path(), name, &lines, &variables, &theirs);
        for (line, verdict) in &theirs.asserts {
            compared += 1;
            let (ours, source) = (ours.asserts[line], lines[line - 1]);
            differing += usize::from(ours != *verdict);
            if (ours != *verdict) != source.contains(DIFFERS) {
                wrong.push(format!("{name}:{line}: hurl {verdict}, torr {ours}: {source}"));
            }
        }
        let same_end = theirs.passed == ours.passed || lines.iter().any(|line| line.contains(DIFFERS));
        if !same_end {
            wrong.push(format!("{name}: passed by hurl: {}, by torr: {}", theirs.passed, ours.passed));
        }
    }
    println!("{}: {compared} asserts, {differing} differ", version.lines().next().unwrap_or_default());
    assert!(wrong.is_empty(), "{} verdicts are not as expected:\n{}", wrong.len(), wrong.join("\n"));
}

fn by_hurl(hurl: &str, folder: &Path, name: &str, variables: &[&str]) -> Verdicts {
    let mut command = Command::new(hurl);
    command.current_dir(folder).args(["--json", "--no-color", name]).args(variables);
    let ended = Running::start(command).wait();
    let result: Value =
        serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{name}: {error}: {}", ended.stderr));
    let entries = result["entries"].as_array().expect("a result has entries");
    let asserts = entries.iter().flat_map(|entry| entry["asserts"].as_array().expect("an entry has asserts"));
    let verdict = |assert: &Value| {
        let line = assert["line"].as_u64().and_then(|line| usize::try_from(line).ok()).expect("an assert has a line");
        (line, assert["success"].as_bool().expect("an assert has a verdict"))
    };
    // An entry that runs twice has its asserts twice, and a line of a status two asserts: of version and code.
    let mut verdicts = Verdicts { passed: ended.code == Some(0), ..Verdicts::default() };
    for (line, verdict) in asserts.map(verdict) {
        *verdicts.asserts.entry(line).or_insert(true) &= verdict;
    }
    assert!(!verdicts.asserts.is_empty(), "{name}: {}", ended.stderr);
    verdicts
}

/// Runs a file by `torr once`, which tells the asserts that failed by their lines' text.
fn by_torr(folder: &Path, name: &str, lines: &[&str], variables: &[&str], theirs: &Verdicts) -> Verdicts {
    let mut command = torr_command(&[&["once", name], variables].concat());
    command.current_dir(folder);
    let ended = Running::start(command).wait();
    assert!(matches!(ended.code, Some(0 | 1)), "{name}: {ended:?}");
    let failed: Vec<&str> = ended.stdout.lines().filter_map(|line| line.strip_prefix("  failed: ")).collect();
    for text in &failed {
        let same = theirs.asserts.keys().filter(|line| lines[**line - 1].trim() == *text).count();
        assert!(same <= 1, "{name}: {same} lines are alike, so it cannot be told which failed: {text}");
    }
    let has_failed = |line: &usize| failed.contains(&lines[line - 1].trim());
    let asserts = theirs.asserts.keys().map(|line| (*line, !has_failed(line))).collect();
    Verdicts { passed: ended.code == Some(0), asserts }
}
