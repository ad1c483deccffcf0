//! Sessions and their entries in every output of a run, and rules about them.

use serde_json::Value;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use torr_test_support::program::{Ended, Running, torr_command};
use torr_test_support::script::Script;

/// Two entries of one name, the second of which every fourth session fails, and one that expects a failure.
const FILE: &str = "\
# name: page
GET http://{{host}}/
HTTP 200

# name: page
GET http://{{host}}/fourth
HTTP *
[Asserts]
status == 200
body == \"hello {{secret}}\"

GET http://{{host}}/missing
HTTP 404
";

/// Responds to `/fourth` with a 500 every fourth time, and to `/missing` with a 404.
fn server() -> Script {
    let turn = AtomicUsize::new(0);
    Script::start(move |client| {
        while let Some(request) = client.request() {
            let request = String::from_utf8_lossy(&request).into_owned();
            let fourth = request.starts_with("GET /fourth ");
            let response = match turn.fetch_add(usize::from(fourth), Ordering::SeqCst) % 4 {
                3 if fourth => "HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\noops",
                _ if request.starts_with("GET /missing ") => "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
                _ => "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world",
            };
            client.send(response.as_bytes());
        }
    })
}

fn run(folder: &Path, server: &Script, args: &[&str]) -> Ended {
    std::fs::write(folder.join("a.hurl"), FILE).expect("there is room");
    let host = format!("host={}", server.address);
    let mut command = torr_command(&["a.hurl", "--variable", &host, "--secret", "secret=world", "-c", "3", "-t", "2"]);
    command.args(args).current_dir(folder).env("COLUMNS", "80");
    Running::start(command).wait()
}

#[test]
fn every_output_has_sessions_and_entries() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    let outputs = ["--json", "j", "--csv", "c", "--csv-entries", "e", "--prometheus", "p", "--junit", "x"];
    let rules = ["--fail-if", "sessions_failed>30%,p50{GET /missing}>1m,failed_asserts{a.hurl:6}>19"];
    let ended = run(folder.path(), &server, &[&["-n", "80"][..], &outputs, &rules].concat());
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let lines: Vec<_> = ended.stderr.lines().collect();
    assert!(
        lines[0].starts_with("torr: entry failed: page (a.hurl:6): status == 200 failed in 20 of 80 responses; "),
        "{ended:?}"
    );
    assert_eq!(lines[1], "torr: threshold failed: failed_asserts{a.hurl:6}>19: measured 40", "{ended:?}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it was written");
    for text in [&ended.stdout, &ended.stderr, &read("j"), &read("p"), &read("x")] {
        assert!(!text.contains("hello world") && !text.contains("world\""), "the secret is masked: {text}");
    }
    for part in [
        "60 finished, 20 failed (25%)",
        "20 of 80 responses failed: status == 200",
        "expected integer 200, was integer 500",
    ] {
        assert!(ended.stdout.contains(part), "{part} is not in {}", ended.stdout);
    }
    assert!(ended.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ended.stdout);

    let result: Value = serde_json::from_str(&read("j")).expect("it is JSON");
    let sessions = &result["sessions"];
    let of = |name: &str| sessions[name].as_u64();
    assert_eq!((of("users"), of("started"), of("finished"), of("failed")), (Some(3), Some(80), Some(60), Some(20)));
    // The entry expects its 404, so it is no error of the run.
    assert_eq!(
        (&result["errors"]["status"], &result["status"]["404"]),
        (&Value::from(20), &Value::from(60)),
        "{result}"
    );
    assert_eq!(result["failed_response"]["status"], 500, "{result}");
    let entries = result["entries"].as_array().expect("a list");
    let counts = |name: &str| entries.iter().map(|entry| entry[name].as_u64().expect("a number")).collect::<Vec<_>>();
    assert_eq!((counts("line"), counts("requests")), (vec![2, 6, 12], vec![80, 80, 60]), "{result}");
    assert_eq!((counts("failed"), counts("sessions_failed")), (vec![0, 20, 0], vec![0, 20, 0]), "{result}");
    let example = &entries[1]["asserts"][0]["examples"][0];
    assert_eq!((&example["expected"], &example["actual"]), (&"integer 200".into(), &"integer 500".into()), "{result}");

    let series: u64 = read("c").lines().skip(1).map(|line| line.split(',').nth(6).expect("a cell")).map(number).sum();
    assert_eq!(series, 60, "{}", read("c"));
    let lines: Vec<_> =
        read("e").lines().skip(1).map(|line| line.split(',').take(4).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(lines, ["page a.hurl 2 80", "page a.hurl 6 80", "GET /missing a.hurl 12 60"]);
    let prometheus = read("p");
    let is_failed =
        |line: &str| line.starts_with("torr_entry_failed_total{") && line.ends_with("entry=\"page (a.hurl:6)\"} 20");
    assert!(prometheus.lines().any(is_failed), "{prometheus}");
    let xml = read("x");
    let xml = roxmltree::Document::parse(&xml).expect("it is XML");
    let cases = xml.descendants().filter(|node| node.has_tag_name("testcase"));
    let failed = cases.filter(|case| case.children().any(|child| child.has_tag_name("failure")));
    let failed: Vec<_> = failed.filter_map(|case| case.attribute("name")).collect();
    assert_eq!(failed, ["page (a.hurl:6)", "failed_asserts{a.hurl:6}>19"]);
}

fn number(text: &str) -> u64 {
    text.parse().expect("a number")
}

#[test]
fn a_rule_about_no_entry_is_refused_before_anything_is_sent() {
    let (server, folder) = (server(), tempfile::tempdir().expect("there is room"));
    std::fs::write(folder.path().join("s.hurl"), "GET http://{{host}}/setup\n").expect("there is room");
    for (rule, why) in [
        ("p99{pages}>1s", "unknown entry 'pages': use 'page', 'GET /missing'"),
        ("errors{a.hurl:3}>1", "unknown entry 'a.hurl:3'"),
    ] {
        let ended = run(folder.path(), &server, &["-n", "1", "--setup", "s.hurl", "--fail-if", rule]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert!(ended.stderr.contains(why) && ended.stderr.lines().count() == 1, "{}", ended.stderr);
    }
    assert_eq!(server.requests(), 0);
}
