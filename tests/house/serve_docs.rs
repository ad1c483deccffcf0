//! Runs the commands in sections of the server's documentation, with other ports and shorter times.

use std::path::Path;
use torr_test_support::program::{Running, torr_command, torr_shell};
use torr_test_support::servers::Serve;

/// Pages of the server's documentation, and the section whose commands are run.
const SECTIONS: [(&str, &str); 4] = [
    (include_str!("../../docs/serve/edge.md"), "Start with TLS"),
    (include_str!("../../docs/serve/edge.md"), "Limits"),
    (include_str!("../../docs/serve/library.md"), "Blocking handlers"),
    (include_str!("../../docs/serve/operations.md"), "Metrics"),
];

/// Runs the commands of a block: servers in the background, all else to its end. Gives how many those were.
fn play(block: &str, folder: &Path) -> usize {
    let (mut server, mut runs) = (None::<(Serve, String)>, 0);
    for command in block.lines() {
        if let Some(args) = command.strip_prefix("torr serve --listen ") {
            let (listen, args) = args.split_once(' ').unwrap_or((args, ""));
            let mut serve = torr_command(&["serve", "--listen", "127.0.0.1:0"]);
            serve.args(args.split_whitespace()).current_dir(folder);
            server = Some((Serve::start_as(serve), listen.to_owned()));
            continue;
        }
        let mut here = command.replace("-d 10s", "-n 100");
        if let Some((server, listen)) = &server {
            here = here.replace(listen.as_str(), &server.address);
        }
        let mut shell = torr_shell(&here);
        shell.current_dir(folder);
        let ended = Running::start(shell).wait();
        assert_eq!(ended.code, Some(0), "{command}\n{here}\n{ended:?}");
        if here.starts_with("torr ") {
            assert!(ended.stdout.contains("errors       none"), "{command}\n{ended:?}");
        }
        runs += 1;
    }
    runs
}

#[test]
fn commands_work() {
    for (page, heading) in SECTIONS {
        let section = page.split(&format!("\n## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no {heading}"));
        let section = section.split("\n## ").next().expect("a text has a first part");
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        let runs: usize = section.split("```\n").skip(1).step_by(2).map(|block| play(block, folder.path())).sum();
        assert!(runs >= 1, "{heading} has commands");
    }
}
