//! Event streams: every event is counted, and every stream has one end.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write;
use torr_test_support::program::{torr, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";

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
        // However late the others are, the fifth event comes at least four times 20 ms after the request.
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
        b"\xef\xbb",
        b"\xbfdata: 1\r",
        b"\n\r",
        b"\nda",
        b"ta: 2\n",
        b"\n: a comment\n\nevent: x\n\n",
        b"data: 3\rdata: 4\r\r",
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
    assert_eq!(
        result["causes"][0]["what"], "the compressed bytes of the event stream are malformed, or decode to too many",
        "{result}"
    );
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
fn an_endless_stream_that_is_read_as_one_response_has_advice() {
    let serve = Serve::start(&["--workers", "1"]);
    let url = serve.url("/sse/1000000/10");
    for protocol in [&[][..], &["--http2-prior-knowledge"], &["--expect-status", "200"]] {
        let args = [&["-t", "1", "-n", "2", "-c", "2", "--timeout", "300ms", &url], protocol].concat();
        let result = torr_json(&args);
        let advice = "no complete response within 300 ms: it is an event stream, use --sse";
        assert_eq!((count(&result, "/errors/timeout"), result["causes"][0]["what"].as_str()), (2, Some(advice)));
    }
}

#[test]
fn a_connection_carries_one_stream_after_the_other() {
    // The end of each stream comes with its last event, and the next one in two pieces.
    let server = Script::start(|client| {
        while client.request().is_some() {
            let (begin, rest) = STREAM.split_at(20);
            client.send(begin.as_bytes());
            client.send(rest.as_bytes());
            client.send(&[chunk(b"data: 1\n\n"), chunk(b"data: 2\n\n"), b"0\r\n\r\n".to_vec()].concat());
        }
    });
    for args in [&["-n", "5", "-c", "1"][..], &["-n", "5", "-c", "1", "--max-events", "2"]] {
        let result = press(&server.url(), args);
        assert_eq!((count(&result, "/requests"), streams(&result, "events")), (5, 10), "{result}");
        assert_eq!(count(&result, "/connections/opened"), 1, "{result}");
    }
}

#[test]
fn rules_about_streams_are_judged() {
    let serve = Serve::start(&["--workers", "1"]);
    let url = serve.url("/sse/10/20");
    let rules = "first_event_max>1m,gap_p50>1ms,gap_max<10us";
    let result = torr(&["--sse", "-n", "4", "-c", "2", "--json", "-", "--fail-if", rules, &url]);
    let result: Value = serde_json::from_str(&result.stdout).expect("it is JSON");
    let failed: Vec<_> =
        result["thresholds"].as_array().expect("it is a list").iter().map(|rule| &rule["failed"]).collect();
    assert_eq!(failed, [false, true, false], "{result}");
    let refused = torr(&["-n", "4", "--fail-if", "gap_p99>1s", &url]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("'gap_p99>1s' needs --sse"), "{refused:?}");
}

#[test]
fn the_report_of_streams_has_their_times_as_text_table_and_page() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let serve = Serve::start(&["--workers", "1"]);
    let (csv, page, metrics) = (file("run.csv"), file("run.html"), file("run.prom"));
    let url = serve.url("/sse/30/20");
    let shown =
        torr(&["--sse", "-n", "20", "-c", "10", "--csv", &csv, "--report", &page, "--prometheus", &metrics, &url]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for words in ["600 events of 20 streams", "20 ended by the server", "first event ", "gap ", "stream "] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert!(read(&csv).starts_with("t,requests,errors,rps,p50_us,p99_us,events\n"), "{}", read(&csv));
    let page = read(&page);
    for words in ["Time to the first event by percentile", "Gap between events by percentile", "events per second"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("Response time by percentile"), "the length of a stream is no response time");
    let metrics = read(&metrics);
    for words in ["torr_events_total{", " 600\n", "torr_first_event_seconds_count", "torr_event_gap_seconds_count"] {
        assert!(metrics.contains(words), "{words}: {metrics}");
    }
}

#[test]
fn completions_of_a_chat_are_streams() {
    let serve = Serve::start(&["--workers", "1"]);
    let body = r#"{"stream":true,"max_tokens":3,"token_ms":1,"stream_options":{"include_usage":true}}"#;
    let done = r#"data == "[DONE]""#;
    let result =
        press(&serve.url("/v1/chat/completions"), &["--json-body", body, "--until", done, "-n", "5", "-c", "2"]);
    // Three tokens, the reason of the end, the usage, and the mark of the end.
    assert_eq!((streams(&result, "events"), count(&result, "/requests")), (30, 5), "{result}");
}

#[test]
fn tokens_of_completions_are_counted() {
    let serve = Serve::start(&["--workers", "1"]);
    let url = serve.url("/v1/chat/completions");
    let tokens = |usage: bool, args: &[&str]| {
        let options = format!(r#""stream_options":{{"include_usage":{usage}}}"#);
        let body = format!(r#"{{"stream":true,"max_tokens":20,"token_ms":20,{options}}}"#);
        let ended =
            torr(&[args, &["--json-body", &body, "-n", "6", "-c", "3", "-t", "1", "--json", "-", &url]].concat());
        let result: Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        adds_up(&result);
        result
    };
    for protocol in [&[][..], &["--http2-prior-knowledge"]] {
        for (usage, with_usage) in [(true, 6), (false, 0)] {
            let result = tokens(usage, &[&["--tokens", "openai"], protocol].concat());
            let of = |name: &str| count(&result, &format!("/streams/tokens/{name}"));
            assert_eq!((of("tokens"), of("chunks"), of("with_usage")), (120, 120, with_usage), "{result}");
            assert_eq!((of("prompt_tokens"), count(&result, "/requests")), (with_usage, 6), "{result}");
            assert!(of("first_token_us/max") > 0 && of("gap_us/max") >= 19_000, "{result}");
            // 19 times 20 ms for 19 tokens after the first one, however late each of them is.
            let each = result["streams"]["tokens"]["per_token_us"].as_f64().expect("there are two tokens");
            assert!((19_000.0..200_000.0).contains(&each), "{result}");
        }
    }
    let path = tokens(true, &["--tokens", "jsonpath $.choices[0].delta.content"]);
    assert_eq!(count(&path, "/streams/tokens/tokens"), 120, "{path}");
    let none = tokens(false, &["--tokens", "jsonpath $.text"]);
    assert_eq!((count(&none, "/streams/tokens/tokens"), streams(&none, "events")), (0, 132), "{none}");
    let judged = tokens(false, &["--tokens", "openai", "--fail-if", "first_token_max>1m,token_gap_p50>1ms"]);
    assert_eq!((&judged["thresholds"][0]["failed"], &judged["thresholds"][1]["failed"]), (&false.into(), &true.into()));
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
        (&["--tokens", "claude"], "expected openai, or jsonpath"),
        (&["--tokens", "jsonpath $["], "invalid JSONPath '$['"),
        (&["--sse", "--max-events", "0"], "must be a whole number from 1"),
    ] {
        let ended = torr(&[args, &[url]].concat());
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line), "{args:?}: {}", ended.stderr);
    }
}
