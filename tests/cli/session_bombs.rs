//! Responses that are made to cost much: what they may cost is bounded, and a run ends at its time or by a signal.

use std::fs;
use std::time::{Duration, Instant};
use torr_test_support::program::Running;
use torr_test_support::script::{Client, Script};
use torr_test_support::wait_until;

/// A server of one response.
fn server(kind: &'static str, content: String) -> Script {
    Script::start(move |client: &mut Client| {
        while client.request().is_some() {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n", content.len());
            client.send((head + &content).as_bytes());
        }
    })
}

/// Starts Torr with a file, with at most 4 GB of memory.
fn start(command: &[&str], source: &str) -> (Running, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("there is room");
    fs::write(folder.path().join("a.hurl"), source).expect("there is room");
    let limited = ["-c", "ulimit -v 4000000; exec \"$0\" \"$@\"", torr_test_support::program::torr_path()];
    let mut shell = std::process::Command::new("sh");
    shell.args(limited).args(command).current_dir(folder.path());
    (Running::start(shell), folder)
}

#[test]
fn entities_grow_to_a_limit_however_they_are_written() {
    let million = "A".repeat(1_000_000);
    let references = "&a;".repeat(255);
    for declarations in [
        format!("<!--<!ENTITY ]>--><!ENTITY a \"{million}\"><!ENTITY b \"{references}\">"),
        format!("<?p ]> ?><!ENTITY a '{million}'><!ENTITY b '{references}'>"),
        format!("<!ATTLIST r x CDATA ']>'><!ENTITY a '{million}'><!ENTITY b '{references}'>"),
        format!(
            "<!NOTATION n SYSTEM \"]>\"><!ENTITY\ta\n'{million}'><!ENTITY b \"{}\">",
            references.replace("&a;", "&#38;a;")
        ),
    ] {
        let page = format!("<!DOCTYPE r [{declarations}]><r x=\"{}\"/>", "&b;".repeat(40));
        let server = server("application/xml", page);
        let source = format!("GET {}\nHTTP 200\n[Asserts]\nxpath \"count(//r)\" == 1\n", server.url());
        let (once, _folder) = start(&["once", "a.hurl"], &source);
        let ended = once.wait();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(ended.stdout.contains("the content's entities could expand to more than"), "{}", ended.stderr);
    }
}

#[test]
fn a_run_ends_while_an_assert_is_still_evaluated() {
    // Each element has all of the document counted.
    let items = format!("[{}]", vec!["[1]"; 30_000].join(","));
    let server = server("application/json", items);
    let source = format!("GET {}\nHTTP 200\n[Asserts]\njsonpath \"$[?count($..*) > 1]\" count == 1\n", server.url());
    let (run, _folder) = start(&["a.hurl", "-c1", "-t1", "-n1"], &source);
    wait_until("the request has come", || (server.requests() == 1).then_some(()));
    let begun = Instant::now();
    run.signal("TERM");
    let ended = run.wait();
    assert!(begun.elapsed() < Duration::from_secs(60), "{ended:?}");
    assert!(ended.stderr.contains("were still being evaluated 2 s after the end of the run"), "{ended:?}");
}
