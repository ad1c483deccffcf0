//! HTTP/2 by prior knowledge: one router under `axum::serve` and under Torr, controllers beside it, limits and ends.

use crate::router::cases::{plain, req};
use crate::router::http2::{Client, Told, get, post, read, send, translated};
use crate::router::service::{self, Both, router};
use crate::router::wire;
use crate::support::{PATIENCE, Running};
use bytes::Bytes;
use h2::{Reason, SendStream};
use http::{Request, Uri};
use std::future::poll_fn;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use torr_serve::{App, Response, Settings};

const MEGABYTE: usize = 1024 * 1024;

/// Controllers of all kinds beside the router.
fn app() -> App {
    App::new()
        .get("/c/hello", |_| Response::text("hello"))
        .get("/c/nothing", |_| Response::new(204))
        .get("/c/same", |_| Response::new(304))
        .get("/c/who/{name}", |request| Response::text(request.param("name").unwrap_or("?").to_owned()))
        .get("/c/query", |request| Response::text(request.query().unwrap_or("none").to_owned()))
        .get("/c/host", |request| Response::text(text(request.header("host"))))
        .get("/c/cookie", |request| Response::text(text(request.header("Cookie"))))
        .get("/c/large", |_| Response::text("l".repeat(3 * MEGABYTE)))
        .get("/c/pieces", |_| {
            Response::pieces("a/b", 5 * 100_000, std::iter::repeat_with(|| Bytes::from_static(&[b'p'; 100_000])))
        })
        .get("/c/too-few-pieces", |_| Response::pieces("a/b", 10, std::iter::once(Bytes::from_static(b"few"))))
        .get("/c/stream", |_| Response::stream("a/b", service::late_frames(3)))
        .get("/c/panics", |_| panic!("this is part of the test"))
        .get_async("/c/panics-later", |_| async {
            tokio::task::yield_now().await;
            panic!("this is part of the test")
        })
        .get_async("/c/later", |_| async {
            tokio::time::sleep(Duration::from_millis(2)).await;
            Response::text("later")
        })
        .get_blocking("/c/blocking", |_| {
            std::thread::sleep(Duration::from_millis(2));
            Response::text(std::thread::current().name().unwrap_or("?").to_owned())
        })
        .post("/c/echo", |request| Response::text(request.body().to_vec()))
        .post_async("/c/length", |request| std::future::ready(Response::text(request.body().len().to_string())))
        .get_async("/c/never", |_| std::future::pending())
        .router(router())
}

fn text(value: Option<&[u8]>) -> String {
    value.map_or("none".to_owned(), |value| String::from_utf8_lossy(value).into_owned())
}

fn start(set: impl FnOnce(&mut Settings)) -> (Running, Client) {
    let server = Running::start_with(app(), set);
    let client = Client::connect(server.address);
    (server, client)
}

/// Status and text of an answer.
fn content(told: &Told) -> (u16, &str) {
    (told.answer().status, told.answer().text())
}

fn method(method: &str, path: &str) -> Request<Bytes> {
    let mut request = get(path);
    *request.method_mut() = method.parse().expect("it is a token");
    request
}

// Compared with `axum::serve`.

/// Puts the same requests to both, on one connection to each.
fn same(requests: impl IntoIterator<Item = Request<Bytes>>, mut check: impl FnMut(&str, &Told)) {
    let both = Both::start();
    let [theirs, ours] = both.connect().map(Client::on);
    for request in requests {
        let what = format!("{} {} {:?}", request.method(), request.uri(), request.headers());
        let [their, our] = [&theirs, &ours].map(|client| client.ask(request.clone()));
        assert_eq!(their, our, "{what}: axum::serve, then Torr");
        check(&what, &our);
    }
}

