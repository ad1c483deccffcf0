//! The demo does its whole job in one command, and leaves nothing running.

use serde_json::Value;
use std::process::Command;
use torr_test_support::databases::{Make, PASSWORD, shared};
use torr_test_support::program::{Running, torr, torr_command, torr_path};
use torr_test_support::servers::free_port;
use torr_test_support::terminal::Terminal;
use torr_test_support::wait_until;

/// The paths of the rows with a database, kept alive and then not.
const QUERIES: [&str; 6] = ["/db/raw", "/db/builder", "/db/model", "/db/raw", "/db/builder", "/db/model"];

/// The rows of a demo, each of which was pressed without an error.
fn rows(demo: &Value) -> &[Value] {
    assert_eq!(demo["schema"], "torr.demo/1");
    let rows = demo["rows"].as_array().expect("it is a list");
    assert_eq!(rows.len(), 10, "{demo}");
    for row in rows {
        assert!(row["run"]["requests"].as_u64() > Some(50), "{row}");
        assert_eq!(row["run"]["errors"]["status"], 0, "{row}");
    }
    let queries = &rows[4..];
    assert!(queries.iter().map(|row| &row["path"]).eq(&QUERIES), "{demo}");
    assert!(queries.iter().map(|row| &row["keep_alive"]).eq(&[true, true, true, false, false, false]), "{demo}");
    rows
}

#[test]
fn the_demo_shows_its_tables_and_writes_its_figures() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let torr = torr_path();
    let here = folder.path().display();
    let (screen, code) = Terminal::run(80, &format!("env -C {here} {torr} demo --quick --json demo.json")).end();
    let text = screen.lines().join("\n");
    assert_eq!((code, screen.wrapped), (Some(0), 0), "{text}");
    for words in [
        "hello world",
        "100 connections, keep-alive",
        "1000 connections, none kept alive",
        "webman",
        "Drogon",
        "nginx",
        "here",
        "one row of 100,000 as JSON, 100 connections, kept alive",
        "one row of 100,000 as JSON, 100 connections, none kept alive",
        "17,800",
        "10,000",
        "embedded SQLite",
        "verdict",
        "all figures are in demo.json",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    let text = std::fs::read_to_string(folder.path().join("demo.json")).expect("the demo writes its figures");
    let demo: Value = serde_json::from_str(&text).expect("they are JSON");
    // The server has ended with the demo, so that the command to run again is the one that this test has run.
    let verify = demo["verdict"]["verify"].as_str();
    assert!(verify.is_none_or(|verify| verify == "torr demo --quick"), "{}", demo["verdict"]);
    // The doctor examines what the first row shows: both have one verdict, in the table as in the figures.
    assert_eq!(rows(&demo)[0]["run"]["verdict"]["factor"], demo["verdict"]["factor"], "{demo}");
    // Columns that are too many for the screen stand below, behind the same names.
    let rows_of_screen = screen.lines();
    let mut row = rows_of_screen.iter().filter(|line| line.trim_start().starts_with("100 connections, keep-alive"));
    let factor = demo["verdict"]["factor"].as_str().expect("it is a text");
    assert!(row.any(|row| row.contains(factor)), "no {factor} in {rows_of_screen:#?}");
    let because: Vec<_> =
        demo["verdict"]["because"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let yardstick = because.iter().find_map(|text| text.strip_prefix("a service that does nothing reaches "));
    if let Some((null, target)) = yardstick.and_then(|text| text.split_once(" here, this one ")) {
        let per_second = |text: &str| match text.trim_end_matches("/s").split_once('k') {
            Some((thousands, _)) => thousands.parse::<f64>().map(|thousands| thousands * 1000.0),
            None => text.trim_end_matches("/s").parse(),
        };
        assert!(per_second(null).expect("a rate") >= per_second(target).expect("a rate"), "{because:?}");
    }
    let references: Vec<_> = rows(&demo).iter().map(|row| row["references"].as_array().map(Vec::len)).collect();
    assert_eq!(references, [3, 3, 3, 3, 1, 1, 1, 1, 0, 0].map(Some), "{demo}");
}

#[test]
fn the_demo_asks_a_database_of_ones_own() {
    let url = shared(Make::MariaDb).new_database();
    let ended = torr(&["demo", "--quick", "--database", &url, "--json", "-"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let demo: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    rows(&demo);
    assert_eq!(demo["database"], "MySQL or MariaDB");
    assert!(!ended.stdout.contains(PASSWORD), "{}", ended.stdout);
}

#[test]
fn an_unusable_database_is_reported_in_one_line() {
    for (url, code, text) in [
        ("oracle://u:hidden@h/d".to_owned(), 2, "no known database"),
        (format!("mysql://u:hidden@127.0.0.1:{}/d", free_port()), 3, "cannot use the database"),
    ] {
        let ended = torr(&["demo", "--quick", "--database", &url]);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(code), 1), "{url}: {ended:?}");
        assert!(ended.stderr.starts_with("torr: cannot use the database") && ended.stderr.contains(text), "{ended:?}");
        assert!(ended.stdout.is_empty() && !ended.stderr.contains("hidden"), "{ended:?}");
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
