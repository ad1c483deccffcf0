//! Event streams of scripts: `k6/x/sse`, beside servers that stream rightly and wrongly.

mod common;

use common::run;
use std::sync::Mutex;
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use torr_test_support::certificates::self_signed;
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Nginx;

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
/// What the server of the extension's own tests sends.
const EVENTS: &[u8] = b"retry: 10000\n: hello\nid: ABCD\ndata: {\"ping\": \"pong\"}\ndata: {\"hello\": \"sse\"}\n\n\
    event: EFGH\ndata: {\"hello\": \"sse\"}\n\n";

/// A server: `/sse` sends two events in chunks of a few bytes, `/endless` sends events until the client goes, which the receiver learns,
/// `/echo` an event with what it got, `/junk` a line of no event, `/cut` less than it announces, `/moved` and `/away` redirect, `/gone`
/// closes without a word, and other paths have no stream.
fn server() -> (Script, Receiver<()>) {
    let (gone, learnt) = mpsc::channel();
    let gone = Mutex::new(gone);
    let server = Script::start(move |client| {
        let gone = gone.lock().expect("nobody panics with it").clone();
        while let Some(request) = client.request() {
            let request = String::from_utf8_lossy(&request).into_owned();
            match request.split([' ', '?']).nth(1).unwrap_or_default() {
                "/sse" => {
                    client.send(format!("{HEAD}X-A: 1\r\nX-A: 2\r\nTransfer-Encoding: chunked\r\n\r\n").as_bytes());
                    for piece in EVENTS.chunks(7) {
                        client.send(&[format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat());
                    }
                    client.send(b"0\r\n\r\n");
                }
                "/endless" => {
                    client.send(format!("{HEAD}\r\n").as_bytes());
                    while client.try_send(b"data: more\n\n") {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                    let _ = gone.send(());
                    return;
                }
                "/echo" => {
                    let (head, body) = request.split_once("\r\n\r\n").expect("a request has a header section");
                    let lines = head.split("\r\n").chain([body]).map(|line| format!("data: {line}\n"));
                    let events = lines.collect::<String>() + "\n";
                    client.send(format!("{HEAD}Content-Length: {}\r\n\r\n{events}", events.len()).as_bytes());
                }
                "/junk" => client.send(format!("{HEAD}Content-Length: 14\r\n\r\njunk\ndata: x\n\n").as_bytes()),
                "/cut" => {
                    client.send(format!("{HEAD}Content-Length: 100\r\n\r\ndata: x\n\ndata: y\n").as_bytes());
                    return;
                }
                "/moved" => {
                    let head = "HTTP/1.1 302 Found\r\nSet-Cookie: visited=1\r\nLocation: /echo\r\n";
                    client.send(format!("{head}Content-Length: 5\r\n\r\nmoved").as_bytes());
                }
                "/away" => {
                    client.send(b"HTTP/1.1 307 Temporary Redirect\r\nLocation: away\r\nContent-Length: 0\r\n\r\n")
                }
                "/gone" => return,
                _ => client.send(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nno\n\n"),
            }
        }
    });
    (server, learnt)
}

/// Sends unless the client has gone.
trait TrySend {
    fn try_send(&mut self, bytes: &[u8]) -> bool;
}

impl TrySend for Client {
    fn try_send(&mut self, bytes: &[u8]) -> bool {
        std::io::Write::write_all(&mut self.stream, bytes).is_ok()
    }
}

/// A script that notes what happens, and compares it with what it expects.
fn script(options: &str, body: &str) -> String {
    format!(
        "import sse from 'k6/x/sse'; import http from 'k6/http';
         export const options = {{ summaryTrendStats: ['count', 'avg'], {options} }};
         const base = __ENV.URL;
         const is = (found, expected) => {{
             if (JSON.stringify(found) !== JSON.stringify(expected)) {{
                 throw new Error(JSON.stringify(found) + ' is not ' + JSON.stringify(expected));
             }}
         }};
         const failed = (f) => {{ try {{ f(); }} catch (e) {{ return [e.name, e.message]; }} }};
         // Opens a stream, notes all events, and does something at each.
         const watched = (path, act = () => {{}}, params = null) => {{
             const seen = [];
             const res = sse.open(base + path, params, (client) => {{
                 client.on('open', () => seen.push('open'));
                 client.on('error', (e) => seen.push('error: ' + e.error()));
                 client.on('event', (event) => {{ seen.push(event); act(client, event, seen); }});
             }});
             return [seen, res];
         }};
         export default function () {{ {body} }};"
    )
}

#[test]
fn a_script_waits_in_open_for_the_end_of_its_stream() {
    let (server, _gone) = server();
    let body = r#"
        const [seen, res] = watched('sse', undefined, { tags: { mine: 'yes' } });
        is(seen, ['open',
            { id: 'ABCD', comment: 'hello', name: '', data: '{"ping": "pong"}\n{"hello": "sse"}' },
            { id: '', comment: '', name: 'EFGH', data: '{"hello": "sse"}' }]);
        const headers = { 'Content-Type': 'text/event-stream', 'X-A': '1, 2' };
        is(res, { url: base + 'sse', status: 200, headers, error: '' });
        is(sse.open(base + 'sse', () => {}).status, 200);"#;
    let thresholds =
        "iterations: 2, thresholds: { 'sse_event{mine:yes}': ['count==4'], 'sse_event{status:200}': ['count==8'] }";
    let ended = run(&script(thresholds, body), &server.url());
    ended.assert_quiet();
    assert_eq!(["sse_event", "http_reqs"].map(|name| ended.count(name)), [8.0, 4.0]);
    assert_eq!(["http_req_duration", "http_req_sending", "http_req_failed"].map(|name| ended.samples(name)), [4, 4, 0]);
    assert!(ended.count("data_sent") > 200.0 && ended.count("data_received") > 4.0 * 200.0);
    let requests = server.texts();
    let request = "GET /sse HTTP/1.1\r\nHost: ";
    assert!(requests[0].starts_with(request), "{}", requests[0]);
    assert!(requests[0].contains("\r\nAccept: text/event-stream\r\n"), "{}", requests[0]);
}

#[test]
fn a_script_may_close_a_stream_that_never_ends() {
    let (server, gone) = server();
    let body = "
        const [seen, res] = watched('endless', (client, event, seen) => {
            is(event.data, 'more');
            if (seen.length === 4) client.close();
        });
        is([seen.length, res.status], [4, 200]);
        let called = 0;
        sse.open(base + 'endless', (client) => { client.on('event', () => { called += 1; }); client.close(); });
        is(called, 0);";
    let ended = run(&script("iterations: 1", body), &server.url());
    ended.assert_quiet();
    assert_eq!(ended.count("sse_event"), 3.0);
    for _ in 0..2 {
        gone.recv_timeout(Duration::from_secs(30)).expect("the client closes its connection");
    }
}

#[test]
fn a_request_has_what_the_parameters_say() {
    let (server, _gone) = server();
    let body = r#"
        const lines = (path, params) => watched(path, undefined, params)[0][1].data.split('\n');
        const posted = lines('echo?a=b', {
            method: ' POST ', body: ' {"ping": true} ', headers: { 'content-type': 'application/json', Accept: 'x/y' },
        });
        is([posted[0], posted.at(-1)], ['POST /echo?a=b HTTP/1.1', '{"ping": true}']);
        for (const line of ['Content-Length: 14', 'Content-Type: application/json', 'Accept: x/y']) {
            is([line, posted.includes(line)], [line, true]);
        }
        http.cookieJar().set(base, 'kept', '1');
        const moved = lines('moved', { method: 'POST', body: 'x', headers: { 'Content-Type': 'a/b' } });
        is(moved[0], 'GET /echo HTTP/1.1');
        is([moved.includes('Cookie: kept=1; visited=1'), moved.includes('Content-Type: a/b')], [true, false]);
        const jar = new http.CookieJar();
        is(lines('echo', { jar }).some((line) => line.startsWith('Cookie')), false);"#;
    run(&script("iterations: 1", body), &server.url()).assert_quiet();
}

#[test]
fn what_fails_says_why() {
    let (server, _gone) = server();
    let body = r#"
        const event = (data) => ({ id: '', comment: '', name: '', data });
        is(watched('junk')[0], ['open', 'error: unknown event: junk\n', event('x')]);
        is(watched('cut')[0], ['open', event('x'), 'error: unexpected EOF']);
        const [seen, res] = watched('other');
        is([seen, res.status], [['open', 'error: unknown event: no\n', event('')], 404]);
        const refused = (url, params = null) => {
            const res = sse.open(url, params, () => { throw new Error('called'); });
            is([res.status, res.url], [0, '']);
            return res.error;
        };
        is(refused(base + 'gone'), `Get "${base}gone": EOF`);
        is(refused(base + 'away'), `Get "${base}away": stopped after 10 redirects`);
        is(refused('http://127.0.0.1:1/'), 'Get "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused');
        is(refused('INVALID'), 'Get "INVALID": unsupported protocol scheme ""');
        is(refused(base, { method: 'A B' }), 'net/http: invalid method "A B"');
        is(failed(() => sse.open(base)), ['GoError', 'invalid number of arguments to sse.open']);
        is(failed(() => sse.open(base, {})), ['GoError', 'last argument to sse.open must be a function']);
        is(failed(() => sse.open(base + 'endless', () => { throw new Error('mine'); })), ['Error', 'mine']);
        is(failed(() => watched('endless', () => { throw new Error('mine, too'); })), ['Error', 'mine, too']);"#;
    let ended = run(&script("iterations: 1", body), &server.url());
    ended.assert_quiet();
    // A call whose arguments are wrong is no request.
    assert_eq!(ended.count("http_reqs"), 10.0);
    let body = "is(failed(() => sse.open('http://127.0.0.1:1/', () => {}))[0], 'GoError');";
    run(&script("iterations: 1, throw: true", body), &server.url()).assert_quiet();
}

#[test]
fn streams_end_with_the_test() {
    let (server, gone) = server();
    let options = "scenarios: { all: { executor: 'constant-vus', vus: 3, duration: '1s', gracefulStop: '0s' } }";
    let ended = run(&script(options, "watched('endless');"), &server.url());
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (0, 0.0), "{}", ended.log);
    for _ in 0..3 {
        gone.recv_timeout(Duration::from_secs(30)).expect("the client closes its connection");
    }
    assert_eq!((ended.count("http_reqs"), ended.samples("http_req_duration")), (3.0, 3));
    assert!(ended.count("sse_event") > 3.0);
}

#[test]
fn streams_come_over_tls() {
    let (server, _gone) = server();
    let folder = tempfile::tempdir().expect("there is room for files");
    let (certificate, key) = self_signed(folder.path());
    let proxy = format!("location / {{ proxy_pass http://{}; proxy_buffering off; }}", server.address);
    let nginx = Nginx::start_tls(&certificate, &key, &proxy);
    let body = "is(watched('sse')[0].length, 3);";
    let options = "vus: 10, iterations: 30, insecureSkipTLSVerify: true";
    let ended = run(&script(options, body), &nginx.https());
    ended.assert_quiet();
    assert_eq!(ended.count("sse_event"), 60.0);
}
