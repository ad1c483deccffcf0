//! `examples/service.rs`.

use crate::program::Example;
use std::fs;
use std::path::Path;
use std::process::Command;
use torr_test_support::wait_until;

fn start(folder: &Path) -> Example {
    Example::start("service", &[folder.to_str().expect("it is UTF-8")])
}

#[test]
fn a_proxy_is_believed_and_all_is_noted() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let service = start(folder.path());
    assert_eq!(service.get("/").text(), "Hello, 127.0.0.1!\n");
    assert_eq!(service.ask("GET /", &[("X-Forwarded-For", "192.0.2.7")]).text(), "Hello, 192.0.2.7!\n");
    assert!(service.get("/metrics").text().contains("\ntorr_http_requests_total{code=\"200\"} 2\n"));
    service.terminate();
    service.wait();
    let log = fs::read_to_string(folder.path().join("access.log")).expect("it is text");
    let of = |client: &str, path: &str| {
        let (begin, line) = (format!("{client} - - ["), format!("\"GET {path} HTTP/1.1\" 200 "));
        log.lines().filter(|known| known.starts_with(&begin) && known.contains(&line)).count()
    };
    assert_eq!((of("127.0.0.1", "/"), of("192.0.2.7", "/"), of("127.0.0.1", "/metrics")), (1, 1, 1), "{log}");
}

#[test]
fn a_reload_replaces_the_workers_and_begins_a_new_log() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (log, moved) = (folder.path().join("access.log"), folder.path().join("access.log.1"));
    let service = start(folder.path());
    let mut client = service.client();
    assert_eq!(client.get("/").text(), "Hello, 127.0.0.1!\n");
    fs::rename(&log, &moved).expect("there is a log");
    let shown = Command::new("sh").args(["-c", "kill -HUP $(cat tea.pid)"]).current_dir(folder.path()).status();
    assert!(shown.is_ok_and(|status| status.success()), "it is told to reload");
    // The response of a worker that has been replaced ends its connection.
    wait_until("the old worker to leave", || {
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        client.response().field("Connection").map(str::to_owned)
    });
    assert_eq!(service.get("/").text(), "Hello, 127.0.0.1!\n");
    service.terminate();
    service.wait();
    let lines = |path: &Path| fs::read_to_string(path).expect("it is text").lines().count();
    assert!(lines(&moved) >= 1 && lines(&log) >= 1, "{} and {}", lines(&moved), lines(&log));
}
