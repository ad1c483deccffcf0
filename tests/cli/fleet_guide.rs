//! `docs/fleet.md`: its commands run, with one agent and less load.

use crate::fleet::Target;
use std::path::Path;
use torr_test_support::nats::NatsServer;
use torr_test_support::program::{Running, torr_command};

const GUIDE: &str = include_str!("../../docs/fleet.md");

/// The files that the page's commands name, as their users would have them.
const FILES: [(&str, &str); 5] = [
    ("checkout.hurl", "GET https://shop.test/json\nHTTP 200\n"),
    ("login.hurl", "POST https://shop.test/echo\nHTTP 200\n"),
    ("users.csv", "user\nann\nbob\ncarl\n"),
    ("order.lua", "wrk.method = 'POST'\n"),
    ("shop.lua", "target = 'https://shop.test/'\nfunction session(user)\n    http.get('/json')\nend\n"),
];

/// Returns the page's commands for those who start a run, with or without a fence around them.
fn commands() -> Vec<&'static str> {
    let lines = GUIDE.lines().map(str::trim_start);
    let is_agent = |line: &&str| line.starts_with("torr fleet agent ");
    lines.filter(|line| line.starts_with("torr ") && !is_agent(line)).collect()
}

fn run(folder: &Path, nats: &NatsServer, target: &str, command: &str) {
    let mut words: Vec<_> = command.split(' ').skip(1).map(str::to_owned).collect();
    for word in &mut words {
        let shorter = match &**word {
            "https://shop.test/" => target,
            "3" | "4" => "1",
            "1m" | "5m" => "1s",
            "30000" => "100",
            "600" | "300" | "200" => "10",
            word => word,
        };
        *word = shorter.to_owned();
    }
    if let "doctor" | "limit" = &*words[0] {
        // `--watch` shows the service's machine, which is this one.
        let connections = if words[0] == "doctor" { "-c" } else { "--max-connections" };
        let short = [&words[0], target, "--fleet", "--agents", "1", connections, "4", "--budget", "8s", "-q"];
        words = short.map(str::to_owned).to_vec();
    }
    let mut command_here = torr_command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    command_here.env("TORR_NATS", nats.url()).current_dir(folder);
    let ended = Running::start(command_here).wait();
    // A limit that a disturbed machine hides has exit code 1.
    let may_fail = words[0] == "limit";
    assert!(ended.code == Some(0) || may_fail && ended.code == Some(1), "{command}: {ended:?}");
}

#[test]
fn the_guides_commands_run() {
    let (nats, target, folder) = (NatsServer::start(), Target::start(), tempfile::tempdir().expect("there is room"));
    for (name, text) in FILES {
        let text = text.replace("https://shop.test/", &target.url());
        std::fs::write(folder.path().join(name), text).expect("there is room");
    }
    let _agent = nats.agent("one", &["--scripts"]);
    let commands = commands();
    assert!(commands.len() >= 7, "{commands:?}");
    for command in commands {
        run(folder.path(), &nats, &target.url(), command);
    }
}
