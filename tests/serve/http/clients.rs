//! Clients that wait, leave, or take their time.

use super::*;

#[test]
fn a_client_that_waits_to_send_its_body_is_sent_100() {
    let server = Serve::start(&[]);
    let mut client = server.client();
    let head = "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n";
    for (framing, body) in [("Content-Length: 5", "hello"), ("Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n")] {
        client.send(format!("{head}{framing}\r\n\r\n"));
        assert_eq!(client.interim().status, 100, "{framing}");
        client.has_nothing();
        client.send(body);
        assert_eq!(client.response().text(), "hello", "{framing}");
        // One that has not waited needs no telling.
        client.send(format!("{head}{framing}\r\n\r\n{body}"));
        assert_eq!(client.response().text(), "hello", "{framing}, without waiting");
    }
    // HTTP/1.0 has no interim responses, and a body of nothing needs none.
    client.send("POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    client.send("ok");
    assert_eq!(client.response().text(), "ok");
    client.send(format!("{head}Content-Length: 0\r\n\r\n"));
    assert_eq!(client.response().text(), "");
    // What will be refused is refused before it is sent.
    client.send(format!("{head}Content-Length: 1048577\r\n\r\n"));
    ends_with(&mut client, 413, "a body that is too large");
}

#[test]
fn a_client_that_has_ended_its_side_gets_all_its_responses() {
    let server = Serve::start(ONE_WORKER);
    let (requests, expected) = mixed(30);
    let single = |request: String, body: &str| (request, vec![body.to_owned()]);
    for (requests, expected) in [
        single(get("/plaintext"), "Hello, World!"),
        single(get("/sleep/50"), "slept\n"),
        single(get("/bytes/3000000"), &"x".repeat(3_000_000)),
        single(post("/echo", "body"), "body"),
        (get("/plaintext").repeat(2_000), vec!["Hello, World!".to_owned(); 2_000]),
        (requests, expected),
    ] {
        let mut client = server.client();
        client.send(requests);
        client.end_sending();
        responses_in_order(&mut client, &expected);
        client.ends();
    }
    // What is not whole has no response.
    for part in
        ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na"]
    {
        let mut client = server.client();
        client.send(part);
        client.end_sending();
        client.ends();
    }
}

#[test]
fn clients_that_vanish_leave_the_others_served() {
    let server = Serve::start(ONE_WORKER);
    let mut faithful = server.client();
    for round in 0..20 {
        for part in [
            "",
            "GET / HTTP/1.1\r\nHo",
            "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc",
            "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            &get("/"),
            &get("/sleep/3600000"),
            &get("/sleep/1"),
            &get("/bytes/1000000000"),
            &(get("/sleep/1") + &get("/bytes/1000000000")),
        ] {
            server.client().send(part);
            assert_eq!(faithful.get("/").text(), HELLO, "round {round} after {part:?}");
        }
        // This one has begun to read, and resets the connection, since it leaves some unread.
        let mut client = server.client();
        client.send(get("/bytes/1000000000"));
        client.response_head();
        drop(client);
        assert_eq!(faithful.get("/").text(), HELLO, "round {round} after a client that had begun to read");
    }
}

#[test]
fn a_handler_that_waits_delays_no_others() {
    let server = Serve::start(ONE_WORKER);
    let (mut waiting, mut other) = (server.client(), server.client());
    // By the response to the first the second is known to be in flight. It would take an hour.
    waiting.send(get("/healthz") + &get("/sleep/3600000"));
    assert_eq!(waiting.response().text(), "ok\n");
    for path in ["/", "/sleep/1", "/bytes/1000000", "/"] {
        assert_eq!(other.get(path).status, 200, "{path}");
    }
    assert_eq!(server.client().get("/").text(), HELLO);
    waiting.has_nothing();
}

#[test]
fn a_reader_that_pauses_gets_all_in_the_end_and_stops_no_others() {
    const LENGTH: u64 = 100_000_000;
    let server = Serve::start(ONE_WORKER);
    let (mut slow, mut other) = (server.client(), server.client());
    slow.send(get(&format!("/bytes/{LENGTH}")) + &get("/healthz"));
    // Once the head is here the rest is on its way, and it is more than the kernel takes.
    slow.response_head();
    for _ in 0..200 {
        assert_eq!(other.get("/").text(), HELLO);
        assert_eq!(other.get("/sleep/0").text(), "slept\n");
    }
    other.send(get("/bytes/20000000"));
    other.response_head();
    other.pass_over(20_000_000);
    slow.pass_over(LENGTH);
    assert_eq!(slow.response().text(), "ok\n");
}

#[test]
fn many_connections_share_few_workers() {
    let server = Serve::start(&["--workers", "2"]);
    let mut clients: Vec<_> = (0..300).map(|_| server.client()).collect();
    for round in 0..3 {
        for (n, client) in clients.iter_mut().enumerate() {
            client.send(post("/echo", &format!("{round} {n}")) + &get(&format!("/sleep/{}", n % 7)));
        }
        for (n, client) in clients.iter_mut().enumerate() {
            assert_eq!(client.response().text(), format!("{round} {n}"));
            assert_eq!(client.response().text(), "slept\n", "connection {n} in round {round}");
        }
    }
}

#[test]
fn a_server_that_has_no_file_left_serves_those_who_are_in_and_others_later() {
    let server = Serve::start(&["--workers", "1"]);
    // By now it has all files that it opens by itself, and has counted on more for connections than are left now.
    assert_eq!(server.client().get("/").text(), HELLO);
    let pid = server.pid().to_string();
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("it runs").count();
    let limited = run("prlimit", &["--pid", &pid, &format!("--nofile={}", open + 15)]);
    assert_eq!(limited.code, Some(0), "{limited:?}");
    // More than it can have at a time: the last wait in the kernel.
    let mut clients: VecDeque<_> = (0..40).map(|_| server.client()).collect();
    clients.iter_mut().for_each(|client| client.send(get("/")));
    while let Some(mut client) = clients.pop_front() {
        let left = clients.len();
        assert_eq!(client.response().text(), HELLO, "with {left} behind it");
        assert_eq!(client.get("/").text(), HELLO, "with {left} behind it");
    }
}
