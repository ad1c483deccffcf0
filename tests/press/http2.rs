//! HTTP/2 against real servers and against wrong ones: every request is accounted for.

use crate::http2_server::{Http2Server, Manner, Reply};
use crate::recording::{REPLAYED, Recording};
use bytes::Bytes;
use h2::Reason;
use serde_json::Value;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Ended, Running, torr, torr_command, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Nginx;

/// Without TLS, on one thread.
fn press(url: &str, args: &[&str]) -> Value {
    let result = torr_json(&[args, &["-t", "1", "--http2-prior-knowledge", url]].concat());
    adds_up(&result);
    assert_eq!(result["plan"]["protocol"], "h2");
    result
}

fn all_answered(result: &Value, requests: u64) {
    let wrong = (&result["errors"], &result["causes"]);
    assert_eq!((count(result, "/requests"), count(result, "/unfinished")), (requests, 0), "{wrong:?}");
}

/// With TLS, where the system trusts this certificate alone.
fn press_secured(certificate: &Path, args: &[&str]) -> Ended {
    let mut command = torr_command(args);
    command.env("SSL_CERT_FILE", certificate);
    Running::start(command).wait()
}

/// The lines of nginx's configuration for TLS.
fn with_certificate(folder: &Path) -> String {
    let (certificate, key) = self_signed(folder);
    format!("ssl_certificate {}; ssl_certificate_key {};", certificate.display(), key.display())
}

#[test]
fn nginx_without_tls() {
    let nginx = Nginx::start_with("http2", "location / { return 200 hello; }");
    for (connections, streams) in [("1", "1"), ("3", "10"), ("20", "100")] {
        let result = press(&nginx.url(), &["-c", connections, "--streams", streams, "-n", "5000"]);
        all_answered(&result, 5000);
        assert_eq!(count(&result, "/status/200"), 5000);
        assert_eq!(count(&result, "/bytes/body"), 5 * 5000);
        if streams != "1" {
            assert_eq!(result["plan"]["depth"].to_string(), streams);
        }
    }
}

#[test]
fn nginx_ends_connections_in_good_order() {
    let nginx = Nginx::start_with("http2", "keepalive_requests 50; location / { return 200 hello; }");
    let result = press(&nginx.url(), &["-c", "4", "--streams", "8", "-n", "5000"]);
    all_answered(&result, 5000);
    assert!(count(&result, "/connections/opened") >= 80, "{}", result["connections"]);
}

#[test]
fn nginx_with_tls() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let certificate = folder.path().join("server.pem");
    let server =
        format!("{} keepalive_requests 100; location / {{ return 200 hello; }}", with_certificate(folder.path()));
    let nginx = Nginx::start_with("ssl http2", &server);
    let url = format!("https://{}/", nginx.address);
    for how in ["--http2", "--http2-prior-knowledge"] {
        let args = [how, "--streams", "10", "-c", "4", "-n", "3000", "-t", "2", "--json", "-", &url];
        let ended = press_secured(&certificate, &args);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        adds_up(&result);
        all_answered(&result, 3000);
        assert_eq!(count(&result, "/bytes/body"), 5 * 3000);
    }
    // A server that knows HTTP/1.1 only.
    let nginx = Nginx::start_with("ssl", &server);
    let ended = press_secured(&certificate, &["--http2", "-n", "3", &format!("https://{}/", nginx.address)]);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(ended.stderr.contains("the server does not support") && ended.stderr.contains("ALPN"), "{ended:?}");
}

#[test]
fn large_bodies_flow_both_ways() {
    let size = 10 << 20;
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    // Readable for any user that nginx runs as.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).expect("it is ours");
    std::fs::write(folder.path().join("large"), vec![b'x'; size]).expect("a file can be written");
    let nginx = Nginx::start_with("http2", &format!("root {};", folder.path().display()));
    let result = press(&format!("{}large", nginx.url()), &["-c", "2", "--streams", "5", "-n", "30"]);
    all_answered(&result, 30);
    assert_eq!(count(&result, "/bytes/body"), 30 * size as u64);

    let server = Http2Server::start(Manner::new(move |_| Reply::ok(vec![b'y'; size])));
    let upload = format!("@{}", folder.path().join("large").display());
    let result = press(&server.url(), &["-c", "2", "--streams", "3", "-n", "12", "--data", &upload]);
    all_answered(&result, 12);
    assert_eq!(count(&result, "/bytes/body"), 12 * size as u64);
    assert_eq!(server.seen.body.load(Ordering::SeqCst), 12 * size);
}

