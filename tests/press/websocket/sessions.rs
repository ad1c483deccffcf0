//! WebSockets of Lua sessions: `http.ws`, its messages, and its ends.

use super::{BINARY, CLOSE, FIN, TEXT, accept, accept_with, echo, frame, receive, router};
use serde_json::Value;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use torr_test_support::certificates::self_signed;
use torr_test_support::program::{Ended, torr};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::Script;
use torr_test_support::servers::Serve;

/// Runs a script for a server, with a session of these lines.
fn run(url: &str, lines: &str, args: &[&str]) -> Ended {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("socket.lua");
    std::fs::write(&path, format!("target = '{url}'\nfunction session(user)\n{lines}\nend\n")).expect("it is writable");
    torr(&[&["-t", "1", path.to_str().expect("the path is text")], args].concat())
}

fn result(url: &str, lines: &str, args: &[&str]) -> Value {
    let ended = run(url, lines, &[&["--json", "-"], args].concat());
    let result = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("it is JSON: {ended:?}"));
    adds_up(&result);
    result
}

/// Sessions that have finished, sessions that have failed, messages of the first entry, and its failed checks.
fn ends(result: &Value) -> [u64; 4] {
    let events = result.pointer("/entries/0/streams/events").and_then(Value::as_u64).unwrap_or(0);
    let of_sessions = |name: &str| count(result, &format!("/sessions/{name}"));
    [of_sessions("finished"), of_sessions("failed"), events, count(result, "/entries/0/asserts_failed")]
}

const TALK: &str = "
    local ws = http.ws('/ws/echo', {name = 'talk'})
    user.check('open', ws.status == 101)
    for n = 1, 3 do
        user.check('sent', ws:send('hello ' .. n))
        local text, kind = ws:receive()
        user.check('text', text == 'hello ' .. n and kind == 'text')
        user.think(0.001)
    end
    local bytes = ('\\0\\255'):rep(40000)
    ws:send_binary(bytes)
    local data, kind = ws:receive()
    user.check('binary', data == bytes and kind == 'binary')
    ws:close()
    user.check('closed', ws:receive() == nil and not ws:send('too late'))
    user.check('afterwards', #http.get('/bytes/3', {name = 'talk'}).body == 3)";

#[test]
fn a_session_sends_and_receives_messages() {
    let serve = router();
    for args in [&["-c", "3"][..], &["-r", "100", "-c", "10"]] {
        let result = result(&serve.url("/"), TALK, &[&["-n", "12"], args].concat());
        assert_eq!(ends(&result), [12, 0, 48, 0], "{result}");
        assert_eq!(count(&result, "/entries/0/streams/begun"), 12, "{result}");
        assert_eq!(count(&result, "/entries/0/streams/limited"), 12, "the client has closed them: {result}");
        assert_eq!(count(&result, "/entries/0/request_failures"), 0, "{result}");
    }
}

#[test]
fn websockets_of_sessions_go_through_tls_and_to_other_servers() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let [certificate, key] =
        [&certificate, &key].map(|path| path.to_str().expect("temporary folders have plain names"));
    let serve = Serve::start(&["--workers", "1", "--router", "true", "--tls-cert", certificate, "--tls-key", key]);
    let url = format!("https://{}/", serve.address);
    let secured = result(&url, TALK, &["-n", "6", "-c", "2", "--cacert", certificate]);
    assert_eq!(ends(&secured), [6, 0, 24, 0], "{secured}");
    let (plain, other) = (router(), router());
    let lines = format!(
        "local ws = http.ws('ws://{}/ws/echo')\nws:send('a')\nuser.check('echo', ws:receive() == 'a')",
        other.address
    );
    let elsewhere = result(&plain.url("/"), &lines, &["-n", "6", "-c", "2"]);
    assert_eq!(ends(&elsewhere), [6, 0, 6, 0], "{elsewhere}");
}

#[test]
fn messages_wait_until_the_session_reads_them() {
    // Three come with the response to the handshake, and a ping among them; the server's end comes while the session waits.
    let server = Script::start(|client| {
        let all =
            [frame(FIN | TEXT, b"1"), frame(FIN | 9, b"ping"), frame(FIN | TEXT, b"2"), frame(FIN | BINARY, b"3")];
        if accept_with(client, "", &all.concat()).is_some() {
            assert_eq!(receive(client), Some((FIN | 10, b"ping".to_vec())));
            client.send(&[frame(FIN | TEXT, b"4"), frame(FIN | CLOSE, &1000u16.to_be_bytes())].concat());
            assert_eq!(receive(client), Some((FIN | CLOSE, 1000u16.to_be_bytes().to_vec())));
        }
    });
    let lines = "
        local ws, all = http.ws('/'), ''
        user.think(0.3)
        for data in ws do
            all = all .. data
            user.think(0.001)
        end
        user.check('all', all == '1234')
        user.check('over', ws.closed and not ws:send('x'))";
    let result = result(&server.url(), lines, &["-n", "4", "-c", "2"]);
    assert_eq!(ends(&result), [4, 0, 16, 0], "{result}");
    assert_eq!(count(&result, "/entries/0/streams/limited"), 0, "the server has closed them: {result}");
}

