//! Outputs that would overwrite what the command reads: refused before anything is sent or written.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use torr_test_support::program::{Running, torr_command};

#[test]
fn outputs_never_overwrite_what_is_read() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file can be written");
    let url = "http://127.0.0.1:1/";
    file("urls.txt", url);
    file("f.csv", "id\n1\n");
    file("body", "x");
    file("plan.toml", &format!("target = \"{url}\"\n"));
    file("own.toml", &format!("target = \"{url}\"\njson = \"./own.toml\"\n"));
    file("a.hurl", &format!("GET {url}\n"));
    file("a.lua", "-- nothing");
    file("a.json", "{}");
    file("b.json", "{}");
    fs::hard_link(folder.path().join("body"), folder.path().join("link")).expect("links are possible");
    for (args, line) in [
        (&["--urls", "urls.txt", "--json", "urls.txt"][..], "--json would overwrite urls.txt, the file of --urls"),
        (&[url, "--feeder", "f.csv", "--csv", "./f.csv"], "--csv would overwrite ./f.csv, the file of --feeder"),
        (&[url, "--data-binary", "@body", "--hlog", "link"], "--hlog would overwrite link, the file of --data-binary"),
        (
            &[url, "--expect-body", "@body", "--report", "body"],
            "--report would overwrite body, the file of --expect-body",
        ),
        (&[url, "--cacert", "body", "--junit", "body"], "--junit would overwrite body, the file of --cacert"),
        (
            &[url, "--script", "a.lua", "--prometheus", "a.lua"],
            "--prometheus would overwrite a.lua, the file of --script",
        ),
        (&["a.hurl", "--csv-entries", "a.hurl"], "--csv-entries would overwrite a.hurl, the file of the target"),
        (&["plan.toml", "--json", "plan.toml"], "--json would overwrite plan.toml, the file of the plan"),
        (&["own.toml"], "--json would overwrite ./own.toml, the file of the plan"),
        (&["doctor", "a.hurl", "--json", "a.hurl"], "--json would overwrite a.hurl, the file of the target"),
        (&["doctor", url, "--data", "@body", "--report", "link"], "--report would overwrite link, the file of --data"),
        (&["limit", "plan.toml", "--json", "plan.toml"], "--json would overwrite plan.toml, the file of the plan"),
        (&["limit", url, "--feeder", "f.csv", "--json", "f.csv"], "--json would overwrite f.csv, the file of --feeder"),
        (
            &["compare", "a.json", "b.json", "--markdown", "b.json"],
            "--markdown would overwrite b.json, the file of a version",
        ),
        (
            &["compare", "--a", "a.json", "--b", "b.json", "--junit", "a.json"],
            "--junit would overwrite a.json, the file of --a",
        ),
    ] {
        let before: Vec<_> = contents(folder.path());
        let mut command = torr_command(args);
        command.current_dir(folder.path());
        let ended = Running::start(command).wait();
        assert_eq!((ended.code, &*ended.stdout), (Some(2), ""), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line) && ended.stderr.lines().count() == 1, "{args:?}: {}", ended.stderr);
        assert_eq!(contents(folder.path()), before, "{args:?}");
    }
}

/// Returns the files of a folder with their contents, by name.
fn contents(folder: &Path) -> Vec<(OsString, String)> {
    let entries = fs::read_dir(folder).expect("the folder is there").map(|entry| entry.expect("it can be read"));
    let mut all: Vec<_> =
        entries.map(|entry| (entry.file_name(), fs::read_to_string(entry.path()).expect("it is text"))).collect();
    all.sort();
    all
}
