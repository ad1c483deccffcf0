//! Calls of gRPC: what is sent, how their ends are counted, and what a server may do wrong.

use crate::http2_server::{End, Http2Server, Manner, Reply};
use bytes::Bytes;
use flate2::read::GzDecoder;
use h2::Reason;
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use torr_test_support::guide;
use torr_test_support::program::{Ended, torr, torr_json, torr_path};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::GrpcGo;

const SHOP: &str = "syntax = \"proto3\"; package shop;\n\
    message Item { int32 id = 1; string name = 2; }\n\
    service Shop { rpc Get(Item) returns (Item); rpc Put(stream Item) returns (Item); rpc List(Item) returns (stream Item); }\n";

/// The bytes of an item's message without its prefix.
fn item(id: u8, name: &str) -> Vec<u8> {
    [&[8, id, 18, name.len() as u8], name.as_bytes()].concat()
}

/// A message with its prefix.
fn framed(message: &[u8]) -> Vec<u8> {
    [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat()
}

fn media_type() -> Vec<(&'static str, String)> {
    vec![("content-type", "application/grpc".to_owned())]
}

/// A response with messages and a status in its trailers.
fn respond(messages: &[Vec<u8>], status: &str) -> Reply {
    let content: Vec<u8> = messages.iter().flat_map(|message| framed(message)).collect();
    Reply::Trailers(200, media_type(), content.into(), vec![("grpc-status", status.to_owned())])
}

/// A response of nothing but trailers.
fn refuse(status: &str, why: &str) -> Reply {
    let fields = [("grpc-status", status.to_owned()), ("grpc-message", why.to_owned())];
    Reply::Response(200, media_type().into_iter().chain(fields).collect(), Bytes::new(), None)
}

fn url(server: &Http2Server, method: &str) -> String {
    format!("grpc://{}/shop.Shop/{method}", server.address)
}

/// A folder with the file of the service.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room");
        let files = Self(folder);
        files.write("shop.proto", SHOP.as_bytes());
        files
    }

    fn write(&self, name: &str, content: &[u8]) -> String {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).expect("there is room");
        path.display().to_string()
    }

    fn proto(&self) -> String {
        self.0.path().join("shop.proto").display().to_string()
    }
}

/// Calls a method on one thread.
fn press(url: &str, args: &[&str]) -> Value {
    let files = Files::new();
    let result = torr_json(&[&["-t", "1", "--proto", &files.proto(), url], args].concat());
    adds_up(&result);
    assert_eq!(result["plan"]["protocol"], "grpc");
    result
}

#[test]
fn calls_are_counted_by_the_status_of_grpc() {
    let server = Http2Server::start(Manner::new(|n| match n % 4 {
        0 => refuse("14", "the pool is empty"),
        1 => respond(&[item(1, "a")], "5"),
        _ => respond(&[item(1, "a")], "0"),
    }));
    let result = press(&url(&server, "Get"), &["-n", "400", "-c", "4", "--streams", "2", "--data", "{\"id\": 7}"]);
    assert_eq!(result["grpc"], json!({"NOT_FOUND": 100, "OK": 200, "UNAVAILABLE": 100}));
    assert_eq!((count(&result, "/requests"), count(&result, "/errors/status")), (400, 200));
    assert_eq!(count(&result, "/status/200"), 400);
    let spans = result["error_times"].as_array().expect("there are errors");
    let mut names: Vec<_> = spans.iter().map(|span| (span["grpc"].as_str(), span.get("status"))).collect();
    names.sort_by_key(|(name, _)| *name);
    assert_eq!(names, [(Some("NOT_FOUND"), None), (Some("UNAVAILABLE"), None)]);
    let failed = &result["failed_response"];
    assert_eq!(failed["status"], 200);
    assert!(failed["status_line"].as_str().is_some_and(|line| line.starts_with("gRPC status ")), "{failed}");
    assert_eq!(server.seen.requests.load(Ordering::SeqCst), 400);
}

