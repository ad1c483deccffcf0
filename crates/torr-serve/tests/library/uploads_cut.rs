//! Bodies of requests that are not invited, cut off, too large, malformed, or too late.

use crate::uploads::service::{Event, sum};
use crate::uploads::wire::*;
use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};
use torr_serve::BodyError;

/// A time-out within which a client sends something, on a machine whose CPUs have other work for a second too.
const SHORT: Duration = Duration::from_millis(1500);

// Expect: 100-continue.

const EXPECT: &str = "Expect: 100-continue\r\nContent-Length: 5\r\n";

#[test]
fn the_client_is_sent_100_once_the_handler_reads() {
    let (server, seen, mut client) = start(|settings| settings.body_timeout = SHORT);
    client.send(head("/late", EXPECT));
    assert_eq!(seen.next(), Event::Called);
    // Longer than a body may take: the handler has not read it.
    let start = Instant::now();
    while start.elapsed() < 2 * SHORT {
        sync(&server);
    }
    client.has_nothing();
    seen.release(1);
    assert_eq!(client.interim().status, 100);
    client.send("abcde");
    assert_eq!(client.response().text(), "(5, Ok(()))");
    lives(&mut client);
    // One that asks at once.
    client.send(head("/gathered", EXPECT));
    assert_eq!(client.interim().status, 100);
    client.send_bytewise("abcde");
    assert_eq!(client.response().text(), format!("5 bytes, {}", sum(b"abcde")));
    lives(&mut client);
}

#[test]
fn an_unread_body_is_not_invited() {
    let (_server, _, mut client) = start(|settings| settings.max_streamed_body = 1_000);
    client.send(head("/ignored", EXPECT));
    let response = client.response();
    // The body may come or not, so what follows is ambiguous.
    closes(&mut client, &response, 200);
    let mut client = _server.client();
    client.send(head("/gathered", "Expect: 100-continue\r\nContent-Length: 1001\r\n"));
    let response = client.response();
    closes(&mut client, &response, 413);
}

#[test]
fn a_client_that_sends_its_body_at_once_is_sent_no_100() {
    let (server, seen, mut client) = start(|_| {});
    client.send(head("/gathered", EXPECT) + "abcde");
    assert_eq!(client.response().status, 200);
    client.send(head("/gathered", EXPECT) + "ab");
    sync(&server);
    client.send("cde");
    assert_eq!(client.response().status, 200);
    client.send(head("/late", EXPECT));
    assert_eq!(seen.next(), Event::Called);
    client.send("abcde");
    sync(&server);
    seen.release(1);
    assert_eq!(client.response().text(), "(5, Ok(()))");
    client.send(head("/late", EXPECT));
    assert_eq!([seen.next(), seen.next()], [Event::Dropped, Event::Called]);
    client.send("ab");
    sync(&server);
    seen.release(1);
    client.send("cde");
    assert_eq!(client.response().text(), "(5, Ok(()))");
    lives(&mut client);
    client.send(format!("POST /gathered HTTP/1.0\r\n{EXPECT}\r\n"));
    sync(&server);
    client.has_nothing();
    client.send("abcde");
    assert_eq!(client.response().status, 200);
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
                assert_eq!(client.response().text(), "elsewhere");
            } else {
                assert_eq!(seen.next(), Event::Called);
            }
            if reset {
                // With a response unread the kernel resets.
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
    assert_eq!(client.response().text(), "1000 bytes");
    assert_eq!([seen.next(), seen.next()], [Event::Called, Event::Read(1_000, Ok(()))]);
    // Announced, whether it is here or not.
    for body in [String::new(), "x".repeat(1_001)] {
        let mut client = server.client();
        client.send(sized("/spawned", 1_001) + &body);
        let response = client.response();
        closes(&mut client, &response, 413);
        seen.nothing();
    }
    // Found out while it comes.
    let mut client = server.client();
    client.send(chunked("/spawned") + &chunk(&"x".repeat(1_000)));
    assert_eq!(seen.next(), Event::Called);
    client.send(chunk("x"));
    let response = client.response();
    closes(&mut client, &response, 413);
    assert_eq!(seen.next(), Event::Read(1_000, Err(BodyError::TooLarge)));
    // A handler that waits for it is dropped.
    let mut client = server.client();
    client.send(chunked("/read") + &chunk(&"x".repeat(1_000)));
    assert_eq!(seen.next(), Event::Called);
    client.send(chunk("x"));
    let response = client.response();
    closes(&mut client, &response, 413);
    assert_eq!(seen.next(), Event::Dropped);
}

#[test]
fn controllers_have_their_bodies_whole_and_within_their_own_limit() {
    let (server, _, mut client) = start(|settings| settings.max_body = 1_000);
    client.send(sized("/gathered", 5_000) + &"x".repeat(5_000));
    assert_eq!(client.response().status, 200, "the router's limit is another");
    client.send(sized("/c/length", 1_000));
    client.send_bytewise("x".repeat(1_000));
    assert_eq!(client.response().text(), "1000");
    client.send(head("/c/length", EXPECT));
    assert_eq!(client.interim().status, 100);
    client.send("abcde");
    assert_eq!(client.response().text(), "5");
    for request in [sized("/c/length", 1_001), chunked("/c/length") + &chunk(&"x".repeat(1_001))] {
        let mut client = server.client();
        client.send(request);
        let response = client.response();
        closes(&mut client, &response, 413);
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
        let response = client.response();
        closes(&mut client, &response, 400);
        let came = 3 + if bad.starts_with('5') { 5 } else { 0 };
        assert_eq!(seen.next(), Event::Read(came, Err(BodyError::Malformed)), "{bad:?}");
        // In one go with its head it never gets to a handler.
        let mut client = server.client();
        client.send(chunked("/spawned") + &chunk("abc") + bad);
        let response = client.response();
        closes(&mut client, &response, 400);
        seen.nothing();
        // Once the response has begun, no other can be given.
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
        let response = client.response();
        closes(&mut client, &response, 408);
        let expected = if path == "/read" { Event::Dropped } else { Event::Read(3, Err(BodyError::TimedOut)) };
        assert_eq!(seen.next(), expected, "{path}");
    }
    // After the response too.
    let mut client = server.client();
    client.send(sized("/ignored", 5) + "abc");
    assert_eq!(client.response().text(), "ignored");
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
    let (server, seen, mut client) = start(|settings| settings.body_timeout = SHORT);
    let length = 3 * MEGABYTE;
    client.send(sized("/stepwise", length));
    assert_eq!(seen.next(), Event::Called);
    let mut sender = client.sender();
    let sending = thread::spawn(move || sender.write_all(&vec![b'x'; 3 * MEGABYTE]));
    for _ in 0..2 {
        let start = Instant::now();
        while start.elapsed() < SHORT * 3 / 2 {
            sync(&server);
        }
        // A piece is taken, and there is room, but unread bytes are still above the low-water mark.
        seen.release(1);
    }
    sync(&server);
    seen.release(length);
    let response = client.response();
    assert_eq!(response.status, 200, "{response:?}");
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
    let response = client.response();
    assert_eq!(response.text(), "5 bytes");
    closes(&mut client, &response, 200);
    server.wait().expect("the worker is well");
}
