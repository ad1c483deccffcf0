//! Calls of gRPC in Lua sessions: what is sent, how their ends reach the script, and how they are counted.

use crate::http2_server::{Http2Server, Manner, Reply};
use bytes::Bytes;
use serde_json::Value;
use tempfile::TempDir;
use torr_test_support::program::{Ended, torr};
use torr_test_support::result::{adds_up, count};

const SHOP: &str = "syntax = \"proto3\"; package shop; import \"item.proto\";\n\
    service Shop { rpc Get(Item) returns (Item); rpc List(Item) returns (stream Item); }\n";
const ITEM: &str = "syntax = \"proto3\"; package shop;\n\
    message Item { int32 id = 1; string name = 2; repeated int32 counts = 3; }\n";

/// A script with a session of these lines, in a folder with the files of the service.
struct Session(TempDir);

impl Session {
    fn new(url: &str, lines: &str) -> Self {
        let session = Self(tempfile::tempdir().expect("there is room for temporary files"));
        session.write("shop.proto", SHOP);
        session.write("item.proto", ITEM);
        let script =
            format!("target = '{url}'\nlocal shop = grpc.load('shop.proto')\nfunction session(user)\n{lines}\nend\n");
        session.write("calls.lua", &script);
        session
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.path().join(name), text).expect("a file can be written");
    }

    fn run(&self, args: &[&str]) -> Ended {
        let path = self.0.path().join("calls.lua");
        torr(&[&["-t", "1", path.to_str().expect("the path is text")], args].concat())
    }

    fn result(&self, args: &[&str]) -> Value {
        let ended = self.run(&[&["--http2-prior-knowledge", "--json", "-"], args].concat());
        let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
        adds_up(&result);
        result
    }
}

fn framed(message: &[u8]) -> Vec<u8> {
    [&[0], &(message.len() as u32).to_be_bytes()[..], message].concat()
}

/// A response of one message, if there is one, with a status in its trailers.
fn respond(message: &[u8], status: &str) -> Reply {
    let fields = vec![("content-type", "application/grpc".to_owned())];
    Reply::Trailers(200, fields, framed(message).into(), vec![("grpc-status", status.to_owned())])
}

/// A response of nothing but trailers.
fn refuse(status: &str, why: &str) -> Reply {
    let fields = [("content-type", "application/grpc"), ("grpc-status", status), ("grpc-message", why)];
    Reply::Response(200, fields.map(|(name, value)| (name, value.to_owned())).to_vec(), Bytes::new(), None)
}

#[test]
fn a_call_has_its_message_as_a_table_and_counts_as_a_request() {
    // An item with the number of the one that is wanted, its name, and a list.
    let server = Http2Server::start(Manner::by_content(|path, content| {
        assert_eq!((path, content), ("/shop.Shop/Get", &framed(b"\x08\x07\x12\x01a\x1a\x02\x01\x02")[..]));
        respond(b"\x08\x07\x12\x04pear\x1a\x02\x03\x04", "0")
    }));
    let lines = r#"
        local got = shop:invoke("/shop.Shop/Get", { id = 7, name = "a", counts = { 1, 2 } },
            { metadata = { token = "x-1" }, deadline = 1.5, name = "get" })
        local m = got.message
        user.check("ended", got.status == "OK" and got.code == 0 and got.error == nil)
        user.check("message", m.id == 7 and m.name == "pear" and m.counts[1] == 3 and m.counts[2] == 4)
        user.check("field", got:header("grpc-status") == "0" and got:header("content-type") == "application/grpc")
    "#;
    let result = Session::new(&server.url(), lines).result(&["-n", "20", "-c", "4"]);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/requests")), (20, 20), "{result}");
    assert_eq!((count(&result, "/entries/0/requests"), count(&result, "/entries/0/failed")), (20, 0), "{result}");
    assert_eq!((&result["entries"][0]["name"], count(&result, "/status/200")), (&"get".into(), 20), "{result}");
    let first = server.seen.first.lock().expect("no test has panicked").take().expect("there was a request");
    let field = |name: &str| first.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    for (name, value) in
        [("content-type", "application/grpc"), ("te", "trailers"), ("token", "x-1"), ("grpc-timeout", "1500000u")]
    {
        assert_eq!(field(name).as_deref(), Some(value), "{name}: {first:?}");
    }
}