#[test]
fn a_threshold_knows_the_names_of_statuses() {
    let server = Http2Server::start(Manner::new(|n| match n {
        0 => refuse("14", "x"),
        _ => respond(&[item(1, "a")], "0"),
    }));
    let files = Files::new();
    let run = |rule: &str| {
        torr(&["-t", "1", "-n", "20", "-c", "1", "--proto", &files.proto(), "--fail-if", rule, &url(&server, "Get")])
    };
    let Ended { code, stdout, stderr } = run("grpc.UNAVAILABLE>0");
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("OK x 19, UNAVAILABLE x 1"), "{stdout}");
    assert_eq!(run("grpc.UNAVAILABLE>0").code, Some(0), "the others succeed");
    let unknown = run("grpc.GONE>0");
    assert!(unknown.stderr.contains("unknown metric 'grpc.GONE'") && unknown.code == Some(2), "{unknown:?}");
}

#[test]
fn a_call_has_the_fields_of_grpc_and_the_users_metadata() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    let server = Http2Server::start(Manner::by_content(move |_, content| {
        all.lock().expect("nobody panics with it").push(content.to_vec());
        respond(&[item(1, "a")], "0")
    }));
    let args = [
        "-n",
        "1",
        "-c",
        "1",
        "--deadline",
        "2s",
        "-H",
        "x-user: 7",
        "-H",
        "trace-bin: AAE",
        "--grpc-encoding",
        "gzip",
    ];
    press(&url(&server, "Get"), &[&args[..], &["--data", "{\"id\": 7, \"name\": \"b\"}"]].concat());
    let first = server.seen.first.lock().expect("nobody panics with it").take().expect("there was a request");
    assert_eq!((first.method().as_str(), first.uri().path()), ("POST", "/shop.Shop/Get"));
    let mut fields: Vec<_> =
        first.headers().iter().map(|(name, value)| (name.as_str(), value.to_str().expect("it is text"))).collect();
    fields.retain(|(name, _)| *name != "user-agent");
    fields.sort_unstable();
    let expected = [
        ("content-type", "application/grpc"),
        ("grpc-accept-encoding", "gzip"),
        ("grpc-encoding", "gzip"),
        ("grpc-timeout", "2000000u"),
        ("te", "trailers"),
        ("trace-bin", "AAE"),
        ("x-user", "7"),
    ];
    assert_eq!(fields, expected);
    let content = seen.lock().expect("nobody panics with it").remove(0);
    let mut message = Vec::new();
    GzDecoder::new(&content[5..]).read_to_end(&mut message).expect("it is compressed");
    assert_eq!((content[0], message), (1, item(7, "b")));
}

#[test]
fn messages_are_made_of_records_and_of_several_texts() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&seen);
    let server = Http2Server::start(Manner::by_content(move |_, content| {
        all.lock().expect("nobody panics with it").push(content.to_vec());
        respond(&[item(1, "a")], "0")
    }));
    let files = Files::new();
    let records = files.write("items.csv", b"id,name\n3,c \"d\"\n4,e\n");
    let body = "{\"id\": {{id}}, \"name\": \"{{name}}\"}";
    press(&url(&server, "Get"), &["-n", "3", "-c", "1", "--feeder", &records, "--data", body]);
    let sent = || std::mem::take(&mut *seen.lock().expect("nobody panics with it"));
    let [first, second] = [framed(&item(3, "c \"d\"")), framed(&item(4, "e"))];
    assert_eq!(sent(), [first.clone(), second, first]);
    let two = [framed(&item(1, "a")), framed(&item(2, "b"))].concat();
    let texts = ["{\"id\": 1, \"name\": \"a\"}", "{\"id\": 2, \"name\": \"b\"}"];
    press(&url(&server, "Put"), &["-n", "1", "-c", "1", "--data", texts[0], "--data", texts[1]]);
    let lines = files.write("items.jsonl", format!("{}\n{}\n", texts[0], texts[1]).as_bytes());
    press(&url(&server, "Put"), &["-n", "1", "-c", "1", "--data-binary", &format!("@{lines}")]);
    press(&url(&server, "Put"), &["-n", "1", "-c", "1", "--json-body", &format!("[{}, {}]", texts[0], texts[1])]);
    assert_eq!(sent(), [two.clone(), two.clone(), two]);
    press(&url(&server, "Put"), &["-n", "1", "-c", "1"]);
    press(&url(&server, "Get"), &["-n", "1", "-c", "1"]);
    assert_eq!(sent(), [vec![], framed(b"")], "a stream may be empty, a call of one message has an empty one");
}

