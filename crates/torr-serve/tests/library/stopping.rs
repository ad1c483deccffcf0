//! How a server starts and ends.

use crate::support::{Running, warnings};
use bytes::Bytes;
use http_body::Frame;
use http_body_util::StreamBody;
use std::convert::Infallible;
use std::future::pending;
use std::io::{ErrorKind, Read, Write};
use std::iter;
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use torr_serve::{App, Response, ServeError, Server, Settings};
use torr_test_support::client::{Client, get};

fn app() -> App {
    App::new()
        .get("/", |_| Response::text("fine"))
        .get_async("/never", |_| pending())
        .get_async("/soon", |_| async {
            tokio::task::yield_now().await;
            Response::text("soon")
        })
        .get("/endless", |_| {
            Response::pieces("a/b", u64::MAX, iter::repeat_with(|| Bytes::from_static(&[b'a'; 64 * 1024])))
        })
}

#[test]
fn a_server_that_is_stopped_before_it_runs_ends_at_once() {
    let mut settings = Settings::default();
    settings.workers = 3;
    let bound = Server::new(app()).settings(settings).bind("127.0.0.1:0").expect("a port is free");
    let address = bound.address();
    bound.stop().stop();
    bound.run().expect("it has nothing to do");
    let refused = TcpStream::connect(address).map_err(|error| error.kind());
    assert!(matches!(refused, Err(ErrorKind::ConnectionRefused)), "{refused:?}");
}

#[test]
fn what_had_connected_before_it_ran_is_served() {
    let bound = Server::new(app()).bind("127.0.0.1:0").expect("a port is free");
    let mut client = Client::connect(bound.address());
    client.send(get("/"));
    bound.stop().stop();
    thread::scope(|scope| {
        let running = scope.spawn(|| bound.run());
        let response = client.response();
        assert_eq!((response.text(), response.field("Connection")), ("fine", Some("close")), "{response:?}");
        client.ends();
        drop(client);
        running.join().expect("it does not panic").expect("it serves");
    });
}

/// Whatever is found with a connection when it is accepted, the connection lives on.
#[test]
fn requests_that_were_there_first_do_not_end_their_connections() {
    let app = app().get("/pieces", |_| Response::pieces("a/b", 4, iter::repeat(Bytes::from_static(b"soon"))));
    let bound = Server::new(app).bind("127.0.0.1:0").expect("a port is free");
    let request = get("/soon");
    // What is there when the connection is accepted, what comes later, and the number of responses to both.
    let cases = [
        (get("/soon"), "", 1),
        (get("/pieces"), "", 1),
        (get("/soon") + &get("/pieces") + &get("/soon"), "", 3),
        (request[..9].to_owned(), &request[9..], 1),
        (String::new(), &request, 1),
    ];
    let mut clients = cases.map(|(first, later, responses)| {
        let mut client = Client::connect(bound.address());
        client.send(&first);
        (client, first, later, responses)
    });
    let server = Running::of(bound);
    for (client, first, later, responses) in &mut clients {
        client.send(later);
        for _ in 0..*responses {
            assert_eq!(client.response().text(), "soon", "{first:?}");
        }
        assert_eq!(client.get("/").text(), "fine", "after {first:?}");
    }
    server.stop();
    server.wait().expect("it ends well");
}

#[test]
fn stop_works_from_another_thread_and_more_than_once() {
    let server = Running::start_with(app(), |settings| settings.workers = 2);
    let mut clients: Vec<_> = (0..10).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").text(), "fine");
    }
    server.stop();
    server.stop();
    clients.iter_mut().for_each(Client::ends);
    server.wait().expect("it ends well");
}

#[test]
fn a_handler_that_never_ends_is_given_up() {
    const SHORT: Duration = Duration::from_millis(400);
    let server = Running::start_with(app(), |settings| settings.stop_timeout = SHORT);
    let mut client = server.client();
    // By the response to the first the second is known to be in flight.
    client.send(get("/") + &get("/never"));
    assert_eq!(client.response().text(), "fine");
    let start = Instant::now();
    server.stop();
    client.ends();
    server.wait().expect("it ends well");
    let took = start.elapsed();
    // The server's clock may be a few milliseconds late.
    assert!(took + Duration::from_millis(20) >= SHORT && took < Duration::from_secs(15), "it took {took:?}");
}

