//! WebSockets: messages are requests, whatever a server makes of them, and connections begin and end as RFC 6455 has it.

mod compression;
mod listen;
mod sessions;

use serde_json::Value;
use std::io::Read;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::{Nginx, Serve};
use tungstenite::handshake::derive_accept_key;

const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;
/// The bit of a message's last frame.
const FIN: u8 = 0x80;
/// A test that waits longer than this for a client has failed.
const PATIENCE: Duration = Duration::from_secs(30);

fn press(url: &str, args: &[&str]) -> Value {
    let result = torr_json(&[&["-t", "1", url], args].concat());
    adds_up(&result);
    assert_eq!(result["plan"]["protocol"], "websocket", "{result}");
    result
}

fn url(script: &Script) -> String {
    format!("ws://{}/chat", script.address)
}

/// The value of a field in the header section of a request.
fn field<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    request.split("\r\n").find_map(|line| line.split_once(": ").filter(|(one, _)| *one == name)).map(|(_, value)| value)
}

/// Reads a handshake's request, and accepts it with these further lines.
fn accept(client: &mut Client, more: &str) -> Option<String> {
    accept_with(client, more, &[])
}

/// Reads a handshake's request, and accepts it with these further lines and these bytes behind them, all at once.
fn accept_with(client: &mut Client, more: &str, bytes: &[u8]) -> Option<String> {
    let request = String::from_utf8(client.request()?).expect("a header section is text");
    let accept = derive_accept_key(field(&request, "Sec-WebSocket-Key").expect("a handshake has a key").as_bytes());
    let response = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n{more}\r\n"
    );
    client.send(&[response.as_bytes(), bytes].concat());
    Some(request)
}

/// A whole frame of the client: its first byte, and its payload, which has to be masked. `None` once the client has gone.
fn receive(client: &mut Client) -> Option<(u8, Vec<u8>)> {
    let mut take = |length: usize| {
        let mut bytes = vec![0; length];
        client.stream.read_exact(&mut bytes).ok().map(|()| bytes)
    };
    let header = take(2)?;
    assert_eq!(header[1] & 0x80, 0x80, "a client's frames are masked");
    let length = match header[1] & 0x7f {
        126 => take(2)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)),
        127 => take(8)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)),
        length => length.into(),
    };
    let mask = take(4)?;
    let payload = take(length)?.iter().zip(mask.iter().cycle()).map(|(byte, mask)| byte ^ mask).collect();
    Some((header[0], payload))
}

/// A frame of the server, not masked.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let length = match payload.len() {
        length @ 0..126 => vec![length as u8],
        length @ 126..65_536 => [&[126][..], &(length as u16).to_be_bytes()].concat(),
        length => [&[127][..], &(length as u64).to_be_bytes()].concat(),
    };
    [&[first][..], &length, payload].concat()
}

/// Accepts a handshake, and sends each message back until the client closes the connection, which it confirms.
fn echo(client: &mut Client) {
    if accept(client, "").is_none() {
        return;
    }
    while let Some((first, payload)) = receive(client) {
        client.send(&frame(first, &payload));
        if first == FIN | CLOSE {
            return;
        }
    }
}

/// Responds to each message with the same bytes.
fn replying(bytes: &'static [u8]) -> Script {
    Script::start(move |client| {
        if accept(client, "").is_some() {
            while receive(client).is_some_and(|(first, _)| first != FIN | CLOSE) {
                client.send(bytes);
            }
        }
    })
}

fn cause(result: &Value) -> &str {
    result["causes"][0]["what"].as_str().unwrap_or_else(|| panic!("no cause: {result}"))
}

fn router() -> Serve {
    Serve::start(&["--workers", "1", "--router", "true"])
}

fn echo_url(serve: &Serve) -> String {
    format!("ws://{}/ws/echo", serve.address)
}

#[test]
fn each_message_has_a_response_over_connections_that_are_kept() {
    let serve = router();
    for (length, flags) in [(5, &[][..]), (125, &["--binary"]), (126, &[]), (70_000, &["--binary"])] {
        let message = "x".repeat(length);
        let result = press(&echo_url(&serve), &[&["-n", "300", "-c", "3", "--data", &message], flags].concat());
        let responses = (count(&result, "/requests"), count(&result, "/status/101"), count(&result, "/bytes/body"));
        assert_eq!(responses, (300, 300, 300 * length as u64), "{result}");
        let connections = (count(&result, "/connections/opened"), count(&result, "/connections/closed_by_server"));
        assert_eq!(connections, (3, 0), "{result}");
        let method = if flags.is_empty() { "text" } else { "binary" };
        assert_eq!((&result["plan"]["method"], count(&result, "/websocket/pushed")), (&method.into(), 0), "{result}");
        assert!(count(&result, "/websocket/handshake_us/max") > 0 && count(&result, "/latency_us/max") > 0, "{result}");
    }
}