#[test]
fn the_status_of_a_call_decides_whether_it_failed() {
    let server = Http2Server::start(Manner::by_content(|_, content| match content.last() {
        Some(1) => refuse("5", "no%20such item"),
        Some(2) => respond(b"", "13"),
        Some(3) => Reply::Response(503, vec![], Bytes::from_static(b"away"), None),
        _ => respond(b"\x08\x07", "0"),
    }));
    let lines = r#"
        local ends = {}
        for id = 1, 4 do
            local got = shop:invoke("/shop.Shop/Get", { id = id }, { name = "call " .. id })
            ends[id] = got.status .. "|" .. tostring(got.code) .. "|" .. tostring(got.error) .. "|" .. type(got.message)
        end
        local all = table.concat(ends, ";")
        user.check(all, all == "NOT_FOUND|5|no such item|nil;INTERNAL|13|nil|nil;HTTP 503|nil|nil|nil;OK|0|nil|table")
    "#;
    let session = Session::new(&server.url(), lines);
    let result = session.result(&["-n", "5", "-c", "2"]);
    assert_eq!((count(&result, "/sessions/finished"), count(&result, "/requests")), (5, 20), "{result}");
    assert_eq!(count(&result, "/entries/3/asserts_failed"), 0, "{result}");
    assert_eq!(result["grpc"], serde_json::json!({"INTERNAL": 5, "NOT_FOUND": 5}), "{result}");
    assert_eq!((count(&result, "/status/200"), count(&result, "/status/503")), (15, 5), "{result}");
    assert_eq!(count(&result, "/errors/status"), 15, "{result}");
    assert_eq!(result["entries"][0]["grpc"], serde_json::json!({"NOT_FOUND": 5}), "{result}");
    let failed: Vec<_> = (0..4).map(|entry| count(&result, &format!("/entries/{entry}/failed"))).collect();
    assert_eq!(failed, [5, 5, 5, 0], "{result}");
    let shown = session.run(&["--http2-prior-knowledge", "-n", "5", "-c", "2"]);
    for words in ["INTERNAL x 5", "NOT_FOUND x 5", "200 x 5", "503 x 5", "calls that failed: NOT_FOUND x 5"] {
        assert!(shown.stdout.contains(words), "{words}: {}", shown.stdout);
    }
}

#[test]
fn a_response_that_is_none_of_grpc_fails_its_session() {
    for (reply, what) in [
        // Half of the trailers: there is no status.
        (Reply::Trailers(200, vec![], framed(b"").into(), vec![("grpc-message", "x".to_owned())]), "no grpc-status"),
        (Reply::Trailers(200, vec![], Bytes::from_static(b"\0\0\0"), vec![("grpc-status", "0".to_owned())]), "middle"),
        (respond(b"\x08\xff", "0"), "the response of /shop.Shop/Get is not as its file says: it is no shop.Item"),
    ] {
        let server = Http2Server::start(Manner::by_content(move |_, _| reply.clone()));
        let session = Session::new(&server.url(), "shop:invoke('/shop.Shop/Get', {id = 1})");
        let ended = session.run(&["--http2-prior-knowledge", "-n", "1", "-c", "1"]);
        let shown = format!("{}{}", ended.stdout, ended.stderr);
        assert!(ended.code == Some(1) && shown.contains(what), "{what}: {ended:?}");
    }
}

#[test]
fn mistakes_with_calls_have_the_line_of_the_script() {
    let server = Http2Server::start(Manner::by_content(|_, _| respond(b"", "0")));
    let http2 = &["--http2-prior-knowledge", "-n", "1", "-c", "1"][..];
    for (args, lines, mistake) in [
        (http2, "shop:invoke('/shop.Shop/Got')", "Got"),
        (http2, "shop:invoke('/shop.Shop/List')", "/shop.Shop/List is a method with a stream"),
        (http2, "shop:invoke('/shop.Shop/Get', {no = 1})", "message 1 is no shop.Item: unrecognized field name 'no'"),
        (http2, "shop:invoke('/shop.Shop/Get', {}, {deadline = 0})", "'deadline' of a call must be seconds"),
        (http2, "shop:invoke('/shop.Shop/Get', {}, {to = 0})", "use metadata, deadline and name"),
        (&["-n", "1", "-c", "1"], "shop:invoke('/shop.Shop/Get')", "a call of gRPC needs HTTP/2: add --http2-prior"),
    ] {
        let ended = Session::new(&server.url(), lines).run(args);
        assert!(ended.code == Some(1) && ended.stderr.contains("calls.lua:4: "), "{mistake}: {ended:?}");
        assert!(ended.stderr.contains(mistake), "{mistake}: {ended:?}");
    }
    let session = Session::new(&server.url(), "");
    session.write("item.proto", "syntax = \"proto3\"; message {");
    let ended = session.run(http2);
    assert!(ended.code == Some(2) && ended.stderr.contains("calls.lua:2: "), "{ended:?}");
}