#[test]
fn a_response_that_is_none_is_an_error_of_its_own() {
    let content = |bytes: &'static [u8]| Reply::Response(200, media_type(), Bytes::from_static(bytes), None);
    let with_status = |bytes: &'static [u8]| {
        Reply::Trailers(200, media_type(), Bytes::from_static(bytes), vec![("grpc-status", "0".into())])
    };
    for (reply, kind, what) in [
        (content(b""), "protocol", "the response has no grpc-status"),
        (content(b"\0\0\0\0\x02\x08\x07"), "protocol", "the response has no grpc-status"),
        (with_status(b""), "protocol", "the response has grpc-status 0 and no message"),
        (with_status(b"\0\0\0\0\0\0\0\0\0\0"), "protocol", "the response has several messages: the method returns one"),
        (with_status(b"\0\0\0\0\x02\x08"), "protocol", "the response ended in the middle of a gRPC message"),
        (with_status(b"\0\xff\xff\xff\xff"), "protocol", "a gRPC message is longer than 16 MiB"),
        (
            with_status(b"\x01\0\0\0\x02\x08\x07"),
            "protocol",
            "a gRPC message is compressed although the response has no grpc-encoding",
        ),
        (Reply::Reset(Reason::CANCEL), "read", "the server reset the stream: CANCEL"),
    ] {
        let server = Http2Server::start(Manner::new(move |n| match n {
            // The connection stays usable.
            3 => respond(&[item(1, "a")], "0"),
            _ => reply.clone(),
        }));
        let result = press(&url(&server, "Get"), &["-n", "4", "-c", "1"]);
        assert_eq!(result["grpc"], json!({"OK": 1}), "{what}");
        let causes = result["causes"].as_array().expect("there are failures");
        let found: Vec<_> = causes.iter().map(|cause| (cause["kind"].as_str(), cause["side"].as_str())).collect();
        assert_eq!(found, [(Some(kind), Some("server"))], "{causes:?}");
        assert_eq!((causes[0]["what"].as_str(), count(&causes[0], "/count")), (Some(what), 3));
        assert_eq!(server.seen.connections.load(Ordering::SeqCst), 1, "{what}");
    }
}

#[test]
fn a_status_of_http_counts_where_there_is_none_of_grpc() {
    let server = Http2Server::start(Manner::new(|n| match n {
        0 => Reply::Response(503, vec![("content-type", "text/html".into())], "<html>".into(), None),
        _ => respond(&[item(1, "a"), item(2, "b")], "0"),
    }));
    let result = press(&url(&server, "List"), &["-n", "3", "-c", "1"]);
    assert_eq!((&result["grpc"], &result["status"]), (&json!({"OK": 2}), &json!({"200": 2, "503": 1})));
}

#[test]
fn a_call_without_a_response_in_time_is_cancelled() {
    let server = Http2Server::start(Manner::new(|_| Reply::Silence));
    let result = press(&url(&server, "Get"), &["-n", "2", "-c", "1", "--streams", "2", "--timeout", "300ms"]);
    assert_eq!(count(&result, "/errors/timeout"), 2);
}

