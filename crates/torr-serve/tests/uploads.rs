//! Bodies of requests that reach a router as they come.

#[path = "uploads/service.rs"]
mod service;
mod support;

use service::{Event, Seen, app, bare, sum};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::client::{Answer, Client};
use support::{PATIENCE, Running};
use torr_serve::{BodyError, Settings};

const MEGABYTE: usize = 1024 * 1024;
/// More than the kernel's buffers of a connection hold.
const HUGE: usize = 64 * MEGABYTE;

fn start(set: impl FnOnce(&mut Settings)) -> (Running, Seen, Client) {
    let (seen, app) = app();
    let server = Running::start_with(app, set);
    let client = server.client();
    (server, seen, client)
}

fn head(path: &str, fields: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\n{fields}\r\n")
}

fn sized(path: &str, length: usize) -> String {
    head(path, &format!("Content-Length: {length}\r\n"))
}

fn chunked(path: &str) -> String {
    head(path, "Transfer-Encoding: chunked\r\n")
}

fn chunk(bytes: &str) -> String {
    format!("{:x}\r\n{bytes}\r\n", bytes.len())
}

/// Bytes of which none is where another could be.
fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|n| (n % 251) as u8 ^ (n / 65_521) as u8).collect()
}

/// By another's answer the server is known to have seen what was sent before.
fn sync(server: &Running) {
    assert_eq!(server.client().get("/now").text(), "now");
}

fn lives(client: &mut Client) {
    assert_eq!(client.get("/now").text(), "now");
}

fn closes(client: &mut Client, answer: &Answer, status: u16) {
    assert_eq!((answer.status, answer.field("Connection")), (status, Some("close")), "{answer:?}");
    client.ends();
}

fn socket(server: &Running) -> TcpStream {
    let stream = TcpStream::connect(server.address).expect("it listens");
    stream.set_nodelay(true).expect("a socket takes options");
    stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes options");
    stream
}

fn read_until(stream: &mut TcpStream, end: &[u8]) -> String {
    let (mut seen, mut byte) = (Vec::new(), [0]);
    while !seen.ends_with(end) {
        stream.read_exact(&mut byte).unwrap_or_else(|error| panic!("{error} after {}", seen.escape_ascii()));
        seen.push(byte[0]);
    }
    String::from_utf8_lossy(&seen).into_owned()
}

/// Sends without end, and counts.
fn pour(mut stream: TcpStream, piece: Vec<u8>) -> (Arc<AtomicUsize>, thread::JoinHandle<()>) {
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let pouring = thread::spawn(move || {
        while let Ok(written) = stream.write(&piece) {
            count.fetch_add(written, Ordering::Relaxed);
        }
    });
    (sent, pouring)
}

/// Waits until a number does not change while the server answers many others.
fn settled(server: &Running, count: &AtomicUsize) -> usize {
    let (mut other, mut last, mut still) = (server.client(), usize::MAX, 0);
    while still < 300 {
        lives(&mut other);
        let now = count.load(Ordering::Relaxed);
        assert!(now < HUGE, "{now} bytes are taken from a client whose handler takes nothing");
        still = if now == last { still + 1 } else { 0 };
        last = now;
    }
    last
}

// As it comes.

#[test]
fn a_large_body_arrives_whole() {
    let (_server, _, mut client) = start(|_| {});
    let body = pattern(20 * MEGABYTE);
    for (head, tail) in [(sized("/gathered", body.len()), ""), (chunked("/gathered"), "0\r\n\r\n")] {
        client.send(&head);
        if tail.is_empty() {
            client.send(&body);
        } else {
            for piece in body.chunks(100_001) {
                client.send(format!("{:X};ext=\"1\"\r\n", piece.len()));
                client.send(piece);
                client.send("\r\n");
            }
            client.send(tail);
        }
        assert_eq!(client.answer().text(), format!("{} bytes, {}", body.len(), sum(&body)), "{head}");
        lives(&mut client);
    }
}