#[test]
fn small_windows_hold_a_body_back_and_let_it_go() {
    let mut manner = Manner::new(|_| Reply::ok("done"));
    manner.settings.initial_window_size(100).initial_connection_window_size(70_000).max_frame_size(16_384);
    let server = Http2Server::start(manner);
    let body = "b".repeat(20_000);
    let result = press(&server.url(), &["-c", "2", "--streams", "10", "-n", "60", "--data", &body]);
    all_answered(&result, 60);
    assert_eq!(server.seen.body.load(Ordering::SeqCst), 60 * body.len());
}

#[test]
fn one_stream_at_a_time_if_the_server_wants_no_more() {
    let mut manner = Manner::new(|_| Reply::ok("one"));
    manner.settings.max_concurrent_streams(1);
    let server = Http2Server::start(manner);
    let result = press(&server.url(), &["-c", "2", "--streams", "20", "-n", "1000"]);
    all_answered(&result, 1000);
    assert_eq!(count(&result, "/connections/opened"), 2);
}

#[test]
fn the_wait_for_a_free_stream_is_in_the_latency() {
    let mut manner = Manner { takes: Duration::from_millis(20), ..Manner::new(|_| Reply::ok("one")) };
    manner.settings.max_concurrent_streams(1);
    let server = Http2Server::start(manner);
    let result = press(&server.url(), &["-c", "1", "--streams", "10", "-n", "150"]);
    all_answered(&result, 150);
    // One stream at a time, and nine requests before each: ten times what one takes. By Little's law too.
    let median = count(&result, "/latency_us/p50") as f64;
    let in_flight = result["rps"].as_f64().unwrap() * result["latency_us"]["mean"].as_f64().unwrap() / 1e6;
    assert!((195_000.0..300_000.0).contains(&median), "{result}");
    assert!((8.5..10.5).contains(&in_flight), "N = X R gives {in_flight} requests: {result}");
}

#[test]
fn a_failed_response_is_shown_over_http_2() {
    let fields = || vec![("retry-after", "7".into()), ("set-cookie", "id=secret".into())];
    let reply = move |n: usize| match n {
        0..10 => Reply::ok("ok"),
        _ => Reply::Response(503, fields(), "the pool is empty".into(), None),
    };
    let server = Http2Server::start(Manner::new(reply));
    let result = press(&server.url(), &["-c", "2", "--streams", "4", "-n", "60"]);
    let sample = &result["failed_response"];
    assert_eq!((sample["status_line"].as_str(), count(sample, "/status")), (Some("HTTP/2 503"), 503), "{sample}");
    assert_eq!((sample["content"].as_str(), sample["complete"].as_bool()), (Some("the pool is empty"), Some(true)));
    assert_eq!((&sample["fields"][0]["name"], &sample["fields"][0]["value"]), (&"retry-after".into(), &"7".into()));
    assert!(!result.to_string().contains("secret"), "{sample}");
}

#[test]
fn what_the_server_sees() {
    let server = Http2Server::start(Manner::new(|_| Reply::ok("")));
    let headers = ["-H", "Host: other.test", "-H", "X-Mine: 1", "-H", "Connection: close", "-H", "TE: gzip"];
    let url = format!("{}a?b=c", server.url());
    all_answered(&press(&url, &[&headers[..], &["-n", "3", "--data", "text", "-X", "PUT"]].concat()), 3);
    let first = server.seen.first.lock().expect("nobody panics with it").take().expect("it was pressed");
    assert_eq!((first.method().as_str(), first.uri().to_string()), ("PUT", "http://other.test/a?b=c".into()));
    let fields: Vec<_> = first.headers().iter().map(|(name, value)| format!("{name}: {value:?}")).collect();
    let agent = concat!("user-agent: \"torr/", env!("CARGO_PKG_VERSION"), "\"");
    let typed = "content-type: \"application/x-www-form-urlencoded\"";
    assert_eq!(fields, [agent, "accept: \"*/*\"", "x-mine: \"1\"", typed, "content-length: \"4\""]);
}

