//! Calls of scripts by `k6/net/grpc`, beside a server by the crate `h2`.

mod common;

use bytes::Bytes;
use common::{Ended, run_file};
use h2::server::SendResponse;
use h2::{RecvStream, SendStream};
use http::{HeaderMap, Request, Response};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use torr_grpc::framed;
use torr_k6::run::{RunSettings, ScriptSource, Test};
use torr_test_support::certificates::self_signed;
use torr_test_support::servers::Nginx;
use torr_test_support::wait_until;

/// The services of the server, as scripts load them.
const PROTO: &str = "syntax = \"proto3\"; package shop;
    message Item { string name = 1; int32 count = 2; int64 total = 3; bytes raw = 4; Item inner = 5; }
    service Shop {
        rpc Echo(Item) returns (Item); rpc Missing(Item) returns (Item); rpc Half(Item) returns (Item);
        rpc Late(Item) returns (Item); rpc Plain(Item) returns (Item); rpc Reset(Item) returns (Item);
        rpc Large(Item) returns (Item); rpc None(Item) returns (Item); rpc Cut(Item) returns (Item);
        rpc Refuse(Item) returns (Item); rpc Leave(Item) returns (Item);
        rpc Down(Item) returns (stream Item); rpc Both(stream Item) returns (stream Item);
    }";

/// What a server has seen.
#[derive(Debug, Default)]
struct Seen {
    connections: AtomicUsize,
    refused: AtomicUsize,
    /// The calls that were canceled.
    canceled: AtomicUsize,
    /// The fields of the calls of `Echo`.
    fields: Mutex<Vec<HeaderMap>>,
}

/// A server that ends with this value.
struct Server {
    address: SocketAddr,
    seen: Arc<Seen>,
    _alive: oneshot::Sender<()>,
}

impl Server {
    fn start() -> Self {
        let (alive, ended) = oneshot::channel::<()>();
        let (tell, address) = std::sync::mpsc::channel();
        let seen = Arc::new(Seen::default());
        let of_thread = seen.clone();
        thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is a poller");
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.expect("there is a port");
                tell.send(listener.local_addr().expect("it is bound")).expect("the test waits");
                tokio::select! {
                    () = accept(listener, of_thread) => {}
                    _ = ended => {}
                }
            });
        });
        Self { address: address.recv().expect("the server starts"), seen, _alive: alive }
    }
}

async fn accept(listener: TcpListener, seen: Arc<Seen>) {
    while let Ok((stream, _)) = listener.accept().await {
        seen.connections.fetch_add(1, Ordering::AcqRel);
        let seen = seen.clone();
        tokio::spawn(async move {
            let Ok(mut connection) = h2::server::handshake(stream).await else { return };
            while let Some(Ok((request, respond))) = connection.accept().await {
                match request.uri().path() {
                    // The connection ends without a word.
                    "/shop.Shop/Cut" => return,
                    // Calls that are under way are complete; no new one is taken.
                    "/shop.Shop/Leave" => connection.graceful_shutdown(),
                    _ => {}
                }
                tokio::spawn(respond_to(request, respond, seen.clone()));
            }
        });
    }
}