/// Reads and throws away, until the connection ends.
fn drain(mut stream: TcpStream) {
    let mut bytes = vec![0; 1024 * 1024];
    while stream.read(&mut bytes).is_ok_and(|n| n > 0) {}
}

#[test]
fn an_endless_response_does_not_delay_the_end() {
    let server = Running::start_with(app(), |settings| settings.stop_timeout = Duration::from_millis(100));
    let mut client = server.client();
    client.send(get("/endless"));
    client.response_head();
    let stream = client.sender();
    let reading = thread::spawn(move || drain(stream));
    server.stop();
    server.wait().expect("it ends although the client takes all it gets");
    reading.join().expect("it does not panic");
}

/// More than one worker can do, as long as the connections last: each sends on without waiting for responses.
fn press(server: &Running, connections: usize, path: &'static str) -> Vec<thread::JoinHandle<()>> {
    let press = |_| {
        let client = server.client();
        let (mut sender, reader) = (client.sender(), client.sender());
        let requests = get(path).repeat(500);
        [thread::spawn(move || while sender.write_all(requests.as_bytes()).is_ok() {}), thread::spawn(|| drain(reader))]
    };
    (0..connections).flat_map(press).collect()
}

#[test]
fn a_server_under_pressure_ends_and_keeps_its_timeouts() {
    for path in ["/", "/soon"] {
        let server = Running::start_with(app(), |settings| {
            settings.idle_timeout = Duration::from_millis(1500);
            settings.stop_timeout = Duration::from_millis(300);
        });
        // With this one in flight the worker gives tasks their turn after each round.
        let mut waiting = server.client();
        waiting.send(get("/") + &get("/never"));
        assert_eq!(waiting.response().text(), "fine");
        let mut idle = server.client();
        assert_eq!(idle.get("/").text(), "fine");
        let pressing = press(&server, 8, path);
        idle.ends();
        server.stop();
        server.wait().unwrap_or_else(|error| panic!("{path}: {error}"));
        for thread in pressing {
            thread.join().expect("it does not panic");
        }
    }
}

/// Frames without end, as an event stream has them.
fn events() -> impl http_body::Body<Data = Bytes, Error = Infallible> {
    StreamBody::new(futures_util::stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Some((Ok(Frame::data(Bytes::from_static(b"data: x\n\n"))), ()))
    }))
}

#[test]
fn streams_without_a_known_length_end_before_requests_have_to() {
    let quiet = || StreamBody::new(futures_util::stream::pending::<Result<Frame<Bytes>, Infallible>>());
    let app = app()
        .get("/events", |_| Response::stream("text/event-stream", events()))
        .get("/quiet", move |_| Response::stream("text/event-stream", quiet()))
        .get_async("/slow", |_| async {
            tokio::time::sleep(Duration::from_secs(2)).await;
            Response::text("in the end")
        });
    let server = Running::start_with(app, |settings| settings.stream_stop_timeout = Duration::from_millis(200));
    let mut streams: Vec<_> = ["/events", "/quiet", "/events"]
        .map(|path| {
            let mut stream = server.client().sender();
            stream.write_all(get(path).as_bytes()).expect("the server takes it");
            let mut first = [0; 12];
            stream.read_exact(&mut first).expect("it answers");
            assert_eq!(&first, b"HTTP/1.1 200", "{path}");
            stream
        })
        .into();
    let mut slow = server.client();
    slow.send(get("/") + &get("/slow"));
    assert_eq!(slow.response().text(), "fine");
    let start = Instant::now();
    server.stop();
    for stream in &mut streams {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).expect("its end is orderly for TCP");
        // The client must be able to tell that something is missing.
        assert!(!rest.ends_with(b"\r\n0\r\n\r\n"), "{}", rest.escape_ascii());
    }
    let streams_took = start.elapsed();
    assert_eq!(slow.response().text(), "in the end");
    slow.ends();
    server.wait().expect("it ends well");
    let took = start.elapsed();
    assert!(streams_took < Duration::from_millis(1900), "the streams took {streams_took:?}");
    assert!(took < Duration::from_secs(15), "it took {took:?}");
}

