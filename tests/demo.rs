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
    // Its server has ended with it, so that the command to run again is the one that this test has run.
    let verify = demo["verdict"]["verify"].as_str();
    assert!(verify.is_none_or(|verify| verify == "torr demo --quick"), "{}", demo["verdict"]);
    let rows = demo["rows"].as_array().expect("it is a list");
    assert_eq!(rows.len(), 7, "{demo}");
    // The doctor examines what the first row shows: both have one verdict, in the table as in the figures.
    assert_eq!(rows[0]["run"]["verdict"]["factor"], demo["verdict"]["factor"], "{demo}");
    let row = ended.stdout.lines().find(|line| line.trim_start().starts_with("100 connections, keep-alive"));
    let factor = demo["verdict"]["factor"].as_str().expect("it is a text");
    assert!(row.is_some_and(|row| row.contains(factor)), "no {factor} in {row:?}");
    let because: Vec<_> =
        demo["verdict"]["because"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let yardstick = because.iter().find_map(|told| told.strip_prefix("a service that does nothing reaches "));
    if let Some((null, target)) = yardstick.and_then(|told| told.split_once(" here, this one ")) {
        let per_second = |text: &str| match text.trim_end_matches("/s").split_once('k') {
            Some((thousands, _)) => thousands.parse::<f64>().map(|thousands| thousands * 1000.0),
            None => text.trim_end_matches("/s").parse(),
        };
        assert!(per_second(null).expect("a rate") >= per_second(target).expect("a rate"), "{because:?}");
    }
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

fn child_of(pid: u32) -> Option<u32> {
    let found = Command::new("pgrep").args(["-P", &pid.to_string()]).output().expect("pgrep runs");
    String::from_utf8_lossy(&found.stdout).lines().next()?.parse().ok()
}

fn connections_of(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}
