//! Event streams among the responses of sessions: found by their content type, and counted for their entries.

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use tempfile::TempDir;
use torr_test_support::program::{Ended, torr};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Serve;

const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// A session file in a folder of its own.
struct File {
    folder: TempDir,
    name: &'static str,
}

impl File {
    fn new(name: &'static str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("there is room for temporary files");
        std::fs::write(folder.path().join(name), text).expect("a file can be written");
        Self { folder, name }
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, args: &[&str]) -> Ended {
        let path = self.beside(self.name);
        torr(&[&["-t", "1", path.to_str().expect("the path is text")], args].concat())
    }

    /// The result of a run of one user or several.
    fn result(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--json", "-"], args].concat());
        let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
        adds_up(&result);
        result
    }
}

/// A field of the streams of an entry.
fn streams(result: &Value, entry: usize, name: &str) -> u64 {
    count(result, &format!("/entries/{entry}/streams/{name}"))
}

/// A chunk with these bytes.
fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

/// Sends a stream's beginning, and then waits for the client to go.
fn sends(begin: Vec<u8>) -> impl Fn(&mut Client) + Send + Sync + 'static {
    move |client| {
        if client.request().is_some() {
            client.send(STREAM.as_bytes());
            client.send(&chunk(&begin));
            client.request();
        }
    }
}

#[test]
fn entries_have_the_events_of_their_streams_and_others_have_none() {
    let serve = Serve::start(&["--workers", "1"]);
    let text = format!(
        "GET {0}\nHTTP 200\n[Asserts]\nbytes count == 10\n\nGET {1}\nHTTP 200\n[Captures]\nlast: body regex \
         /n\":(\\d+)}}\\n\\n$/\n[Asserts]\nbody startsWith \"id: 1\\ndata: {{\"\nvariable \"last\" == \"5\"\n\nGET {0}\nHTTP 200\n",
        serve.url("/bytes/10"),
        serve.url("/sse/5/20"),
    );
    let file = File::new("mixed.hurl", &text);
    for protocol in [&[][..], &["--http2-prior-knowledge"], &["-r", "100"]] {
        let result = file.result(&[&["-n", "10", "-c", "3"], protocol].concat());
        assert_eq!((count(&result, "/sessions/finished"), count(&result, "/requests")), (10, 30), "{result}");
        assert_eq!((streams(&result, 1, "events"), streams(&result, 1, "begun")), (50, 10), "{result}");
        assert_eq!((streams(&result, 1, "limited"), streams(&result, 1, "open")), (0, 0), "{result}");
        // However late the others are, the fifth event comes at least four times 20 ms after the request.
        assert!(count(&result, "/entries/1/latency_us/min") >= 79_000, "{result}");
        assert!(streams(&result, 1, "gap_us/max") >= 19_000, "{result}");
        assert_eq!(result["entries"][0].get("streams"), None, "{result}");
        assert_eq!(result["entries"][2].get("streams"), None, "{result}");
        assert_eq!(result.get("streams"), None, "the run is one of sessions: {result}");
    }
}

#[test]
fn a_stream_may_last_longer_than_a_response() {
    let serve = Serve::start(&["--workers", "1"]);
    let file = File::new("long.hurl", &format!("GET {}\nHTTP 200\n", serve.url("/sse/75/20")));
    for protocol in [&[][..], &["--http2-prior-knowledge"]] {
        let result = file.result(&[&["-n", "2", "-c", "2", "--timeout", "1s"], protocol].concat());
        assert_eq!((count(&result, "/sessions/finished"), streams(&result, 0, "events")), (2, 150), "{result}");
    }
}

#[test]
fn the_client_ends_streams_as_planned_and_the_text_ends_there() {
    // More has arrived with the events that are wanted.
    let server = Script::start(sends(b"data: 1\n\nevent: x\ndata: 2\n\ndata: 3\n\ndata: 4".to_vec()));
    let text = |events: &str| format!("GET {}\nHTTP 200\n[Asserts]\nbody == \"{events}\"\n", server.url());
    for (end, events, expected) in [
        (["--max-events", "1"], 1, "data: 1\\n\\n"),
        (["--max-events", "3"], 3, "data: 1\\n\\nevent: x\\ndata: 2\\n\\ndata: 3\\n\\n"),
        (["--until", "event == x"], 2, "data: 1\\n\\nevent: x\\ndata: 2\\n\\n"),
    ] {
        let result = File::new("ends.hurl", &text(expected)).result(&[&["-n", "6", "-c", "2"], &end[..]].concat());
        assert_eq!((count(&result, "/sessions/finished"), streams(&result, 0, "limited")), (6, 6), "{result}");
        assert_eq!(streams(&result, 0, "events"), 6 * events, "{end:?}: {result}");
        assert_eq!(count(&result, "/connections/closed_by_server"), 0, "{end:?}: {result}");
    }
    let serve = Serve::start(&["--workers", "1"]);
    let text = format!("GET {}\nHTTP 200\n[Asserts]\nbody endsWith \":4}}\\n\\n\"\n", serve.url("/sse/1000000/1"));
    let end = ["-n", "6", "-c", "2", "--max-events", "4", "--http2-prior-knowledge"];
    let result = File::new("http2.hurl", &text).result(&end);
    assert_eq!((count(&result, "/sessions/finished"), streams(&result, 0, "events")), (6, 24), "{result}");
    assert_eq!(count(&result, "/connections/opened"), 2, "a stream is reset, its connection stays: {result}");
}