fn trailers(status: &str, fields: &[(&'static str, &str)]) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", status.parse().expect("it is a value"));
    for (name, value) in fields {
        trailers.insert(*name, value.parse().expect("it is a value"));
    }
    trailers
}

/// Reads the next message of a request.
async fn next(body: &mut RecvStream, arrived: &mut Vec<u8>) -> Option<Vec<u8>> {
    loop {
        if let Some((head, rest)) = arrived.split_first_chunk::<5>() {
            let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
            if let Some(message) = rest.get(..length) {
                let message = message.to_vec();
                arrived.drain(..5 + length);
                return Some(message);
            }
        }
        let piece = body.data().await?.ok()?;
        let _ = body.flow_control().release_capacity(piece.len());
        arrived.extend_from_slice(&piece);
    }
}

async fn respond_to(request: Request<RecvStream>, mut respond: SendResponse<Bytes>, seen: Arc<Seen>) {
    let (head, mut body) = request.into_parts();
    let name = head.uri.path().rsplit('/').next().unwrap_or_default().to_owned();
    let mut arrived = Vec::new();
    let grpc = || Response::builder().header("content-type", "application/grpc");
    let only = |status: &str, fields: &[(&'static str, &str)]| {
        let mut response = grpc().body(()).expect("it is a response");
        response.headers_mut().extend(trailers(status, fields));
        response
    };
    let end = |mut out: SendStream<Bytes>, status: &str, fields: &[(&'static str, &str)]| {
        let _ = out.send_trailers(trailers(status, fields));
    };
    match name.as_str() {
        "Echo" | "Leave" => {
            let message = next(&mut body, &mut arrived).await.expect("a call has a message");
            let mut response = grpc().header("x-more", "1").header("x-more", "2").body(()).expect("it is a response");
            response.headers_mut().insert("x-of-bin", "AAEC".parse().expect("it is a value"));
            seen.fields.lock().expect("no thread panics with it").push(head.headers);
            let Ok(mut out) = respond.send_response(response, false) else { return };
            let _ = out.send_data(framed(&message).into(), false);
            end(out, "0", &[("x-last", "yes")]);
        }
        "Half" => {
            let message = next(&mut body, &mut arrived).await.expect("a call has a message");
            let Ok(mut out) = respond.send_response(grpc().body(()).expect("it is a response"), false) else { return };
            let _ = out.send_data(framed(&message).into(), false);
            // google.rpc.Status with a detail of the type shop.Item.
            let details = "CAMSAW4aJQoddHlwZS5nb29nbGVhcGlzLmNvbS9zaG9wLkl0ZW0SBAoCbm8";
            end(out, "3", &[("grpc-message", "not %25 so"), ("grpc-status-details-bin", details)]);
        }
        "Late" => {
            let _ = std::future::poll_fn(|context| respond.poll_reset(context)).await;
            seen.canceled.fetch_add(1, Ordering::AcqRel);
        }
        "Plain" => {
            let response = Response::builder().status(503).header("content-type", "text/html");
            let Ok(mut out) = respond.send_response(response.body(()).expect("it is a response"), false) else {
                return;
            };
            let _ = out.send_data(Bytes::from_static(b"<p>no"), true);
        }
        "Reset" => respond.send_reset(h2::Reason::INTERNAL_ERROR),
        "Refuse" if seen.refused.fetch_add(1, Ordering::AcqRel) == 0 => respond.send_reset(h2::Reason::REFUSED_STREAM),
        "Large" => {
            let Ok(mut out) = respond.send_response(grpc().body(()).expect("it is a response"), false) else { return };
            let mut message = vec![0x0a, 0x80, 0x80, 0xc0, 0x02];
            message.resize(5 + (5 << 20), b'x');
            let _ = out.send_data(framed(&message).into(), false);
            end(out, "0", &[]);
        }
        "None" | "Refuse" => {
            let Ok(out) = respond.send_response(grpc().body(()).expect("it is a response"), false) else { return };
            end(out, "0", &[]);
        }
        "Down" | "Both" => {
            let Ok(mut out) = respond.send_response(grpc().body(()).expect("it is a response"), false) else { return };
            while let Some(message) = next(&mut body, &mut arrived).await {
                match message.as_slice() {
                    b"\x0a\x04stop" => return end(out, "7", &[("grpc-message", "no")]),
                    b"\x0a\x05reset" => return out.send_reset(h2::Reason::CANCEL),
                    _ => {}
                }
                for _ in 0..if name == "Down" { 3 } else { 1 } {
                    let _ = out.send_data(framed(&message).into(), false);
                }
                if name == "Down" {
                    return end(out, "0", &[]);
                }
            }
            end(out, "0", &[]);
        }
        "Check" => {
            let service = next(&mut body, &mut arrived).await.expect("a call has a message");
            if !service.is_empty() {
                let _ = respond.send_response(only("5", &[("grpc-message", "unknown service")]), true);
                return;
            }
            let Ok(mut out) = respond.send_response(grpc().body(()).expect("it is a response"), false) else { return };
            let _ = out.send_data(framed(b"\x08\x01").into(), false);
            end(out, "0", &[]);
        }
        "ServerReflectionInfo" if head.uri.path().contains("v1alpha") => {
            let request = next(&mut body, &mut arrived).await.expect("a call has a message");
            // A list of services, or the file of one.
            let response = match request[0] {
                0x3a => field(6, &field(1, &field(1, b"r.S"))),
                _ => field(4, &field(1, &described())),
            };
            let Ok(mut out) = respond.send_response(grpc().body(()).expect("it is a response"), false) else { return };
            let _ = out.send_data(framed(&response).into(), false);
            end(out, "0", &[]);
        }
        _ => {
            let text = format!("unknown method {name}");
            let _ = respond.send_response(only("12", &[("grpc-message", &text), ("x-why", "it")]), true);
        }
    }
}

/// Returns a field of protobuf that has bytes.
fn field(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut field = vec![tag << 3 | 2, u8::try_from(content.len()).expect("it is short")];
    field.extend_from_slice(content);
    field
}

/// Returns a file that describes the service `r.S` with the method `Missing`, as protobuf does.
fn described() -> Vec<u8> {
    let method = [field(1, b"Missing"), field(2, b".r.M"), field(3, b".r.M")].concat();
    let service = [field(1, b"S"), field(2, &method)].concat();
    let parts =
        [field(1, b"r.proto"), field(2, b"r"), field(4, &field(1, b"M")), field(6, &service), field(12, b"proto3")];
    parts.concat()
}

/// Writes a script beside the files that it loads.
fn written(options: &str, body: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    std::fs::create_dir(folder.path().join("api")).expect("there is room");
    std::fs::write(folder.path().join("api/shop.proto"), PROTO).expect("there is room");
    std::fs::write(folder.path().join("r.protoset"), field(1, &described())).expect("there is room");
    let text = format!(
        "import grpc, {{ Client, StatusOK, StatusNotFound }} from 'k6/net/grpc';
         export const options = {{ summaryTrendStats: ['count', 'avg'], {options} }};
         const is = (found, expected) => {{
             if (JSON.stringify(found) !== JSON.stringify(expected)) {{
                 throw new Error(JSON.stringify(found) + ' is not ' + JSON.stringify(expected));
             }}
         }};
         const failed = (f) => {{ try {{ return ['returned', f()]; }} catch (e) {{ return [e.name, e.message]; }} }};
         const why = (f) => failed(f)[1];
         const client = new Client();
         const loaded = client.load(['api'], 'shop.proto');
         const plain = {{ plaintext: true }};
         {body}"
    );
    let script = folder.path().join("script.js");
    std::fs::write(&script, text).expect("there is room");
    (folder, script)
}

/// Runs a script whose `__ENV.URL` is the address of a server.
fn run(server: &Server, options: &str, body: &str) -> Ended {
    let (_folder, script) = written(options, body);
    run_file(&script, None, &server.address.to_string())
}

#[test]
fn a_mistake_has_the_line_of_the_script_that_made_it() {
    for (body, line) in [
        ("import grpc from 'k6/net/grpc';\nnew grpc.Client().load(['.'], 'none.proto');\nexport default () => {};", 2),
        ("import { WebSocket } from 'k6/websockets';\n\nnew WebSocket('no url');\nexport default () => {};", 3),
    ] {
        let script = ScriptSource::Text(body.as_bytes().to_vec());
        let settings = RunSettings { script, ..RunSettings::default() };
        let error =
            Test::load(settings, None, |_| Err("no network".to_owned())).map(drop).expect_err("it cannot be loaded");
        let place = error.place.as_deref().unwrap_or_default();
        assert!(place.split(':').rev().nth(1) == Some(&line.to_string()), "{place}: {}", error.stack);
        assert!(!error.stack.contains("eval_script"), "{}", error.stack);
    }
}

#[test]
fn a_call_has_its_response() {
    let server = Server::start();
    let body = "
        is(loaded[0], { package: 'shop', service: 'Shop', full_method: '/shop.Shop/Echo', name: 'Echo',
            is_client_stream: false, is_server_stream: false });
        export default function () {
            is(client.connect(__ENV.URL, plain), true);
            const item = { name: 'a', total: '9007199254740993', raw: 'AAE=', inner: { count: 2 } };
            const res = client.invoke('shop.Shop/Echo', item, { metadata: { 'X-A': 'b', 'x-t-bin': new Uint8Array([255]) } });
            is(Object.keys(res), ['message', 'error', 'headers', 'trailers', 'status']);
            is(res.message, { name: 'a', count: 0, total: '9007199254740993', raw: 'AAE=',
                inner: { name: '', count: 2, total: '0', raw: '', inner: null } });
            is([res.error, res.status, res.status === StatusOK, `${res.status}`], [null, 0, true, 'OK']);
            is(res.headers, { 'content-type': ['application/grpc'], 'x-more': ['1', '2'], 'x-of-bin': ['\\0\\x01\\x02'] });
            is(res.trailers, { 'x-last': ['yes'] });
            is(client.invoke('/shop.Shop/Echo', { name: 'b' }, { discardResponseMessage: true }).message, null);
            client.close();
            client.close();
            is(why(() => client.invoke('shop.Shop/Echo', {})), 'no gRPC connection, you must call connect first');
        }";
    let ended = run(&server, "iterations: 2", body);
    ended.assert_quiet();
    assert_eq!(ended.samples("grpc_req_duration"), 4);
    assert_eq!(server.seen.connections.load(Ordering::Acquire), 2);
    assert!(ended.count("data_sent") > 300.0 && ended.count("data_received") > 300.0);
    let fields = server.seen.fields.lock().expect("no thread panics with it");
    let of = |name: &str| fields[0].get(name).map(|value| value.to_str().expect("it is text"));
    assert_eq!((of("x-a"), of("x-t-bin"), of("te")), (Some("b"), Some("/w"), Some("trailers")));
    assert!(of("grpc-timeout").is_some_and(|timeout| timeout.ends_with('m')), "two minutes, in milliseconds");
    assert_eq!(fields[0].get("content-type").map(|value| value.as_bytes()), Some(&b"application/grpc"[..]));
}

#[test]
fn a_call_that_fails_has_a_status() {
    let server = Server::start();
    let body = "
        const empty = { name: '', count: 0, total: '0', raw: '', inner: null };
        export default function () {
            client.connect(__ENV.URL, plain);
            const call = (name, params) => client.invoke('shop.Shop/' + name, { name: 'n' }, params);
            const missing = call('Missing');
            is([missing.status, missing.error, missing.message],
                [12, { code: 12, message: 'unknown method Missing', details: [] }, empty]);
            is([missing.headers, missing.trailers['x-why']], [{}, ['it']]);
            const half = call('Half');
            is(half.error, { code: 3, message: 'not % so', details: [{ '@type': 'type.googleapis.com/shop.Item',
                name: 'no', count: 0, total: '0', raw: '', inner: null }] });
            is(half.message.name, 'n');
            is(call('Late', { timeout: '20ms' }).error, { code: 4, message: 'context deadline exceeded', details: [] });
            is(call('Plain').error.message, 'unexpected HTTP status code received from server: 503 (Service ' +
                'Unavailable); transport: received unexpected content-type \"text/html\"');
            is(call('Plain').status, 14);
            is(call('Reset').error.message, 'stream terminated by RST_STREAM with error code: INTERNAL_ERROR');
            is([call('Large').status, call('Large').error.message],
                [8, 'grpc: received message larger than max (5242885 vs. 4194304)']);
            is(call('None').error.message,
                'cardinality violation: received no response message from non-server-streaming RPC');
            is(call('Down').error.message, 'cardinality violation: expected <EOF> for non server-streaming RPCs, but received another message');
            // A refused stream is sent again, once; then the server has no message.
            is(call('Refuse').status, 13);
            is(call('Cut').status, 14);
            // The connection is opened again.
            is(call('Echo').status, 0);
            is(call('Leave').status, 0);
            is(call('Echo').status, 0);
            is(call('Echo', { metadata: { 'a b': 'c' } }).status, 13);
            const other = new Client();
            other.connect(__ENV.URL, { plaintext: true, maxReceiveSize: 8 << 20, maxSendSize: 4 });
            is(why(() => other.invoke('shop.Shop/Echo', {})), 'method \"/shop.Shop/Echo\" not found in file descriptors');
            other.close();
        }";
    let ended = run(&server, "iterations: 1", body);
    ended.assert_quiet();
    assert_eq!(server.seen.connections.load(Ordering::Acquire), 4, "two were opened again");
    assert_eq!(server.seen.refused.load(Ordering::Acquire), 2);
    // What is wrong with metadata is found before a call.
    assert_eq!(ended.samples("grpc_req_duration"), 15);
}

#[test]
fn what_cannot_be_called_says_why() {
    let server = Server::start();
    let body = "
        is(why(() => client.connect('127.0.0.1:1')), 'connecting to a gRPC server in the init context is not supported');
        is(why(() => client.invoke('shop.Shop/Echo', {})), 'invoking RPC methods in the init context is not supported');
        is(failed(() => client.load(null, 'none.proto'))[0], 'GoError');
        is(client.load(), []);
        is(why(() => client.loadProtoset('none.protoset')).startsWith('couldn\\'t open protoset: '), true);
        is(new Client().loadProtoset('r.protoset').map((method) => method.full_method), ['/r.S/Missing']);
        export default function () {
            is(why(() => client.load(['api'], 'shop.proto')), 'load must be called in the init context');
            is(failed(() => client.connect('127.0.0.1:1', plain)), ['GoError', 'connection error: desc = \"transport: error while dialing: dial tcp 127.0.0.1:1: connect: connection refused\"']);
            is(why(() => client.connect('http://127.0.0.1', plain)), 'expected an address such as \\'localhost:50051\\', found \\'http://127.0.0.1\\'');
            is(why(() => client.connect('127.0.0.1', plain)), 'expected an address with a port, found \\'127.0.0.1\\'');
            for (const [params, line] of [
                [{ plaintext: 1 }, 'invalid plaintext value: \\'1\\', it needs to be boolean'],
                [{ what: 1 }, 'unknown connect param: \"what\"'],
                [{ maxReceiveSize: -1 }, 'invalid maxReceiveSize value: \\'-1\\', it needs to be a positive integer'],
                [{ maxSendSize: 'a' }, 'invalid maxSendSize value: \\'\"a\"\\', it needs to be an integer'],
                [{ reflectMetadata: 1 }, 'invalid reflectMetadata param: must be an object with key-value pairs'],
            ]) {
                is(why(() => client.connect(__ENV.URL, params)), 'invalid grpc.connect() parameters: ' + line);
            }
            is(why(() => client.connect(__ENV.URL, { tls: { cacerts: 'x' }, timeout: '9s' })).startsWith('connection error'), true);
            client.connect(__ENV.URL, { plaintext: true, maxSendSize: 4 });
            const call = (...given) => why(() => client.invoke('shop.Shop/Echo', ...given));
            is(call(), 'request cannot be nil');
            is(failed(() => client.invoke('shop.Shop/Echo', null))[0], 'TypeError');
            is(call({ nope: 1 }).startsWith('unable to serialise request object to protocol buffer: '), true);
            const around = {};
            around.inner = around;
            is(call(around), 'unable to normalize number strings: cyclic reference to an object found');
            is(call({}, { what: 1 }), 'invalid GRPC\\'s client.invoke() parameters: unknown param: \"what\"');
            is(call({}, { metadata: { a: 1 } }), 'invalid GRPC\\'s client.invoke() parameters: invalid metadata param: \"a\" value must be a string');
            is(why(() => client.invoke('', {})), 'method to invoke cannot be empty');
            is(client.invoke('shop.Shop/Echo', { name: 'abcd' }).error.message, 'trying to send message larger than max (6 vs. 4)');
            is(client.healthCheck().status === grpc.HealthCheckServing, true);
            is(why(() => client.healthCheck('other')), 'rpc error: code = NotFound desc = unknown service');
            const reflected = new Client();
            reflected.connect(__ENV.URL, { plaintext: true, reflect: true });
            is(reflected.invoke('r.S/Missing', {}).status, 12);
        }";
    let ended = run(&server, "iterations: 1", body);
    ended.assert_quiet();
    assert!(server.seen.fields.lock().expect("no thread panics with it").is_empty(), "no call of Echo was sent");
}

#[test]
fn calls_go_on_beside_the_script() {
    let server = Server::start();
    let body = "
        export default async function () {
            client.connect(__ENV.URL, plain);
            const names = ['a', 'b', 'c'];
            const all = names.map((name) => client.asyncInvoke('shop.Shop/Echo', { name }, { tags: { name: 'mine' } }));
            is((await Promise.all(all)).map((res) => [res.status, res.message.name]), names.map((name) => [0, name]));
            let why;
            try { await client.asyncInvoke('shop.Shop/Nope', {}); } catch (e) { why = e.message; }
            is(why, 'method \"/shop.Shop/Nope\" not found in file descriptors');
            // The iteration lasts as long as its calls.
            client.asyncInvoke('shop.Shop/Missing', {}).then((res) => console.log(`${res.status}`));
        }";
    let ended = run(&server, "vus: 2, iterations: 4", body);
    assert_eq!(ended.end.exit_code, 0);
    let lines: Vec<_> = ended.log.lines().collect();
    assert!(lines.len() == 4 && lines.iter().all(|line| line.contains("msg=Unimplemented")), "{}", ended.log);
    assert_eq!(ended.samples("grpc_req_duration"), 16);
}

/// Opens a stream, and notes its events.
const WATCHED: &str = "
    const watched = (name, params, acts) => new Promise((done) => {
        const seen = [];
        const stream = new grpc.Stream(client, 'shop.Shop/' + name, params);
        stream.on('data', (item, about) => { is(typeof about.ts, 'number'); seen.push(item.name); if (acts.data) acts.data(stream, item); });
        stream.on('error', (e) => seen.push([e.code, `${e.code}`, e.message, String(e)]));
        stream.on('end', () => { seen.push('end'); done(seen); });
        acts.begin(stream);
    });";

#[test]
fn a_stream_has_events_in_order() {
    let server = Server::start();
    let body = WATCHED.to_owned()
        + "
        export default async function () {
            is(why(() => new grpc.Stream(client, 'shop.Shop/Both')),
                'invalid GRPC Stream\\'s client: no gRPC connection, you must call connect first');
            is(why(() => new grpc.Stream()), 'invalid GRPC Stream\\'s client: empty gRPC client');
            is(why(() => new grpc.Stream({})), 'invalid GRPC Stream\\'s client: not a gRPC client');
            client.connect(__ENV.URL, plain);
            is(why(() => new grpc.Stream(client, 'shop.Shop/Nope')),
                'invalid GRPC Stream\\'s method: method \"/shop.Shop/Nope\" not found in file descriptors');
            const three = (stream) => { stream.write({ name: 'x' }); };
            is(await watched('Down', null, { begin: three }), ['x', 'x', 'x', 'end']);
            const both = await watched('Both', { metadata: { 'x-a': 'b' } }, {
                begin(stream) { stream.write({ name: '1' }); },
                data(stream, item) { if (item.name === '3') stream.end(); else stream.write({ name: '' + (Number(item.name) + 1) }); },
            });
            is(both, ['1', '2', '3', 'end']);
            const stopped = await watched('Both', {}, { begin(stream) { stream.write({ name: 'y' }); stream.write({ name: 'stop' }); } });
            is(stopped, ['y', [7, 'PermissionDenied', 'no', 'code: 7, message: no'], 'end']);
            const canceled = [2, 'Unknown', 'canceled by client (k6)', 'code: 2, message: canceled by client (k6)'];
            is(await watched('Both', {}, { begin(stream) { stream.write({ name: 'reset' }); } }), [canceled, 'end']);
            const late = await watched('Both', { timeout: 50 }, { begin() {} });
            is(late, [[4, 'DeadlineExceeded', 'context deadline exceeded', 'code: 4, message: context deadline exceeded'], 'end']);
            const wrong = await watched('Both', {}, { begin(stream) { stream.write({ nope: 1 }); is(stream.write({ name: 'z' }), undefined); } });
            is([wrong.length, wrong[0][0], wrong[1]], [2, 2, 'end']);
            const large = 'x'.repeat(3 << 20);
            const sizes = [];
            await watched('Both', {}, {
                begin(stream) { for (let n = 0; n < 4; n += 1) stream.write({ name: large + n }); stream.end(); },
                data(stream, item) { sizes.push([item.name.length, item.name.at(-1)]); },
            });
            is(sizes, [0, 1, 2, 3].map((n) => [(3 << 20) + 1, '' + n]));
            const closing = watched('Both', {}, { begin(stream) { stream.write({ name: 'c' }); }, data() { client.close(); } });
            is(await closing, ['c', canceled, 'end']);
        }";
    let ended = run(&server, "iterations: 1", &body);
    ended.assert_quiet();
    let counts = ["grpc_streams", "grpc_streams_msgs_sent", "grpc_streams_msgs_received"].map(|name| ended.count(name));
    assert_eq!(counts, [8.0, 12.0, 12.0]);
    // The stream that could not be written to was canceled without an end.
    assert_eq!(ended.samples("grpc_req_duration"), 7);
}

#[test]
fn what_a_handler_throws_ends_the_iteration() {
    let server = Server::start();
    let body = "
        export default function () {
            client.connect(__ENV.URL, plain);
            const stream = new grpc.Stream(client, 'shop.Shop/Both');
            stream.on('metadata', () => {});
            stream.on('error', (e) => console.log(e.message));
            stream.on('end', () => console.log('over'));
            stream.on('data', () => { throw new Error('mine'); });
            stream.write(null);
            stream.write({ name: 'a' });
        }";
    let ended = run(&server, "iterations: 2", body);
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (0, 2.0));
    let times = |text: &str| ended.log.lines().filter(|line| line.contains(text)).count();
    let event =
        "level=warning msg=\"can't register metadata event handler: unknown GRPC stream's event type: metadata\"";
    assert_eq!(times(event), 2, "{}", ended.log);
    assert_eq!(times("msg=\"can't send empty message\" streamMethod=/shop.Shop/Both"), 2, "{}", ended.log);
    assert_eq!((times("msg=\"Error: mine\""), times("msg=over")), (2, 2), "{}", ended.log);
    assert_eq!(times("level=error"), 2, "{}", ended.log);
}

#[test]
fn calls_end_with_the_test() {
    let server = Server::start();
    let body = WATCHED.to_owned()
        + "
        export default async function () {
            client.connect(__ENV.URL, plain);
            if (__VU === 1) client.invoke('shop.Shop/Late', {});
            if (__VU === 2) await client.asyncInvoke('shop.Shop/Late', {});
            await watched('Late', {}, { begin(stream) { stream.write({ name: 'a' }); } });
        }";
    let options = "scenarios: { all: { executor: 'constant-vus', vus: 3, duration: '2s', gracefulStop: '0s' } }";
    let ended = run(&server, options, &body);
    assert_eq!((ended.end.exit_code, ended.count("iterations")), (0, 0.0), "{}", ended.log);
    wait_until("the calls to be canceled", || (server.seen.canceled.load(Ordering::Acquire) == 3).then_some(()));
}

#[test]
fn connections_outlive_iterations() {
    let server = Server::start();
    let body = "
        let isOpen = false;
        export default function () {
            if (!isOpen) { client.connect(__ENV.URL, plain); isOpen = true; }
            is(client.invoke('shop.Shop/Echo', { name: 'n' + __ITER }).message.name, 'n' + __ITER);
        }";
    let ended = run(&server, "scenarios: { all: { executor: 'per-vu-iterations', vus: 20, iterations: 20 } }", body);
    ended.assert_quiet();
    assert_eq!(ended.samples("grpc_req_duration"), 400);
    assert_eq!(server.seen.connections.load(Ordering::Acquire), 20);
}

#[test]
fn calls_go_over_tls() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let server = Server::start();
    let front = Nginx::start_tls(&certificate, &key, &format!("location / {{ grpc_pass grpc://{}; }}", server.address));
    let pem = std::fs::read_to_string(&certificate).expect("it was made");
    let body = format!(
        "const pem = `{pem}`;
        export default function () {{
            is(why(() => client.connect(__ENV.URL)).startsWith('connection error: desc = \"transport: authentication handshake failed: '), true);
            client.connect(__ENV.URL, {{ tls: {{ cacerts: [pem] }} }});
            is(client.invoke('shop.Shop/Echo', {{ name: 't' }}).message.name, 't');
            client.connect(__ENV.URL, {{ tls: {{ cacerts: pem }}, authority: 'localhost' }});
            is(client.invoke('shop.Shop/Echo', {{ name: 'u' }}).message.name, 'u');
        }}"
    );
    let (_folder, script) = written("iterations: 2", &body);
    let ended = run_file(&script, None, front.https().trim_start_matches("https://").trim_end_matches('/'));
    ended.assert_quiet();
    assert_eq!(ended.samples("grpc_req_duration"), 4);
}
