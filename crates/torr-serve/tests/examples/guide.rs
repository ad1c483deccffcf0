//! `docs/serve.md`: its code is that of the examples, and its commands get from these what it says.

use crate::program::Example;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;
use torr_test_support::markdown::{Block, blocks};

const PAGE: &str = include_str!("../../../../docs/serve.md");

fn of_kind(kind: &str) -> Vec<Block<'static>> {
    blocks(PAGE).into_iter().filter(|block| block.kind == kind).collect()
}

/// Starts an example with its files in this folder.
fn start(name: &str, folder: &Path) -> Example {
    let file = |name: &str| folder.join(name).display().to_string();
    match name {
        "router" => Example::start_silent(name),
        "database" => Example::start(name, &[&file("notes.db")]),
        "service" => Example::start(name, &[&file("")]),
        _ => Example::start(name, &[]),
    }
}

/// Runs a command in this folder, and gives what it says.
fn run(command: &str, folder: &Path) -> String {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).env("NO_PROXY", "*");
    let output = shell.output().unwrap_or_else(|error| panic!("{command}: {error}"));
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap_or_else(|error| panic!("{command}: {error}"))
}

#[test]
fn code_is_that_of_the_examples() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let code = of_kind("rust");
    assert!(code.len() >= 10, "{} pieces of code", code.len());
    for Block { section, example, text, .. } in &code {
        let name = example.unwrap_or_else(|| panic!("{section}: of which example is {text}"));
        let whole = fs::read_to_string(examples.join(name).with_extension("rs"));
        let whole = whole.unwrap_or_else(|error| panic!("{section}: {name}: {error}"));
        assert!(whole.contains(text.as_str()), "{section}: {name} has no\n{text}");
    }
}

#[test]
fn commands_get_what_the_guide_says() {
    let mut runs = 0;
    let mut scene: Option<(&str, TempDir, Option<Example>)> = None;
    for Block { section, example, text, .. } in of_kind("sh") {
        if scene.as_ref().is_none_or(|(known, ..)| *known != section) {
            leave(scene.take());
            scene = Some((section, tempfile::tempdir().expect("there is room for temporary files"), None));
        }
        let Some((_, folder, running)) = &mut scene else { continue };
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let mut said = String::new();
            while let Some(more) = lines.next_if(|line| line.starts_with("# ")) {
                said.extend([&more[2..], "\n"]);
            }
            let program = line.split(' ').next().unwrap_or_default();
            if program == "openssl" {
                run(line, folder.path());
            }
            if !["curl", "kill", "tail"].contains(&program) {
                continue;
            }
            let name = example.unwrap_or_else(|| panic!("{section}: which example is meant"));
            let server = running.get_or_insert_with(|| start(name, folder.path()));
            let here = line.replace("127.0.0.1:8080", &server.address.to_string());
            let here = here.replace("localhost:8443", &format!("localhost:{}", server.address.port()));
            let heard = run(&here, folder.path());
            if !said.is_empty() {
                assert_eq!(heard.trim_end(), said.trim_end(), "{section}: {line}");
            }
            runs += 1;
        }
    }
    leave(scene);
    assert!(runs >= 15, "{runs} commands were run");
}

/// Ends what runs, in order.
fn leave(scene: Option<(&str, TempDir, Option<Example>)>) {
    if let Some((_, _folder, Some(example))) = scene {
        example.terminate();
        example.wait();
    }
}

#[test]
fn the_unit_starts_what_is_there() {
    let units = of_kind("ini");
    let started = units.iter().flat_map(|unit| unit.text.lines());
    let started: Vec<_> = started.filter_map(|line| line.strip_prefix("ExecStart=/usr/local/bin/tea ")).collect();
    let [arguments] = started[..] else { panic!("the guide has one service of its own: {started:?}") };
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let state = folder.path().display().to_string();
    let here: Vec<_> = arguments.split(' ').map(|word| word.replace("/var/lib/tea", &state)).collect();
    assert_eq!(here, ["127.0.0.1:8080", &*state]);
    let service = start("service", folder.path());
    assert_eq!(service.get("/").text(), "Hello, 127.0.0.1!\n");
    assert!(folder.path().join("tea.pid").exists() && folder.path().join("access.log").exists());
    service.terminate();
    service.wait();
    assert!(!folder.path().join("tea.pid").exists());
}

#[test]
fn what_is_said_of_metrics_is_counted() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let service = start("service", folder.path());
    service.get("/");
    let metrics = service.get("/metrics");
    let named: Vec<_> =
        PAGE.split('`').filter(|word| word.starts_with("torr_") && !word.contains([':', '\n'])).collect();
    assert!(named.len() >= 5, "{named:?}");
    for name in named {
        assert!(metrics.text().contains(&format!("# HELP {name} ")), "{name}");
    }
    service.terminate();
    service.wait();
}

#[test]
fn all_examples_are_listed_and_built() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = fs::read_dir(root.join("examples")).expect("it is a folder").flatten();
    let names = files.filter_map(|file| file.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned));
    let names: Vec<_> = names.collect();
    assert!(names.len() >= 15, "{names:?}");
    for name in names {
        assert!(
            include_str!("../../../../examples/README.md").contains(&format!("| [`{name}`]({name}.rs) |")),
            "{name}"
        );
        // Those of the other libraries are theirs.
        let library = name.strip_prefix("embed-").unwrap_or("serve");
        let manifest = root.join(format!("crates/torr-{library}/Cargo.toml"));
        let manifest = fs::read_to_string(&manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
        assert!(manifest.contains(&format!("\"../../examples/{name}.rs\"")), "{name}");
    }
}
