//! The demo fails in one line, can be interrupted, and leaves nothing running. Its figures are measured in tests/measured.

use std::process::Command;
use torr_test_support::program::{Running, torr, torr_command, torr_path};
use torr_test_support::servers::closed_port;
use torr_test_support::terminal::Terminal;
use torr_test_support::wait_until;

#[test]
fn an_unusable_database_is_reported_in_one_line() {
    for (url, code, text) in [
        ("oracle://u:hidden@h/d".to_owned(), 2, "unknown database"),
        (format!("mysql://u:hidden@127.0.0.1:{}/d", closed_port()), 3, "cannot use the database"),
    ] {
        let ended = torr(&["demo", "--quick", "--database", &url]);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(code), 1), "{url}: {ended:?}");
        assert!(ended.stderr.starts_with("torr: cannot use the database") && ended.stderr.contains(text), "{ended:?}");
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("hidden"), "{ended:?}");
    }
}

#[test]
fn the_first_line_says_that_the_server_starts() {
    let url = format!("mysql://u@127.0.0.1:{}/d", closed_port());
    let (screen, code) = Terminal::run(120, &format!("{} demo --quick --database {url}", torr_path())).end();
    assert_eq!(code, Some(3), "{screen:?}");
    assert!(screen.output.contains("the server starts, with a database of 100,000 rows"), "{screen:?}");
    // The line is gone once there is an error.
    assert!(screen.lines()[0].starts_with("torr: cannot use the database"), "{:#?}", screen.lines());
}

#[test]
fn an_interrupted_demo_still_reports_and_takes_its_server_along() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let mut command = torr_command(&["demo"]);
    command.current_dir(folder.path());
    let demo = Running::start(command);
    let server = wait_until("the demo's server", || child_of(demo.pid()));
    wait_until("the demo to press it", || (connections_of(server) > 50).then_some(()));
    demo.signal("INT");
    let ended = demo.wait();
    assert_eq!(ended.code, Some(130), "{ended:?}");
    assert!(ended.stdout.contains("100 connections, keep-alive"), "{}", ended.stdout);
    let left: Vec<_> = std::fs::read_dir(&folder).expect("it is a folder").collect();
    assert!(left.is_empty(), "nobody has asked for {left:?}");
    assert!(!std::path::Path::new(&format!("/proc/{server}")).exists(), "the server is still there");
}

#[test]
fn a_demo_that_is_ended_at_once_takes_its_server_along() {
    let demo = Running::start(torr_command(&["demo"]));
    let server = wait_until("the demo's server", || child_of(demo.pid()));
    wait_until("the demo to press it", || (connections_of(server) > 50).then_some(()));
    // As Ctrl-\\ in a terminal does; a second Ctrl-C is the same.
    demo.signal("QUIT");
    assert_eq!(demo.wait().code, Some(130));
    wait_until("the server to be gone", || is_gone(server).then_some(()));
}

/// Whether a process has ended, even if its parent has not waited for it.
fn is_gone(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_none_or(|(_, rest)| rest.starts_with('Z'))
}

fn child_of(pid: u32) -> Option<u32> {
    let found = Command::new("pgrep").args(["-P", &pid.to_string()]).output().expect("pgrep runs");
    String::from_utf8_lossy(&found.stdout).lines().next()?.parse().ok()
}

fn connections_of(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}