/// A stream of so many messages, 20 ms apart.
fn pushed(count: u8, end: End) -> Reply {
    let messages = (0..count).map(|n| framed(&item(n, "a")).into()).collect();
    Reply::Pieces(media_type(), messages, Duration::from_millis(20), end)
}

fn with_status(status: &str) -> End {
    End::Trailers(vec![("grpc-status", status.to_owned())])
}

fn streams(result: &Value, name: &str) -> u64 {
    count(result, &format!("/streams/{name}"))
}

#[test]
fn each_message_of_a_stream_is_an_event() {
    let server = Http2Server::start(Manner::new(|_| pushed(5, with_status("0"))));
    // A stream may take longer than the time for its first message.
    let result = press(&url(&server, "List"), &["-n", "8", "-c", "2", "--streams", "2", "--timeout", "70ms"]);
    assert_eq!((&result["grpc"], count(&result, "/requests")), (&json!({"OK": 8}), 8), "{result}");
    assert_eq!((streams(&result, "begun"), streams(&result, "events")), (8, 40), "{result}");
    let gaps = result["streams"]["gap_histogram"].as_str().expect("it is a text").split_whitespace();
    let gaps = gaps.map(|word| word.split_once(':').and_then(|(_, n)| n.parse::<u64>().ok()).expect("a count"));
    assert_eq!(gaps.sum::<u64>(), 32, "{result}");
    assert_eq!((streams(&result, "limited"), streams(&result, "open")), (0, 0), "{result}");
    let in_series = result["series"].as_array().expect("it is a list").iter();
    assert_eq!(in_series.map(|point| point["events"].as_u64().unwrap_or(0)).sum::<u64>(), 40, "{result}");
    assert!(count(&result, "/streams/length_us/min") >= 79_000, "{result}");
    assert!(streams(&result, "longest_silence_us") >= 19_000, "{result}");
    let first = server.seen.first.lock().expect("nobody panics with it").take().expect("there was a request");
    assert!(!first.headers().contains_key("grpc-timeout"), "a stream has a deadline only if it is given: {first:?}");
    let unary = Http2Server::start(Manner::new(|_| respond(&[item(1, "a")], "0")));
    let result = press(&url(&unary, "Get"), &["-n", "8", "-c", "2"]);
    assert!(result["streams"].is_null(), "{result}");
}

#[test]
fn streams_of_messages_end_in_one_way_each() {
    for (end, flags, ends) in [
        (End::Never, &["--max-events", "3"][..], ("limited", 6, 3)),
        (End::Never, &["--idle-timeout", "300ms"], ("silent", 6, 5)),
        (with_status("14"), &[], ("begun", 6, 5)),
        (End::Reset(Reason::INTERNAL_ERROR), &[], ("begun", 6, 5)),
    ] {
        let is_status = matches!(end, End::Trailers(_));
        let server = Http2Server::start(Manner::new(move |_| pushed(5, end.clone())));
        let result = press(&url(&server, "List"), &[&["-n", "6", "-c", "2"], flags].concat());
        let (name, counted, events) = ends;
        assert_eq!((streams(&result, name), streams(&result, "begun")), (counted, 6), "{flags:?}: {result}");
        assert_eq!(streams(&result, "events"), 6 * events, "{flags:?}: {result}");
        let errors = ["status", "timeout", "read"].map(|kind| count(&result, &format!("/errors/{kind}")));
        let expected = match name {
            "limited" => [0, 0, 0],
            "silent" => [0, 6, 0],
            _ if is_status => [6, 0, 0],
            _ => [0, 0, 6],
        };
        assert_eq!(errors, expected, "{result}");
    }
    let server = Http2Server::start(Manner::new(|_| pushed(5, End::Never)));
    let result = press(&url(&server, "List"), &["-d", "2s", "-c", "3"]);
    assert_eq!((streams(&result, "open"), count(&result, "/unfinished")), (3, 3), "{result}");
    assert_eq!((streams(&result, "events"), count(&result, "/errors/timeout")), (15, 0), "{result}");
}

