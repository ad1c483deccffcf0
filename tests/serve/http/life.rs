//! Starting and leaving.

use super::*;

/// The error of a connection that must not come about.
fn refusal(server: &Serve) -> ErrorKind {
    let connected = TcpStream::connect(&server.address);
    connected.map_or_else(|error| error.kind(), |stream| panic!("{stream:?} although the server has left"))
}

#[test]
fn a_signal_lets_it_finish_what_is_under_way_and_leave() {
    for signal in ["TERM", "INT"] {
        let mut server = Serve::start(ONE_WORKER);
        let (mut idle, mut silent, mut waiting) = (server.client(), server.connect(), server.client());
        assert_eq!(idle.get("/").text(), HELLO);
        // By the response to the first the second is known to be in flight.
        waiting.send(get("/healthz") + &get("/sleep/1000") + &get("/"));
        assert_eq!(waiting.response().text(), "ok\n");
        let mut sending = server.client();
        sending.send("POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
        assert_eq!(sending.interim().status, 100);

        torr_test_support::program::signal(server.pid(), signal);
        idle.ends();
        assert_eq!(refusal(&server), ErrorKind::ConnectionRefused, "{signal}, while it leaves");
        sending.send("hello");
        for (client, text) in [(&mut sending, "hello"), (&mut waiting, "slept\n")] {
            let response = client.response();
            assert_eq!(
                (response.text(), response.field("Connection")),
                (text, Some("close")),
                "{signal}: {response:?}"
            );
            client.ends();
        }
        assert_eq!(server.wait(), Some(0), "{signal}");
        assert_eq!(refusal(&server), ErrorKind::ConnectionRefused, "{signal}, after it left");
        // It had said nothing, so it was never accepted, and finds out when it speaks.
        let sent = silent.write_all(get("/").as_ref());
        assert!(sent.is_err() || !silent.read(&mut [0; 100]).is_ok_and(|n| n > 0), "{signal}: somebody answered");
    }
}

#[test]
fn all_workers_leave_although_clients_keep_them_busy() {
    let mut server = Serve::start(&["--workers", "2"]);
    let mut clients: Vec<_> = (0..8).map(|_| server.client()).collect();
    for client in &mut clients {
        assert_eq!(client.get("/").text(), HELLO);
    }
    // Each sends its next request after each response, until a response is the last one.
    let pressing = clients
        .into_iter()
        .map(|mut client| thread::spawn(move || while client.get("/sleep/0").field("Connection").is_none() {}));
    let pressing: Vec<_> = pressing.collect();
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    for client in pressing {
        client.join().expect("every request was answered");
    }
}

#[test]
fn what_is_sent_to_a_stopping_server_does_not_destroy_its_response() {
    let mut server = Serve::start(ONE_WORKER);
    let mut client = server.client();
    client.send(get("/healthz") + &get("/sleep/500"));
    assert_eq!(client.response().text(), "ok\n");
    // This waits in the kernel when the connection is ended.
    client.send(get("/").repeat(100));
    server.terminate();
    ends_with(&mut client, 200, "/sleep with more behind it");
    drop(client);
    assert_eq!(server.wait(), Some(0));
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = Serve::start(&["--workers", "2"]);
    let ended = torr(&["serve", "--listen", &server.address]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let line = format!("torr: cannot listen on {}: address in use\n", server.address);
    assert_eq!((ended.stdout.as_str(), &*ended.stderr), ("", &*line));
    assert_eq!(server.client().get("/").text(), HELLO);
}

#[test]
fn a_bad_address_is_bad_usage() {
    for listen in ["nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "http://127.0.0.1:0/", ""] {
        let ended = torr(&["serve", "--listen", listen]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{listen:?}: {ended:?}");
        assert!(ended.stderr.contains(&format!("'{listen}'")), "{listen:?}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{listen:?}: {ended:?}");
    }
    for (option, value) in [("--workers", "0"), ("--max-headers", "257"), ("--max-head", "0"), ("--max-body", "-1")] {
        let ended = torr(&["serve", option, value]);
        assert_eq!(ended.code, Some(2), "{option} {value}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{option} {value}: {ended:?}");
    }
}

#[test]
fn it_listens_on_ipv6_and_by_name() {
    if TcpListener::bind("[::1]:0").is_ok() {
        let server = Serve::start_on("[::1]:0", &[]);
        assert!(server.address.starts_with("[::1]:"), "{}", server.address);
        assert_eq!(server.client().get("/").text(), HELLO);
    }
    let server = Serve::start_on("localhost:0", &[]);
    assert_eq!(server.client().get("/").text(), HELLO);
}