#[test]
fn a_handshake_is_signed_and_its_messages_are_not() {
    let serve = router();
    let signing = ["--aws-sigv4", "aws:amz:eu-west-1:execute-api", "-u", "KEY:s3cret"];
    let result = press(&echo_url(&serve), &[&["-n", "20", "-c", "2", "--data", "a\r\n\r\nb"][..], &signing].concat());
    assert_eq!((count(&result, "/requests"), count(&result, "/bytes/body")), (20, 20 * 6), "{result}");
}

#[test]
fn messages_go_by_rate_in_flight_together_and_on_new_connections() {
    let serve = router();
    let result = press(&echo_url(&serve), &["-n", "200", "-r", "500", "-c", "4", "--data", "by rate"]);
    assert_eq!((count(&result, "/requests"), result["plan"]["arrivals"].as_str()), (200, Some("constant")), "{result}");
    let result = press(&echo_url(&serve), &["-n", "400", "-c", "2", "--pipeline", "8", "--data", "together"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/connections/opened")), (400, 2), "{result}");
    let result = press(&echo_url(&serve), &["-n", "40", "-c", "2", "--no-keepalive", "--data", "a new one"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/connections/opened")), (40, 40), "{result}");
    let result =
        press(&echo_url(&serve), &["-n", "40", "-c", "1", "--requests-per-connection", "10", "--data", "some"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/connections/opened")), (40, 4), "{result}");
}

#[test]
fn the_report_speaks_of_messages() {
    let serve = router();
    let shown = torr(&["-n", "50", "-c", "2", "-t", "1", "--data", "x", &echo_url(&serve)]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for words in ["text messages ws://", "101 x 50", "0 messages pushed by the server", "handshake "] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let server = Script::start(|client| {
        if accept(client, "").is_some() && receive(client).is_some() {
            client.send(&[frame(FIN | TEXT, b"x"), frame(FIN | CLOSE, b"\x03\xe9")].concat());
            while receive(client).is_some() {}
        }
    });
    let shown = torr(&["-n", "5", "-c", "1", "-t", "1", "--data", "x", &url(&server)]);
    assert!(shown.stdout.contains("connections closed with 1001: "), "{}", shown.stdout);
}

#[test]
fn placeholders_and_records_are_filled_in() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let records = folder.path().join("names.csv");
    std::fs::write(&records, "name\nAda\nAlan\n").expect("there is room for files");
    let (sender, messages) = channel();
    let sender = Mutex::new(sender);
    let server = Script::start(move |client| {
        let sender: Sender<_> = sender.lock().expect("nobody panics with it").clone();
        if accept(client, "").is_none() {
            return;
        }
        while let Some((first, payload)) = receive(client).filter(|(first, _)| *first != FIN | CLOSE) {
            sender.send((first, String::from_utf8(payload.clone()).expect("it is text"))).expect("somebody listens");
            client.send(&frame(first, &payload));
        }
    });
    let feeder = records.to_str().expect("temporary folders have plain names");
    let message = r#"{"n": {{seq}}, "name": "{{name}}"}"#;
    press(&url(&server), &["-n", "3", "-c", "1", "--feeder", feeder, "--data", message]);
    let all: Vec<_> = messages.try_iter().collect();
    let expected = [r#"{"n": 1, "name": "Ada"}"#, r#"{"n": 2, "name": "Alan"}"#, r#"{"n": 3, "name": "Ada"}"#];
    assert_eq!(all, expected.map(|text| (FIN | TEXT, text.to_owned())));
}

#[test]
fn handshakes_have_the_fields_and_a_key_of_their_own() {
    let server = Script::start(|client| {
        if accept(client, "Sec-WebSocket-Protocol: v2\r\n").is_some() {
            while let Some((first, payload)) = receive(client).filter(|(first, _)| *first != FIN | CLOSE) {
                client.send(&frame(first, &payload));
            }
        }
    });
    let fields =
        ["-H", "Origin: http://o", "-b", "a=b", "-u", "me:secret", "--subprotocol", "v1", "--subprotocol", "v2"];
    let result = press(&url(&server), &[&["-n", "6", "-c", "3", "--data", "x"], &fields[..]].concat());
    assert_eq!(count(&result, "/requests"), 6, "{result}");
    let handshakes = server.texts();
    assert_eq!(handshakes.len(), 3);
    for request in &handshakes {
        assert!(request.starts_with("GET /chat HTTP/1.1\r\n"), "{request}");
        for (name, value) in [
            ("Upgrade", "websocket"),
            ("Connection", "Upgrade"),
            ("Sec-WebSocket-Version", "13"),
            ("Sec-WebSocket-Protocol", "v1, v2"),
            ("Origin", "http://o"),
            ("Cookie", "a=b"),
            ("Authorization", "Basic bWU6c2VjcmV0"),
        ] {
            assert_eq!(field(request, name), Some(value), "{request}");
        }
        assert_eq!(field(request, "Sec-WebSocket-Extensions"), None, "{request}");
    }
    let mut keys: Vec<_> = handshakes.iter().map(|request| field(request, "Sec-WebSocket-Key")).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 3, "{keys:?}");
}

#[test]
fn handshakes_that_fail_say_why() {
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 1000\r\n\r\n");
            client.request();
        }
    });
    let ended = torr(&["-n", "4", "-c", "2", "--data", "x", &url(&server)]);
    assert_ne!(ended.code, Some(0), "{ended:?}");
    assert!(ended.stderr.contains("the server refused the WebSocket handshake with status 403"), "{ended:?}");
    let wrong =
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ";
    let server = Script::start(move |client| {
        if client.request().is_some() {
            client.send(format!("{wrong}s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n").as_bytes());
            client.request();
        }
    });
    let ended = torr(&["-n", "4", "-c", "2", "--data", "x", &url(&server)]);
    assert!(ended.stderr.contains("Sec-WebSocket-Accept does not match"), "{ended:?}");
    let serve = Serve::start(&["--workers", "1"]);
    let ended = torr(&["-n", "4", "-c", "2", "--data", "x", &format!("ws://{}/plaintext", serve.address)]);
    assert!(ended.stderr.contains("the server refused the WebSocket handshake with status 200"), "{ended:?}");
}

#[test]
fn violations_end_a_connection_with_a_code() {
    const WHOLE: u8 = FIN | TEXT;
    let large = b"\x82\x7f\x7f\xff\xff\xff\xff\xff\xff\xff";
    for (bytes, what, code) in [
        (&[WHOLE, 0x81, 1, 2, 3, 4, b'x'][..], "the server sent a masked frame", 1002_u16),
        (&[WHOLE | 0x40, 1, b'x'], "the server sent a frame with reserved bits", 1002),
        (&[FIN, 1, b'x'], "the server sent a continuation frame outside of a message", 1002),
        (&[FIN | 5, 0], "the server sent a frame with the unknown opcode 5", 1002),
        (&[PING, 0], "the server sent a fragmented control frame", 1002),
        (&[FIN | CLOSE, 2, 0x03, 0xee], "the server sent a close frame with an invalid code", 1002),
        (&large[..], "the server sent a message with more than 16777216 bytes", 1009),
    ] {
        let (sender, codes) = channel();
        let sender = Mutex::new(sender);
        let server = Script::start(move |client| {
            if accept(client, "").is_some() && receive(client).is_some() {
                client.send(bytes);
                let last = receive(client);
                let _ = sender.lock().expect("nobody panics with it").send(last);
            }
        });
        let result = press(&url(&server), &["-n", "1", "-c", "1", "--data", "x"]);
        assert_eq!((count(&result, "/errors/protocol"), cause(&result)), (1, what), "{result}");
        assert_eq!(result["causes"][0]["side"], "server", "{result}");
        let last = codes.recv_timeout(PATIENCE).expect("the server is asked");
        assert_eq!(last, Some((FIN | CLOSE, code.to_be_bytes().to_vec())), "{what}");
    }
}

#[test]
fn messages_in_fragments_with_pings_between_are_one_response() {
    let (sender, pongs) = channel();
    let sender = Mutex::new(sender);
    let server = Script::start(move |client| {
        if accept(client, "").is_none() {
            return;
        }
        while receive(client).is_some_and(|(first, _)| first == FIN | TEXT) {
            client.send(&frame(TEXT, b"one, "));
            client.send(&frame(FIN | PING, b"are you there?"));
            let pong = receive(client);
            let _ = sender.lock().expect("nobody panics with it").send(pong);
            client.send(&frame(FIN | PONG, b"this is not needed"));
            client.send_bytewise(&[frame(0, b"two, "), frame(FIN, b"three")].concat());
        }
    });
    let flags = ["-n", "3", "-c", "1", "--data", "x", "--expect-body", "one, two, three"];
    let result = press(&url(&server), &flags);
    assert_eq!((count(&result, "/requests"), count(&result, "/bytes/body")), (3, 45), "{result}");
    assert_eq!((count(&result, "/websocket/pings"), count(&result, "/checks/0/failed")), (3, 0), "{result}");
    assert_eq!(pongs.try_iter().collect::<Vec<_>>(), vec![Some((FIN | PONG, b"are you there?".to_vec())); 3]);
}

#[test]
fn what_comes_without_a_request_was_pushed() {
    let server = Script::start(|client| {
        if accept(client, "").is_none() {
            return;
        }
        client.send(&frame(FIN | TEXT, b"welcome"));
        while let Some((first, payload)) = receive(client).filter(|(first, _)| *first != FIN | CLOSE) {
            client.send(&[frame(first, &payload), frame(FIN | TEXT, b"news"), frame(FIN | BINARY, b"")].concat());
        }
    });
    // The first message of each connection may be sent before the welcome has arrived.
    let result = press(&url(&server), &["-n", "10", "-c", "1", "--think", "50ms", "--data", "x"]);
    assert_eq!(count(&result, "/requests"), 10, "{result}");
    assert!((18..=21).contains(&count(&result, "/websocket/pushed")), "{result}");
}

#[test]
fn responses_are_found_by_a_value_in_any_order() {
    let server = Script::start(|client| {
        if accept(client, "").is_none() {
            return;
        }
        client.send(&frame(FIN | TEXT, br#"{"id": "welcome"}"#));
        let next = |client: &mut Client| receive(client).filter(|(first, _)| *first == FIN | TEXT);
        while let (Some((_, first)), Some((_, second))) = (next(client), next(client)) {
            let news = frame(FIN | TEXT, b"this is no JSON");
            client.send(&[frame(FIN | TEXT, &second), news, frame(FIN | TEXT, &first)].concat());
        }
    });
    let flags =
        ["-n", "20", "-c", "1", "--pipeline", "2", "--match", "jsonpath \"$.id\"", "--data", r#"{"id": {{seq}}}"#];
    let result = press(&url(&server), &flags);
    assert_eq!((count(&result, "/requests"), count(&result, "/connections/opened")), (20, 1), "{result}");
    assert_eq!(count(&result, "/websocket/pushed"), 11, "the welcome, and the news: {result}");
}

#[test]
fn a_message_without_a_response_times_out_alone_where_responses_have_a_value() {
    let server = Script::start(|client| {
        if accept(client, "").is_none() {
            return;
        }
        while let Some((first, payload)) = receive(client).filter(|(first, _)| *first == FIN | TEXT) {
            if payload != br#"{"id": 1}"# {
                client.send(&frame(first, &payload));
            }
        }
    });
    let flags = [
        "-n",
        "4",
        "-c",
        "1",
        "--pipeline",
        "2",
        "--timeout",
        "500ms",
        "--match",
        "$.id",
        "--data",
        r#"{"id": {{seq}}}"#,
    ];
    let result = press(&url(&server), &flags);
    let ends = (count(&result, "/requests"), count(&result, "/errors/timeout"), count(&result, "/connections/opened"));
    assert_eq!(ends, (3, 1, 1), "{result}");
    let result = press(&url(&server), &["-n", "2", "-c", "1", "--match", "$.id", "--data", "{}"]);
    assert_eq!((count(&result, "/errors/protocol"), &result["causes"][0]["side"]), (2, &"client".into()), "{result}");
    assert!(cause(&result).contains("no value for --match"), "{result}");
}

#[test]
fn checks_are_about_messages() {
    let server = replying(b"\x81\x03yes");
    let checks = ["--expect-body", "yes", "--expect-body", "no"];
    let ended = torr(&[&["-n", "4", "-c", "2", "--data", "x", &url(&server), "--json", "-"], &checks[..]].concat());
    assert_eq!(
        (ended.code, ended.stderr.contains("check failed: body no: failed in 4 of 4")),
        (Some(1), true),
        "{ended:?}"
    );
    let result: Value = serde_json::from_str(&ended.stdout).expect("a result is JSON");
    adds_up(&result);
    let failed = (count(&result, "/checks/0/failed"), count(&result, "/checks/1/failed"));
    assert_eq!((count(&result, "/requests"), failed), (4, (0, 4)), "{result}");
    let server = replying(b"\x81\x01\xff");
    let result = press(&url(&server), &["-n", "1", "-c", "1", "--data", "x", "--expect-body", "yes"]);
    assert_eq!(cause(&result), "the server sent a text message that is not UTF-8", "{result}");
}

#[test]
fn closes_of_the_server_are_counted_by_their_codes() {
    let server = replying(b"\x88\x02\x03\xf3");
    let result = press(&url(&server), &["-n", "4", "-c", "2", "--data", "x"]);
    assert_eq!(cause(&result), "the server closed the WebSocket with code 1011 before responding", "{result}");
    assert_eq!((count(&result, "/errors/read"), count(&result, "/websocket/closed/1011")), (4, 4), "{result}");
    // With the response, so that no message is lost.
    let server = replying(b"\x81\x01x\x88\x00");
    let result = press(&url(&server), &["-n", "4", "-c", "1", "--data", "x"]);
    let opened = (count(&result, "/requests"), count(&result, "/connections/opened"));
    assert_eq!((opened, count(&result, "/websocket/closed/1005")), ((4, 4), 4), "{result}");
    let server = Script::start(|client| {
        if accept(client, "").is_some() {
            receive(client);
        }
    });
    let result = press(&url(&server), &["-n", "3", "-c", "1", "--data", "x"]);
    assert_eq!(count(&result, "/websocket/closed/1006"), 3, "{result}");
    let what = "the server closed the connection without a close frame before responding";
    assert_eq!((count(&result, "/errors/read"), cause(&result)), (3, what), "{result}");
}

#[test]
fn a_run_ends_with_a_closing_handshake() {
    let (sender, ends) = channel();
    let sender = Mutex::new(sender);
    let server = Script::start(move |client| {
        let sender: Sender<_> = sender.lock().expect("nobody panics with it").clone();
        if accept(client, "").is_none() {
            return;
        }
        while let Some((first, payload)) = receive(client) {
            client.send(&frame(first, &payload));
            if first == FIN | CLOSE {
                // The client waits for the server's frame, and then it goes.
                let _ = sender.send((payload, receive(client)));
                return;
            }
        }
        let _ = sender.send((Vec::new(), None));
    });
    let result = press(&url(&server), &["-n", "9", "-c", "3", "--data", "x"]);
    assert_eq!((count(&result, "/requests"), &result["websocket"]["closed"]), (9, &serde_json::json!({})), "{result}");
    for _ in 0..3 {
        let end = ends.recv_timeout(PATIENCE).expect("each connection comes to an end");
        assert_eq!(end, (1000_u16.to_be_bytes().to_vec(), None));
    }
}

#[test]
fn a_server_that_does_not_confirm_the_close_is_not_waited_for_long() {
    let server = Script::start(|client| {
        if accept(client, "").is_some() {
            while let Some((first, payload)) = receive(client) {
                if first != FIN | CLOSE {
                    client.send(&frame(first, &payload));
                }
            }
        }
    });
    let result = press(&url(&server), &["-n", "2", "-c", "2", "--data", "x"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/unfinished")), (2, 0), "{result}");
}

#[test]
fn a_flood_of_pings_ends_its_connection() {
    let server = Script::start(|client| {
        if accept(client, "").is_some() && receive(client).is_some() {
            let mut reader = client.stream.try_clone().expect("a socket can be shared");
            let reading = std::thread::spawn(move || std::io::copy(&mut reader, &mut std::io::sink()));
            client.send(&frame(FIN | PING, b"").repeat(20_000));
            let _ = reading.join();
        }
    });
    let result = press(&url(&server), &["-n", "1", "-c", "1", "--data", "x"]);
    assert_eq!(cause(&result), "the server sent more than 10000 pings without a message", "{result}");
}

#[test]
fn a_message_that_is_not_answered_times_out() {
    let server = Script::start(|client| {
        if accept(client, "").is_some() {
            while receive(client).is_some() {}
        }
    });
    let result = press(&url(&server), &["-n", "2", "-c", "2", "--timeout", "300ms", "--data", "x"]);
    assert_eq!(
        (count(&result, "/errors/timeout"), cause(&result)),
        (2, "no complete response within 300 ms"),
        "{result}"
    );
}

#[test]
fn websockets_go_through_tls() {
    let folder = tempfile::tempdir().expect("there is room for files");
    let (certificate, key) = self_signed(folder.path());
    let [certificate, key] =
        [&certificate, &key].map(|path| path.to_str().expect("temporary folders have plain names"));
    let serve = Serve::start(&["--workers", "1", "--router", "true", "--tls-cert", certificate, "--tls-key", key]);
    let target = format!("wss://{}/ws/echo", serve.address);
    let result = press(&target, &["-n", "100", "-c", "4", "--cacert", certificate, "--data", "secret"]);
    assert_eq!((count(&result, "/requests"), count(&result, "/bytes/body")), (100, 600), "{result}");
    assert_eq!(count(&result, "/tls/full") + count(&result, "/tls/resumed"), 4, "{result}");
    assert!(count(&result, "/phases_us/tls/max") > 0 && count(&result, "/websocket/handshake_us/max") > 0, "{result}");
}

#[test]
fn a_close_frame_ends_a_connection_over_tls_too() {
    let server = Script::start(|client| {
        if accept(client, "").is_some() && receive(client).is_some() {
            client.send(&frame(FIN | CLOSE, &1011_u16.to_be_bytes()));
            // Neither TCP nor TLS ends before the client ends it.
            while matches!(client.stream.read(&mut [0; 1024]), Ok(1..)) {}
        }
    });
    let folder = tempfile::tempdir().expect("there is room for files");
    let (certificate, key) = self_signed(folder.path());
    let switched =
        "proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection Upgrade";
    let proxy = format!("location / {{ proxy_pass http://{}; {switched}; }}", server.address);
    let nginx = Nginx::start_tls(&certificate, &key, &proxy);
    let certificate = certificate.to_str().expect("temporary folders have plain names");
    let target = format!("wss://{}/", nginx.address);
    let result = press(&target, &["-n", "2", "-c", "1", "--cacert", certificate, "--data", "x"]);
    assert_eq!((count(&result, "/errors/read"), count(&result, "/websocket/closed/1011")), (2, 2), "{result}");
    assert_eq!(cause(&result), "the server closed the WebSocket with code 1011 before responding", "{result}");
}

#[test]
fn what_means_nothing_for_a_websocket_is_refused() {
    for (args, why) in [
        (&["ws://127.0.0.1:9/", "--listen", "--pipeline", "2"][..], "--listen cannot be used with --pipeline"),
        (&["http://127.0.0.1:9/", "--listen"], "--listen needs a ws:// or wss:// URL"),
        (
            &["ws://127.0.0.1:9/", "--data", "x", "--max-events", "3"],
            "--max-events needs --sse or --tokens or --listen",
        ),
        (&["ws://127.0.0.1:9/"][..], "a ws:// URL needs a message to send: pass it with --data"),
        (&["ws://127.0.0.1:9/", "--data", "x", "--head"], "--head"),
        (
            &["ws://127.0.0.1:9/", "--data", "x", "--http2-prior-knowledge"],
            "--http2-prior-knowledge is not supported for WebSockets",
        ),
        (
            &["ws://127.0.0.1:9/", "--data", "x", "--expect-status", "200"],
            "--expect-status is not supported for WebSockets",
        ),
        (&["ws://127.0.0.1:9/", "--data", "x", "--data", "y"], "a WebSocket sends one message"),
        (
            &["ws://127.0.0.1:9/", "--data", "x", "-H", "Upgrade: h2c"],
            "header 'Upgrade' belongs to the WebSocket handshake",
        ),
        (&["ws://127.0.0.1:9/", "--data", "x", "--subprotocol", "a b"], "invalid subprotocol 'a b'"),
        (&["http://127.0.0.1:9/", "--binary"], "--binary needs a ws:// or wss:// URL"),
    ] {
        let ended = torr(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(why) && ended.stderr.lines().count() <= 3, "{args:?}: {ended:?}");
    }
}

#[test]
fn a_scripted_echo_is_a_service_as_well() {
    let server = Script::start(echo);
    let result = press(&url(&server), &["-d", "1s", "-c", "2", "--warmup", "200ms", "--data", "x"]);
    assert!(count(&result, "/requests") > 0 && count(&result, "/errors/read") == 0, "{result}");
}