#[test]
fn fields_beyond_a_frame_and_fields_behind_the_body() {
    let large = || vec![("x-large", "v".repeat(40_000)), ("content-length", "4".into())];
    let server = Http2Server::start(Manner::new(move |_| Reply::Response(203, large(), "body".into(), Some("x-end"))));
    let result = press(&server.url(), &["-c", "2", "--streams", "4", "-n", "200"]);
    all_answered(&result, 200);
    assert_eq!((count(&result, "/status/203"), count(&result, "/bytes/body")), (200, 800));
}

#[test]
fn responses_without_a_body() {
    let fields = || vec![("content-length", "99".into())];
    let server = Http2Server::start(Manner::new(move |_| Reply::Response(200, fields(), "".into(), None)));
    all_answered(&press(&server.url(), &["-X", "HEAD", "--streams", "4", "-n", "100"]), 100);
    let server = Http2Server::start(Manner::new(|n| Reply::Response([204, 304][n % 2], vec![], "".into(), None)));
    all_answered(&press(&server.url(), &["--streams", "4", "-n", "100"]), 100);
}

#[test]
fn resets_fail_their_requests_alone() {
    let reply = |n: usize| if n.is_multiple_of(10) { Reply::Reset(Reason::INTERNAL_ERROR) } else { Reply::ok("ok") };
    let server = Http2Server::start(Manner::new(reply));
    let result = press(&server.url(), &["-c", "2", "--streams", "10", "-n", "1000"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/errors/read")), (900, 100), "{}", result["causes"]);
    assert_eq!(count(&result, "/connections/opened"), 2);
    assert!(result["causes"][0]["what"].as_str().is_some_and(|what| what.contains("INTERNAL_ERROR")));
}

#[test]
fn refused_requests_are_sent_again() {
    let reply = |n: usize| if n % 3 == 1 { Reply::Reset(Reason::REFUSED_STREAM) } else { Reply::ok("ok") };
    let server = Http2Server::start(Manner::new(reply));
    let result = press(&server.url(), &["-c", "1", "--streams", "10", "-n", "300"]);
    let refused = count(&result, "/errors/read");
    assert_eq!(count(&result, "/requests"), 300 - refused);
    assert!(refused < 50, "only one that is refused with nothing else under way has failed: {refused}");
    assert!(server.seen.requests.load(Ordering::SeqCst) > 400, "others were sent again");
    // Retries to a server that refuses everything end.
    let server = Http2Server::start(Manner::new(|_| Reply::Reset(Reason::REFUSED_STREAM)));
    let result = press(&server.url(), &["-c", "2", "--streams", "5", "-n", "40"]);
    assert_eq!(count(&result, "/errors/read"), 40);
}

#[test]
fn a_server_that_leaves_loses_nothing() {
    for most in [1, 7] {
        let server = Http2Server::start(Manner { most, ..Manner::new(|_| Reply::ok("ok")) });
        let result = press(&server.url(), &["-c", "3", "--streams", "5", "-n", "210"]);
        all_answered(&result, 210);
        assert!(server.seen.connections.load(Ordering::SeqCst) >= 210 / (most + 4), "{}", result["connections"]);
    }
}

#[test]
fn a_request_without_a_response_is_given_up_alone() {
    let reply = |n: usize| if n == 5 { Reply::Silence } else { Reply::ok("ok") };
    let server = Http2Server::start(Manner::new(reply));
    // Only the one without a response takes so long, on a busy machine too.
    let args = ["-c", "1", "--streams", "4", "-n", "1000", "--timeout", "3s"];
    let result = press(&server.url(), &args);
    assert_eq!((count(&result, "/errors/timeout"), count(&result, "/connections/opened")), (1, 1), "{result}");
    assert_eq!(count(&result, "/requests"), 999);
    assert_eq!(server.seen.resets.load(Ordering::SeqCst), 1, "the server is told");
    assert!(result["latency_us"]["max"].as_f64().is_some_and(|max| max >= 2_990_000.0), "{}", result["latency_us"]);
    // With all of them silent, those that wait for room time out as well.
    let mut manner = Manner::new(|_| Reply::Silence);
    manner.settings.max_concurrent_streams(2);
    let server = Http2Server::start(manner);
    let args = ["-c", "1", "--streams", "6", "-n", "12", "--timeout", "200ms"];
    let result = press(&server.url(), &args);
    assert_eq!((count(&result, "/errors/timeout"), count(&result, "/connections/opened")), (12, 1), "{result}");
}

#[test]
fn other_loads_work_as_with_http1() {
    let server = Http2Server::start(Manner::new(|_| Reply::ok("ok")));
    for (args, requests, opened) in [
        (&["-n", "50", "--no-keepalive", "-c", "5"][..], 50, 50..=50),
        (&["-n", "60", "--requests-per-connection", "20", "-c", "1", "--streams", "4"], 60, 3..=3),
        (&["-r", "200", "-n", "200", "--max-connections", "2", "--streams", "50"], 200, 1..=2),
    ] {
        let result = press(&server.url(), args);
        let (answered, connections) = (count(&result, "/requests"), count(&result, "/connections/opened"));
        assert!(answered == requests && opened.contains(&connections), "{args:?}: {result}");
    }
    // A connection whose last request fails is closed like any other that is used up.
    let server = Http2Server::start(Manner::new(|_| Reply::Reset(Reason::INTERNAL_ERROR)));
    let result = press(&server.url(), &["-n", "6", "--requests-per-connection", "2", "-c", "1", "--streams", "2"]);
    assert_eq!((count(&result, "/errors/read"), count(&result, "/connections/opened")), (6, 3));
}

/// A frame.
fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, stream], payload].concat()
}

