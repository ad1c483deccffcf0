//! Clients that listen: what the server of a WebSocket pushes are the events of streams.

use super::{
    BINARY, CLOSE, FIN, PATIENCE, TEXT, accept, accept_with, cause, echo_url, frame, press, receive, router, url,
};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::torr;
use torr_test_support::result::count;
use torr_test_support::script::Script;
use torr_test_support::servers::Serve;

/// Pushes so many messages, 20 ms apart, and then sends these bytes; what the client sends next goes to the sender.
fn pushing(count: u8, last: &'static [u8], sender: Sender<Option<(u8, Vec<u8>)>>) -> Script {
    let sender = Mutex::new(sender);
    Script::start(move |client| {
        let sender = sender.lock().expect("nobody panics with it").clone();
        if accept(client, "").is_none() {
            return;
        }
        for n in 0..count {
            if n > 0 {
                std::thread::sleep(Duration::from_millis(20));
            }
            client.send(&frame(FIN | TEXT, format!("{{\"n\": {n}}}").as_bytes()));
        }
        client.send(last);
        let _ = sender.send(receive(client));
    })
}

fn streams(result: &Value, name: &str) -> u64 {
    count(result, &format!("/streams/{name}"))
}

#[test]
fn what_a_server_pushes_to_a_listener_are_events() {
    let (sender, ends) = channel();
    let server = pushing(5, b"\x88\x02\x03\xe8", sender);
    let result = press(&url(&server), &["-n", "8", "-c", "2", "--listen"]);
    assert_eq!((count(&result, "/requests"), streams(&result, "begun"), streams(&result, "events")), (8, 8, 40));
    assert_eq!((streams(&result, "limited"), count(&result, "/websocket/closed/1000")), (0, 8), "{result}");
    assert_eq!((count(&result, "/connections/opened"), count(&result, "/websocket/pushed")), (8, 0), "{result}");
    // Each message has 8 bytes.
    assert_eq!((count(&result, "/bytes/body"), count(&result, "/status/101")), (8 * 5 * 8, 8), "{result}");
    assert!(streams(&result, "longest_silence_us") >= 19_000, "{result}");
    assert!(count(&result, "/streams/length_us/min") >= 79_000, "{result}");
    // The client sends nothing, and confirms the close.
    let closed = Some((FIN | CLOSE, 1000_u16.to_be_bytes().to_vec()));
    assert_eq!(ends.try_iter().collect::<Vec<_>>(), vec![closed; 8]);
}

#[test]
fn a_stream_may_come_with_the_handshake() {
    for (last, errors) in [(&b"\x88\x00"[..], 0), (b"\x88\x02\x03\xf3", 6)] {
        let server = Script::start(move |client| {
            let all = [frame(FIN | TEXT, b"one"), frame(FIN | BINARY, b""), frame(FIN | TEXT, b"three"), last.to_vec()];
            if accept_with(client, "", &all.concat()).is_some() {
                receive(client);
            }
        });
        let result = press(&url(&server), &["-n", "6", "-c", "2", "--listen"]);
        assert_eq!((streams(&result, "events"), streams(&result, "begun")), (18, 6), "{result}");
        assert_eq!((count(&result, "/requests"), count(&result, "/errors/read")), (6 - errors, errors), "{result}");
        assert!(count(&result, "/websocket/handshake_us/max") > 0, "{result}");
    }
}

