//! Bodies of requests that reach a router as they come.

pub mod service;
pub mod wire;

use crate::support::{PATIENCE, Running};
use service::{Event, bare, sum};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;
use torr_test_support::client::Client;
use wire::*;

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
        assert_eq!(client.response().text(), format!("{} bytes, {}", body.len(), sum(&body)), "{head}");
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
        while seen.taken() == 0 || sent.load(Ordering::Relaxed) <= before {
            seen.release(1);
            sync(&server);
        }
        seen.nothing();
        client.sender().shutdown(Shutdown::Both).expect("it is connected");
        pouring.join().expect("it does not panic");
        // What the kernel still holds comes before the end.
        seen.release(HUGE);
        assert_eq!(seen.next(), Event::Dropped, "{head}");
    }
}

#[test]
fn request_and_response_stream_at_the_same_time() {
    let server = start(|_| {}).0;
    let mut stream = socket(&server);
    stream.write_all(chunked("/echo").as_bytes()).expect("it is connected");
    let head = read_until(&mut stream, b"\r\n\r\n");
    assert!(head.starts_with("HTTP/1.1 200 ") && !head.contains("connection: close"), "{head}");
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
    assert!(head.contains(&format!("content-length: {}\r\n", body.len())), "{head}");
    let mut echo = vec![0; body.len()];
    stream.read_exact(&mut echo).expect("all of it comes");
    assert!(echo == body);
    sending.join().expect("it does not panic");
}

#[test]
fn an_unread_echo_is_given_up() {
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
    for (request, rest, response) in [
        ("POST /described HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(), "", "0 to Some(0), ended: true"),
        (sized("/described", 0), "", "0 to Some(0), ended: true"),
        (sized("/described", 3) + "abc", "", "3 to Some(3), ended: false"),
        (sized("/described", 3), "abc", "3 to Some(3), ended: false"),
        (sized("/described", 3) + "a", "bc", "3 to Some(3), ended: false"),
        (chunked("/described") + "0\r\n\r\n", "", "0 to None, ended: true"),
    ] {
        client.send(&request);
        let got = client.response();
        assert_eq!((got.text(), got.field("Connection")), (response, None), "{request}");
        client.send(rest);
        lives(&mut client);
    }
}

#[test]
fn what_is_left_counts_down() {
    let (events, app) = bare();
    let server = Running::start(app);
    let mut client = server.client();
    let next = || events.recv_timeout(PATIENCE).expect("the service goes on");
    client.send(sized("/", 6) + "ab");
    assert_eq!(next(), "Some(6) false");
    assert_eq!(next(), "Some(4) false");
    client.send("cd");
    assert_eq!(next(), "Some(2) false");
    client.send("ef");
    assert_eq!(next(), "Some(0) true");
    assert_eq!(client.response().status, 200);
    client.send(sized("/", 2) + "ab");
    assert_eq!([next(), next()], ["Some(2) false", "Some(0) true"]);
    assert_eq!(client.response().status, 200);
}

// Splits and pipelines.

#[test]
fn every_split_has_the_same_response() {
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
            let response = client.response();
            assert_eq!((response.status, response.text()), (200, &*expected), "{request}, {what}");
            assert_eq!(response.field("Connection"), None, "{request}, {what}");
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
            assert_eq!(client.response().text(), format!("5 bytes, {}", sum(b"abcde")), "{at}");
            assert_eq!(client.response().text(), "now", "{at}");
        }
    }
    // Many, behind a handler that waits with its body.
    client.send(sized("/late", 5) + "ab");
    assert_eq!(seen.next(), Event::Called);
    client.send("cde".to_owned() + &get.repeat(50) + &both[0] + &both[1]);
    sync(&server);
    client.has_nothing();
    seen.release(1);
    assert_eq!(client.response().text(), "(5, Ok(()))");
    assert_eq!(seen.next(), Event::Dropped);
    (0..50).for_each(|_| assert_eq!(client.response().text(), "now"));
    for _ in 0..2 {
        assert_eq!(client.response().text(), format!("5 bytes, {}", sum(b"abcde")));
        assert_eq!(client.response().text(), "now");
    }
    client.has_nothing();
}

// Handlers that do not take all.

#[test]
fn a_response_before_a_small_rest_keeps_the_connection() {
    let (_server, _, mut client) = start(|_| {});
    for path in ["/ignored", "/nowhere"] {
        client.send(sized(path, 10_000));
        let response = client.response();
        assert_eq!(response.field("Connection"), None, "{path}: {response:?}");
        client.send("x".repeat(10_000));
        lives(&mut client);
    }
    client.send(sized("/first", 10_000) + "abc");
    assert_eq!(client.response().text(), "a");
    client.send("x".repeat(10_000 - 3) + "GET /now HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.response().text(), "now");
}

#[test]
fn a_response_before_a_large_rest_ends_the_connection() {
    for (path, begun) in [("/ignored", ""), ("/first", "abc")] {
        for head in [sized(path, HUGE), chunked(path)] {
            let (server, _, mut client) = start(|_| {});
            let begun = if head.contains("chunked") { format!("{HUGE:x}\r\n{begun}") } else { begun.to_owned() };
            client.send(head + &begun);
            if path == "/ignored" || !begun.is_empty() {
                let response = client.response();
                closes(&mut client, &response, 200);
            }
            // And while it is being sent.
            let mut client = server.client();
            client.send(sized(path, HUGE));
            let mut sender = client.sender();
            let sending = thread::spawn(move || sender.write_all(&vec![b'x'; HUGE]));
            let response = client.response();
            assert_eq!((response.status, response.field("Connection")), (200, Some("close")), "{path}");
            client.count_to_end();
            // A reset might overtake the response: the server reads on, and throws away what comes.
            sending.join().expect("no panic").expect("the client is not cut off");
        }
    }
}

#[test]
fn a_body_may_be_read_by_another_thread_after_the_response() {
    let (server, seen, mut client) = start(|_| {});
    for length in [5, 200_000, 3 * MEGABYTE] {
        let body = pattern(length);
        client.send(sized("/elsewhere", length));
        client.send(&body[..length / 2]);
        let response = client.response();
        assert_eq!((response.text(), response.field("Connection")), ("elsewhere", None));
        // The connection goes on with the next request once the body is here.
        let mut sender = client.sender();
        let rest = [&body[length / 2..], b"GET /now HTTP/1.1\r\nHost: x\r\n\r\n"].concat();
        let sending = thread::spawn(move || sender.write_all(&rest));
        sync(&server);
        seen.release(1);
        assert_eq!(seen.next(), Event::Read(length, Ok(())));
        assert_eq!(client.response().text(), "now", "{length}");
        sending.join().expect("no panic").expect("it is connected");
    }
}
