//! The page on imports: each of its commands runs, and what it writes checks.

use std::collections::BTreeSet;
use std::path::Path;
use torr_test_support::guide::commands;
use torr_test_support::program::{Ended, Running, torr_command};

const GUIDE: &str = include_str!("../../docs/import.md");

/// Files as programs write them, under the names that the page has.
const SAMPLES: &[(&str, &str)] = &[
    ("openapi.yaml", "orders-3.0.yaml"),
    ("shop.postman_collection.json", "shop-2.1.postman_collection.json"),
    ("test.postman_environment.json", "test.postman_environment.json"),
    ("store.apipost.json", "store-7.apipost.json"),
    ("shop.http", "shop.http"),
    ("http-client.env.json", "http-client.env.json"),
    ("shop/bruno.json", "bruno/bruno.json"),
    ("shop/collection.bru", "bruno/collection.bru"),
    ("shop/environments/local.bru", "bruno/environments/local.bru"),
    ("shop/account/folder.bru", "bruno/account/folder.bru"),
    ("shop/account/Log in.bru", "bruno/account/Log in.bru"),
    ("shop/orders/folder.bru", "bruno/orders/folder.bru"),
    ("shop/orders/New order.bru", "bruno/orders/New order.bru"),
    ("shop/orders/Cancel.bru", "bruno/orders/Cancel.bru"),
    ("shop/Search.bru", "bruno/Search.bru"),
    ("notes/opencollection.yml", "bruno-yaml/opencollection.yml"),
    ("notes/environments/local.yml", "bruno-yaml/environments/local.yml"),
    ("notes/New note.yml", "bruno-yaml/New note.yml"),
    ("notes/Find notes.yml", "bruno-yaml/Find notes.yml"),
    ("shop.yaml", "shop-5.insomnia.yaml"),
    ("insomnia.json", "shop-4.insomnia.json"),
    ("plan.jmx", "shop.jmx"),
    ("shop.yml", "shop.artillery.yml"),
];

const COPIED: &str =
    "curl 'https://shop.example/login' -H 'X-Api-Key: k' --data-raw 'user=ann&password=x' --compressed\n";
const RECORDING: &str = r#"{"log": {"entries": [
    {"request": {"method": "GET", "url": "https://shop.example/"}, "response": {"status": 200}},
    {"request": {"method": "GET", "url": "https://api.shop.example/cart"}, "response": {"status": 200}}]}}"#;
const GLOBALS: &str = r#"{"values": [{"key": "a", "value": "b"}], "_postman_variable_scope": "globals"}"#;

fn run(folder: &Path, words: &[String]) -> Ended {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = torr_command(&words);
    command.current_dir(folder);
    Running::start(command).wait()
}

/// The names of the variables that a summary says to be without a value.
fn variables(summary: &str) -> BTreeSet<String> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let of_environment = summary.split("HURL_VARIABLE_").skip(1).map(|rest| {
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        rest[..end].to_owned()
    });
    let records = summary.lines().filter_map(|line| Some(line.split_once("records: ")?.1.split_once(" provides ")?.1));
    let of_records = records.filter_map(|rest| rest.split_once(':')).flat_map(|(names, _)| names.split(','));
    of_environment.chain(of_records.map(str::to_owned)).collect()
}

fn hurl_files(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).expect("it is a folder").flatten();
    let names = files.map(|file| file.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".hurl")).collect()
}

#[test]
fn the_guides_commands_run_and_what_they_write_checks() {
    let folder = tempfile::tempdir().expect("there is room");
    let folder = folder.path();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        path.parent().map(std::fs::create_dir_all).transpose().expect("there is room");
        std::fs::write(path, text).expect("there is room");
    };
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../torr-import/samples");
    for (name, sample) in SAMPLES {
        write(name, &std::fs::read_to_string(samples.join(sample)).expect("it is a sample"));
    }
    write("copied.txt", COPIED);
    write("recording.har", RECORDING);
    write("workspace.postman_globals.json", GLOBALS);
    let commands = commands(GUIDE);
    for line in &commands {
        let words: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
        let ended = run(folder, &words);
        assert_eq!(ended.code, Some(0), "{line}: {ended:?}");
        let files = hurl_files(folder);
        assert_eq!(files.is_empty(), !line.contains(" -o "), "{line}: {files:?}");
        let values =
            variables(&ended.stderr).into_iter().flat_map(|name| ["--variable".to_owned(), format!("{name}=x")]);
        let values: Vec<String> = values.collect();
        for file in files {
            let args = [&["check".to_owned(), file.clone()], &values[..]].concat();
            let checked = run(folder, &args);
            assert!(checked.code == Some(0) && checked.stdout.ends_with("no mistakes\n"), "{line}: {checked:?}");
            assert!(ended.stderr.contains(&format!("next: torr once {file}\n")), "{line}: {ended:?}");
            std::fs::remove_file(folder.join(file)).expect("it is there");
        }
    }
    // Each kind of the page's table is among them.
    let kinds = GUIDE.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('`').nth(1));
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds.len(), 10, "{kinds:?}");
    for kind in kinds {
        assert!(commands.iter().any(|line| line.starts_with(kind)), "no command of the page is '{kind}'");
    }
}