#[test]
fn plain_requests_have_the_same_answers() {
    let mut statuses = Vec::new();
    let requests: Vec<_> = plain()
        .into_iter()
        .filter_map(|(bytes, status)| {
            let request = translated(&bytes)?;
            statuses.push(status);
            Some(request)
        })
        .collect();
    assert!(requests.len() >= plain().len() - 2, "nearly all of them can be said in HTTP/2");
    let mut statuses = statuses.into_iter();
    same(requests, |what, told| {
        assert_eq!(Some(told.answer().status), statuses.next(), "{what}");
        assert_eq!(told.reset, None, "{what}");
    });
}

#[test]
fn streams_trailers_and_files_are_the_same() {
    let cases = [
        ("/stream/3", 30),
        ("/stream/0", 0),
        ("/stream/100", 1_000),
        ("/slow-stream/5", 50),
        ("/sized-stream", 40),
        ("/trailers", 10),
        ("/big-stream", 8 * MEGABYTE),
        ("/files-on-disk/long.bin", 300_000),
        ("/channel", 100_000),
        ("/events", 33),
        ("/no-content", 0),
        ("/not-modified", 0),
        ("/closes", 8),
    ];
    let requests = cases.iter().flat_map(|(path, _)| [get(path), method("HEAD", path)]);
    let mut lengths = cases.iter().flat_map(|&(_, length)| [length, 0]);
    let mut trailers = 0;
    same(requests, |what, told| {
        assert_eq!((Some(told.answer().body.len()), told.reset), (lengths.next(), None), "{what}");
        trailers += told.trailers.len();
    });
    assert_eq!(trailers, 1, "trailers are passed on");
}

#[test]
fn middleware_works() {
    let with = |path: &str, name: &'static str, value: &'static str| {
        let mut request = get(path);
        request.headers_mut().insert(name, value.parse().expect("it is valid"));
        request
    };
    let requests = [
        with("/large", "accept-encoding", "gzip"),
        with("/stream/500", "accept-encoding", "gzip"),
        with("/", "origin", "http://a.example"),
        with("/", "x-request-id", "abc"),
        with("/files-on-disk/hello.txt", "range", "bytes=1-3"),
        with("/headers", "te", "trailers"),
        with("/headers", "x-long", "l".repeat(5_000).leak()),
    ];
    same(requests, |what, told| assert!([200, 206].contains(&told.answer().status), "{what}: {told:?}"));
}

#[test]
fn failures_cost_their_stream_alike() {
    let paths = ["/failing-later", "/short-stream", "/failing-stream", "/panicking-stream"];
    let both = Both::start();
    let [theirs, ours] = both.connect().map(Client::on);
    for path in paths {
        for client in [&theirs, &ours] {
            let told = client.get(path);
            assert!(told.answer.is_none_or(|answer| answer.cut_short), "{path}");
            assert!(told.reset.is_some(), "{path}");
        }
        assert_eq!(ours.get("/users/1").answer().text(), "user 1", "after {path}");
    }
}

// Beside the router.

#[test]
fn controllers_answer_as_over_http_1() {
    let (server, client) = start(|_| {});
    for (path, status, body) in [
        ("/c/hello", 200, "hello"),
        ("/c/nothing", 204, ""),
        ("/c/same", 304, ""),
        ("/c/who/me", 200, "me"),
        ("/c/query?a=b%20c", 200, "a=b%20c"),
        ("/c/host", 200, "x"),
        ("/c/cookie", 200, "none"),
        ("/c/later", 200, "later"),
        ("/c/blocking", 200, "blocking"),
        ("/c/stream", 200, "         0         1         2"),
        ("/c/large", 200, &"l".repeat(3 * MEGABYTE)),
        ("/c/pieces", 200, &"p".repeat(500_000)),
        ("/c/none", 404, "the fallback"),
    ] {
        let told = client.get(path);
        assert!(content(&told) == (status, body) && told.reset.is_none(), "{path}: {told:?}");
        // What HTTP/1.1 tells of the same, but for how the body is framed there.
        let request = req(&format!("GET {path}"), "");
        let stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        let mut exchange = wire::read_answers(stream, &request);
        let mut one = exchange.answers.remove(0);
        one.fields.retain(|(name, _)| name != "transfer-encoding");
        assert_eq!(*told.answer(), one, "{path}: HTTP/2, then HTTP/1.1");
    }
}