#[test]
fn what_a_stop_waits_for_is_reported() {
    warnings::listen();
    let app = app().get("/events", |_| Response::stream("text/event-stream", events())).get("/spawn", |_| {
        tokio::task::spawn_local(pending::<()>());
        Response::text("spawned")
    });
    let server = Running::start_with(app, |settings| settings.stop_timeout = Duration::from_secs(4));
    let client = |paths: &[&str]| {
        let mut client = server.client();
        client.send(paths.iter().map(|path| get(path)).collect::<String>());
        assert_eq!(client.response().status, 200);
        client
    };
    let _streams: Vec<_> = (0..4).map(|_| client(&["/", "/events"])).collect();
    let _requests: Vec<_> = (0..7).map(|_| client(&["/spawn", "/never"])).collect();
    let reported = |words: &str| {
        let start = Instant::now();
        while warnings::with(words).is_empty() {
            assert!(start.elapsed() < crate::support::PATIENCE, "nothing told of {words}");
            thread::sleep(Duration::from_millis(10));
        }
    };
    server.stop();
    reported("stopping: waiting for 4 streams, 7 requests; the rest will be closed in ");
    server.wait().expect("it ends well");
    reported("stopped before 7 tasks spawned by handlers ended: the time limit was reached");
}

#[test]
fn streams_of_http2_are_reported_with_their_own_time() {
    warnings::listen();
    let app = app().get("/events", |_| Response::stream("text/event-stream", events()));
    let server = Running::start_with(app, |settings| settings.stream_stop_timeout = Duration::from_secs(3));
    let client = crate::router::http2::Client::connect(server.address);
    let (response, _) = client.begin(crate::router::http2::get("/events").map(drop), true);
    let mut body = client.wait(response).expect("an answer").into_body();
    client.wait(body.data()).expect("it begins").expect("no error");
    server.stop();
    let start = Instant::now();
    while warnings::with("stopping: waiting for 1 stream; it will be closed in 2 s").is_empty() {
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", warnings::with("stopping"));
        // Events that are not read end the connection: the client takes them for a flood.
        client.wait(body.data()).expect("the stream goes on").expect("no error");
    }
    server.wait().expect("it ends well");
    drop(client);
}

#[test]
fn streams_of_http2_end_before_requests_have_to() {
    let app = app().get("/events", |_| Response::stream("text/event-stream", events()));
    let server = Running::start_with(app, |settings| settings.stream_stop_timeout = Duration::from_millis(200));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("it starts");
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(server.address).await.expect("it listens");
        let (mut sender, connection) = h2::client::handshake(stream).await.expect("it speaks HTTP/2");
        tokio::spawn(connection);
        let request = http::Request::get("http://x/events").body(()).expect("the request is valid");
        let (response, _) = sender.send_request(request, true).expect("the request is sent");
        let mut body = response.await.expect("it answers").into_body();
        assert!(body.data().await.is_some_and(|piece| piece.is_ok()), "it begins");
        let start = Instant::now();
        server.stop();
        while let Some(Ok(piece)) = body.data().await {
            body.flow_control().release_capacity(piece.len()).expect("it was received");
        }
        assert!(start.elapsed() < Duration::from_secs(15), "it took {:?}", start.elapsed());
    });
    server.wait().expect("it ends well");
}

#[test]
fn an_address_that_cannot_be_listened_on_is_an_error() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let address = taken.local_addr().expect("it is bound").to_string();
    let server = Running::start(app());
    for (address, line) in [
        (address.clone(), format!("cannot listen on {address}: address in use")),
        (server.address.to_string(), format!("cannot listen on {}: address in use", server.address)),
        ("192.0.2.1:80".into(), "cannot listen on 192.0.2.1:80: address not available".into()),
    ] {
        let error = Server::new(app()).bind(&*address).expect_err(&address);
        assert!(matches!(error, ServeError::Listen { .. }), "{address}: {error:?}");
        assert_eq!(error.to_string(), line);
    }
    for address in ["nonsense", "127.0.0.1", "127.0.0.1:port"] {
        let error = Server::new(app()).bind(address).expect_err(address);
        assert!(matches!(error, ServeError::Address(_)), "{address}: {error:?}");
    }
}
