//! Handlers that block, on threads of their own.

use crate::support::Running;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use torr_serve::{App, Response};
use torr_test_support::client::{get, post};
use torr_test_support::{PATIENCE, wait_until};

/// A number of `/metrics`.
fn metric(server: &Running, name: &str) -> u64 {
    let response = server.client().get("/metrics");
    let line = response.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    line.unwrap_or_else(|| panic!("no {name} in {response:?}"))
}

#[test]
fn no_more_run_at_a_time_than_there_are_threads() {
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, peak) = (Arc::clone(&running), Arc::clone(&most));
    let app = App::new().get_blocking("/", move |_| {
        peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(20));
        now.fetch_sub(1, Ordering::SeqCst);
        Response::text("done")
    });
    let server = Running::start_with(app, |settings| (settings.workers, settings.blocking_threads) = (3, 4));
    let mut clients: Vec<_> = (0..30).map(|_| server.client()).collect();
    for _ in 0..3 {
        clients.iter_mut().for_each(|client| client.send(get("/")));
        clients.iter_mut().for_each(|client| assert_eq!(client.response().text(), "done"));
    }
    assert_eq!((most.load(Ordering::SeqCst), running.load(Ordering::SeqCst)), (4, 0));
}

#[test]
fn a_panic_is_a_500_and_the_thread_lives() {
    let app = App::new()
        .get_blocking("/panic", |_| panic!("on purpose"))
        .get_blocking("/thread", |_| Response::ok("a/b", format!("{:?}", thread::current().id()).into_bytes()))
        .metrics("/metrics");
    let server = Running::start_with(app, |settings| settings.blocking_threads = 1);
    let first = server.client().get("/thread").text().to_owned();
    for _ in 0..10 {
        let mut client = server.client();
        let response = client.get("/panic");
        assert_eq!((response.status, response.field("Connection")), (500, Some("close")), "{response:?}");
        client.ends();
        assert_eq!(server.client().get("/thread").text(), first);
    }
    assert_eq!(metric(&server, "torr_handler_panics_total"), 10);
    assert_eq!(metric(&server, "torr_blocking_calls_total"), 21);
    assert_eq!(metric(&server, "torr_blocking_calls"), 0);
}

#[test]
fn a_handler_that_blocks_sees_the_whole_request() {
    let app = App::new().post_blocking("/{name}", |request| {
        let field = request.header("x-field").map(String::from_utf8_lossy);
        let events =
            (request.method(), request.path(), request.query(), request.param("name"), field, request.body().len());
        Response::ok("a/b", format!("{events:?} {}", request.peer().is_some()).into_bytes())
    });
    let server = Running::start(app);
    let mut client = server.client();
    client.send(post("/a%20b?c=d", &"b".repeat(100_000)).replace("Host: x", "Host: x\r\nX-Field: it"));
    assert_eq!(client.response().text(), r#"("POST", "/a%20b", Some("c=d"), Some("a%20b"), Some("it"), 100000) true"#);
    assert_eq!(client.get("/a").status, 405);
}

#[test]
fn clients_that_close_free_their_slot_once_their_call_is_done() {
    let (go, wait) = channel::<()>();
    let wait = Mutex::new(wait);
    let app = App::new()
        .get_blocking("/wait", move |_| {
            // The next client has the whole pool.
            let _ = wait.lock().map(|wait| wait.recv_timeout(PATIENCE));
            Response::text("went on")
        })
        .metrics("/metrics");
    let server = Running::start_with(app, |settings| (settings.blocking_threads, settings.blocking_queue) = (1, 2));
    let mut clients: Vec<_> = (0..3).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| client.send(get("/wait")));
    wait_until("three calls", || (metric(&server, "torr_blocking_calls") == 3).then_some(()));
    assert_eq!(server.client().get("/wait").status, 503);
    drop(clients);
    (0..3).for_each(|_| go.send(()).expect("the handler waits"));
    wait_until("no call to be left", || (metric(&server, "torr_blocking_calls") == 0).then_some(()));
    go.send(()).expect("the handler is there");
    assert_eq!(server.client().get("/wait").text(), "went on");
}

/// Over HTTP/2 a client's end is the end of its requests, but a call that has begun cannot be taken back.
#[test]
fn a_call_whose_client_has_gone_ends_before_the_server_does() {
    let ((tell, events), (tell_end, ended)) = (channel(), channel());
    let app = App::new().get_blocking("/", move |_| {
        tell.send(()).expect("the test waits for it");
        thread::sleep(Duration::from_millis(500));
        tell_end.send("ended").unwrap_or_default();
        Response::text("done")
    });
    let server = Running::start(app);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.expect("it listens");
        let (mut sender, connection) = h2::client::handshake(stream).await.expect("it speaks HTTP/2");
        let connection = tokio::spawn(connection);
        let request = http::Request::get("http://x/").body(()).expect("the request is valid");
        let _response = sender.send_request(request, true).expect("the request is sent");
        let called = async {
            while events.try_recv().is_err() {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(PATIENCE, called).await.expect("it is called");
        connection.abort();
    });
    drop(runtime);
    server.stop();
    server.wait().expect("it ends in order");
    assert_eq!(ended.try_recv(), Ok("ended"));
}

#[test]
fn a_server_that_leaves_waits_for_what_blocks() {
    let (tell, events) = channel();
    let app = App::new().get_blocking("/", move |_| {
        tell.send(()).expect("the test waits for it");
        thread::sleep(Duration::from_millis(300));
        Response::text("done")
    });
    let server = Running::start(app);
    let mut client = server.client();
    client.send(get("/"));
    events.recv_timeout(PATIENCE).expect("it is called");
    server.stop();
    assert_eq!(client.response().text(), "done");
    server.wait().expect("it ends in order");
}
