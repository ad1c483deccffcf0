//! WebSockets of scripts: `k6/ws` and `k6/websockets`, beside a server of another library and beside one that breaks the protocol.

mod common;

use common::run;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;
use torr_test_support::certificates::self_signed;
use torr_test_support::script::{Client, Script};
use torr_test_support::servers::Nginx;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::Role;
use tungstenite::protocol::frame::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Bytes, Message, WebSocket};

/// The value of a field of a request, its name in any letters.
fn field<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let of_name = |line: &'r str| {
        let (other, value) = line.split_once(':')?;
        other.eq_ignore_ascii_case(name).then(|| value.trim())
    };
    request.lines().find_map(of_name)
}

/// A server: `/echo` sends back what it gets, `/close/CODE/REASON` and `/push` speak first and close, `/drop` goes without a word, and
/// `/broken` breaks the protocol. Other paths have no WebSocket. The codes with which clients close go to the receiver.
fn server() -> (Script, Receiver<Option<u16>>) {
    let (codes, received) = mpsc::channel();
    let server = Script::start(move |client| {
        let Some(request) = client.request() else { return };
        let request = String::from_utf8_lossy(&request).into_owned();
        let path = request.split(' ').nth(1).unwrap_or_default();
        let known = ["/echo", "/push", "/drop", "/broken", "/close/"];
        if !known.iter().any(|known| path.starts_with(known)) {
            client.send(b"HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 4\r\nX-Why: path\r\n\r\nnope");
            return;
        }
        let key = field(&request, "Sec-WebSocket-Key").expect("a client sends its key");
        let offered = field(&request, "Sec-WebSocket-Protocol").and_then(|offered| offered.split(',').next());
        let subprotocol = offered.map(|one| format!("Sec-WebSocket-Protocol: {one}\r\n")).unwrap_or_default();
        let accept = derive_accept_key(key.as_bytes());
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
        client.send(format!("{head}Sec-WebSocket-Accept: {accept}\r\n{subprotocol}\r\n").as_bytes());
        let _ = codes.send(speak(client, path));
    });
    (server, received)
}