#[test]
fn a_head_has_no_body_and_the_length_of_its_get() {
    let (_server, client) = start(|_| {});
    for path in ["/c/hello", "/c/large", "/c/pieces", "/c/later", "/c/blocking", "/c/nothing", "/c/stream"] {
        let [get, head] = ["GET", "HEAD"].map(|name| client.ask(method(name, path)));
        assert_eq!((head.answer().body.len(), head.reset), (0, None), "{path}");
        assert_eq!(head.answer().status, get.answer().status, "{path}");
        assert_eq!(head.answer().fields, get.answer().fields, "{path}");
    }
}

#[test]
fn cookies_in_pieces_are_one_for_controllers() {
    let (_server, client) = start(|_| {});
    let mut request = get("/c/cookie");
    for cookie in ["a=1", "b=2", "c=3"] {
        request.headers_mut().append("cookie", cookie.parse().expect("it is valid"));
    }
    assert_eq!(content(&client.ask(request)), (200, "a=1; b=2; c=3"));
}

#[test]
fn large_bodies_go_both_ways() {
    let (_server, client) = start(|settings| settings.max_body = 8 * MEGABYTE as u64);
    let body: Vec<u8> = (0..7 * MEGABYTE).map(|n| b'a' + (n / 1000 % 26) as u8).collect();
    let told = client.ask(post("/c/echo", body.clone()));
    assert!(told.answer().body == body, "{told:?}");
    // The router's extractor has a limit of its own.
    let body = &body[..2_000_000];
    let told = client.ask(post("/bytes", body.to_vec()));
    assert!(told.answer().body == body, "{told:?}");
}

#[test]
fn bodies_have_limits() {
    let (_server, client) = start(|settings| {
        settings.max_body = 1_000;
        settings.max_streamed_body = 2_000;
    });
    for (path, most) in [("/c/echo", 1_000), ("/c/length", 1_000), ("/bytes", 2_000)] {
        for announced in [true, false] {
            for (length, status) in [(most, 200), (most + 1, 413), (most + 300_000, 413)] {
                let mut request = post(path, vec![b'x'; length]);
                if announced {
                    request.headers_mut().insert("content-length", length.into());
                }
                let told = client.ask(request);
                assert_eq!(told.answer().status, status, "{path} with {length} bytes, announced: {announced}");
            }
        }
    }
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"), "the connection lives");
}

#[test]
fn a_body_that_stops_coming_is_given_up() {
    let (_server, client) = start(|settings| settings.body_timeout = Duration::from_millis(100));
    for path in ["/c/echo", "/bytes"] {
        let (parts, _) = post(path, "").into_parts();
        let (answer, mut sending) = client.begin(Request::from_parts(parts, ()), false);
        sending.send_data(Bytes::from_static(b"part"), false).expect("the stream lives");
        let told = client.wait(read(answer));
        assert_eq!(told.answer().status, 408, "{path}: {told:?}");
    }
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"), "the connection lives");
}

#[test]
fn many_streams_at_once() {
    let (_server, client) = start(|_| {});
    // Before the server's settings are known, the client does not know how many streams it may have.
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    let told = client.wait(async {
        let ask = |number: usize| {
            let sender = client.sender.clone();
            async move {
                let body = Bytes::from(vec![b'0' + (number % 10) as u8; 5_000]);
                let mut sender = sender.ready().await.expect("the connection lives");
                let (parts, _) = post(if number.is_multiple_of(2) { "/c/echo" } else { "/bytes" }, "").into_parts();
                let (answer, stream) = sender.send_request(Request::from_parts(parts, ()), false).expect("it is valid");
                let (told, ()) = tokio::join!(read(answer), send(stream, body.clone()));
                (told, body)
            }
        };
        futures_util::future::join_all((0..500).map(ask)).await
    });
    assert_eq!(told.len(), 500);
    for (told, body) in told {
        assert!(told.answer().status == 200 && told.answer().body == body, "{told:?}");
    }
}

