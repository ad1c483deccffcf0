//! The demo does its whole job in one command, and leaves nothing running.

mod support;

use serde_json::Value;
use std::process::Command;
use support::program::{Running, torr_command};
use support::wait_until;

#[test]
fn the_demo_shows_its_table_and_writes_its_figures() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let mut command = torr_command(&["demo", "--quick"]);
    command.current_dir(folder.path());
    let ended = Running::start(command).wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for word in [
        "hello world",
        "100 connections, keep-alive",
        "1000 connections, none kept alive",
        "webman",
        "Drogon",
        "nginx",
        "here",
        "one row of 100,000",
        "17,800",
        "verdict",
    ] {
        assert!(ended.stdout.contains(word), "no {word:?} in:\n{}", ended.stdout);
    }
    let text = std::fs::read_to_string(folder.path().join("torr-demo.json")).expect("the demo writes its figures");
    let demo: Value = serde_json::from_str(&text).expect("they are JSON");
    assert_eq!(demo["schema"], "torr.demo/1");
    let rows = demo["rows"].as_array().expect("it is a list");
    assert_eq!(rows.len(), 7, "{demo}");
    let paths: Vec<_> = rows[4..].iter().map(|row| row["path"].as_str().expect("it is a text")).collect();
    assert_eq!(paths, ["/db/raw", "/db/builder", "/db/model"]);
    for row in rows {
        assert!(row["run"]["requests"].as_u64() > Some(100), "{row}");
        assert_eq!(row["run"]["errors"]["status"], 0, "{row}");
        let references = if row["path"] == "/" { 3 } else { 1 };
        assert_eq!(row["references"].as_array().map(Vec::len), Some(references), "{row}");
    }
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

/// Whether a process has ended, though perhaps nobody has waited for it yet.
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