#[test]
fn a_handler_that_takes_nothing_holds_up_its_client() {
    for (head, piece) in [
        (sized("/stepwise", 10 * HUGE), vec![b'x'; 100_000]),
        (chunked("/stepwise"), chunk(&"x".repeat(100_000)).into_bytes()),
        (chunked("/stepwise"), chunk("x").repeat(10_000).into_bytes()),
    ] {
        let (server, seen, mut client) = start(|_| {});
        client.send(&head);
        assert_eq!(seen.next(), Event::Called);
        let (sent, pouring) = pour(client.sender(), piece);
        let before = settled(&server, &sent);
        assert_eq!(seen.taken(), 0);
        // Once the handler takes something, more is received.
        while sent.load(Ordering::Relaxed) == before {
            seen.release(1);
            sync(&server);
        }
        assert!(seen.taken() > 0);
        seen.nothing();
        client.sender().shutdown(Shutdown::Both).expect("it is connected");
        pouring.join().expect("it does not panic");
        // What the kernel still holds comes before the end.
        seen.release(HUGE);
        assert_eq!(seen.next(), Event::Dropped, "{head}");
    }
}

#[test]
fn request_and_answer_stream_at_the_same_time() {
    let server = start(|_| {}).0;
    let mut stream = socket(&server);
    stream.write_all(chunked("/echo").as_bytes()).expect("it is connected");
    let head = read_until(&mut stream, b"\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && !head.contains("Connection: close"), "{head}");
    for number in 0..100 {
        let chunk = chunk(&format!("piece {number}"));
        stream.write_all(chunk.as_bytes()).expect("it is connected");
        assert_eq!(read_until(&mut stream, chunk.as_bytes()), chunk);
    }
    stream.write_all(b"0\r\n\r\n").expect("it is connected");
    assert_eq!(read_until(&mut stream, b"0\r\n\r\n"), "0\r\n\r\n");
    stream.write_all(b"GET /now HTTP/1.1\r\nHost: x\r\n\r\n").expect("it is connected");
    read_until(&mut stream, b"\r\n\r\nnow");
}

#[test]
fn a_large_echo_comes_back_whole() {
    let server = start(|_| {}).0;
    let body = pattern(20 * MEGABYTE);
    let mut stream = socket(&server);
    let mut sender = stream.try_clone().expect("a descriptor is free");
    let (request, sent) = (sized("/echo", body.len()), body.clone());
    let sending = thread::spawn(move || {
        sender.write_all(request.as_bytes()).expect("it is connected");
        sender.write_all(&sent).expect("it is connected");
    });
    let head = read_until(&mut stream, b"\r\n\r\n");
    assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())), "{head}");
    let mut echo = vec![0; body.len()];
    stream.read_exact(&mut echo).expect("all of it comes");
    assert!(echo == body);
    sending.join().expect("it does not panic");
}

#[test]
fn an_echo_that_nobody_reads_is_given_up() {
    let (server, _, client) = start(|settings| settings.write_timeout = Duration::from_millis(200));
    let mut sender = client.sender();
    sender.write_all(chunked("/echo").as_bytes()).expect("it is connected");
    let (_, pouring) = pour(client.sender(), chunk(&"x".repeat(100_000)).into_bytes());
    pouring.join().expect("the server ends the connection");
    sync(&server);
}