#[test]
fn one_stream_does_not_hold_up_another() {
    let (release, app) = service::gated();
    let server = Running::start(app);
    let client = Client::connect(server.address);
    let (waiting, _) = client.begin(get("/wait").map(drop), true);
    for _ in 0..10 {
        assert_eq!(content(&client.get("/now")), (200, "now"));
    }
    release.send(()).expect("the handler waits");
    assert_eq!(content(&client.wait(read(waiting))), (200, "released"));
}

#[test]
fn a_panic_costs_its_stream_only() {
    let (server, client) = start(|_| {});
    for path in ["/c/panics", "/c/panics-later", "/panics", "/panics-later"] {
        let told = client.get(path);
        assert_eq!((told.answer().status, told.answer().field("connection")), (500, None), "{path}: {told:?}");
    }
    let told = client.get("/c/too-few-pieces");
    assert!(told.reset.is_some() && told.answer.is_none_or(|answer| answer.cut_short));
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    drop(client);
    server.stop();
    server.wait().expect("the worker is well");
}

#[test]
fn the_peer_is_known() {
    let both = Both::start();
    for stream in both.connect() {
        let own = stream.local_addr().expect("it is connected").to_string();
        assert_eq!(content(&Client::on(stream).get("/peer")), (200, &*own));
    }
}

#[test]
fn a_handler_ends_with_its_stream() {
    let (source, dropped, app) = service::tapped();
    let server = Running::start(app);
    let client = Client::connect(server.address);
    let (answer, mut sending) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(answer).expect("an answer").into_body();
    let first = client.wait(body.data()).expect("a piece").expect("no error");
    assert_eq!(first, "first");
    sending.send_reset(Reason::CANCEL);
    drop(body);
    assert_eq!(content(&client.get("/now")), (200, "now"), "the reset is sent with this");
    dropped.recv_timeout(PATIENCE).expect("the body is dropped with its stream");
}

/// Sends so many bytes of a body that goes on.
async fn begin_body(stream: &mut SendStream<Bytes>, mut left: usize) {
    while left > 0 {
        stream.reserve_capacity(left);
        let room = poll_fn(|cx| stream.poll_capacity(cx)).await.expect("the stream lives").expect("the stream lives");
        let piece = room.min(left);
        stream.send_data(Bytes::from(vec![b'b'; piece]), false).expect("the stream lives");
        left -= piece;
    }
}

#[test]
fn bodies_that_are_gathered_have_a_bound_for_each_connection() {
    const BODY: usize = 256 * 1024;
    let (server, client) = start(|settings| settings.max_body = BODY as u64);
    let mut held: Vec<_> = (0..16)
        .map(|_| {
            let (answer, mut sending) = client.begin(post("/c/length", "").map(drop), false);
            client.wait(begin_body(&mut sending, BODY - 1));
            (answer, sending)
        })
        .collect();
    let small = || client.ask(post("/c/length", vec![b'b'; 100])).answer().status;
    // As long as they are not gathered in full there is room.
    let patience = Instant::now() + PATIENCE;
    while small() != 503 {
        assert!(Instant::now() < patience);
    }
    assert_eq!(
        content(&Client::connect(server.address).ask(post("/c/length", "body"))),
        (200, "4"),
        "others have room"
    );
    let (answer, mut sending) = held.pop().expect("there are 16");
    sending.send_data(Bytes::from_static(b"b"), true).expect("the stream lives");
    assert_eq!(content(&client.wait(read(answer))), (200, &*BODY.to_string()));
    assert_eq!(small(), 200, "there is room again");
}

// Clients that reset what they asked for.

/// Handlers that hold something until they are released, which is spoilt if they are dropped before: a connection to a
/// database, say.
struct Leases {
    release: tokio::sync::watch::Sender<bool>,
    released: tokio::sync::watch::Receiver<bool>,
    taken: AtomicUsize,
    given_back: AtomicUsize,
    spoilt: AtomicUsize,
}