#[test]
fn streams_of_messages_are_in_all_outputs() {
    let server = Http2Server::start(Manner::new(|_| pushed(3, with_status("0"))));
    let files = Files::new();
    let path = |name: &str| files.0.path().join(name).display().to_string();
    let (page, table, metrics) = (path("x.html"), path("x.csv"), path("x.prom"));
    let outputs = ["--report", &page, "--csv", &table, "--prometheus", &metrics];
    let rules = ["--fail-if", "first_event_max>1m,gap_max<1us"];
    let (proto, url) = (files.proto(), url(&server, "List"));
    let args = [&["-t", "1", "-n", "4", "-c", "1", "--proto", &proto, &url][..], &outputs];
    let Ended { code, stdout, stderr } = torr(&[args.concat(), rules.to_vec()].concat());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains("12 events of 4 streams") && stdout.contains("4 ended by the server"), "{stdout}");
    let read = |path: &str| std::fs::read_to_string(path).expect("it was written");
    assert!(["ended by the server", "gap between events"].iter().all(|text| read(&page).contains(text)));
    assert!(read(&table).lines().next().is_some_and(|head| head.contains("events")), "{}", read(&table));
    assert!(read(&metrics).contains("torr_events_total"), "{}", read(&metrics));
}

/// A field of a message of protobuf that is bytes, a text or a message.
fn field(number: u8, content: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, content.len() as u8], content].concat()
}

/// The descriptor of the file that has the messages, and that of the service.
fn descriptors() -> [Vec<u8>; 2] {
    let int32 = [&field(1, b"id")[..], &[24, 1, 32, 1, 40, 5]].concat();
    let message = [field(1, b"Item"), field(2, &int32)].concat();
    let item = [field(1, b"item.proto"), field(2, b"shop"), field(4, &message), field(12, b"proto3")].concat();
    let get = [field(1, b"Get"), field(2, b".shop.Item"), field(3, b".shop.Item")].concat();
    let service = [field(1, b"Shop"), field(2, &get)].concat();
    let shop =
        [field(1, b"shop.proto"), field(2, b"shop"), field(3, b"item.proto"), field(6, &service), field(12, b"proto3")];
    [item, shop.concat()]
}

#[test]
fn a_server_describes_its_service_by_reflection() {
    let paths = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&paths);
    let server = Http2Server::start(Manner::by_content(move |path, content| {
        all.lock().expect("nobody panics with it").push(path.to_owned());
        let [item, shop] = descriptors();
        let message = content.get(5..).unwrap_or_default();
        let file = if message == field(4, b"shop.Shop") { shop } else { item };
        match path {
            "/shop.Shop/Get" => respond(&[vec![8, 7]], "0"),
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
                assert!(message == field(4, b"shop.Shop") || message == field(3, b"item.proto"), "{message:?}");
                respond(&[field(4, &field(1, &file))], "0")
            }
            _ => refuse("12", "unknown service"),
        }
    }));
    let result =
        torr_json(&["-t", "1", "-n", "5", "-c", "1", "--reflection", "--data", "{\"id\": 7}", &url(&server, "Get")]);
    adds_up(&result);
    assert_eq!(result["grpc"], json!({"OK": 5}));
    let v1 = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
    let v1alpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";
    let expected = [[v1, v1alpha, v1alpha].as_slice(), &["/shop.Shop/Get"; 5]].concat();
    assert_eq!(*paths.lock().expect("nobody panics with it"), expected);
    let files = Files::new();
    let [item, shop] = descriptors();
    let set = files.write("shop.binpb", &[field(1, &item), field(1, &shop)].concat());
    let result = torr_json(&["-t", "1", "-n", "5", "-c", "1", "--protoset", &set, &url(&server, "Get")]);
    assert_eq!(result["grpc"], json!({"OK": 5}));
}

