//! The demo measures, shows and writes its figures.

use crate::printed;
use serde_json::Value;
use torr_test_support::alone;
use torr_test_support::databases::{Make, PASSWORD, shared};
use torr_test_support::measured::measured;
use torr_test_support::program::{torr, torr_path};
use torr_test_support::quiet;
use torr_test_support::terminal::Terminal;

/// The paths of the rows with a database, kept alive and then not.
const QUERIES: [&str; 6] = ["/db/raw", "/db/builder", "/db/model", "/db/raw", "/db/builder", "/db/model"];

/// The rows of a demo, each of which was pressed without an error.
fn rows(demo: &Value) -> &[Value] {
    assert_eq!(demo["schema"], "torr.demo/1");
    let rows = demo["rows"].as_array().expect("it is a list");
    assert_eq!(rows.len(), 10, "{demo}");
    for row in rows {
        assert!(row["run"]["requests"].as_u64() > Some(0), "{row}");
        quiet!(row["run"]["requests"].as_u64() > Some(50), "{row}");
        let rps = ["/rps_range/0", "/run/rps", "/rps_range/1"].map(|at| row.pointer(at).and_then(Value::as_f64));
        assert!(row["rounds"] == 3 && rps.is_sorted() && rps[0] > Some(0.0), "{row}");
        assert_eq!(row["run"]["errors"]["status"], 0, "{row}");
    }
    let queries = &rows[4..];
    assert!(queries.iter().map(|row| &row["path"]).eq(&QUERIES), "{demo}");
    assert!(queries.iter().map(|row| &row["keep_alive"]).eq(&[true, true, true, false, false, false]), "{demo}");
    rows
}

/// Variables with which no server starts: that of the demo does not read them.
const UNFIT: &str = "TORR_SERVE_WORKERS=none TORR_SERVE_CONFIG=/no/such/file";

#[test]
#[ignore = "measured for long: ./test full"]
fn the_demo_shows_its_tables_and_writes_its_figures() {
    let _alone = alone();
    measured("the demo", shows_its_tables);
}

fn shows_its_tables() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let torr = torr_path();
    let here = folder.path().display();
    let (screen, code) =
        Terminal::run(80, &format!("env -C {here} {UNFIT} {torr} demo --quick --json demo.json")).end();
    let text = screen.lines().join("\n");
    assert_eq!((code, screen.wrapped), (Some(0), 0), "{text}");
    for words in [
        "hello world",
        "100 connections, keep-alive",
        "1000 connections, no keep-alive",
        "webman",
        "Drogon",
        "nginx",
        "here",
        "one row of 100,000 as JSON, 100 connections, keep-alive",
        "one row of 100,000 as JSON, 100 connections, no keep-alive",
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
    assert_eq!(demo["command"], "torr demo --quick");
    printed::runs(&format!("env -C {here} torr demo --quick"), &[], printed::has_sockets);
    // The server has ended with the demo, so that the command of the verdict needs it started again.
    let verify = demo["verdict"]["verify"].as_str();
    assert!(verify.is_none_or(|verify| verify.starts_with("torr ") && !verify.contains("demo")), "{}", demo["verdict"]);
    // The doctor examines what the first row shows: both have one verdict, in the table as in the figures.
    assert_eq!(rows(&demo)[0]["run"]["verdict"]["factor"], demo["verdict"]["factor"], "{demo}");
    // Columns that are too many for the screen stand below, behind the same names.
    let rows_of_screen = screen.lines();
    let mut row = rows_of_screen.iter().filter(|line| line.trim_start().starts_with("100 connections, keep-alive"));
    let factor = demo["verdict"]["factor"].as_str().expect("it is a text");
    assert!(row.any(|row| row.contains(factor)), "no {factor} in {rows_of_screen:#?}");
    let facts = demo["verdict"]["facts"].as_array().into_iter().flatten();
    for yardstick in facts.filter(|fact| fact["fact"] == "null-service") {
        quiet!(yardstick["null_rps"].as_f64() >= yardstick["rps"].as_f64(), "{yardstick}");
    }
    let references: Vec<_> = rows(&demo).iter().map(|row| row["references"].as_array().map(Vec::len)).collect();
    assert_eq!(references, [3, 3, 3, 3, 1, 1, 1, 1, 0, 0].map(Some), "{demo}");
}

#[test]
#[ignore = "measured for long: ./test full"]
fn the_demo_asks_a_database_of_ones_own() {
    let _alone = alone();
    let url = shared(Make::MariaDb).new_database();
    measured("the demo with MariaDB", || asks_a_database(&url));
}

fn asks_a_database(url: &str) {
    let ended = torr(&["demo", "--quick", "--database", url, "--json", "-"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let demo: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
    rows(&demo);
    assert_eq!(demo["database"], "MySQL or MariaDB");
    assert!(!ended.stdout.contains(PASSWORD), "{}", ended.stdout);
}
