//! How connections over TLS end: with `close_notify` where nothing was cut off, and without where something was.

use super::scene::{Scene, app};
use std::io::Write;
use std::net::Shutdown;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use torr_test_support::client::get;
use torr_test_support::wait_until;

#[test]
fn a_server_that_closes_says_so() {
    let scene = Scene::with(app(), |settings, _| settings.requests_per_connection = 5);
    let close = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    for (requests, responses) in [
        (close("/"), 1),
        (close("/large/3000000"), 1),
        (close("/soon/1"), 1),
        // The last that the connection may bring, and more than that.
        (get("/").repeat(5), 5),
        (get("/").repeat(50), 5),
        (get("/large/100000").repeat(50), 5),
        ("GET / HTTP/1.1\r\n\r\n".into(), 1),
    ] {
        let mut client = scene.client();
        client.send(&requests);
        for number in 1..=responses {
            let (head, _) = client.response();
            assert_eq!(head.contains("Connection: close\r\n"), number == responses, "{number} of {requests}: {head}");
        }
        assert_eq!(client.ends(), (true, vec![]), "after {requests}");
    }
}

#[test]
fn an_idle_connection_ends_with_a_word() {
    let scene = Scene::with(app(), |settings, _| settings.idle_timeout = Duration::from_millis(1500));
    let mut client = scene.client();
    assert_eq!(client.get("/"), "fine");
    assert_eq!(client.ends(), (true, vec![]));
    assert_eq!(scene.client().ends(), (true, vec![]));
}

#[test]
fn a_head_that_takes_too_long_is_answered_first() {
    let scene = Scene::with(app(), |settings, _| settings.head_timeout = Duration::from_millis(1500));
    let mut client = scene.client();
    client.send("GET / HT");
    assert!(client.response().0.starts_with("HTTP/1.1 408 "));
    assert_eq!(client.ends(), (true, vec![]));
}

#[test]
fn a_body_that_is_cut_does_not_look_whole() {
    let scene = Scene::set();
    let mut client = scene.client();
    client.send(get("/short"));
    client.until(b"\r\n\r\n");
    let (said, body) = client.ends();
    assert!(!said && body.len() < 100_000, "{said} after {} bytes", body.len());
}

#[test]
fn a_client_that_has_ended_its_side_is_answered_and_sent_close_notify() {
    let scene = Scene::set();
    // By TLS and by TCP together, as most do it, and by TLS alone.
    for by_tcp in [true, false] {
        let mut client = scene.client();
        client.stream.conn.writer().write_all(get("/").as_bytes()).expect("there is room");
        client.stream.conn.send_close_notify();
        while client.stream.conn.wants_write() {
            client.stream.conn.write_tls(&mut client.stream.sock).expect("the server takes it");
        }
        if by_tcp {
            client.stream.sock.shutdown(Shutdown::Write).expect("it is connected");
        }
        assert_eq!(client.response().1, b"fine", "{by_tcp}");
        assert_eq!(client.ends(), (true, vec![]), "{by_tcp}");
    }
}

/// Every request that has been sent when the server leaves is answered, and no response is cut.
#[test]
fn a_server_that_leaves_under_load_cuts_nothing() {
    let scene = Scene::with(app(), |settings, _| settings.workers = 2);
    let answered = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            let (mut client, answered) = (scene.client(), &answered);
            scope.spawn(move || {
                loop {
                    client.send(get("/large/100000"));
                    let (head, body) = client.response();
                    assert_eq!(body.len(), 100_000);
                    answered.fetch_add(1, Ordering::SeqCst);
                    if head.contains("Connection: close\r\n") {
                        break;
                    }
                }
                assert_eq!(client.ends(), (true, vec![]));
            });
        }
        wait_until("a hundred responses", || (answered.load(Ordering::SeqCst) >= 100).then_some(()));
        scene.server.stop();
    });
    scene.server.wait().expect("it ends in order");
}
