//! Event streams: every event is counted, and every stream has one end.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

fn press(url: &str, args: &[&str]) -> Value {
    let result = torr_json(&[&["--sse", "-t", "1", url], args].concat());
    adds_up(&result);
    result
}

fn streams(result: &Value, name: &str) -> u64 {
    count(result, &format!("/streams/{name}"))
}

/// A chunk with these bytes.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Sends each piece as a chunk of its own, and then waits for the client to go.
fn sends(pieces: &'static [&'static [u8]]) -> impl Fn(&mut Client) + Send + Sync + 'static {
    move |client| {
        if client.request().is_some() {
            client.send(STREAM.as_bytes());
            for piece in pieces {
                client.send(&chunk(piece));
            }
            client.request();
        }
    }
}

#[test]
fn all_events_of_streams_that_the_server_ends_are_counted() {
    let serve = Serve::start(&["--workers", "1"]);
    for protocol in [&[][..], &["--http2-prior-knowledge", "--streams", "4"]] {
        let result = press(&serve.url("/sse/5/20"), &[&["-n", "20", "-c", "4"], protocol].concat());
        assert_eq!((count(&result, "/requests"), streams(&result, "begun")), (20, 20), "{result}");
        assert_eq!((streams(&result, "events"), count(&result, "/unfinished")), (100, 0), "{result}");
        assert_eq!((streams(&result, "limited"), streams(&result, "open")), (0, 0), "{result}");
        let in_series = result["series"].as_array().expect("it is a list").iter();
        assert_eq!(in_series.map(|point| point["events"].as_u64().unwrap_or(0)).sum::<u64>(), 100, "{result}");
        // Whoever is late, the fifth event comes at least four times 20 ms after the request.
        assert!(count(&result, "/streams/length_us/min") >= 79_000, "{result}");
        assert!(streams(&result, "longest_silence_us") >= 19_000, "{result}");
        assert!(count(&result, "/streams/first_event_us/max") >= 1, "{result}");
    }
}

#[test]
fn the_client_ends_streams_as_planned() {
    let serve = Serve::start(&["--workers", "1"]);
    for protocol in [&[][..], &["--http2-prior-knowledge", "--streams", "3"]] {
        for (end, events) in [(["--max-events", "3"], 3), (["--until", "data contains \":5}\""], 5)] {
            let args = [&["-n", "12", "-c", "3"], protocol, &end].concat();
            let result = press(&serve.url("/sse/1000000/1"), &args);
            let ends = (count(&result, "/requests"), streams(&result, "limited"), streams(&result, "events"));
            assert_eq!(ends, (12, 12, 12 * events), "{args:?}: {result}");
            assert_eq!(count(&result, "/connections/closed_by_server"), 0, "{args:?}: {result}");
        }
    }
}