#[test]
fn compressed_streams_are_text_to_asserts() {
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
    let asserts = "[Options]\ncompressed: true\nHTTP 200\n[Asserts]\nbody == \"data: 0\\n\\ndata: 1\\n\\n\"\n";
    let file = File::new("gzip.hurl", &format!("GET {}\n{asserts}", server.url()));
    let result = file.result(&["-n", "3", "-c", "1", "--max-events", "2"]);
    assert_eq!((count(&result, "/sessions/finished"), streams(&result, 0, "events")), (3, 6), "{result}");
}

#[test]
fn hostile_streams_fail_their_sessions() {
    let endless = [b"data: ".to_vec(), vec![b'x'; 100_000]].concat();
    for (begin, events, silent, why) in [
        (b"data: 1\n\ndata: 2\n\n".to_vec(), 2, 1, "no event within 300 ms"),
        (b": only a comment\n\n".to_vec(), 0, 0, "no complete response within 700 ms"),
        (endless, 0, 0, "no complete response within 700 ms"),
    ] {
        let server = Script::start(sends(begin));
        let file = File::new("hostile.hurl", &format!("GET {}\nHTTP 200\n", server.url()));
        let limits = ["-n", "4", "-c", "2", "--timeout", "700ms", "--idle-timeout", "300ms"];
        let result = file.result(&limits);
        assert_eq!((count(&result, "/sessions/failed"), count(&result, "/errors/timeout")), (4, 4), "{result}");
        assert_eq!(result["entries"][0]["causes"][0]["what"], why, "{result}");
        if events > 0 {
            assert_eq!(streams(&result, 0, "events"), 4 * events, "{result}");
            assert_eq!(streams(&result, 0, "silent"), 4 * silent, "{result}");
        } else {
            assert_eq!(result["entries"][0].get("streams"), None, "{result}");
        }
    }
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(STREAM.as_bytes());
            client.send(&chunk(b"data: 1\n\ndata: 2\n\n"));
        }
    });
    let file = File::new("dies.hurl", &format!("GET {}\nHTTP 200\n", server.url()));
    let result = file.result(&["-n", "6", "-c", "2"]);
    assert_eq!((count(&result, "/errors/read"), streams(&result, 0, "events")), (6, 12), "{result}");
}

#[test]
fn streams_that_are_open_at_the_end_are_counted_as_such() {
    let serve = Serve::start(&["--workers", "1"]);
    let file = File::new("open.hurl", &format!("GET {}\nHTTP 200\n", serve.url("/sse/1000000/10")));
    for protocol in [&[][..], &["--http2-prior-knowledge"]] {
        let result = file.result(&[&["-d", "2s", "-c", "3"], protocol].concat());
        assert_eq!((streams(&result, 0, "open"), count(&result, "/sessions/unfinished")), (3, 3), "{result}");
        assert!(streams(&result, 0, "events") > 30, "{result}");
    }
}

