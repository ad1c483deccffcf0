//! The guide is true of the repository: its links, flags, tests and archived runs exist.

use crate::words::{files, repository};
use regex::Regex;
use std::path::Path;
use std::process::Command;
use torr_test_support::commands::{COMMANDS, FRONTS};
use torr_test_support::markdown::{anchors, links};
use torr_test_support::program::{Running, torr};

#[test]
fn links_lead_somewhere() {
    // Archived runs, which keep the links that they were written with, are not among them.
    let pages = files("md");
    assert!(pages.len() > 60, "{}", pages.len());
    for (page, text) in &pages {
        for link in links(text).into_iter().filter(|link| !link.starts_with("http")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let page_here = repository().join(page);
            let target = if path.is_empty() { page_here } else { page_here.with_file_name(path) };
            assert!(target.exists(), "{page} has a link to {link}");
            let found = anchor.is_empty() || anchors(&read(&target)).iter().any(|known| known == anchor);
            assert!(found, "{page} has a link to {link}");
        }
    }
}

/// Help texts, messages, comments and tests name pages by their path from the root.
#[test]
fn pages_that_sources_name_exist() {
    let (named, mut seen) = (Regex::new(r"docs/[a-z/-]+\.md").expect("it is a pattern"), 0);
    for (source, text) in ["rs", "toml", "lua", "mjs", "service"].into_iter().flat_map(files) {
        for page in named.find_iter(&text) {
            assert!(repository().join(page.as_str()).exists(), "{source} names {}", page.as_str());
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen}");
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What stands between backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a file has a test function of this name.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let at = lines.iter().position(|line| line.starts_with(&format!("fn {name}(")));
    at.is_some_and(|at| {
        let attributes = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        attributes.into_iter().any(|line| *line == "#[test]")
    })
}

#[test]
fn every_promise_of_security_names_tests_that_exist() {
    let text = read(&repository().join("SECURITY.md"));
    let promised = text.split("\n## What is promised\n").nth(1).expect("it promises something");
    let promised = promised.split("\n## ").next().expect("a text has a first part");
    let promises: Vec<_> = promised.split("\n- ").skip(1).collect();
    assert!(promises.len() > 20, "{} promises", promises.len());
    for promise in promises {
        let promise = promise.split("\n### ").next().expect("a text has a first part");
        let tests: Vec<_> = quoted(promise).filter_map(|quoted| quoted.split_once("::")).collect();
        assert!(!tests.is_empty(), "no test holds this promise: {promise}");
        for (file, name) in tests {
            let path = repository().join(file);
            assert!(path.is_file() && has_test(&read(&path), name), "there is no test {name} in {file}");
        }
    }
}

#[test]
fn every_fault_of_operations_names_a_test_that_exists() {
    let text = read(&repository().join("docs/serve/operations.md"));
    let faults = text.split("\n## What goes wrong, and what the server does\n").nth(1).expect("it has the faults");
    let faults = faults.split("\n## ").next().expect("a text has a first part");
    let rows: Vec<_> = faults.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    assert!(rows.len() > 10, "{rows:?}");
    for row in rows {
        let tests: Vec<_> = quoted(row).filter_map(|quoted| quoted.split_once("::")).collect();
        assert!(!tests.is_empty() || row.ends_with("| the same |"), "no test has seen this: {row}");
        for (file, name) in tests {
            let path = repository().join(file);
            assert!(path.is_file() && has_test(&read(&path), name), "there is no test {name} in {file}");
        }
    }
}

#[test]
fn unsafe_code_stands_where_the_decisions_say() {
    let sources = files("rs");
    // Blocks, functions, implementations and external functions; not the word in a comment or in a lint's name.
    let code = Regex::new(r#"(?m)^[^/\n"]*\bunsafe\b\s*(\{|fn\b|impl\b|extern\b|trait\b)"#).expect("it is a pattern");
    let of_crates = sources.iter().filter_map(|(path, text)| Some((path.strip_prefix("crates/")?, text)));
    let mut found: Vec<_> = of_crates.filter(|(_, text)| code.is_match(text)).map(|(path, _)| path).collect();
    found.sort_unstable();
    let decisions = read(&repository().join("docs/decisions/net.md"));
    let (_, line) = decisions.split_once("\n## `unsafe` in ").expect("docs/decisions/net.md lists the files");
    let line = line.split("\n## ").next().expect("a text has a first part");
    let mut listed: Vec<_> = quoted(line).filter(|name| name.ends_with(".rs")).collect();
    listed.sort_unstable();
    assert_eq!(found, listed);
    assert!(line.starts_with(&format!("{} files", found.len())), "{} files: {line}", found.len());
}

/// The crates that a crate needs with these features.
fn needed(package: &str, features: &str) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--format", "{lib}"]);
    command.args(["--package", package, "--features", features]).current_dir(repository());
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    ended.stdout.split_whitespace().map(str::to_owned).collect()
}

/// Beside a program's own rustls with another provider, one of ours would leave the process without a default, so that the
/// program's own `ServerConfig::builder()` panics.
#[test]
fn libraries_turn_on_no_provider_of_cryptography() {
    let providers = |package, features| {
        let needed = needed(package, features);
        assert!(needed.iter().any(|name| name == "rustls"), "{package}: {needed:?}");
        ["ring", "aws_lc_rs"].map(|name| needed.iter().any(|needed| needed == name))
    };
    for library in ["torr-net", "torr-press", "torr-serve"] {
        assert_eq!(providers(library, ""), [false, false], "{library}");
        assert_eq!(providers(library, "tls-ring"), [true, false], "{library}");
        // What the other feature turns on is not there to be built without a network, so its definition is looked at.
        let manifest = read(&repository().join("crates").join(library).join("Cargo.toml"));
        let manifest: toml::Table = manifest.parse().expect("it is TOML");
        let meant = match library {
            "torr-net" => "[\"rustls/aws_lc_rs\", \"quinn-proto?/rustls-aws-lc-rs\"]",
            _ => "[\"torr-net/tls-aws-lc-rs\"]",
        };
        assert_eq!(manifest["features"]["tls-aws-lc-rs"].to_string(), meant, "{library}");
    }
    assert_eq!(providers("torr", ""), [true, false], "the program has one by itself");
}

/// The pages in these folders, with their names.
fn pages_in(folders: &[&str]) -> Vec<(String, String)> {
    let root = repository();
    let inside = |folder: &&str| std::fs::read_dir(root.join(folder)).expect("it is a folder").flatten();
    let paths = folders.iter().flat_map(inside).map(|entry| entry.path());
    paths
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .map(|path| (path.strip_prefix(&root).expect("it is in there").display().to_string(), read(&path)))
        .collect()
}

/// The pages of the user guide, with their names.
pub fn pages() -> Vec<(String, String)> {
    let mut pages = pages_in(&["docs", "docs/serve"]);
    pages.push(("README.md".to_owned(), read(&repository().join("README.md"))));
    pages
}

#[test]
fn every_crate_says_what_it_is() {
    let crates = std::fs::read_dir(repository().join("crates")).expect("it is a folder").flatten();
    let mut seen = 0;
    for folder in crates.map(|entry| entry.path()).filter(|path| path.join("Cargo.toml").exists()) {
        let name = folder.file_name().and_then(|name| name.to_str()).expect("the name is text").to_owned();
        let text = read(&folder.join("README.md"));
        assert!(text.starts_with(&format!("# {name}\n\n")) && text.lines().count() > 4, "{name}: {text}");
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(folder.join(link).exists(), "{name}: there is no {link}");
        }
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn runs_that_the_guide_speaks_of_are_archived() {
    let root = repository();
    let inside = |folder: &str| std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let archived: Vec<String> = ["bench/runs", "clinic/runs"]
        .into_iter()
        .flat_map(inside)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let run = Regex::new(r"\b20\d\d-\d\d-\d\d-\d{4}(-[0-9a-f]{7})?\b").expect("it is a pattern");
    let mut named = 0;
    for (page, text) in pages().into_iter().chain(pages_in(&["bench"])) {
        for run in run.find_iter(&text) {
            named += 1;
            assert!(
                archived.iter().any(|name| name.starts_with(run.as_str())),
                "{page}: there is no run {}",
                run.as_str()
            );
        }
    }
    assert!(named > 5, "{named}");
}

/// The help of `torr` and of each of its commands.
fn helps() -> Vec<(&'static str, String)> {
    let help = |command: &'static str, words: Vec<&str>| {
        let ended = torr(&words);
        assert_eq!(ended.code, Some(0), "{command}: {ended:?}");
        (command, ended.stdout)
    };
    let own = |command: &'static str| help(command, command.split_whitespace().chain(["--help-all"]).collect());
    COMMANDS.into_iter().map(own).chain(FRONTS.into_iter().map(|front| help(front, vec!["help", front]))).collect()
}

#[test]
fn every_flag_is_in_the_guide_and_every_flag_of_the_guide_is_in_the_help() {
    let (helps, pages) = (helps(), pages());
    let guide: String = pages.iter().map(|(_, text)| text.as_str()).collect();
    let flag = Regex::new(r"(?:^|[^\w-])(--[a-z](?:[a-z0-9.-]*[a-z0-9])?)").expect("it is a pattern");
    let flags = |text: &str| flag.captures_iter(text).map(|found| found[1].to_owned()).collect::<Vec<_>>();
    let known: Vec<String> = helps.iter().flat_map(|(_, help)| flags(help)).collect();
    assert!(known.len() > 100, "{known:?}");
    let others = ["cargo ", "docker ", "nsenter ", "systemctl ", "apt-get ", "nats-server "];
    let rivals = Regex::new("`(?:wrk|oha|hey|h2load|k6|locust) [^`]*`").expect("it is a pattern");
    for (page, text) in &pages {
        let text = rivals.replace_all(text, "");
        for line in text.lines().filter(|line| !others.iter().any(|other| line.contains(other))) {
            for flag in flags(line) {
                assert!(known.contains(&flag), "{page} has {flag}, which no help has: {line}");
            }
        }
    }
    // In a list of flags each has a line of its own, with its short form before it.
    let entry = Regex::new(r"(?m)^ +(?:(-\w), |    )(--[a-z][a-z0-9.-]*)").expect("it is a pattern");
    for (command, help) in helps.iter().filter(|(command, _)| !FRONTS.contains(command)) {
        for found in entry.captures_iter(help) {
            let (short, long) = (found.get(1), &found[2]);
            let is_documented = |flag: &str| {
                let word =
                    Regex::new(&format!(r"(?:^|[^\w-]){}(?:$|[^\w-])", regex::escape(flag))).expect("it is a pattern");
                word.is_match(&guide)
            };
            let shown = is_documented(long) || short.is_some_and(|short| is_documented(short.as_str()));
            assert!(shown || long == "--version", "the guide has nothing about {long} of 'torr {command}'");
        }
    }
}

#[test]
fn what_help_calls_missing_is_refused_and_nothing_else() {
    let missing = |line: &&str| ["not there yet", "not yet"].iter().any(|words| line.contains(words));
    let helps = helps();
    // wrk2 has the lines of wrk.
    let others = helps.iter().filter(|(command, _)| *command != "wrk2");
    let shown: Vec<&str> = others.flat_map(|(_, help)| help.lines()).filter(missing).collect();
    assert_eq!(shown, [""; 0]);
    // A line that stands twice in a list of examples is one too many.
    for (command, help) in &helps {
        let examples = help.lines().filter(|line| line.starts_with("  torr ")).map(|line| line.split("   ").next());
        let mut examples: Vec<_> = examples.collect();
        let all = examples.len();
        examples.sort_unstable();
        examples.dedup();
        assert_eq!(examples.len(), all, "'torr {command}' has an example twice");
    }
}
