//! HTTP/3 against servers of the tests' own and against wrong ones: every request is accounted for, and arrives as it was planned.

use crate::http3_server::{Http3Server, Manner, Reply, Seen, head, response};
use serde_json::Value;
use std::sync::atomic::Ordering;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::{adds_up, count};

/// Loads a server on one thread.
fn press(server: &Http3Server, path: &str, args: &[&str]) -> Value {
    let url = server.url(path);
    let result = torr_json(&[args, &["-t", "1", "--http3", "--cacert", server.certificate(), &url]].concat());
    adds_up(&result);
    assert_eq!(result["plan"]["protocol"], "h3");
    result
}

fn all_answered(result: &Value, requests: u64) {
    let wrong = (&result["errors"], &result["causes"]);
    assert_eq!((count(result, "/requests"), count(result, "/unfinished")), (requests, 0), "{wrong:?}");
}

fn hello() -> Http3Server {
    Http3Server::start(Manner::new(|_, _| Reply::Response(200, b"hello".to_vec())))
}

fn value<'s>(seen: &'s Seen, name: &str) -> Option<&'s str> {
    seen.fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

#[test]
fn every_request_of_a_closed_loop_is_answered_and_arrives_as_planned() {
    let server = hello();
    for (connections, streams) in [("1", "1"), ("3", "10"), ("2", "300")] {
        let before = server.requests().len();
        let result =
            press(&server, "/a?b=c", &["-c", connections, "--streams", streams, "-n", "700", "-H", "X-Mine: 1"]);
        all_answered(&result, 700);
        assert_eq!((count(&result, "/status/200"), count(&result, "/bytes/body")), (700, 5 * 700));
        assert_eq!(count(&result, "/connections/opened").to_string(), connections);
        assert_eq!(count(&result, "/tls/full") + count(&result, "/tls/resumed"), count(&result, "/connections/opened"));
        let datagrams = &result["datagrams"];
        assert!(
            count(datagrams, "/sent") > 0 && count(datagrams, "/packets") >= count(datagrams, "/sent"),
            "{datagrams}"
        );
        let seen = server.requests().split_off(before);
        assert_eq!(seen.len(), 700);
        let authority = format!("localhost:{}", server.address.port());
        for one in seen {
            let names: Vec<_> = one.fields.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(&names[..4], [":method", ":scheme", ":authority", ":path"]);
            assert_eq!(value(&one, ":authority"), Some(authority.as_str()));
            assert_eq!(
                (value(&one, ":path"), value(&one, "x-mine"), value(&one, "host")),
                (Some("/a?b=c"), Some("1"), None)
            );
            assert!(one.content.is_empty());
        }
    }
    // All were closed in good order, which takes no longer than a datagram.
    let closed = server.seen.closed.lock().expect("no other thread fails").clone();
    assert!(closed.iter().all(|code| *code == 0x100), "{closed:?}");
}

#[test]
fn packets_of_the_warm_up_do_not_count() {
    let result = press(&hello(), "/", &["-c", "2", "-r", "400", "--warmup", "500ms", "-d", "500ms"]);
    let datagrams = &result["datagrams"];
    let (sent, packets) = (count(datagrams, "/sent"), count(datagrams, "/packets"));
    // After the handshake, which is part of the warm-up unless the machine is busy, each datagram has one packet. With those of
    // the warm-up it would be two for each.
    let requests = count(&result, "/requests");
    assert!(requests > 0 && sent >= requests, "{requests} requests: {datagrams}");
    assert!(packets.abs_diff(sent) <= 4 + sent / 4, "{datagrams}");
    let buffer = count(datagrams, "/receive_buffer");
    assert!((1..=torr_gauge::datagrams::RECEIVE_BUFFER).contains(&buffer), "{datagrams}");
}

#[test]
fn bursts_that_do_not_arrive_together_are_a_caution() {
    for sends_trains in [true, false] {
        let manner = Manner::new(|_, _| Reply::Response(200, vec![7; 60_000]));
        let server = Http3Server::start(Manner { sends_trains, ..manner });
        let result = press(&server, "/", &["-c", "1", "-n", "1000"]);
        let findings = result["validity"]["findings"].as_array().expect("each run is judged");
        let of = |what: &str| findings.iter().find(|finding| finding["what"] == what);
        let drops = of("drops").expect("it is judged");
        assert_eq!(drops["ok"], count(&result["datagrams"], "/dropped") == 0, "{drops}");
        match of("bursts") {
            Some(bursts) => {
                assert_eq!(bursts["ok"], sends_trains, "{bursts}");
                assert_eq!(bursts["value"] == 1.0, !sends_trains, "{bursts}");
            }
            // So many arrive together that the system calls are few.
            None => assert!(sends_trains && result["datagrams"]["per_receive"].as_f64() > Some(2.0)),
        }
    }
}

