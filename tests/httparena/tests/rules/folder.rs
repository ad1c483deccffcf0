//! The folder as it is sent upstream: metadata, image, and a manifest that is complete by itself.

use crate::CHECKED;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/httparena").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn metadata_lists_exactly_the_profiles_that_are_checked() {
    let meta: Value = serde_json::from_str(&read("meta.json")).expect("it is JSON");
    let tests = meta["tests"].as_array().expect("it is a list").iter().map(|test| test.as_str().expect("it is a name"));
    let tests: Vec<_> = tests.collect();
    assert_eq!(tests.iter().collect::<BTreeSet<_>>(), CHECKED.iter().collect());
    assert_eq!(tests.len(), CHECKED.len(), "each once");
    for (name, value) in [("type", "production"), ("language", "Rust")] {
        assert_eq!(meta[name], value, "{name}");
    }
    for name in ["display_name", "engine", "description", "repo"] {
        assert!(meta[name].is_string(), "{name}");
    }
    assert!(meta["enabled"].is_boolean() && meta["maintainers"].is_array());
}

#[test]
fn the_manifest_refers_to_nothing_outside_the_folder() {
    let manifest = read("Cargo.toml");
    let outside = ["path =", "workspace = true", ".workspace"];
    let found = manifest.lines().find(|line| outside.iter().any(|word| line.contains(word)));
    assert_eq!(found, None);
}

#[test]
fn the_image_copies_only_what_is_in_the_folder() {
    let image = read("Dockerfile");
    let copied = image.lines().filter_map(|line| line.strip_prefix("COPY ")).filter(|rest| !rest.starts_with("--from"));
    let sources: Vec<_> = copied.flat_map(|rest| rest.split_whitespace().rev().skip(1)).collect();
    assert!(!sources.is_empty());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/httparena");
    sources.iter().for_each(|source| assert!(folder.join(source).exists(), "{source}"));
    assert!(image.lines().any(|line| line.starts_with("USER ")), "not as root");
}