struct Lease {
    leases: Arc<Leases>,
    is_done: bool,
}

impl Leases {
    fn new() -> Arc<Self> {
        let (release, released) = tokio::sync::watch::channel(false);
        let [taken, given_back, spoilt] = [0; 3].map(AtomicUsize::new);
        Arc::new(Self { release, released, taken, given_back, spoilt })
    }

    fn counts(&self) -> [usize; 3] {
        [&self.taken, &self.given_back, &self.spoilt].map(|count| count.load(Ordering::SeqCst))
    }

    /// Waits until so many handlers have begun, been finished, and been dropped.
    fn wait_for(&self, counts: [usize; 3]) {
        let patience = Instant::now() + PATIENCE;
        while self.counts() != counts {
            assert!(Instant::now() < patience, "{:?} instead of {counts:?}", self.counts());
            std::thread::yield_now();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let count = if self.is_done { &self.leases.given_back } else { &self.leases.spoilt };
        count.fetch_add(1, Ordering::SeqCst);
    }
}

/// `/lease` by a handler that waits, `/blocking` by one that blocks a thread.
fn leasing(leases: &Arc<Leases>) -> App {
    let (waits, blocks) = (Arc::clone(leases), Arc::clone(leases));
    let take = |leases: &Arc<Leases>| {
        leases.taken.fetch_add(1, Ordering::SeqCst);
        Lease { leases: Arc::clone(leases), is_done: false }
    };
    app()
        .metrics("/metrics")
        .get_async("/lease", move |_| {
            let lease = take(&waits);
            async move {
                let mut lease = lease;
                let mut released = lease.leases.released.clone();
                released.wait_for(|released| *released).await.expect("the sender lives");
                // Nor is it done at once then.
                for _ in 0..20 {
                    tokio::task::yield_now().await;
                }
                lease.is_done = true;
                Response::text("done")
            }
        })
        .get_blocking("/blocking", move |_| {
            let mut lease = take(&blocks);
            while !*lease.leases.released.borrow() {
                std::thread::sleep(Duration::from_millis(1));
            }
            lease.is_done = true;
            Response::text("done")
        })
}

/// The pattern of CVE-2023-44487: heads, and a reset for each, as long as the connection lasts.
#[test]
fn resets_cancel_no_handler_and_get_a_client_no_more_of_them() {
    const STREAMS: usize = 128;
    let leases = Leases::new();
    let server = Running::start(leasing(&leases));
    let (client, other) = (Client::connect(server.address), Client::connect(server.address));
    for _ in 0..2 * STREAMS {
        let (answer, mut sending) = client.begin(get("/lease").map(drop), true);
        // With its answer the request before it is known to have been looked at. It is the router's.
        assert_eq!(content(&client.get("/users/1")), (200, "user 1"));
        sending.send_reset(Reason::CANCEL);
        drop(answer);
    }
    assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "the last reset is sent with this");
    assert_eq!(leases.counts(), [STREAMS, 0, 0]);
    assert_eq!(content(&other.get("/c/later")), (200, "later"), "others have handlers of their own");
    leases.release.send_replace(true);
    leases.wait_for([STREAMS, STREAMS, 0]);
    assert_eq!(content(&client.get("/lease")), (200, "done"), "the connection lives");
}

#[test]
fn resets_without_a_pause_cancel_no_handler() {
    let leases = Leases::new();
    let server = Running::start(leasing(&leases));
    leases.release.send_replace(true);
    for _ in 0..20 {
        let client = Client::connect(server.address);
        for _ in 0..50 {
            let sender = client.sender.clone();
            let is_over = client.wait(async move {
                let Ok(mut sender) = sender.ready().await else { return true };
                let Ok((_answer, mut sending)) = sender.send_request(get("/lease").map(drop), true) else {
                    return true;
                };
                tokio::task::yield_now().await;
                sending.send_reset(Reason::CANCEL);
                false
            });
            if is_over {
                break;
            }
        }
    }
    let other = Client::connect(server.address);
    assert_eq!(content(&other.get("/lease")), (200, "done"));
    drop(other);
    server.stop();
    server.wait().expect("the worker is well");
    let [taken, given_back, spoilt] = leases.counts();
    assert_eq!((taken, spoilt), (given_back, 0));
}