#[test]
fn an_open_loop_has_its_rate() {
    let server = hello();
    let result = press(&server, "/", &["-r", "200", "-n", "300", "-c", "10"]);
    all_answered(&result, 300);
    assert_eq!(result["plan"]["rate"], 200.0);
    let took = result["duration_s"].as_f64().expect("it has a length");
    assert!(took > 1.4, "the last request was due after 1.495 s: {took}");
}

#[test]
fn content_of_any_size_arrives_and_is_received() {
    let server =
        Http3Server::start(Manner::new(|_, seen| Reply::Response(200, seen.content.iter().rev().copied().collect())));
    for size in [0, 1, 4096, 4097, 70_000, 3_000_000_usize] {
        let content: Vec<u8> = (0..size).map(|n| (n / 7) as u8 | 1).collect();
        let path = server.folder().join("content");
        std::fs::write(&path, &content).expect("there is room");
        let data = format!("@{}", path.display());
        let before = server.requests().len();
        let result = press(&server, "/", &["-c", "2", "--streams", "2", "-n", "6", "--data-binary", &data]);
        all_answered(&result, 6);
        assert_eq!(count(&result, "/bytes/body"), 6 * size as u64);
        for one in server.requests().split_off(before) {
            assert!(one.content == content, "{} bytes of {size}", one.content.len());
            assert_eq!(
                (value(&one, ":method"), value(&one, "content-length")),
                (Some("POST"), Some(size.to_string().as_str()))
            );
        }
    }
}

#[test]
fn a_connection_for_each_request() {
    let server = hello();
    let result = press(&server, "/", &["-c", "2", "-n", "30", "--no-keepalive"]);
    all_answered(&result, 30);
    assert_eq!((count(&result, "/connections/opened"), server.seen.connections.load(Ordering::SeqCst)), (30, 30));
    // The first connections begin without a ticket.
    assert!(count(&result, "/tls/resumed") > 0, "{}", result["tls"]);
    let result =
        press(&server, "/", &["-c", "2", "-n", "30", "--requests-per-connection", "10", "--tls-resumption", "off"]);
    all_answered(&result, 30);
    // Of two connections each carries 10 requests, but for the last ones.
    assert!((3..=4).contains(&count(&result, "/connections/opened")), "{}", result["connections"]);
    assert_eq!(count(&result, "/tls/resumed"), 0);
}