/// Waits for the client's first words and responds with these bytes, then reads to its end.
fn exchange(client: &mut Client, bytes: &[u8]) -> Vec<u8> {
    let mut first = [0; 24];
    if client.stream.read_exact(&mut first).is_err() {
        return vec![];
    }
    client.send(bytes);
    let mut rest = Vec::new();
    // A reset after the last words is an end as well.
    let _ = client.stream.read_to_end(&mut rest);
    rest
}

#[test]
fn wrong_servers_are_protocol_errors() {
    let settings = frame(4, 0, 0, b"");
    let bomb = [&b"\x40\x01x\x7f\xa1\x1e"[..], &[b'y'; 4000], &[0xbe; 9000]].concat();
    let endless = [frame(1, 0, 1, b"\x88"), frame(9, 0, 1, &[0; 16_000]).repeat(100)].concat();
    for (bytes, what) in [
        (b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n".to_vec(), "does not support HTTP/2"),
        (vec![0xff; 10_000], "does not support HTTP/2"),
        ([settings.clone(), frame(0, 0, 1, &vec![0; 20_000])].concat(), "larger than SETTINGS_MAX_FRAME_SIZE"),
        ([settings.clone(), frame(1, 4, 1, &bomb)].concat(), "larger than 64 KiB"),
        ([settings.clone(), endless].concat(), "larger than 64 KiB"),
        ([settings.clone(), frame(1, 5, 1, b"\xff\xff\xff\xff\xff\xff")].concat(), "integer too large"),
        ([settings.clone(), frame(5, 4, 1, b"\0\0\0\x02\x82")].concat(), "push"),
        ([settings.clone(), frame(6, 0, 0, b"12345678").repeat(20_000)].concat(), "without responding"),
    ] {
        let last_words = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&last_words);
        let server = Script::start(move |client| {
            let rest = exchange(client, &bytes);
            heard.lock().expect("nobody panics with it").push(rest);
        });
        let result = press(&server.url(), &["-c", "2", "--streams", "3", "-n", "18", "--timeout", "5s"]);
        assert_eq!(count(&result, "/errors/protocol"), 18, "{what}: {result}");
        let said = result["causes"][0]["what"].as_str().unwrap_or_default();
        assert!(said.contains(what), "{said} for {what}");
    }
}

#[test]
fn a_faulty_server_is_sent_the_error_code() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let words = Arc::clone(&heard);
    let server = Script::start(move |client| {
        let rest = exchange(client, &[frame(4, 0, 0, b""), frame(1, 5, 1, b"\xbe")].concat());
        words.lock().expect("nobody panics with it").push(rest);
    });
    let result = press(&server.url(), &["-c", "1", "-n", "1"]);
    assert_eq!(count(&result, "/errors/protocol"), 1);
    let last = torr_test_support::wait_until("the client's last words", || heard.lock().expect("nobody panics").pop());
    // GOAWAY, with COMPRESSION_ERROR.
    assert!(last.ends_with(&frame(7, 0, 0, b"\0\0\0\0\0\0\0\x09")), "{}", last.escape_ascii());
}

