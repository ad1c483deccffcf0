//! `docs/sessions.md`: every command that it shows runs as it stands there, but shorter, and each thing that people bring has
//! a command in one of the guides.

use std::path::Path;
use torr_test_support::guide::{self, commands};
use torr_test_support::program::torr_command;
use torr_test_support::script::{Client, OK, Script};

const GUIDE: &str = include_str!("../../docs/sessions.md");
const SCRIPTS: &str = include_str!("../../docs/scripts.md");
const IMPORTS: &str = include_str!("../../docs/import.md");

/// The files that the guide's commands name, as their users would have them.
const FILES: [(&str, &str); 6] = [
    ("checkout.hurl", "GET http://{{host}}/cart\nHTTP 200\n\nPOST http://{{host}}/orders\nHTTP 200\n"),
    ("browse.hurl", "GET http://{{host}}/items\nHTTP 200\n"),
    ("buy.hurl", "POST http://{{host}}/orders?user={{user}}&key={{key}}\nHTTP 200\n"),
    ("login.hurl", "POST http://{{host}}/login\nHTTP 200\n[Captures]\nkey: status\n"),
    ("logout.hurl", "DELETE http://{{host}}/login?key={{key}}\nHTTP 200\n"),
    ("users.csv", "user\nann\nbob\n"),
];

/// Returns the commands of a page: those of its blocks, and code within its text.
fn all_commands(page: &str) -> Vec<&str> {
    let texts = page.split("```").step_by(2);
    let in_text = texts.flat_map(|text| text.split('`').skip(1).step_by(2));
    // Two words are a command's name.
    let in_text = in_text.filter(|code| code.starts_with("torr ") && code.split(' ').count() > 2);
    commands(page).into_iter().chain(in_text).collect()
}

fn run(folder: &Path, line: &str, at: &str) {
    // A number of sessions, since a time may pass without one on a machine whose CPUs have other work.
    let line = line.replace("127.0.0.1:8080", at).replace("-d 30s", "-n 20").replace("-c 100", "-c 10");
    let mut words: Vec<_> = line.split(' ').skip(1).collect();
    match words[0] {
        "limit" => words.extend(["--budget", "5s", "--max-connections", "20", "-t", "1", "-q"]),
        "doctor" => words.extend(["--budget", "5s", "-c", "10", "-t", "1", "-q"]),
        "check" | "once" => {}
        _ if line.contains(" -n ") => {}
        _ => words.extend(["-n", "20"]),
    }
    let mut command = torr_command(&words);
    command.current_dir(folder).env("HURL_VARIABLE_host", at);
    guide::run(&line, command, &[]);
}

#[test]
fn the_guides_commands_run() {
    let server = Script::start(|client: &mut Client| {
        while client.request().is_some() {
            client.send(OK);
        }
    });
    let (folder, at) = (tempfile::tempdir().expect("there is room"), server.address.to_string());
    for (name, text) in FILES {
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let commands = all_commands(GUIDE);
    assert!(commands.len() >= 8, "{commands:?}");
    for line in commands {
        let before = server.requests();
        run(folder.path(), line, &at);
        assert_eq!(server.requests() > before, !line.starts_with("torr check "), "{line}");
    }
}

#[test]
fn whatever_people_bring_has_a_command_in_a_guide() {
    let scripted = |line: &str| line.starts_with("torr http://") && line.contains(" --script ");
    let session = |line: &str| line.starts_with("torr ") && line.contains(".lua") && !scripted(line);
    assert!(all_commands(GUIDE).iter().any(|line| line.starts_with("torr checkout.hurl ")), "hurl files");
    assert!(all_commands(SCRIPTS).iter().any(|line| line.starts_with("torr wrk -s ")), "scripts of wrk");
    assert!(all_commands(SCRIPTS).iter().any(|line| scripted(line)), "--script");
    assert!(all_commands(SCRIPTS).iter().any(|line| session(line)), "session(user)");
    for command in ["check", "once", "doctor", "limit"] {
        let begins = format!("torr {command} ");
        for guide in [GUIDE, SCRIPTS] {
            assert!(all_commands(guide).iter().any(|line| line.starts_with(&begins)), "{command}");
        }
    }
    for kind in ["curl", "har", "openapi", "postman", "apipost", "bruno", "insomnia", "http", "jmeter"] {
        let begins = format!("torr import {kind} ");
        assert!(all_commands(IMPORTS).iter().any(|line| line.starts_with(&begins)), "{kind}");
    }
}
