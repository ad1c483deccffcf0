//! Handlers whose clients go are dropped, and no others.

use crate::support::{PATIENCE, Running};
use axum::Router;
use axum::routing::{get, post};
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::io::Write;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;
use torr_serve::{App, Response};
use torr_test_support::client::{Client, get as request};

/// Tells of a handler's beginning, and of its end in any way.
struct Guard(Sender<&'static str>);

impl Guard {
    fn new(tell: &Sender<&'static str>) -> Self {
        let _ = tell.send("called");
        Self(tell.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

struct Test {
    server: Running,
    events: Receiver<&'static str>,
    permits: Arc<Semaphore>,
}

impl Test {
    fn start() -> Self {
        let (tell, events) = channel();
        let permits = Arc::new(Semaphore::new(0));
        // A handler that lives until it gets a permit.
        let wait = {
            let (tell, permits) = (Arc::new(Mutex::new(tell)), Arc::clone(&permits));
            move || {
                let guard = Guard::new(&tell.lock().expect("nobody panics"));
                let permits = Arc::clone(&permits);
                async move {
                    let _guard = guard;
                    permits.acquire().await.expect("nobody closes it").forget();
                    "released"
                }
            }
        };
        let [a, b, c, d] = [(); 4].map(|()| wait.clone());
        let router = Router::new().route("/router", get(a)).route(
            "/upload",
            post(move |body: axum::body::Bytes| {
                let waiting = b();
                async move {
                    waiting.await;
                    body.len().to_string()
                }
            }),
        );
        let app = App::new()
            .get("/now", |_| Response::text("now"))
            .get_async("/async", move |_| {
                let waiting = c();
                async move { Response::text(waiting.await) }
            })
            .get("/stream", move |_| {
                let waiting = d();
                let frames = futures_util::stream::once(Box::pin(async move {
                    Ok::<_, Infallible>(http_body::Frame::data(bytes::Bytes::from(waiting.await)))
                }));
                Response::stream("a/b", StreamBody::new(frames))
            })
            .router(router);
        Self { server: Running::start(app), events, permits }
    }

    fn next(&self) -> &'static str {
        self.events.recv_timeout(PATIENCE).expect("something happens")
    }

    /// By another's response the server is known to have seen what was sent before.
    fn sync(&self) {
        assert_eq!(self.server.client().get("/now").text(), "now");
    }

    /// A client whose request is being waited for.
    fn waiting(&self, path: &str) -> Client {
        let mut client = self.server.client();
        client.send(request(path));
        assert_eq!(self.next(), "called", "{path}");
        client
    }
}

/// A controller's handler goes on: its client may have ended its own side only.
const PATHS: [&str; 2] = ["/router", "/stream"];

#[test]
fn a_handler_ends_with_its_client() {
    let test = Test::start();
    for path in PATHS {
        drop(test.waiting(path));
        assert_eq!(test.next(), "dropped", "{path}");
    }
}

#[test]
fn who_ends_its_side_has_gone() {
    let test = Test::start();
    for path in PATHS {
        let client = test.waiting(path);
        client.end_sending();
        assert_eq!(test.next(), "dropped", "{path}");
        drop(client);
    }
}

#[test]
fn an_end_that_comes_with_the_end_of_a_body_is_seen() {
    let test = Test::start();
    for gone in [true, false] {
        let mut client = test.server.client();
        client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
        test.sync();
        client.send("defghij");
        client.end_sending();
        let kept = if gone { None } else { Some(client) };
        // The body's extractor asks for its end before the handler is called.
        match test.next() {
            "called" => assert_eq!(test.next(), "dropped"),
            events => panic!("{events}"),
        }
        drop(kept);
    }
}

#[test]
fn a_client_that_has_sent_a_body_and_more_is_seen_to_go() {
    let test = Test::start();
    for split in 0..5 {
        let mut client = test.server.client();
        client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n");
        client.send(&"abcd"[..split]);
        test.sync();
        client.send(&"abcd"[split..]);
        assert_eq!(test.next(), "called", "{split}");
        drop(client);
        assert_eq!(test.next(), "dropped", "{split}");
    }
}

#[test]
fn who_sends_further_requests_has_not_gone() {
    let test = Test::start();
    for path in ["/router", "/async"] {
        let mut client = test.waiting(path);
        for _ in 0..20 {
            client.send(request("/now"));
            test.sync();
        }
        assert_eq!(test.events.try_recv().ok(), None, "{path}");
        client.has_nothing();
        test.permits.add_permits(1);
        assert_eq!(client.response().text(), "released", "{path}");
        assert_eq!(test.next(), "dropped");
        (0..20).for_each(|_| assert_eq!(client.response().text(), "now", "{path}"));
    }
    let mut client = test.waiting("/stream");
    let mut stream = client.sender();
    client.send(request("/now"));
    test.sync();
    assert_eq!(test.events.try_recv().ok(), None);
    test.permits.add_permits(1);
    assert_eq!(test.next(), "dropped");
    let (mut seen, mut room) = (Vec::new(), [0; 1024]);
    while !seen.ends_with(b"\r\n\r\nnow") {
        let read = std::io::Read::read(&mut stream, &mut room).expect("more comes");
        assert!(read > 0, "{}", seen.escape_ascii());
        seen.extend_from_slice(&room[..read]);
    }
    assert!(String::from_utf8_lossy(&seen).contains("\r\nreleased\r\n0\r\n\r\n"), "{}", seen.escape_ascii());
}

#[test]
fn one_of_many_goes() {
    let test = Test::start();
    let mut clients: Vec<_> = (0..20).map(|_| test.waiting("/router")).collect();
    drop(clients.remove(7));
    assert_eq!(test.next(), "dropped");
    test.sync();
    assert_eq!(test.events.try_recv().ok(), None, "the others wait on");
    test.permits.add_permits(19);
    for client in &mut clients {
        assert_eq!(client.response().text(), "released");
    }
}

#[test]
fn handlers_that_are_given_up_when_the_server_stops_are_dropped() {
    let (tell, events) = channel();
    let app = App::new().get_async("/never", move |_| {
        let guard = Guard::new(&tell);
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    });
    let stop_timeout = std::time::Duration::from_millis(100);
    let server = Running::start_with(app, |settings| settings.stop_timeout = stop_timeout);
    let mut client = server.client();
    client.send(request("/never"));
    assert_eq!(events.recv_timeout(PATIENCE), Ok("called"));
    server.stop();
    assert_eq!(events.recv_timeout(PATIENCE), Ok("dropped"));
    client.ends();
    server.wait().expect("the worker is well");
}

/// It is called in the same turn in which the response to the request before it cannot be sent.
#[test]
fn a_handler_is_finished_though_its_client_has_reset_the_connection() {
    let (tell, events) = channel();
    let (stalled, goes_on) = (tell.clone(), Mutex::new(None));
    let (go_on, wait) = channel::<()>();
    *goes_on.lock().expect("nobody panics") = Some(wait);
    let permits = Arc::new(Semaphore::new(0));
    let awaited = Arc::clone(&permits);
    let app = App::new()
        .get("/now", |_| Response::text("now"))
        .get("/stall", move |_| {
            let _ = stalled.send("stalled");
            let wait = goes_on.lock().expect("nobody panics").take().expect("it is called once");
            let _ = wait.recv_timeout(PATIENCE);
            Response::text("stalled")
        })
        .get_async("/lease", move |_| {
            let (guard, permits) = (Guard::new(&tell), Arc::clone(&awaited));
            async move {
                let _permit = permits.acquire().await.expect("nobody closes it");
                let _ = guard.0.send("finished");
                Response::text("finished")
            }
        });
    let server = Running::start(app);
    let mut client = TcpStream::connect(server.address).expect("it listens");
    client.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    client.write_all(request("/now").as_bytes()).expect("it is connected");
    client.peek(&mut [0]).expect("an answer comes, and is not read");
    client.write_all((request("/stall") + &request("/lease")).as_bytes()).expect("it is connected");
    assert_eq!(events.recv_timeout(PATIENCE), Ok("stalled"));
    // With something unread this is a reset.
    drop(client);
    go_on.send(()).expect("the handler waits");
    assert_eq!(events.recv_timeout(PATIENCE), Ok("called"));
    // The worker is done with that turn.
    assert_eq!(server.client().get("/now").text(), "now");
    permits.add_permits(1);
    assert_eq!(events.recv_timeout(PATIENCE), Ok("finished"));
    assert_eq!(events.recv_timeout(PATIENCE), Ok("dropped"));
}
