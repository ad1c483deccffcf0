//! What a plain run says of its response times and of its limit, which it can only on a machine that is not full of other work.

use serde_json::Value;
use std::time::Duration;
use torr_test_support::alone;
use torr_test_support::measured::measured;
use torr_test_support::program::torr_json;
use torr_test_support::quiet;
use torr_test_support::result::adds_up;
use torr_test_support::script::Script;

#[test]
fn a_server_without_keep_alive_is_named() {
    let _alone = alone();
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok");
        }
    });
    measured("a server without keep-alive", || {
        let result = torr_json(&["-n", "100", "-c", "4", &server.url()]);
        adds_up(&result);
        assert_eq!(result["connections"]["closed_by_server"], 100, "{result}");
        let verdict = &result["verdict"];
        quiet!(
            (verdict["factor"].as_str(), verdict["confidence"].as_str()) == (Some("keep-alive"), Some("likely")),
            "{verdict}"
        );
    });
}

#[test]
fn response_times_are_those_of_the_server() {
    let _alone = alone();
    const DELAY: Duration = Duration::from_millis(30);
    let server = Script::start(|client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
            // Not synchronisation: this is the time that is to be measured.
            std::thread::sleep(DELAY);
            client.send(b"ok");
        }
    });
    measured("response times", || {
        let result = torr_json(&["-n", "100", "-c", "2", "-t", "1", &server.url()]);
        adds_up(&result);
        let p50 = |of: &Value| of["p50"].as_u64().unwrap_or_else(|| panic!("{result}"));
        let (last, first) = (p50(&result["latency_us"]), p50(&result["phases_us"]["first_byte"]));
        assert!(last >= 29_900, "last byte after {last} us: {result}");
        quiet!(last < 60_000, "last byte after {last} us: {result}");
        quiet!(first < 20_000, "first byte after {first} us: {result}");
        quiet!(result["verdict"]["factor"] == "connections", "{result}");
    });
}
