//! `torr check`: hurl files are read, nothing is sent.

use std::path::Path;
use torr_test_support::program::{Running, torr_command};

/// Writes files into a new folder and checks them there.
fn check(files: &[(&str, &str)], args: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("there is room");
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    checked_in(folder.path(), args)
}

fn checked_in(folder: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    let mut command = torr_command(&[&["check"], args].concat());
    command.current_dir(folder).env("HURL_VARIABLE_from_environment", "x");
    let ended = Running::start(command).wait();
    (ended.code, ended.stdout, ended.stderr)
}

#[test]
fn a_file_without_mistakes_is_said_to_have_none() {
    let file = "GET http://{{host}}/{{from_environment}}/{{from_file}}\n[Options]\nverbose: true\nHTTP 200\n[Captures]\n\
                id: jsonpath \"$.id\"\ntoken: xpath \"string(//meta[@name='csrf']/@content)\"\n[Asserts]\n\
                xpath \"//li\" count == 3\nGET http://{{host}}/{{id}}/{{token}}";
    let files = [("a.hurl", file), ("b.hurl", "GET http://b/"), ("vars", "# a comment\nfrom_file=1=2\n")];
    let args = ["a.hurl", "b.hurl", "--variable", "host=a", "--variables-file", "vars"];
    let (code, stdout, stderr) = check(&files, &args);
    assert_eq!((code, stdout.as_str()), (Some(0), "a.hurl: 2 requests, no mistakes\nb.hurl: 1 request, no mistakes\n"));
    assert_eq!(stderr, "torr: a.hurl:3:1: 'verbose' is ignored: it has no effect under load\n");
}

#[test]
fn mistakes_are_reported_with_their_positions() {
    let cases = [
        ("GET http://a/\nHTTP 200\n[Asserts]\nstatus = 200", "a.hurl:4:8: expected a filter or a predicate"),
        ("GET http://{{host}}/", "a.hurl:1:14: the variable 'host' has no value: set it with --variable host=VALUE"),
        ("# nothing\n", "a.hurl: no request in this file"),
        ("POST http://a/\nfile,none.bin;", "a.hurl:1:1: cannot read 'none.bin'"),
        ("POST http://a/\nfile,../x;", "outside the hurl file's folder"),
        (
            "GET http://a/\nHTTP 200\n[Asserts]\nbody matches /(/",
            "a.hurl:4:1: invalid regular expression '(': unclosed group",
        ),
        (
            "GET http://a/\nHTTP 200\n[Asserts]\nstatus == 200\nxpath \"//li[\" count == 3",
            "a.hurl:5:1: invalid XPath expression '//li[': unexpected end (character 6)",
        ),
        ("GET http://a/\n[Options]\nntlm: true", "a.hurl:3:1: 'ntlm' is not supported"),
        ("GET http://a/\nHTTP 200\n[Asserts]\nbytes == file,none;", "a.hurl:4:1: cannot read 'none'"),
        ("GET http://a/\n[Query]\na: b\n[Query]\nc: d", "a.hurl:4:1: duplicate section [Query]"),
    ];
    for (file, message) in cases {
        let (code, stdout, stderr) = check(&[("a.hurl", file)], &["a.hurl"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{file}: {stderr}");
        assert!(
            stderr.starts_with("torr: ") && stderr.contains(message) && stderr.lines().count() == 1,
            "{file}: {stderr}"
        );
    }
    for (args, message) in [
        (&["none.hurl"][..], "cannot read requests from 'none.hurl'"),
        (&["a.hurl", "--variable", "host"], "--variable needs NAME=VALUE"),
        (&["a.hurl", "--secret", "=geheim"], "--secret needs NAME=VALUE"),
        (&["a.hurl", "--variables-file", "a.hurl"], "a.hurl:1: expected NAME=VALUE"),
        (&[], "<FILE>"),
    ] {
        let (code, _, stderr) = check(&[("a.hurl", "GET http://a/")], args);
        assert!(code == Some(2) && stderr.contains(message) && !stderr.contains("geheim"), "{args:?}: {stderr}");
    }
}