#[test]
fn what_a_session_does_next_closes_its_websocket() {
    let (codes, seen) = channel();
    let codes = Mutex::new(codes);
    let server = Script::start(move |client| {
        if accept(client, "").is_some() {
            client.send(&[frame(FIN | TEXT, b"1"), frame(FIN | TEXT, b"2")].concat());
            let last = receive(client);
            let _ = codes.lock().expect("nothing panics with it").send(last);
        }
    });
    let serve = Serve::start(&["--workers", "1"]);
    for (after, finished) in [
        (format!("user.check('other', http.get('{}').status == 200)", serve.url("/bytes/1")), 1),
        ("user.fail('enough')".to_owned(), 0),
        (String::new(), 1),
        ("for data in ws do break end".to_owned(), 1),
    ] {
        let lines = format!("local ws = http.ws('/')\nuser.check('first', ws:receive() == '1')\n{after}");
        let result = result(&server.url(), &lines, &["-n", "1", "-c", "1"]);
        assert_eq!(ends(&result)[..2], [finished, 1 - finished], "{after}: {result}");
        assert_eq!(ends(&result)[3], 0, "{after}: {result}");
        let closed = seen.recv().expect("the server has seen the end");
        assert_eq!(closed, Some((FIN | CLOSE, 1000u16.to_be_bytes().to_vec())), "{after}");
    }
}

#[test]
fn a_websocket_that_breaks_fails_its_session_once() {
    let dies = Script::start(|client| {
        if accept(client, "").is_some() {
            receive(client);
        }
    });
    // It breaks while the session waits for a message, and while it waits for a time.
    for wait in ["ws:receive()", "user.think(0.5)"] {
        let lines = format!("local ws = http.ws('/')\nws:send('x')\n{wait}\nuser.check('never', false)");
        let result = result(&dies.url(), &lines, &["-n", "6", "-c", "3"]);
        assert_eq!(ends(&result), [0, 6, 0, 0], "{wait}: {result}");
        assert_eq!(count(&result, "/errors/read"), 6, "{wait}: {result}");
    }
    let says = |code: u16| {
        let server = Script::start(move |client| {
            if accept(client, "").is_some() {
                client.send(&frame(FIN | CLOSE, &code.to_be_bytes()));
                receive(client);
            }
        });
        result(&server.url(), "http.ws('/'):receive()", &["-n", "2", "-c", "1"])
    };
    assert_eq!(ends(&says(1001))[..2], [2, 0]);
    let failed = says(1011);
    assert_eq!(ends(&failed)[..2], [0, 2], "{failed}");
    assert_eq!(failed["entries"][0]["causes"][0]["what"], "the server closed the WebSocket with code 1011", "{failed}");
}

#[test]
fn a_handshake_that_is_refused_is_a_response() {
    let server = Script::start(|client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
        }
    });
    let lines = "local ws = http.ws('/')\nuser.check('refused', ws.status == 403 and ws.body == 'no' and ws.closed)\n\
                 user.check('ended', ws:receive() == nil and not ws:send('x'))\nws:close()";
    let refused = result(&server.url(), lines, &["-n", "4", "-c", "2"]);
    assert_eq!((ends(&refused), count(&refused, "/errors/status")), ([4, 0, 0, 0], 4), "{refused}");
    let wrong = Script::start(|client| {
        if client.request().is_some() {
            client.send(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                          Sec-WebSocket-Accept: AAAA\r\n\r\n",
            );
            client.request();
        }
    });
    let wrong = result(&wrong.url(), "http.ws('/'):receive()", &["-n", "2", "-c", "1"]);
    assert_eq!((ends(&wrong)[..2].to_vec(), count(&wrong, "/errors/protocol")), (vec![0, 2], 2), "{wrong}");
}

#[test]
fn what_a_websocket_cannot_have_is_one_line() {
    let server = Script::start(echo);
    for (lines, args, why) in [
        ("http.ws(1)", &[][..], "http.ws needs a path such as '/items', found a number"),
        (
            "http.ws('/', {body = 'x'})",
            &[],
            "unknown option 'body' of a request: use headers, query, name and subprotocols",
        ),
        (
            "http.ws('/', {headers = {Upgrade = 'x'}})",
            &[],
            "the field Upgrade of a WebSocket is Torr's own: leave it out",
        ),
        ("http.ws('/', {subprotocols = {'a b'}})", &[], "invalid name of a subprotocol: 'a b'"),
        ("http.ws('ftp://x/')", &[], "the URL must begin with ws:// or wss://"),
        ("http.ws('/'):send(nil)", &[], "a message must be text or a number, found a nil"),
        ("http.ws('/'):send('\\255')", &[], "a text message must be UTF-8: use send_binary"),
        ("http.ws('/')", &["--http2-prior-knowledge"], "http.ws needs HTTP/1.1: leave out --http2"),
    ] {
        let ended = run(&server.url(), lines, &[&["-n", "1", "-c", "1"], args].concat());
        assert!(ended.stderr.contains(why), "{lines}: {ended:?}");
        assert_ne!(ended.code, Some(0), "{lines}: {ended:?}");
    }
}

#[test]
fn messages_of_one_session_are_shown() {
    let serve = router();
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let path = folder.path().join("once.lua");
    let text = format!(
        "target = '{}'\nfunction session(user)\nlocal ws = http.ws('/ws/echo')\nws:send('over and out')\nws:receive()\nend\n",
        serve.url("/")
    );
    std::fs::write(&path, text).expect("it is writable");
    let shown = torr(&["once", path.to_str().expect("the path is text")]);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for line in ["> over and out\n", "< over and out\n", "Upgrade: websocket"] {
        assert!(shown.stdout.contains(line), "{line}: {shown:?}");
    }
}