#[test]
fn servers_that_end_or_say_nothing() {
    let server = Script::start(|client| _ = client.stream.read_exact(&mut [0; 24]));
    let result = press(&server.url(), &["-c", "2", "--streams", "3", "-n", "12"]);
    assert_eq!(count(&result, "/errors/read"), 12, "{result}");
    let server = Script::start(|client| _ = exchange(client, b""));
    let result = press(&server.url(), &["-c", "2", "--streams", "3", "-n", "12", "--timeout", "200ms"]);
    assert_eq!(count(&result, "/errors/timeout"), 12, "{result}");
    // In good order, and at once, every time.
    let goodbye = [frame(4, 0, 0, b""), frame(7, 0, 0, &[0; 8])].concat();
    let server = Script::start(move |client| _ = exchange(client, &goodbye));
    let begun = Instant::now();
    let result = press(&server.url(), &["-c", "2", "--streams", "3", "-n", "12", "--timeout", "20s"]);
    assert_eq!(count(&result, "/errors/read"), 12, "{result}");
    assert!(begun.elapsed() < Duration::from_secs(15), "it did not wait for the time-out");
}

#[test]
fn a_response_may_come_in_the_smallest_pieces() {
    let server = Script::start(|client| {
        let mut stream = client.stream.try_clone().expect("a descriptor is free");
        // Each request of one stream is answered a byte a packet.
        let mut bytes = [0; 4096];
        client.send_bytewise(&frame(4, 0, 0, b""));
        for stream_number in (1..200).step_by(2) {
            let mut seen = Vec::new();
            while !seen.windows(6).any(|w| w == [1, 5, 0, 0, 0, stream_number]) {
                match stream.read(&mut bytes) {
                    Ok(n) if n > 0 => seen.extend_from_slice(&bytes[..n]),
                    _ => return,
                }
            }
            let body = [frame(1, 4, stream_number, b"\x88"), frame(0, 9, stream_number, b"\x02hi\0\0")].concat();
            body.iter().for_each(|byte| _ = stream.write_all(&[*byte]));
        }
    });
    let result = press(&server.url(), &["-c", "1", "-n", "100"]);
    all_answered(&result, 100);
    assert_eq!(count(&result, "/bytes/body"), 200);
}

#[test]
fn mistakes_name_what_to_give_instead() {
    for (args, word) in [
        (&["--http2", "http://127.0.0.1:1"][..], "--http2-prior-knowledge"),
        (&["--streams", "2", "http://127.0.0.1:1"], "--http2"),
        (&["--streams", "0", "--http2", "https://127.0.0.1:1"], "--streams"),
        (&["--http2-prior-knowledge", "--pipeline", "2", "http://127.0.0.1:1"], "--pipeline"),
        (&["--http2", "--http2-prior-knowledge", "https://127.0.0.1:1"], "--http2"),
    ] {
        let ended = torr(args);
        assert_eq!((ended.code, ended.stderr.lines().count()), (Some(2), 1), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(word), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn a_recording_of_goreplay_is_sent_with_its_bodies() {
    let large = "x".repeat(100_000);
    let expected = large.clone();
    let server = Http2Server::start(Manner::by_content(move |path, content| match (path, content) {
        ("/orders", b"{\"a\": 1}") => Reply::ok("kept"),
        ("/large", content) if content == expected.as_bytes() => Reply::ok("kept"),
        ("/", b"") => Reply::ok("page"),
        _ => Reply::Response(400, vec![], Bytes::new(), None),
    }));
    let recording = Recording::new(&[("POST", "/orders", "{\"a\": 1}"), ("PUT", "/large", &large), ("GET", "/", "")]);
    let target = server.url();
    let ended =
        torr(&[&["replay", recording.path(), "--target", &target, "--http2-prior-knowledge"], REPLAYED].concat());
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    adds_up(&result);
    assert_eq!((count(&result, "/requests"), count(&result, "/status/200")), (3, 3), "{result:#}");
    assert_eq!(result["plan"]["protocol"], "h2");
}