#[test]
fn a_server_without_reflection_has_one_line() {
    let server = Http2Server::start(Manner::by_content(|_, _| refuse("12", "unknown service")));
    let ended = torr(&["-n", "1", "--reflection", &url(&server, "Get")]);
    let line = "torr: the server does not support reflection: use --proto FILE or --protoset FILE instead\n";
    assert_eq!((ended.stderr.as_str(), ended.stdout.as_str()), (line, ""));
    let server = Http2Server::start(Manner::by_content(|_, _| refuse("16", "no token")));
    let ended = torr(&["-n", "1", "--reflection", &url(&server, "Get")]);
    assert_eq!(ended.stderr, "torr: the server's reflection failed: UNAUTHENTICATED no token\n");
}

#[test]
fn one_call_is_shown_as_json() {
    let server = Http2Server::start(Manner::new(|n| match n {
        0 => respond(&[item(1, "a"), item(2, "b")], "0"),
        _ => refuse("14", "no room"),
    }));
    let files = Files::new();
    let once =
        || torr(&["once", "--proto", &files.proto(), "--data", "{\"id\": 7, \"name\": \"x\"}", &url(&server, "List")]);
    let Ended { code, stdout, stderr } = once();
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    assert!(stdout.contains(">   \"id\": 7,\n>   \"name\": \"x\"\n"), "{stdout}");
    assert!(stdout.contains("< HTTP/2 200, gRPC status 0 (OK)\n"), "{stdout}");
    assert!(stdout.contains("<   \"id\": 1,\n<   \"name\": \"a\"\n< }\n< {\n<   \"id\": 2,\n"), "{stdout}");
    let Ended { code, stdout, stderr } = once();
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("< HTTP/2 200, gRPC status 14 (UNAVAILABLE)\n"), "{stdout}");
    assert!(stdout.contains("< grpc-message: no room\n"), "{stdout}");
}

#[test]
fn the_commands_of_the_page_work() {
    let server = Http2Server::start(Manner::by_content(|path, _| match path {
        "/shop.Shop/List" => respond(&vec![item(7, "a lamp"); 20], "0"),
        _ => respond(&[item(7, "a lamp")], "0"),
    }));
    let files = Files::new();
    let page = include_str!("../../docs/grpc.md");
    let commands = guide::commands(page);
    assert_eq!(commands.len(), 6, "{commands:?}");
    for shown in commands {
        // This server does not describe itself.
        let command = shown.replace("--reflection", "--proto shop.proto").replace("-d 10s", "-n 20");
        let command = command.replace("127.0.0.1:50051", &server.address.to_string());
        let command = if command.contains(" once ") || command.contains(" -n ") { command } else { command + " -n 20" };
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command.replacen("torr", torr_path(), 1)).current_dir(files.0.path());
        guide::run(shown, shell, &[]);
    }
}