#[test]
fn a_call_that_waits_for_a_thread_is_made_though_its_stream_is_reset() {
    let leases = Leases::new();
    let server = Running::start_with(leasing(&leases), |settings| settings.blocking_threads = 1);
    let client = Client::connect(server.address);
    for _ in 0..3 {
        let (answer, mut sending) = client.begin(get("/blocking").map(drop), true);
        assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "it is looked at by now");
        sending.send_reset(Reason::CANCEL);
        drop(answer);
    }
    assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "the last reset is sent with this");
    leases.release.send_replace(true);
    leases.wait_for([3, 3, 0]);
}

/// Else connections that come and go would have handlers without end.
#[test]
fn handlers_of_a_connection_that_has_ended_hold_its_place() {
    let leases = Leases::new();
    let server = Running::start_with(leasing(&leases), |settings| settings.max_connections = 2);
    let mut observer = server.client();
    let client = Client::connect(server.address);
    let (answer, sending) = client.begin(get("/lease").map(drop), true);
    assert_eq!(content(&client.get("/users/1")), (200, "user 1"), "it is looked at by now");
    drop((answer, sending));
    client.end().expect("the client may end it");
    let patience = Instant::now() + PATIENCE;
    while !observer.get("/metrics").text().contains("torr_connections{by=\"hyper\"} 0") {
        assert!(Instant::now() < patience, "{}", observer.get("/metrics").text());
    }
    assert_eq!(server.client().get("/now").status, 503);
    leases.release.send_replace(true);
    leases.wait_for([1, 1, 0]);
    while server.client().get("/now").status == 503 {
        assert!(Instant::now() < patience);
    }
}

// Which host is asked for.

#[test]
fn a_request_names_one_host() {
    let (server, client) = start(|_| {});
    drop(server.client());
    let request = |authority: Option<&str>, hosts: &[&str], path: &str| {
        let uri = match authority {
            Some(authority) => Uri::builder().scheme("http").authority(authority).path_and_query(path).build(),
            None => Uri::builder().path_and_query(path).build(),
        };
        let mut request = Request::builder().uri(uri.expect("it is valid")).body(Bytes::new()).expect("it is valid");
        let fields = hosts.iter().map(|host| http::HeaderValue::from_str(host).expect("it is valid"));
        for host in fields {
            request.headers_mut().append("host", host);
        }
        request
    };
    for path in ["/c/host", "/users/1"] {
        for (authority, hosts, status) in [
            (Some("a.example"), &[][..], 200),
            (Some("a.example:80"), &["A.Example:80"], 200),
            (Some("a.example"), &["b.example"], 400),
            (Some("a.example"), &["a.example:80"], 400),
            (Some("a.example"), &["a.example", "a.example"], 400),
            (Some("a.example"), &["a.example", "b.example"], 400),
            (Some("a.example"), &["a.example, b.example"], 400),
            (Some("user@a.example"), &[], 400),
        ] {
            let told = client.ask(request(authority, hosts, path));
            assert_eq!(told.answer().status, status, "{authority:?} {hosts:?} {path}: {told:?}");
            if status == 200 && path == "/c/host" {
                let host = told.answer().text().to_ascii_lowercase();
                assert_eq!(Some(&*host), authority, "{hosts:?}");
            }
        }
    }
}