#[test]
fn streams_of_messages_end_in_one_way_each() {
    let closed = |code: u16| Some((FIN | CLOSE, code.to_be_bytes().to_vec()));
    for (flags, last, events, ends, end) in [
        (&["--max-events", "3"][..], &b""[..], 3, "limited", closed(1000)),
        (&["--until", "data contains 1}"], b"", 2, "limited", closed(1000)),
        (&["--until", "event == binary"], b"\x82\x01x", 6, "limited", closed(1000)),
        (&["--idle-timeout", "300ms"], b"", 5, "silent", closed(1000)),
        (&[], b"\x88\x02\x03\xf3", 5, "the server closed the WebSocket with code 1011", closed(1011)),
        (&[], b"\xc1\x01x", 5, "the server sent a frame with reserved bits", closed(1002)),
    ] {
        let (sender, seen) = channel();
        let server = pushing(5, last, sender);
        let result = press(&url(&server), &[&["-n", "4", "-c", "2", "--listen"], flags].concat());
        assert_eq!((streams(&result, "events"), streams(&result, "begun")), (4 * events, 4), "{flags:?}: {result}");
        match ends {
            "limited" => assert_eq!((streams(&result, ends), count(&result, "/requests")), (4, 4), "{result}"),
            "silent" => assert_eq!((streams(&result, ends), count(&result, "/errors/timeout")), (4, 4), "{result}"),
            what => assert_eq!((cause(&result), count(&result, "/requests")), (what, 0), "{result}"),
        }
        let seen: Vec<_> = (0..4).map(|_| seen.recv_timeout(PATIENCE).expect("each connection ends")).collect();
        assert_eq!(seen, vec![end; 4], "{flags:?}");
    }
    let (sender, _ends) = channel();
    let server = pushing(5, b"", sender);
    let result = press(&url(&server), &["-d", "2s", "-c", "3", "--listen"]);
    assert_eq!((streams(&result, "open"), count(&result, "/unfinished")), (3, 3), "{result}");
    assert_eq!((streams(&result, "events"), count(&result, "/errors/timeout")), (15, 0), "{result}");
    let server = Script::start(|client| {
        accept_with(client, "", &frame(FIN | TEXT, b"x"));
    });
    let result = press(&url(&server), &["-n", "2", "-c", "1", "--listen"]);
    assert_eq!(cause(&result), "the server closed the connection without a close frame", "{result}");
    assert_eq!((streams(&result, "events"), count(&result, "/websocket/closed/1006")), (2, 2), "{result}");
}

#[test]
fn a_listener_may_send_a_first_message_by_rate_and_over_tls() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let (certificate, key) = self_signed(folder.path());
    let [certificate, key] =
        [&certificate, &key].map(|path| path.to_str().expect("temporary folders have plain names"));
    let plain = router();
    let tls = Serve::start(&["--workers", "1", "--router", "true", "--tls-cert", certificate, "--tls-key", key]);
    let secure = format!("wss://{}/ws/echo", tls.address);
    for (target, flags) in [(echo_url(&plain), &[][..]), (secure, &["--cacert", certificate])] {
        let listen = ["--listen", "--data", "{\"n\": {{seq}}}", "--max-events", "1"];
        let paced = [&["-n", "40", "-r", "400", "-c", "40"], &listen[..], flags].concat();
        let result = press(&target, &paced);
        assert_eq!((count(&result, "/requests"), streams(&result, "events")), (40, 40), "{result}");
        assert_eq!((count(&result, "/connections/opened"), streams(&result, "limited")), (40, 40), "{result}");
        assert!(count(&result, "/streams/first_event_us/max") > 0, "{result}");
    }
}

#[test]
fn websockets_are_in_the_outputs() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (page, table) = (path("x.html"), path("x.csv"));
    let serve = router();
    for (flags, column, section) in [
        (&[][..], "pushed", "messages that the server pushed"),
        (&["--listen", "--max-events", "1"], "events", "gap between events"),
    ] {
        let url = echo_url(&serve);
        let args = ["-n", "20", "-c", "2", "-t", "1", "--data", "x", "--report", &page, "--csv", &table, &url];
        let shown = torr(&[&args[..], flags].concat());
        assert_eq!(shown.code, Some(0), "{shown:?}");
        let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
        assert!(read(&table).lines().next().is_some_and(|names| names.ends_with(column)), "{}", read(&table));
        let page = read(&page);
        assert!(page.contains("WebSocket handshake") && page.contains("pings of the server"), "{flags:?}");
        assert_eq!(page.contains(section), flags.is_empty(), "one event has no gap: {section}");
        assert_eq!(page.contains("ended by this client as planned"), !flags.is_empty(), "{flags:?}");
        assert_eq!(shown.stdout.contains("a connection per stream"), !flags.is_empty(), "{}", shown.stdout);
    }
}