#[test]
fn statuses_and_checks_are_counted() {
    let server = Http3Server::start(Manner::new(|n, _| Reply::Response([200, 404, 500][n % 3], b"page".to_vec())));
    let url = server.url("/");
    let checks = ["--expect-status", "200,404", "--expect-body", "page"];
    let plain = ["--http3", "--cacert", server.certificate(), "-c", "1", "-n", "30", "--json", "-", &url];
    let ended = torr(&[&checks[..], &plain].concat());
    assert_eq!(ended.code, Some(1), "a check failed: {ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    adds_up(&result);
    all_answered(&result, 30);
    for status in ["200", "404", "500"] {
        assert_eq!(count(&result, &format!("/status/{status}")), 10);
    }
    assert_eq!(result["checks"][0]["failed"], 10, "{}", result["checks"]);
    assert_eq!(result["checks"][1]["failed"], 0);
    let kept = &result["failed_response"];
    assert_eq!((&kept["status_line"], &kept["content"]), (&"HTTP/3 404".into(), &"page".into()), "{kept}");
}

#[test]
fn goaway_moves_requests_to_another_connection() {
    let server = Http3Server::start(Manner { most: 10, ..Manner::new(|_, _| Reply::Response(200, vec![])) });
    let result = press(&server, "/", &["-c", "2", "--streams", "4", "-n", "200"]);
    all_answered(&result, 200);
    assert!(count(&result, "/connections/opened") >= 20, "{}", result["connections"]);
}

#[test]
fn a_limit_of_streams_is_kept() {
    let server = Http3Server::start(Manner { streams: 3, ..Manner::new(|_, _| Reply::Response(200, vec![7; 5000])) });
    let result = press(&server, "/", &["-c", "2", "--streams", "50", "-n", "300"]);
    all_answered(&result, 300);
    assert_eq!(count(&result, "/connections/opened"), 2);
}

/// Loads a server that fails each request, and returns the kind of error and the cause.
fn cause(manner: Manner) -> (String, String) {
    let server = Http3Server::start(manner);
    let result = press(&server, "/", &["-c", "1", "-n", "3", "--timeout", "1s"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/asked")), (0, 3), "{result}");
    let cause = &result["causes"][0];
    let text = |name: &str| cause[name].as_str().unwrap_or_else(|| panic!("no {name}: {cause}")).to_owned();
    assert_eq!(text("side"), "server");
    (text("kind"), text("what"))
}

#[test]
fn wrong_responses_fail_with_their_cause() {
    let bytes = |bytes: Vec<u8>| Manner::new(move |_, _| Reply::Bytes(bytes.clone()));
    let with = |more: &[u8]| [&response(200, b"ab")[..], more].concat();
    for (manner, kind, what) in [
        (bytes(vec![]), "protocol", "the stream ends without a response"),
        (bytes(with(&[1, 0])), "protocol", "QPACK: the field section is incomplete"),
        (bytes(with(&[0, 1, 9])), "protocol", "more bytes than the response announced"),
        (bytes(head(&[(24, "200".into()), (4, "9".into())])), "protocol", "fewer bytes than the response announced"),
        (bytes(head(&[(4, "9".into())])), "protocol", "missing :status"),
        (bytes(vec![0, 1, 1]), "protocol", "DATA frame before HEADERS or behind the trailers"),
        (bytes(vec![1, 3, 0, 0, 0x80]), "protocol", "QPACK: reference to a dynamic table that has no room"),
        (bytes(vec![1, 9, 0]), "protocol", "the stream ends in the middle of a frame"),
        (bytes(with(&[4, 0])), "protocol", "frame that is not allowed on a request's stream"),
        (Manner::new(|_, _| Reply::Reset(0x102)), "read", "the server reset the stream: H3_INTERNAL_ERROR"),
        (Manner::new(|_, _| Reply::Reset(0x10b)), "read", "the server reset the stream: H3_REQUEST_REJECTED"),
        (Manner::new(|_, _| Reply::Close(0x102)), "read", "the server closed the connection: H3_INTERNAL_ERROR"),
        (Manner::new(|_, _| Reply::Close(0x100)), "read", "the server closed the connection before responding"),
        (Manner::new(|_, _| Reply::Silence), "timeout", "no complete response within 1.00 s"),
    ] {
        assert_eq!(cause(manner), (kind.to_owned(), what.to_owned()));
    }
    let control = Manner { control: vec![0, 7, 1, 0], ..Manner::new(|_, _| Reply::Silence) };
    assert_eq!(cause(control), ("protocol".into(), "the control stream begins without SETTINGS".into()));
}

#[test]
fn a_server_without_http3_or_trust_is_one_line() {
    let server = Http3Server::start(Manner { protocol: b"hq", ..Manner::new(|_, _| Reply::Silence) });
    let url = server.url("/");
    let ended = torr(&["--http3", "-c", "1", "-n", "1", "--cacert", server.certificate(), &url]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("the server does not support h3: drop --http3 (ALPN)"), "{ended:?}");
    let server = hello();
    let url = server.url("/");
    let ended = torr(&["--http3", "-c", "1", "-n", "1", "--sni", "other.test", "--cacert", server.certificate(), &url]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("not for other.test: use one of its names with --sni"), "{ended:?}");
    let ended = torr(&["--http3", "-c", "1", "-n", "1", "-k", &url]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

#[test]
fn a_port_without_a_server_is_refused() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let port = socket.local_addr().expect("it is bound").port();
    drop(socket);
    let ended = torr(&["--http3", "-k", "-c", "1", "-n", "1", &format!("https://127.0.0.1:{port}/")]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("connection refused"), "{ended:?}");
}

#[test]
fn a_server_that_does_not_respond_to_quic_is_a_timeout() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("https://{}/", socket.local_addr().expect("it is bound"));
    let ended = torr(&["--http3", "-k", "-c", "2", "-n", "2", "--timeout", "1s", &url]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("no connection within 1.00 s"), "{ended:?}");
}

#[test]
fn what_http3_is_not_served_with_is_refused_by_name() {
    let file = tempfile::Builder::new().suffix(".hurl").tempfile().expect("there is room");
    std::fs::write(file.path(), "GET http://localhost/\n").expect("there is room");
    let sessions = file.path().to_str().expect("the path is text");
    for (args, line) in [
        (&["http://localhost/"][..], "--http3 needs an https:// URL, found http://localhost/"),
        (&["https://localhost/", "--http2"], "--http3 cannot be used with --http2"),
        (&["https://localhost/", "--proxy", "http://localhost:1"], "--http3 cannot be used with --proxy"),
        (&["https://localhost/", "--follow"], "--http3 cannot be used with --follow"),
        (&["https://localhost/", "--tls-max", "1.2"], "--http3 needs TLS 1.3: drop --tls-max"),
        (&[sessions], "--http3 needs an https:// URL, found http://localhost/"),
        (&["wss://localhost/", "--data", "x"], "--http3 is not supported for WebSockets"),
    ] {
        let ended = torr(&[args, &["--http3"]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line), "{args:?}: {ended:?}");
    }
}