/// A client that sends no `:authority`, which the library always does.
#[test]
fn a_host_field_stands_for_the_authority() {
    let server = Running::start(app());
    let ask = |hosts: &[&[u8]]| {
        // GET, http, /c/host; no field is added to the table.
        let mut block = b"\x82\x86\x04\x07/c/host".to_vec();
        for host in hosts {
            block.extend_from_slice(&[0x0f, 38 - 15, host.len() as u8]);
            block.extend_from_slice(host);
        }
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0\0\0".to_vec();
        bytes.extend_from_slice(&[block.len() as u8, 1, 5, 0, 0, 0, 1]);
        bytes.extend_from_slice(&block);
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.write_all(&bytes).expect("it is connected");
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).expect("a frame");
            let mut payload = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
            stream.read_exact(&mut payload).expect("its payload");
            if head[3] == 1 {
                // The status: indexed, or a literal of three digits.
                return match payload[0] {
                    0x88 => 200,
                    0x8c => 400,
                    other => panic!("an answer that begins with {other:#x}"),
                };
            }
        }
    };
    for (hosts, status) in [
        (&[&b"a.example"[..]][..], 200),
        (&[b"a.example:80"], 200),
        (&[], 400),
        (&[b"a.example", b"a.example"], 400),
        (&[b"a/b"], 400),
        (&[b"a.example, b.example"], 400),
        (&[b"a.example:99999"], 400),
    ] {
        assert_eq!(ask(hosts), status, "{hosts:?}");
    }
}

// Beginnings and ends.

#[test]
fn an_idle_connection_is_ended() {
    let (_server, client) = start(|settings| settings.idle_timeout = Duration::from_millis(150));
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    client.ended_by_server().expect("it ends in order");
}

#[test]
fn a_connection_with_an_answer_under_way_is_not_idle() {
    const IDLE: Duration = Duration::from_millis(100);
    let (source, _dropped, app) = service::tapped();
    let server = Running::start_with(app, |settings| settings.idle_timeout = IDLE);
    let client = Client::connect(server.address);
    let (answer, _) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(answer).expect("an answer").into_body();
    let start = Instant::now();
    while start.elapsed() < 4 * IDLE {
        source.blocking_send("more").expect("the body waits");
        client.wait(body.data()).expect("a piece").expect("no error");
        client.wait(async { tokio::time::sleep(IDLE / 10).await });
    }
    // After a GOAWAY it would take no further request.
    assert_eq!(content(&client.get("/now")), (200, "now"));
}

#[test]
fn who_does_not_go_on_after_the_preface_is_cut_off() {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let server = Running::start_with(app(), |settings| {
        settings.idle_timeout = Duration::from_millis(50);
        settings.head_timeout = Duration::from_millis(50);
    });
    let streams = [16, 20, preface.len()].map(|at| {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.write_all(&preface.as_bytes()[..at]).expect("it is connected");
        stream
    });
    for mut stream in streams {
        let mut seen = Vec::new();
        stream.read_to_end(&mut seen).expect("the server ends it");
    }
}

#[test]
fn the_preface_may_come_in_pieces() {
    let server = Running::start(app());
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    for at in 1..preface.len() {
        let mut stream = TcpStream::connect(server.address).expect("it listens");
        stream.set_nodelay(true).expect("a socket takes options");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
        stream.write_all(&preface[..at]).expect("it is connected");
        // By another's answer the server is known to have had time for it.
        assert_eq!(server.client().get("/c/hello").text(), "hello");
        stream.write_all(&preface[at..]).expect("it is connected");
        let mut head = [0; 9];
        stream.read_exact(&mut head).expect("the server's settings");
        assert_eq!((head[3], head[8]), (4, 0), "SETTINGS of stream 0, split at {at}: {head:?}");
    }
}

#[test]
fn http_2_begins_a_connection_or_not_at_all() {
    let server = Running::start(app());
    let mut client = server.client();
    assert_eq!(client.get("/c/hello").text(), "hello");
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    assert_eq!(client.answer().status, 505);
    client.ends();
}

#[test]
fn without_http_2_it_is_refused() {
    let server = Running::start_with(app(), |settings| settings.http2 = false);
    let mut client = server.client();
    client.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    let answer = client.answer();
    assert_eq!((answer.status, answer.field("Connection")), (505, Some("close")));
    client.ends();
}