#[test]
fn the_report_shows_the_streams_of_an_entry_and_rules_judge_them() {
    let serve = Serve::start(&["--workers", "1"]);
    let file = File::new("report.hurl", &format!("# name: prices\nGET {}\nHTTP 200\n", serve.url("/sse/10/20")));
    let metrics = file.beside("run.prom").display().to_string();
    let rules = "first_event_max>1m,gap_p50>1ms";
    let shown = file.run(&["-n", "4", "-c", "2", "--prometheus", &metrics, "--fail-if", rules]);
    assert_eq!(shown.code, Some(1), "{shown:?}");
    for words in ["prices", "40 events of 4 streams, first event ", ", gap p", "gap_p50>1ms"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
    let metrics = std::fs::read_to_string(&metrics).expect("it was written");
    let line = metrics.lines().find(|line| line.starts_with("torr_entry_events_total{"));
    assert!(line.is_some_and(|line| line.contains("prices") && line.ends_with(" 40")), "{line:?}: {metrics}");
}

#[test]
fn requests_of_a_lua_session_count_events_too() {
    let serve = Serve::start(&["--workers", "1"]);
    let script = "function session(user)\n  local got = http.get('/sse/1000000/1', {name = 'stream'})\n  \
                  user.check('all', select(2, got.body:gsub('data:', '')) == 3)\nend\n";
    let file = File::new("stream.lua", &format!("target = '{}'\n{script}", serve.url("/")));
    let result = file.result(&["-n", "4", "-c", "2", "--max-events", "3"]);
    assert_eq!((streams(&result, 0, "events"), streams(&result, 0, "limited")), (12, 4), "{result}");
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/entries/0/asserts_failed")), (4, 0), "{result}");
}

/// A Lua script for a server, with a session of these lines.
fn session(url: &str, lines: &str) -> File {
    File::new("events.lua", &format!("target = '{url}'\nfunction session(user)\n{lines}\nend\n"))
}

#[test]
fn a_loop_has_each_event_with_its_data_type_and_id() {
    let server = Script::start(|client| {
        while let Some(request) = client.request() {
            let request = String::from_utf8_lossy(&request);
            if request.starts_with("GET / ") {
                client.send(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                continue;
            }
            assert!(request.contains("\r\nAccept: text/event-stream\r\n"), "{request}");
            client.send(STREAM.replace("\r\n\r\n", "\r\nX-Own: yes\r\n\r\n").as_bytes());
            let events: [&[u8]; 3] =
                [b"data: a\ndata: b\n\nid: 7\nev", b"ent: price\ndata: 3\n\n", b": no\n\ndata:\n\n"];
            events.iter().for_each(|piece| client.send(&chunk(piece)));
            client.send(b"0\r\n\r\n");
        }
    });
    let lines = r#"
        local seen = {}
        local stream = http.sse("/prices", { name = "prices" })
        for event in stream do
            seen[#seen + 1] = event.event .. "|" .. event.id .. "|" .. event.data
        end
        local all = table.concat(seen, ";")
        user.check(all, all == "message||a\nb;price|7|3;message|7|" and stream() == nil)
        user.check("head", stream.status == 200 and stream:header("x-own") == "yes")
        user.check("again", http.get("/").status == 200)
    "#;
    let result = session(&server.url(), lines).result(&["-n", "6", "-c", "2"]);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/requests")), (6, 12), "{result}");
    assert_eq!((streams(&result, 0, "events"), streams(&result, 0, "begun")), (18, 6), "{result}");
    assert_eq!(count(&result, "/entries/0/asserts_failed"), 0, "{result}");
    assert_eq!(count(&result, "/connections/opened"), 2, "a stream that is read to its end leaves its connection");
}

#[test]
fn leaving_the_loop_ends_the_stream() {
    let serve = Serve::start(&["--workers", "1"]);
    let lines = r#"
        local taken = 0
        for event in http.sse("/sse/1000000/1", { name = "stream" }) do
            taken = taken + 1
            if event.data == '{"n":3}' then break end
        end
        user.check("three were taken", taken == 3)
        user.check("the next request has its response", http.get("/bytes/10", { name = "next" }).body:len() == 10)
    "#;
    let file = session(&serve.url("/"), lines);
    for (protocol, opened) in [(&[][..], 12), (&["--http2-prior-knowledge"], 2)] {
        let result = file.result(&[&["-n", "6", "-c", "2"], protocol].concat());
        assert_eq!((count(&result, "/sessions/finished"), count(&result, "/requests")), (6, 12), "{result}");
        assert_eq!((streams(&result, 0, "events"), streams(&result, 0, "limited")), (18, 6), "{result}");
        assert_eq!(result["entries"][1].get("streams"), None, "{result}");
        for entry in ["/entries/0/asserts_failed", "/entries/1/asserts_failed"] {
            assert_eq!(count(&result, entry), 0, "{result}");
        }
        // A connection of HTTP/1.1 ends with its stream; HTTP/2 resets the stream.
        assert!(count(&result, "/connections/opened") <= opened, "{result}");
        assert_eq!(count(&result, "/connections/closed_by_server"), 0, "{result}");
    }
}

#[test]
fn what_arrived_with_the_last_event_that_is_taken_does_not_count() {
    let server = Script::start(sends(b"data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4\n\n".to_vec()));
    for (leave, events) in [("do break end", 2), ("user.think(0)", 2), ("user.fail('enough')", 2), ("do return end", 2)]
    {
        let lines = format!(
            "for event in http.sse('/', {{name = 'stream'}}) do\n  if event.data == '2' then\n    {leave}\n    do return end\n  end\nend"
        );
        let result = session(&server.url(), &lines).result(&["-n", "4", "-c", "2"]);
        let ended = count(&result, "/sessions/finished") + count(&result, "/sessions/failed");
        assert_eq!((ended, streams(&result, 0, "events")), (4, 4 * events), "{leave}: {result}");
        assert_eq!(streams(&result, 0, "limited"), 4, "{leave}: {result}");
    }
}

#[test]
fn limits_and_the_server_end_loops_and_what_is_no_stream_has_none() {
    let serve = Serve::start(&["--workers", "1"]);
    let lines = r#"
        local function taken(path, options)
            local count, stream = 0, http.sse(path, options)
            for _ in stream do count = count + 1 end
            return count, stream
        end
        local long = taken("/sse/1000000/1", { name = "long" })
        local count, chat = taken("/v1/chat/completions", { name = "chat", json = { stream = true, max_tokens = 2, token_ms = 1 } })
        local none, plain = taken("/bytes/10", { name = "plain" })
        local _, missing = taken("/nowhere", { name = "missing" })
        user.check("counts", long == 4 and count == 4 and none == 0)
        user.check("responses", chat.status == 200 and #plain.body == 10 and missing.status == 404)
    "#;
    let file = session(&serve.url("/"), lines);
    for protocol in [&[][..], &["--http2-prior-knowledge"]] {
        let result = file.result(&[&["-n", "4", "-c", "2", "--max-events", "4"], protocol].concat());
        assert_eq!(count(&result, "/sessions/finished"), 4, "{result}");
        assert_eq!((streams(&result, 0, "events"), streams(&result, 1, "events")), (16, 16), "{result}");
        let failed: u64 = (0..4).map(|entry| count(&result, &format!("/entries/{entry}/asserts_failed"))).sum();
        assert_eq!((failed, count(&result, "/entries/3/failed")), (0, 4), "{result}");
    }
}

#[test]
fn a_stream_that_fails_ends_its_session_in_the_loop() {
    let lines = "for event in http.sse('/', {name = 'stream'}) do assert(event) end\nerror('the session has ended')";
    let server = Script::start(sends(b"data: 1\n\ndata: 2\n\n".to_vec()));
    let result = session(&server.url(), lines).result(&["-n", "4", "-c", "2", "--idle-timeout", "300ms"]);
    assert_eq!((count(&result, "/sessions/failed"), streams(&result, 0, "silent")), (4, 4), "{result}");
    assert_eq!(streams(&result, 0, "events"), 8, "{result}");
}

#[test]
fn mistakes_with_streams_have_the_line_of_the_script() {
    let serve = Serve::start(&["--workers", "1"]);
    for (lines, mistake) in [
        ("http.sse()", "http.sse needs a path such as '/items', found a nil"),
        ("http.sse('/', {method = 3})", "http.sse needs a method such as 'POST', found '3'"),
        ("http.sse('/', {to = 3})", "use headers, body, json, form, query and name, and method"),
        (
            "for event in http.sse('/sse/9/1') do http.get('/bytes/1') end",
            "the stream ended when the session sent a request or waited: do that after its loop",
        ),
    ] {
        let ended = session(&serve.url("/"), lines).run(&["-n", "1", "-c", "1"]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("events.lua:3: ") && ended.stderr.contains(mistake), "{mistake}: {ended:?}");
    }
}

#[test]
fn one_session_of_a_script_shows_the_events_that_it_takes() {
    let serve = Serve::start(&["--workers", "1"]);
    let lines = "for event in http.sse('/sse/9/1') do if event.id == '2' then break end end";
    let path = session(&serve.url("/"), lines);
    let ended = torr(&["once", path.beside("events.lua").to_str().expect("the path is text")]);
    assert!(ended.code == Some(0) && ended.stdout.contains("< data: {\"n\":2}"), "{ended:?}");
    assert!(!ended.stdout.contains("{\"n\":3}"), "{ended:?}");
}

#[test]
fn one_session_shows_the_text_of_its_stream() {
    let serve = Serve::start(&["--workers", "1"]);
    let file = File::new("once.hurl", &format!("GET {}\nHTTP 200\n", serve.url("/sse/3/1")));
    let path = file.beside("once.hurl").display().to_string();
    let ended = torr(&["once", &path]);
    assert!(ended.code == Some(0) && ended.stdout.contains("data: {\"n\":3}"), "{ended:?}");
}

#[test]
fn what_does_not_go_with_sessions_is_refused() {
    let file = File::new("refused.hurl", "GET http://127.0.0.1:1/\n");
    for (args, line) in [
        (&["--sse"][..], "--sse is not supported for sessions (their event streams are found by the content type)"),
        (&["--tokens", "openai"], "--tokens is not supported for sessions (tokens are counted of URLs only)"),
        (&["--max-events", "0"], "must be a whole number from 1"),
    ] {
        let ended = file.run(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        assert!(ended.stderr.contains(line), "{args:?}: {}", ended.stderr);
    }
    let wrk = File::new("wrk.lua", "target = 'http://127.0.0.1:1/'\nfunction request() return wrk.format() end\n");
    let ended = wrk.run(&["--max-events", "3"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("--max-events is not supported for a wrk script"), "{ended:?}");
}
