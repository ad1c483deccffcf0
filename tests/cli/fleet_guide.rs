//! `docs/fleet.md`: its commands run, with one agent and less load.

use crate::fleet::Target;
use std::path::Path;
use torr_test_support::guide;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::torr_command;

const GUIDE: &str = include_str!("../../docs/fleet.md");

/// The files that the page's commands name, as their users would have them.
const FILES: [(&str, &str); 6] = [
    ("checkout.hurl", "GET https://shop.test/json\nHTTP 200\n"),
    ("login.hurl", "POST https://shop.test/echo\nHTTP 200\n"),
    ("users.csv", "user\nann\nbob\ncarl\n"),
    ("order.lua", "wrk.method = 'POST'\n"),
    (
        "shop.js",
        "import http from 'k6/http';\nexport default function () {\n    http.get('https://shop.test/json');\n}\n",
    ),
    ("shop.lua", "target = 'https://shop.test/'\nfunction session(user)\n    http.get('/json')\nend\n"),
];

/// Returns the page's commands for those who start a run.
fn commands() -> Vec<&'static str> {
    let is_agent = |line: &&str| line.starts_with("torr fleet agent ");
    guide::commands(GUIDE).into_iter().filter(|line| !is_agent(line)).collect()
}

/// Returns a word of a command for one agent and less load.
fn shorter<'w>(flag: &str, word: &'w str, target: &'w str) -> &'w str {
    match (flag, word) {
        (_, "https://shop.test/") => target,
        ("--budget", _) => "8s",
        ("--agents", _) => "1",
        ("-d", _) => "3s",
        ("-r", _) => "100",
        ("-c", _) => "10",
        _ => word,
    }
}

fn run(folder: &Path, nats: &NatsServer, target: &str, command: &str) {
    // The service's machine is this one, which runs no `torr watch`.
    let here = command.replace(" --watch shop.test:9300", "");
    let words: Vec<_> = here.split(' ').collect();
    let mut words: Vec<_> = words.windows(2).map(|pair| shorter(pair[0], pair[1], target)).collect();
    match words[0] {
        "doctor" => words.extend(["--budget", "8s", "-q"]),
        "limit" => words.extend(["--max-connections", "4", "-q"]),
        _ => {}
    }
    let mut command_here = torr_command(&words);
    command_here.env("TORR_NATS", nats.url()).current_dir(folder);
    guide::run(command, command_here, &[]);
}

/// Returns the part of an agent's first line between its name and the targets that it may load.
fn behind_name(line: &str) -> &str {
    let (_, named) = line.split_once("torr: agent ").expect("an agent says its name");
    let (_, behind) = named.split_once(' ').expect("a name has no space");
    behind.split_once("may load ").expect("an agent says what it may load").0
}

#[test]
fn the_guides_commands_run() {
    let (nats, target, folder) = (NatsServer::start(), Target::start(), tempfile::tempdir().expect("there is room"));
    for (name, text) in FILES {
        let text = text.replace("https://shop.test/", &target.url());
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let agent = nats.agent("one", &["--scripts"]);
    let sample =
        GUIDE.lines().find(|line| line.trim_start().starts_with("torr: agent ")).expect("the page has a sample");
    assert_eq!(behind_name(sample), behind_name(&agent.says("is ready")));
    let commands = commands();
    assert!(commands.len() >= 7, "{commands:?}");
    for command in commands {
        run(folder.path(), &nats, &target.url(), command);
    }
}