#[test]
fn a_mistake_has_one_line_before_anything_is_sent() {
    let files = Files::new();
    let (proto, nowhere) = (files.proto(), "grpc://127.0.0.1:1/shop.Shop/Get");
    let missing = Path::new(&proto).with_file_name("none.proto").display().to_string();
    let wrong = files.write("wrong.proto", b"syntax = \"proto3\";\nmessage {");
    for (args, line) in [
        (&[nowhere][..], "a grpc:// URL needs --proto FILE, --protoset FILE or --reflection"),
        (&[nowhere, "--proto", &missing], "cannot read the service from"),
        (&[nowhere, "--proto", &wrong], "wrong.proto:2:9: "),
        (&[nowhere, "--protoset", &proto], "invalid descriptors"),
        (
            &["grpc://127.0.0.1:1/shop.Shop/Gat", "--proto", &proto],
            "unknown method 'Gat' of shop.Shop: use Get, Put, List",
        ),
        (&["grpc://127.0.0.1:1/", "--proto", &proto], "the path of the URL must be /PACKAGE.SERVICE/METHOD, found '/'"),
        (&[nowhere, "--proto", &proto, "--data", "{\"no\": 1}"], "message 1 is no shop.Item: "),
        (&[nowhere, "--proto", &proto, "--data", "{}", "--data", "{}"], "shop.Shop.Get takes one message, found 2"),
        (&[nowhere, "--proto", &proto, "--http2"], "--http2 is not supported for grpc:// URLs"),
        (&[nowhere, "--proto", &proto, "--reflection"], "--proto cannot be used with --reflection"),
        (&[nowhere, "--proto", &proto, "-H", "te: x"], "header 'te' belongs to gRPC itself: drop it"),
        (&[nowhere, "--proto", &proto, "--until", "data == x"], "--until is not supported for grpc:// URLs"),
        (
            &[nowhere, "--proto", &proto, "--max-events", "3"],
            "--max-events needs a method that returns a stream: /shop.Shop/Get returns one message",
        ),
        (
            &[nowhere, "--proto", &proto, "--fail-if", "gap_p99>1s"],
            "'gap_p99>1s' needs --sse, --listen, or a grpc:// method that returns a stream",
        ),
        (&["http://127.0.0.1:1/", "--proto", &proto], "--proto needs a URL that begins with grpc:// or grpcs://"),
    ] {
        let ended = torr(args);
        assert_eq!(ended.code, Some(2), "{args:?}: {ended:?}");
        let first = ended.stderr.lines().next().unwrap_or_default();
        assert!(first.contains(line), "{args:?}: {ended:?}");
    }
}

/// Calls a method of the health service of grpc-go.
fn call(server: &GrpcGo, method: &str, args: &[&str]) -> Value {
    let url = format!("grpc://{}/grpc.health.v1.Health/{method}", server.address);
    let result = torr_json(&[&["-t", "1", "--reflection", &url], args].concat());
    adds_up(&result);
    result
}

#[test]
#[ignore = "the server by grpc-go is built by ./test full"]
fn a_server_by_grpc_go_describes_itself_and_responds() {
    let server = GrpcGo::start();
    for more in [&[][..], &["--grpc-encoding", "gzip"]] {
        let many = [&["-n", "2000", "-c", "4", "--streams", "8"], more].concat();
        assert_eq!(call(&server, "Check", &many)["grpc"], json!({"OK": 2000}));
        let unknown = [&["-n", "20", "-c", "2", "--data", "{\"service\": \"none\"}"], more].concat();
        assert_eq!(call(&server, "Check", &unknown)["grpc"], json!({"NOT_FOUND": 20}));
    }
    // A stream without an end ends at its deadline, and a message before that changes nothing.
    let watched = call(&server, "Watch", &["-n", "2", "-c", "2", "--deadline", "300ms"]);
    let calls = watched["grpc"].as_object().expect("they have a status");
    assert!(calls.keys().all(|name| ["CANCELLED", "DEADLINE_EXCEEDED"].contains(&name.as_str())), "{calls:?}");
    assert_eq!((count(&watched, "/errors/status"), streams(&watched, "events")), (2, 2));
    let ended = call(&server, "Watch", &["-n", "50", "-c", "2", "--streams", "4", "--max-events", "1"]);
    assert_eq!((&ended["grpc"], streams(&ended, "limited"), streams(&ended, "events")), (&json!({"OK": 50}), 50, 50));
    let url = format!("grpc://{}/grpc.health.v1.Health/Check", server.address);
    let Ended { code, stdout, stderr } = torr(&["once", "--reflection", "--grpc-encoding", "gzip", &url]);
    assert_eq!((code, stdout.contains("<   \"status\": \"SERVING\"\n")), (Some(0), true), "{stdout}{stderr}");
}