#[test]
fn streams_that_are_open_at_the_end_are_no_errors() {
    let serve = Serve::start(&["--workers", "1"]);
    for protocol in [&[][..], &["--http2-prior-knowledge"]] {
        let result = press(&serve.url("/sse/1000000/10"), &[&["-d", "2s", "-c", "3"], protocol].concat());
        assert_eq!((streams(&result, "open"), count(&result, "/unfinished")), (3, 3), "{result}");
        assert!(streams(&result, "events") > 30, "{result}");
        assert!(count(&result, "/streams/gap_us/max") > 0, "{result}");
        let shown = torr(&["--sse", "-d", "2s", "-c", "2", &serve.url("/sse/1000000/10")]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        for words in ["events/s, first event", "2 open when the run ended", "events of 2 streams", "  gap "] {
            assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
        }
        assert!(!shown.stdout.contains("no responses"), "{}", shown.stdout);
    }
}

#[test]
fn events_are_counted_however_they_are_cut_into_pieces() {
    let pieces: &[&[u8]] = &[
        b"\xef\xbb", b"\xbfdata: 1\r", b"\n\r", b"\nda", b"ta: 2\n", b"\n: a comment\n\nevent: x\n\n", b"data: 3\rdata: 4\r\r",
        b"data: not complete",
    ];
    let server = Script::start(sends(pieces));
    let result = press(&server.url(), &["-n", "1", "-c", "1", "--idle-timeout", "1s"]);
    assert_eq!((streams(&result, "events"), streams(&result, "begun")), (3, 1), "{result}");
}

#[test]
fn a_stream_that_falls_silent_fails() {
    let server = Script::start(sends(&[b"data: 1\n\n"]));
    let result = press(&server.url(), &["-n", "4", "-c", "2", "--idle-timeout", "300ms"]);
    assert_eq!((count(&result, "/errors/timeout"), streams(&result, "silent")), (4, 4), "{result}");
    assert_eq!(result["causes"][0]["what"], "no event within 300 ms", "{result}");
    assert!(streams(&result, "longest_silence_us") >= 300_000, "{result}");
    // Before its first event a stream has the time of a response.
    let server = Script::start(sends(&[b": nothing\n\n"]));
    let result = press(&server.url(), &["-n", "2", "-c", "2", "--idle-timeout", "300ms", "--timeout", "600ms"]);
    assert_eq!((count(&result, "/errors/timeout"), streams(&result, "silent")), (2, 0), "{result}");
}

#[test]
fn what_is_no_event_stream_is_said() {
    let serve = Serve::start(&["--workers", "1"]);
    for protocol in [&[][..], &["--http2-prior-knowledge"]] {
        let result = press(&serve.url("/plaintext"), &[&["-n", "4", "-c", "2"], protocol].concat());
        assert_eq!(count(&result, "/errors/protocol"), 4, "{result}");
        let what = result["causes"][0]["what"].as_str().expect("a cause is a text");
        assert!(what.starts_with("no event stream: its Content-Type is text/plain"), "{result}");
        let result = press(&serve.url("/sse/x/1"), &[&["-n", "4", "-c", "2"], protocol].concat());
        assert_eq!((count(&result, "/errors/status"), count(&result, "/status/400")), (4, 4), "{result}");
    }
}

#[test]
fn compressed_streams_are_read_as_they_come() {
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n").as_bytes());
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            for n in 0..5 {
                write!(encoder, "data: {n}\n\n").and_then(|()| encoder.flush()).expect("memory takes it");
                client.send(&chunk(&std::mem::take(encoder.get_mut())));
            }
            client.request();
        }
    });
    let result = press(&server.url(), &["--compressed", "-n", "2", "-c", "1", "--until", "data == 4"]);
    assert_eq!((count(&result, "/requests"), streams(&result, "events")), (2, 10), "{result}");
    let request = &server.texts()[0];
    assert!(request.contains("Accept: text/event-stream\r\n"), "{request}");
    assert!(request.contains("Accept-Encoding: gzip, br\r\n"), "{request}");
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(STREAM.replace("\r\n\r\n", "\r\nContent-Encoding: gzip\r\n\r\n").as_bytes());
            client.send(&chunk(b"data: this is no gzip\n\n"));
            client.request();
        }
    });
    let result = press(&server.url(), &["-n", "2", "-c", "1"]);
    assert_eq!(result["causes"][0]["what"], "the compressed bytes of the event stream are malformed", "{result}");
}

#[test]
fn a_server_that_dies_in_a_stream_is_a_failure() {
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(STREAM.as_bytes());
            client.send(&chunk(b"data: 1\n\ndata: 2\n\n"));
        }
    });
    let result = press(&server.url(), &["-n", "6", "-c", "2"]);
    assert_eq!((count(&result, "/errors/read"), streams(&result, "events")), (6, 12), "{result}");
}

#[test]
fn completions_of_a_chat_are_streams() {
    let serve = Serve::start(&["--workers", "1"]);
    let body = r#"{"stream":true,"max_tokens":3,"token_ms":1,"stream_options":{"include_usage":true}}"#;
    let done = r#"data == "[DONE]""#;
    let result = press(&serve.url("/v1/chat/completions"), &["--json-body", body, "--until", done, "-n", "5", "-c", "2"]);
    // Three tokens, the reason of the end, the usage, and the mark of the end.
    assert_eq!((streams(&result, "events"), count(&result, "/requests")), (30, 5), "{result}");
}

#[test]
fn what_does_not_go_with_streams_is_refused() {
    let url = "http://127.0.0.1:1/";
    for (args, line) in [
        (&["--until", "data == x"][..], "--until needs --sse"),
        (&["--max-events", "3"], "--max-events needs --sse"),
        (&["--sse", "--pipeline", "2"], "--sse cannot be used with --pipeline"),
        (&["--sse", "--expect-body", "x"], "--sse cannot be used with --expect-body"),
        (&["--sse", "--until", "dat == x"], "expected data or event"),
        (&["--sse", "--max-events", "0"], "must be a whole number from 1"),
    ] {
        let ended = torr(&[args, &[url]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line), "{args:?}: {}", ended.stderr);
    }
}