/// The body is whole, and hyper takes it as fast as it can; the client does not.
#[test]
fn a_large_answer_that_is_read_late_is_finished_when_the_server_stops() {
    let server = Running::start(app());
    let client = Client::connect(server.address);
    let (answer, _) = client.begin(get("/c/large").map(drop), true);
    let mut body = client.wait(answer).expect("an answer").into_body();
    let mut total = client.wait(body.data()).expect("a piece").expect("no error").len();
    server.stop();
    // Longer than a client may take that has nothing under way.
    std::thread::sleep(Duration::from_millis(1500));
    body.flow_control().release_capacity(total).expect("it was received");
    while let Some(piece) = client.wait(body.data()) {
        let length = piece.expect("it is not cut off").len();
        body.flow_control().release_capacity(length).expect("it was received");
        total += length;
    }
    assert_eq!(total, 3 * MEGABYTE);
    drop(body);
    client.end().expect("it ends in order");
    server.wait().expect("the worker is well");
}

#[test]
fn streams_under_way_are_finished_when_the_server_stops() {
    let (source, _dropped, app) = service::tapped();
    let server = Running::start(app);
    let (client, idle) = (Client::connect(server.address), Client::connect(server.address));
    assert_eq!(content(&idle.get("/now")), (200, "now"));
    let (answer, _) = client.begin(get("/tap").map(drop), true);
    source.blocking_send("first").expect("the body waits");
    let mut body = client.wait(answer).expect("an answer").into_body();
    assert_eq!(client.wait(body.data()).expect("a piece").expect("no error"), "first");
    server.stop();
    idle.ended_by_server().expect("it ends in order");
    source.blocking_send("second").expect("the body waits");
    assert_eq!(client.wait(body.data()).expect("a piece").expect("no error"), "second");
    // It is told that no further request is taken.
    let refused = client.wait(async {
        let Ok(mut sender) = client.sender.clone().ready().await else { return true };
        match sender.send_request(get("/now").map(drop), true) {
            Ok((answer, _)) => answer.await.is_err(),
            Err(_) => true,
        }
    });
    assert!(refused);
    drop(source);
    let end = client.wait(body.data()).map(|piece| piece.map_err(|error| error.to_string()));
    assert!(end.is_none() || end == Some(Ok(Bytes::new())), "the body's end: {end:?}");
    drop(body);
    client.end().expect("it ends in order");
    server.wait().expect("the worker is well");
}

#[test]
fn who_takes_longer_than_the_server_waits_is_cut_off() {
    let (server, client) = start(|settings| settings.stop_timeout = Duration::from_millis(200));
    let (answer, _) = client.begin(get("/c/never").map(drop), true);
    assert_eq!(content(&client.get("/c/hello")), (200, "hello"));
    server.stop();
    server.wait().expect("the worker is well");
    client.wait(answer).expect_err("there is none");
}

#[test]
fn a_client_that_takes_nothing_loses_its_connection() {
    let (_made, app) = service::endless();
    let server = Running::start_with(app, |settings| {
        settings.write_timeout = Duration::from_millis(200);
        settings.stop_timeout = Duration::from_secs(3600);
    });
    // Windows as large as they get, and nothing is read.
    let mut stream = TcpStream::connect(server.address).expect("it listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    let settings = b"\0\0\x06\x04\0\0\0\0\0\0\x04\x7f\xff\xff\xff";
    let window = b"\0\0\x04\x08\0\0\0\0\0\x7f\xff\0\0";
    // GET http://x/endless
    let request = b"\0\0\x0f\x01\x05\0\0\0\x01\x82\x86\x41\x01x\x04\x08/endless";
    stream
        .write_all(&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..], window, request].concat())
        .expect("it takes it");
    // An answer has begun once something comes after the server's settings.
    stream.read_exact(&mut [0; 200]).expect("the answer begins");
    assert_eq!(server.client().get("/now").text(), "now", "others are served");
    server.stop();
    // It could not end as long as it had this client.
    server.wait().expect("the worker is well");
}
