//! Requests with the first datagrams of a connection of HTTP/3 (0-RTT).

use crate::http3_server::{EarlyData, Http3Server, Manner, Reply};
use serde_json::Value;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::{adds_up, count};

const REQUESTS: u64 = 60;

fn server(early_data: EarlyData) -> Http3Server {
    let manner = Manner::new(|_, _| Reply::Response(200, b"hello".to_vec()));
    Http3Server::start(Manner { early_data, ..manner })
}

/// Loads a server with a connection for every third request, so that some are in flight together.
fn press(server: &Http3Server, more: &[&str]) -> Value {
    let (url, requests) = (server.url("/"), REQUESTS.to_string());
    let load = ["-t", "1", "-c", "2", "-n", &requests, "--requests-per-connection", "3", "--streams", "3", "--http3"];
    let result = torr_json(&[&load[..], &["--cacert", server.certificate(), &url], more].concat());
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/status/200")), (REQUESTS, REQUESTS), "{result}");
    assert_eq!(server.requests().len() as u64, REQUESTS, "a request was lost, or arrived twice");
    let handshakes = count(&result, "/tls/full") + count(&result, "/tls/resumed");
    assert_eq!(handshakes, count(&result, "/connections/opened"), "{}", result["tls"]);
    result
}

#[test]
fn requests_leave_before_the_handshake_is_complete() {
    let result = press(&server(EarlyData::Taken), &["--tls-earlydata"]);
    let (early, resumed) = (count(&result, "/tls/early_data"), count(&result, "/tls/resumed"));
    assert!(early > 0 && early <= resumed, "{}", result["tls"]);
    assert!(count(&result, "/phases_us/tls/max") > 0, "{}", result["phases_us"]);
    let without = press(&server(EarlyData::Taken), &[]);
    assert!(count(&without, "/tls/resumed") > 0 && without["tls"]["early_data"].is_null(), "{}", without["tls"]);
}

#[test]
fn requests_that_a_server_rejects_are_sent_again_behind_the_handshake() {
    let result = press(&server(EarlyData::Rejected), &["--tls-earlydata"]);
    // The first handshake of each connection in use is full too.
    assert!(count(&result, "/tls/early_data") > 0 && count(&result, "/tls/full") > 4, "{}", result["tls"]);
}

#[test]
fn a_server_that_permits_none_gets_none() {
    let server = server(EarlyData::Refused);
    let result = press(&server, &["--tls-earlydata"]);
    assert!(count(&result, "/tls/resumed") > 0 && count(&result, "/tls/early_data") == 0, "{}", result["tls"]);
    let flags = ["--http3", "--tls-earlydata", "-n", "1", "--cacert", server.certificate()];
    let ended = torr(&[&flags[..], &[&server.url("/")]].concat());
    assert!(ended.stdout.contains("1 full handshake, 0 resumed, 0 of them with early data"), "{}", ended.stdout);
}

#[test]
fn only_safe_requests_to_urls_leave_early() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let sessions = folder.path().join("a.hurl");
    std::fs::write(&sessions, "GET https://localhost/\nHTTP 200\n").expect("there is room");
    let sessions = sessions.to_str().expect("the path is text");
    let url = "https://localhost:9/";
    for (args, expected) in [
        (&[url][..], "--tls-earlydata needs --http3"),
        (&[url, "--http3", "-X", "DELETE"], "--tls-earlydata needs safe methods, such as GET, found DELETE"),
        (&[url, "--http3", "--data", "a=b"], "--tls-earlydata needs safe methods, such as GET, found POST"),
        (&[url, "--http3", "--tls-resumption", "full"], "--tls-earlydata needs --tls-resumption on"),
        (&[sessions, "--http3"], "early data has requests of a URL only"),
    ] {
        let ended = torr(&[args, &["--tls-earlydata"]].concat());
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(expected), "{args:?}: {}", ended.stderr);
    }
}