#[test]
fn a_body_tells_what_is_known_of_it() {
    let (_server, _, mut client) = start(|_| {});
    for (request, rest, answer) in [
        ("POST /described HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), "", "0 to Some(0), ended: true"),
        (sized("/described", 0), "", "0 to Some(0), ended: true"),
        (sized("/described", 3) + "abc", "", "3 to Some(3), ended: false"),
        (sized("/described", 3), "abc", "3 to Some(3), ended: false"),
        (sized("/described", 3) + "a", "bc", "3 to Some(3), ended: false"),
        (chunked("/described") + "0\r\n\r\n", "", "0 to None, ended: true"),
    ] {
        client.send(&request);
        let got = client.answer();
        assert_eq!((got.text(), got.field("Connection")), (answer, None), "{request}");
        client.send(rest);
        lives(&mut client);
    }
}

#[test]
fn what_is_left_counts_down() {
    let (told, app) = bare();
    let server = Running::start(app);
    let mut client = server.client();
    let next = || told.recv_timeout(PATIENCE).expect("the service goes on");
    client.send(sized("/", 6) + "ab");
    assert_eq!(next(), "RequestBody(as it comes) Some(6) false");
    assert_eq!(next(), "RequestBody(as it comes) Some(4) false");
    client.send("cd");
    assert_eq!(next(), "RequestBody(as it comes) Some(2) false");
    client.send("ef");
    assert_eq!(next(), "RequestBody(as it comes) Some(0) true");
    assert_eq!(client.answer().status, 200);
    client.send(sized("/", 2) + "ab");
    assert_eq!([next(), next()], ["RequestBody(whole) Some(2) false", "RequestBody(empty) Some(0) true"]);
    assert_eq!(client.answer().status, 200);
}

// Splits and pipelines.

#[test]
fn every_split_has_the_same_answer() {
    let chunks = "3\r\nabc\r\n2;x=\"y\"\r\nde\r\n0\r\nTrailer: t\r\n\r\n";
    let (server, _, _) = start(|_| {});
    for (request, expected) in [
        (sized("/gathered", 5) + "abcde", format!("5 bytes, {}", sum(b"abcde"))),
        (chunked("/gathered") + chunks, format!("5 bytes, {}", sum(b"abcde"))),
        (sized("/ignored", 5) + "abcde", "ignored".into()),
        (sized("/c/length", 5) + "abcde", "5".into()),
        (chunked("/c/length") + chunks, "5".into()),
    ] {
        let mut client = server.client();
        let check = |what: &str, client: &mut Client| {
            let answer = client.answer();
            assert_eq!((answer.status, answer.text()), (200, &*expected), "{request}, {what}");
            assert_eq!(answer.field("Connection"), None, "{request}, {what}");
        };
        client.send(&request);
        check("whole", &mut client);
        for at in 1..request.len() {
            client.send(&request[..at]);
            sync(&server);
            client.send(&request[at..]);
            check(&format!("split at {at}"), &mut client);
        }
        client.send_bytewise(&request);
        check("byte by byte", &mut client);
        lives(&mut client);
    }
}

#[test]
fn requests_behind_a_body_are_answered_in_their_order() {
    let (server, seen, mut client) = start(|_| {});
    let get = "GET /now HTTP/1.1\r\nHost: x\r\n\r\n";
    let both = [sized("/gathered", 5) + "abcde" + get, chunked("/gathered") + "5\r\nabcde\r\n0\r\n\r\n" + get];
    for requests in &both {
        for at in (0..requests.len()).step_by(3) {
            client.send(&requests[..at]);
            sync(&server);
            client.send(&requests[at..]);
            assert_eq!(client.answer().text(), format!("5 bytes, {}", sum(b"abcde")), "{at}");
            assert_eq!(client.answer().text(), "now", "{at}");
        }
    }
    // Many, behind a handler that waits with its body.
    client.send(sized("/late", 5) + "ab");
    assert_eq!(seen.next(), Event::Called);
    client.send("cde".to_owned() + &get.repeat(50) + &both[0] + &both[1]);
    sync(&server);
    client.has_nothing();
    seen.release(1);
    assert_eq!(client.answer().text(), "(5, Ok(()))");
    assert_eq!(seen.next(), Event::Dropped);
    (0..50).for_each(|_| assert_eq!(client.answer().text(), "now"));
    for _ in 0..2 {
        assert_eq!(client.answer().text(), format!("5 bytes, {}", sum(b"abcde")));
        assert_eq!(client.answer().text(), "now");
    }
    client.has_nothing();
}

// Handlers that do not take all.

#[test]
fn an_answer_before_a_small_rest_leaves_the_connection() {
    let (_server, _, mut client) = start(|_| {});
    for path in ["/ignored", "/nowhere"] {
        client.send(sized(path, 10_000));
        let answer = client.answer();
        assert_eq!(answer.field("Connection"), None, "{path}: {answer:?}");
        client.send("x".repeat(10_000));
        lives(&mut client);
    }
    client.send(sized("/first", 10_000) + "abc");
    assert_eq!(client.answer().text(), "a");
    client.send("x".repeat(10_000 - 3) + "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.answer().text(), "now");
}

#[test]
fn an_answer_before_a_large_rest_ends_the_connection() {
    for (path, begun) in [("/ignored", ""), ("/first", "abc")] {
        for head in [sized(path, HUGE), chunked(path)] {
            let (server, _, mut client) = start(|_| {});
            let begun = if head.contains("chunked") { format!("{HUGE:x}\r\n{begun}") } else { begun.to_owned() };
            client.send(head + &begun);
            if path == "/ignored" || !begun.is_empty() {
                let answer = client.answer();
                closes(&mut client, &answer, 200);
            }
            // And while it is being sent.
            let mut client = server.client();
            client.send(sized(path, HUGE));
            let mut sender = client.sender();
            let sending = thread::spawn(move || sender.write_all(&vec![b'x'; HUGE]));
            let answer = client.answer();
            assert_eq!((answer.status, answer.field("Connection")), (200, Some("close")), "{path}");
            client.count_to_end();
            sending.join().expect("no panic").expect_err("the server does not take all of it");
        }
    }
}

#[test]
fn a_body_may_be_read_by_another_thread_after_the_answer() {
    let (server, seen, mut client) = start(|_| {});
    for length in [5, 200_000, 3 * MEGABYTE] {
        let body = pattern(length);
        client.send(sized("/elsewhere", length));
        client.send(&body[..length / 2]);
        let answer = client.answer();
        assert_eq!((answer.text(), answer.field("Connection")), ("elsewhere", None));
        // The connection goes on with the next request once the body is here.
        let mut sender = client.sender();
        let rest = [&body[length / 2..], b"GET /now HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
        let sending = thread::spawn(move || sender.write_all(&rest));
        sync(&server);
        seen.release(1);
        assert_eq!(seen.next(), Event::Read(length, Ok(())));
        assert_eq!(client.answer().text(), "now", "{length}");
        sending.join().expect("no panic").expect("it is connected");
    }
}

// Expect: 100-continue.

const EXPECT: &str = "Expect: 100-continue\r\nContent-Length: 5\r\n";

#[test]
fn the_client_is_told_to_continue_once_the_handler_asks() {
    let (server, seen, mut client) = start(|settings| settings.body_timeout = Duration::from_millis(300));
    client.send(head("/late", EXPECT));
    assert_eq!(seen.next(), Event::Called);
    // Longer than a body may take: nobody has asked for it.
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(900) {
        sync(&server);
    }
    client.has_nothing();
    seen.release(1);
    assert_eq!(client.interim().status, 100);
    client.send("abcde");
    assert_eq!(client.answer().text(), "(5, Ok(()))");
    lives(&mut client);
    // One that asks at once.
    client.send(head("/gathered", EXPECT));
    assert_eq!(client.interim().status, 100);
    client.send_bytewise("abcde");
    assert_eq!(client.answer().text(), format!("5 bytes, {}", sum(b"abcde")));
    lives(&mut client);
}

#[test]
fn a_body_that_nobody_asks_for_is_not_invited() {
    let (_server, _, mut client) = start(|settings| settings.max_streamed_body = 1_000);
    client.send(head("/ignored", EXPECT));
    let answer = client.answer();
    // It may come or not, so nobody knows what comes next.
    closes(&mut client, &answer, 200);
    let mut client = _server.client();
    client.send(head("/gathered", "Expect: 100-continue\r\nContent-Length: 1001\r\n"));
    let answer = client.answer();
    closes(&mut client, &answer, 413);
}

#[test]
fn who_sends_a_body_without_being_asked_is_not_told_to() {
    let (server, seen, mut client) = start(|_| {});
    client.send(head("/gathered", EXPECT) + "abcde");
    assert_eq!(client.answer().status, 200);
    client.send(head("/gathered", EXPECT) + "ab");
    sync(&server);
    client.send("cde");
    assert_eq!(client.answer().status, 200);
    client.send(head("/late", EXPECT));
    assert_eq!(seen.next(), Event::Called);
    client.send("abcde");
    sync(&server);
    seen.release(1);
    assert_eq!(client.answer().text(), "(5, Ok(()))");
    client.send(head("/late", EXPECT));
    assert_eq!([seen.next(), seen.next()], [Event::Dropped, Event::Called]);
    client.send("ab");
    sync(&server);
    seen.release(1);
    client.send("cde");
    assert_eq!(client.answer().text(), "(5, Ok(()))");
    lives(&mut client);
    client.send(format!("POST /gathered HTTP/1.0\r\n{EXPECT}\r\n"));
    sync(&server);
    client.has_nothing();
    client.send("abcde");
    assert_eq!(client.answer().status, 200);
}

// Bodies that do not come to their end.

#[test]
fn a_cut_body_is_an_error_to_who_reads_it_elsewhere_and_the_end_of_its_handler() {
    for reset in [false, true] {
        let (server, seen, client) = start(|_| {});
        for (path, length) in [("/spawned", 3), ("/read", 3), ("/elsewhere", 3)] {
            let mut client = server.client();
            client.send(sized(path, 10) + "abc");
            if path == "/elsewhere" {
                assert_eq!(client.answer().text(), "elsewhere");
            } else {
                assert_eq!(seen.next(), Event::Called);
            }
            if reset {
                // With an answer unread the kernel resets.
                client.send("d");
            }
            drop(client);
            sync(&server);
            seen.release(usize::from(path == "/elsewhere"));
            let expected = match path {
                "/read" => Event::Dropped,
                _ => Event::Read(length + usize::from(reset), Err(BodyError::Cut)),
            };
            assert_eq!(seen.next(), expected, "{path}");
        }
        drop(client);
    }
}

#[test]
fn a_body_that_is_too_large_is_refused() {
    let (server, seen, mut client) = start(|settings| settings.max_streamed_body = 1_000);
    client.send(sized("/spawned", 1_000) + &"x".repeat(1_000));
    assert_eq!(client.answer().text(), "1000 bytes");
    assert_eq!([seen.next(), seen.next()], [Event::Called, Event::Read(1_000, Ok(()))]);
    // Announced, whether it is here or not.
    for body in [String::new(), "x".repeat(1_001)] {
        let mut client = server.client();
        client.send(sized("/spawned", 1_001) + &body);
        let answer = client.answer();
        closes(&mut client, &answer, 413);
        seen.nothing();
    }
    // Found out while it comes.
    let mut client = server.client();
    client.send(chunked("/spawned") + &chunk(&"x".repeat(1_000)));
    assert_eq!(seen.next(), Event::Called);
    client.send(chunk("x"));
    let answer = client.answer();
    closes(&mut client, &answer, 413);
    assert_eq!(seen.next(), Event::Read(1_000, Err(BodyError::TooLarge)));
    // A handler that waits for it is dropped.
    let mut client = server.client();
    client.send(chunked("/read") + &chunk(&"x".repeat(1_000)));
    assert_eq!(seen.next(), Event::Called);
    client.send(chunk("x"));
    let answer = client.answer();
    closes(&mut client, &answer, 413);
    assert_eq!(seen.next(), Event::Dropped);
}

#[test]
fn controllers_have_their_bodies_whole_and_within_their_own_limit() {
    let (server, _, mut client) = start(|settings| settings.max_body = 1_000);
    client.send(sized("/gathered", 5_000) + &"x".repeat(5_000));
    assert_eq!(client.answer().status, 200, "the router's limit is another");
    client.send(sized("/c/length", 1_000));
    client.send_bytewise("x".repeat(1_000));
    assert_eq!(client.answer().text(), "1000");
    client.send(head("/c/length", EXPECT));
    assert_eq!(client.interim().status, 100);
    client.send("abcde");
    assert_eq!(client.answer().text(), "5");
    for request in [sized("/c/length", 1_001), chunked("/c/length") + &chunk(&"x".repeat(1_001))] {
        let mut client = server.client();
        client.send(request);
        let answer = client.answer();
        closes(&mut client, &answer, 413);
    }
}

#[test]
fn a_malformed_chunk_ends_the_body_and_the_connection() {
    let (server, seen, _) = start(|_| {});
    for bad in ["x\r\n", "5\r\nabcdeX", "-1\r\n", "0\r\nbad trailer\r\n", "\n"] {
        let mut client = server.client();
        client.send(chunked("/spawned") + &chunk("abc"));
        assert_eq!(seen.next(), Event::Called);
        client.send(bad);
        let answer = client.answer();
        closes(&mut client, &answer, 400);
        let came = 3 + if bad.starts_with('5') { 5 } else { 0 };
        assert_eq!(seen.next(), Event::Read(came, Err(BodyError::Malformed)), "{bad:?}");
        // In one go with its head it never gets to a handler.
        let mut client = server.client();
        client.send(chunked("/spawned") + &chunk("abc") + bad);
        let answer = client.answer();
        closes(&mut client, &answer, 400);
        seen.nothing();
        // Once the answer has begun, no other can be given.
        let mut stream = socket(&server);
        stream.write_all((chunked("/echo") + &chunk("abc")).as_bytes()).expect("it is connected");
        read_until(&mut stream, b"3\r\nabc\r\n");
        stream.write_all(bad.as_bytes()).expect("it is connected");
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!rest.ends_with(b"0\r\n\r\n"), "{bad:?}: {}", rest.escape_ascii());
    }
}

#[test]
fn a_body_that_stops_coming_is_given_up() {
    let (server, seen, _) = start(|settings| settings.body_timeout = Duration::from_millis(150));
    for (path, request) in [("/spawned", sized("/spawned", 5)), ("/read", chunked("/read") + "5\r\n")] {
        let mut client = server.client();
        client.send(request + "abc");
        assert_eq!(seen.next(), Event::Called);
        let answer = client.answer();
        closes(&mut client, &answer, 408);
        let expected = if path == "/read" { Event::Dropped } else { Event::Read(3, Err(BodyError::TimedOut)) };
        assert_eq!(seen.next(), expected, "{path}");
    }
    // After the answer too.
    let mut client = server.client();
    client.send(sized("/ignored", 5) + "abc");
    assert_eq!(client.answer().text(), "ignored");
    client.ends();
    // And in the midst of one.
    let mut stream = socket(&server);
    stream.write_all((chunked("/echo") + &chunk("abc")).as_bytes()).expect("it is connected");
    read_until(&mut stream, b"3\r\nabc\r\n");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert_eq!(rest, b"");
}

#[test]
fn a_handler_that_takes_its_time_does_not_make_the_client_late() {
    let (server, seen, mut client) = start(|settings| settings.body_timeout = Duration::from_millis(300));
    let length = 3 * MEGABYTE;
    client.send(sized("/stepwise", length));
    assert_eq!(seen.next(), Event::Called);
    let mut sender = client.sender();
    let sending = thread::spawn(move || sender.write_all(&vec![b'x'; 3 * MEGABYTE]));
    for _ in 0..2 {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(800) {
            sync(&server);
        }
        // A piece is taken, and there is room, but not so little that more is asked for.
        seen.release(1);
    }
    sync(&server);
    seen.release(length);
    let answer = client.answer();
    assert_eq!(answer.status, 200, "{answer:?}");
    sending.join().expect("no panic").expect("it is connected");
    lives(&mut client);
}

#[test]
fn an_upload_under_way_is_finished_when_the_server_stops() {
    let (server, seen, mut client) = start(|_| {});
    client.send(sized("/spawned", 5) + "ab");
    assert_eq!(seen.next(), Event::Called);
    server.stop();
    client.send("cde");
    let answer = client.answer();
    assert_eq!(answer.text(), "5 bytes");
    closes(&mut client, &answer, 200);
    server.wait().expect("the worker is well");
}