/// Speaks on an open socket, and returns the code with which the client has closed it.
fn speak(client: &Client, path: &str) -> Option<u16> {
    let mut raw = client.stream.try_clone().expect("a socket can be duplicated");
    if path == "/broken" {
        raw.write_all(b"\xc1\x05hello").expect("the client reads");
    }
    let mut socket = WebSocket::from_raw_socket(raw, Role::Server, None);
    match path.split('/').collect::<Vec<_>>()[..] {
        [_, "push"] => {
            for text in ["p0", "p1"] {
                socket.send(Message::text(text)).expect("the client reads");
            }
            socket.send(Message::binary(vec![1u8, 2])).expect("the client reads");
            socket.send(Message::Ping(Bytes::from_static(b"here"))).expect("the client reads");
            close(&mut socket, 1000, "done");
        }
        [_, "close", code, reason] => {
            socket.send(Message::text("bye")).expect("the client reads");
            close(&mut socket, code.parse().expect("it is a code"), reason);
        }
        [_, "drop"] => {
            socket.send(Message::text("x")).expect("the client reads");
            client.stream.shutdown(Shutdown::Both).expect("it is open");
        }
        _ => {}
    }
    loop {
        match socket.read() {
            Ok(Message::Text(text)) if text.as_str() == "quit" => close(&mut socket, 4001, "wanted"),
            Ok(message @ (Message::Text(_) | Message::Binary(_))) => {
                if socket.send(message).is_err() {
                    return None;
                }
            }
            Ok(Message::Close(frame)) => {
                let _ = socket.flush();
                return frame.map(|frame| frame.code.into());
            }
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

fn close(socket: &mut WebSocket<TcpStream>, code: u16, reason: &str) {
    let frame = CloseFrame { code: CloseCode::from(code), reason: reason.to_owned().into() };
    socket.close(Some(frame)).expect("the client reads");
}

/// A script that notes what happens, and compares it with what it expects.
fn script(options: &str, body: &str) -> String {
    format!(
        "import ws from 'k6/ws'; import {{ WebSocket, Blob }} from 'k6/websockets';
         export const options = {{ summaryTrendStats: ['count', 'avg'], {options} }};
         const base = __ENV.URL.replace('http', 'ws');
         const is = (found, expected) => {{
             if (JSON.stringify(found) !== JSON.stringify(expected)) {{
                 throw new Error(JSON.stringify(found) + ' is not ' + JSON.stringify(expected));
             }}
         }};
         // Connects, notes all events, and does something at some.
         const watched = (path, acts = {{}}, params = null) => {{
             const seen = [];
             const res = ws.connect(base + path, params, (socket) => {{
                 for (const event of ['open', 'message', 'binaryMessage', 'ping', 'pong', 'close', 'error']) {{
                     socket.on(event, (value) => {{
                         const shown = value instanceof ArrayBuffer ? [...new Uint8Array(value)]
                             : value && value.error ? value.error() : value;
                         seen.push(shown === undefined ? event : [event, shown]);
                         if (acts[event]) acts[event](socket, value);
                     }});
                 }}
             }});
             return [seen, res];
         }};
         export default function () {{ {body} }};"
    )
}

#[test]
fn a_script_waits_in_connect_for_the_end_of_its_socket() {
    let (server, codes) = server();
    let body = "
        const [seen, res] = watched('echo', {
            open(socket) { socket.send('hello'); socket.sendBinary(new Uint8Array([1, 2, 3]).buffer); socket.ping(); },
            pong(socket) { socket.setTimeout(() => socket.close(), 20); },
        });
        is(seen.length, 5);
        is(seen.filter((one) => one[0] !== 'pong' && one !== 'pong'),
            ['open', ['message', 'hello'], ['binaryMessage', [1, 2, 3]], ['close', 1001]]);
        is([res.status, res.url, res.body, res.error, res.headers.Upgrade], [101, base + 'echo', '', '', 'websocket']);
        let ticks = 0;
        const [late] = watched('echo', {
            open(socket) { socket.setInterval(() => { ticks += 1; if (ticks === 3) socket.close(3001); }, 5); },
        });
        is([late, ticks], [['open', ['close', 3001]], 3]);";
    let ended = run(&script("iterations: 1", body), &server.url());
    ended.assert_quiet();
    assert_eq!([codes.recv(), codes.recv()], [Ok(Some(1001)), Ok(Some(3001))]);
    let counts = ["ws_sessions", "ws_msgs_sent", "ws_msgs_received", "http_reqs"].map(|name| ended.count(name));
    assert_eq!(counts, [2.0, 2.0, 2.0, 0.0]);
    assert_eq!(["ws_ping", "ws_connecting", "ws_session_duration"].map(|name| ended.samples(name)), [1, 2, 2]);
    assert!(ended.count("data_sent") > 300.0 && ended.count("data_received") > 250.0);
}

#[test]
fn a_script_learns_how_the_server_ends_a_socket() {
    let (server, _codes) = server();
    let body = "
        is(watched('close/4000/why')[0],
            ['open', ['message', 'bye'], ['error', 'websocket: close 4000: why'], ['close', 4000]]);
        is(watched('push')[0],
            ['open', ['message', 'p0'], ['message', 'p1'], ['binaryMessage', [1, 2]], 'ping', ['close', 1000]]);
        const lost = 'websocket: close 1006 (abnormal closure): unexpected EOF';
        is(watched('drop')[0], ['open', ['message', 'x'], ['error', lost], ['close', 1006]]);
        is(watched('broken')[0],
            ['open', ['error', 'websocket: the server sent a frame with reserved bits'], ['close', 1001]]);
        const [seen, res] = watched('other');
        is([seen, res.status, res.body, res.error, res.url], [[], 404, 'nope', '', '']);
        is(res.headers, { 'Content-Length': '4', 'X-Why': 'path' });";
    let ended = run(&script("iterations: 1", body), &server.url());
    ended.assert_quiet();
    assert_eq!(ended.count("ws_sessions"), 5.0);
}

/// Accepts compressed messages, with these parameters, sends two that are, and then what the client has sent, of which the first byte
/// goes to the receiver.
fn compressing(parameters: &'static str) -> (Script, Receiver<u8>) {
    let (firsts, received) = mpsc::channel();
    let server = Script::start(move |client| {
        let Some(request) = client.request() else { return };
        let request = String::from_utf8_lossy(&request).into_owned();
        let accept =
            derive_accept_key(field(&request, "Sec-WebSocket-Key").expect("a client sends its key").as_bytes());
        let offered = field(&request, "Sec-WebSocket-Extensions");
        assert_eq!(offered, Some("permessage-deflate; server_no_context_takeover; client_no_context_takeover"));
        let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
        let extension = format!("Sec-WebSocket-Extensions: permessage-deflate{parameters}\r\n");
        client.send(format!("{head}Sec-WebSocket-Accept: {accept}\r\n{extension}\r\n").as_bytes());
        // The examples of RFC 7692, section 7.2.3: in two fragments, and alone.
        client.send(b"\x41\x03\xf2\x48\xcd\x80\x04\xc9\xc9\x07\x00");
        client.send(b"\xc2\x07\xf2\x48\xcd\xc9\xc9\x07\x00");
        let mut header = [0; 6];
        client.stream.read_exact(&mut header).expect("the client sends a message");
        let mut payload = vec![0; (header[1] & 0x7f).into()];
        client.stream.read_exact(&mut payload).expect("the client sends a message");
        payload.iter_mut().zip(header[2..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        let _ = firsts.send(header[0]);
        client.send(&[&[header[0], payload.len() as u8][..], &payload].concat());
        client.send(b"\x88\x02\x03\xe8");
        let _ = client.stream.read(&mut header);
    });
    (server, received)
}

#[test]
fn messages_are_compressed_where_a_script_wants_it() {
    let parameters = "; server_no_context_takeover; client_no_context_takeover";
    let (server, firsts) = compressing(parameters);
    let text =
        "compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed, compressed";
    let body = format!(
        "
        const text = '{text}';
        const [seen, res] = watched('', {{ open(socket) {{ socket.send(text); }} }}, {{ compression: ' deflate ' }});
        is(seen, ['open', ['message', 'Hello'], ['binaryMessage', [72, 101, 108, 108, 111]], ['message', text], ['close', 1000]]);
        is(res.headers['Sec-Websocket-Extensions'], 'permessage-deflate{parameters}');
        const got = [];
        const socket = new WebSocket(base, null, {{ compression: 'deflate' }});
        socket.onopen = () => socket.send(text);
        socket.onmessage = (event) => got.push(event.data instanceof Blob ? event.data.size : event.data);
        socket.onclose = () => is(got, ['Hello', 5, text]);"
    );
    let ended = run(&script("iterations: 1", &body), &server.url());
    ended.assert_quiet();
    assert_eq!([firsts.recv(), firsts.recv()], [Ok(0xc1), Ok(0xc1)]);
    assert_eq!(["ws_msgs_sent", "ws_msgs_received"].map(|name| ended.count(name)), [2.0, 6.0]);
    // Bytes are counted as they are on the wire.
    assert!(ended.count("data_sent") < 2.0 * 420.0, "{}", ended.count("data_sent"));
}

#[test]
fn compression_that_was_not_offered_so_is_refused() {
    let (server, _firsts) = compressing("; client_max_window_bits=9");
    let body = "
        const failed = (f) => { try { f(); } catch (e) { return [e.name, e.message]; } };
        const res = ws.connect(base, { compression: 'deflate' }, () => { throw new Error('called'); });
        const with_it = \"the server uses permessage-deflate with 'client_max_window_bits=9', \";
        is([res.status, res.error], [101, with_it + 'which is invalid or was not offered']);
        const why = (name) => ['GoError', `unsupported compression algorithm '${name}', supported algorithm is 'deflate'`];
        is(failed(() => ws.connect(base, { compression: 'gzip' }, () => {})), why('gzip'));
        is(failed(() => new WebSocket(base, null, { compression: 'lz4' })), why('lz4'));";
    run(&script("iterations: 1", body), &server.url()).assert_quiet();
}

#[test]
fn what_does_not_open_says_why() {
    let (server, _codes) = server();
    let body = "
        const failed = (f) => { try { f(); } catch (e) { return [e.name, e.message]; } };
        const refused = ws.connect('ws://127.0.0.1:1/', (socket) => { throw new Error('called'); });
        is([refused.status, refused.error], [0, 'dial tcp 127.0.0.1:1: connect: connection refused']);
        is(ws.connect('nope', null, () => {}).error, 'malformed ws or wss URL');
        is(failed(() => ws.connect('ws://127.0.0.1:1/', { throw: true }, () => {}))[0], 'GoError');
        is(failed(() => ws.connect(base)), ['GoError', 'invalid number of arguments to ws.connect']);
        is(failed(() => ws.connect(base, {})), ['GoError', 'last argument to ws.connect must be a function']);
        is(failed(() => new WebSocket('nope'))[1], 'WebSocket requires url with scheme ws or wss, but got \"\"');
        is(failed(() => new WebSocket())[1], 'WebSocket requires a url');
        let closed;
        is(failed(() => ws.connect(base + 'echo', (socket) => {
            socket.on('close', (code) => { closed = code; });
            socket.on('open', () => { throw new Error('mine'); });
        })), ['Error', 'mine']);
        is(closed, 1001);";
    let ended = run(&script("iterations: 1", body), &server.url());
    ended.assert_quiet();
    let early = "import ws from 'k6/ws'; ws.connect('ws://127.0.0.1:1/', () => {}); export default function () {}";
    let early = torr_k6::run::Test::load(
        torr_k6::run::RunSettings {
            script: torr_k6::run::ScriptSource::Text(early.as_bytes().to_vec()),
            ..torr_k6::run::RunSettings::default()
        },
        None,
        |_| Err("no network".to_owned()),
    );
    let why = early.map(drop).expect_err("the init context has no sockets").to_string();
    assert!(why.contains("using WebSockets in the init context is not supported"), "{why}");
}

/// Notes the events of WebSockets as browsers have them.
const NOTES: &str = "
    const note = (socket, seen, acts = {}) => {
        for (const type of ['open', 'message', 'close', 'error', 'ping', 'pong']) {
            socket['on' + type] = (event) => {
                is([event.type, event.target === socket], [type, true]);
                const what = { message: event.data, close: [event.code, event.reason], error: event.error }[type];
                seen.push(what === undefined ? type : [type, what instanceof Blob ? 'blob ' + what.size : what]);
                if (acts[type]) acts[type](socket, event);
            };
        }
    };";

#[test]
fn an_iteration_ends_after_the_sockets_that_it_has_opened() {
    let (server, codes) = server();
    let body = NOTES.to_owned()
        + "
        const [echo, pushed, refused] = [[], [], []];
        const first = new WebSocket(base + 'echo', ['a', 'b'], { headers: { 'X-Who': 'me' }, tags: { kind: 'chat', name: 'chat' } });
        is([first.readyState, first.binaryType, first.protocol, first.url], [0, 'blob', '', base + 'echo']);
        note(first, echo, {
            open(socket) {
                is([socket.readyState, socket.protocol], [1, 'a']);
                socket.send('hi');
                socket.send(new Blob(['b', new Uint8Array([108, 111])]));
                socket.ping();
            },
            async message(socket, event) {
                if (event.data instanceof Blob) {
                    is(await event.data.text(), 'blo');
                    socket.close(3005, 'because');
                }
            },
            close(socket) {
                is(socket.readyState, 3);
                is(echo.filter((one) => one !== 'pong'), ['open', ['message', 'hi'], ['message', 'blob 3'],
                    ['error', 'websocket: close 3005: because'], ['close', [3005, 'because']]]);
                is(echo.length, 6);
            },
        });
        const second = new WebSocket(base + 'push');
        second.binaryType = 'arraybuffer';
        second.addEventListener('message', (event) => {
            if (event.data instanceof ArrayBuffer) is(event.data.byteLength, 2);
        });
        note(second, pushed, { close() { is(pushed.slice(0, 3), ['open', ['message', 'p0'], ['message', 'p1']]); } });
        const third = new WebSocket(base + 'other');
        note(third, refused, {
            close() { is(refused, [['error', 'websocket: bad handshake'], ['close', [null, '']]]); console.log('ended'); },
        });
        try { third.send('x'); throw new Error('sent'); } catch (e) { is(e.message, 'InvalidStateError'); }";
    let options = "vus: 2, iterations: 6, thresholds: {
        [`ws_sessions{name:${__ENV.URL.replace('http', 'ws')}other}`]: ['count==6'],
        'ws_sessions{name:chat,url:chat}': ['count==6'], 'ws_msgs_sent{kind:chat}': ['count==24'] }";
    let ended = run(&script(options, &body), &server.url());
    assert_eq!(ended.end.exit_code, 0, "{}", ended.log);
    let lines: Vec<_> = ended.log.lines().collect();
    assert!(lines.len() == 6 && lines.iter().all(|line| line.contains("msg=ended")), "{}", ended.log);
    let counts = ["iterations", "ws_sessions", "ws_msgs_sent", "ws_msgs_received"].map(|name| ended.count(name));
    // As in k6, a ping and a close frame of a script are messages that it has sent.
    assert_eq!(counts, [6.0, 18.0, 24.0, 30.0]);
    let closed: Vec<_> = (0..12).map(|_| codes.recv().expect("the server has seen all")).collect();
    assert_eq!(closed.iter().filter(|code| **code == Some(3005)).count(), 6, "{closed:?}");
    assert!(server.texts().iter().any(|text| text.contains("\r\nX-Who: me\r\n")));
}

#[test]
fn sockets_end_with_the_test() {
    let (server, codes) = server();
    let body = "
        if (__VU > 1) {
            ws.connect(base + 'echo', (other) => { other.on('open', () => other.send('second')); });
        } else {
            const socket = new WebSocket(base + 'echo');
            socket.onopen = () => { socket.send('first'); };
            socket.onmessage = () => { new WebSocket(base + 'push').onopen = () => {}; };
        }";
    let body =
        script("scenarios: { all: { executor: 'constant-vus', vus: 3, duration: '2s', gracefulStop: '0s' } }", body);
    let ended = run(&body, &server.url());
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (0, 0.0), "{}", ended.log);
    let codes: Vec<_> = (0..4).map(|_| codes.recv_timeout(Duration::from_secs(30)).expect("each was closed")).collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(1001)).count(), 3, "{codes:?}");
    assert_eq!(ended.count("ws_sessions"), 4.0);
    assert_eq!(ended.samples("ws_session_duration"), 4);
}

#[test]
fn many_users_have_sockets_over_tls() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let (server, _codes) = server();
    let behind = server.address;
    let upgraded =
        "proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;";
    let location = format!("location / {{ {upgraded} proxy_pass http://{behind}; }}");
    let front = Nginx::start_tls(&certificate, &key, &location);
    let large = "x".repeat(200_000);
    let body = format!(
        "const large = '{large}'; let seen = 0;
        const [events] = watched('echo', {{
            open(socket) {{ for (let n = 0; n < 5; n += 1) socket.send(large + n); }},
            message(socket, text) {{
                is([text.length, text.endsWith('' + seen)], [200001, true]);
                seen += 1;
                if (seen === 5) socket.send('quit');
            }},
        }});
        is(seen, 5);
        is(events.slice(-2), [['error', 'websocket: close 4001: wanted'], ['close', 4001]]);"
    );
    let ended = run(&script("vus: 20, iterations: 40, insecureSkipTLSVerify: true", &body), &front.https());
    ended.assert_quiet();
    let counts = ["ws_sessions", "ws_msgs_sent", "ws_msgs_received"].map(|name| ended.count(name));
    assert_eq!(counts, [40.0, 240.0, 200.0]);
}
