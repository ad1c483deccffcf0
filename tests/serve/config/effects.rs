//! A setting has its effect.

use super::scene::Scene;
use std::time::{Duration, Instant};
use torr_test_support::client::{get, post};
use torr_test_support::wait_until;

#[test]
fn a_server_follows_each_source_of_settings() {
    let scene = Scene::new("max_body = 4\nworkers = 1\n").variable("TORR_SERVE_MAX_HEAD", "300");
    let server = scene.serve(&["--max-headers", "2"]);
    let mut client = server.client();
    client.send(post("/echo", "four"));
    assert_eq!(client.response().text(), "four");
    client.send(post("/echo", "five!"));
    assert_eq!(client.response().status, 413);
    let fields = |n: usize| (0..n).map(|i| format!("X{i}: x\r\n")).collect::<String>();
    for (fields, status) in [
        (fields(1), 200),
        (fields(2), 431),
        (format!("X: {}\r\n", "x".repeat(100)), 200),
        (format!("X: {}\r\n", "x".repeat(300)), 431),
    ] {
        let mut client = server.client();
        client.send(format!("GET / HTTP/1.1\r\nHost: x\r\n{fields}\r\n"));
        assert_eq!(client.response().status, status, "{fields}");
    }
}

#[test]
fn the_server_has_the_name_that_it_is_given() {
    let server = Scene::new("server_name = \"by file: \\\"1\\\"\"").serve(&[]);
    let response = server.exchange(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(response.contains("\r\nServer: by file: \"1\"\r\n"), "{response}");
}

#[test]
fn connections_are_as_many_as_the_file_says() {
    let server = Scene::new("max_connections = 1").serve(&[]);
    let mut first = server.client();
    assert_eq!(first.get("/").status, 200);
    let mut second = server.client();
    second.send(get("/"));
    assert_eq!(second.response().status, 503);
    assert_eq!(first.get("/").status, 200);
}

#[test]
fn connections_of_an_address_are_as_many_as_the_file_says() {
    let file = "max_connections_per_address = 1\nworkers = 2\n";
    let server = Scene::new(file).serve(&[]);
    let mut first = server.client();
    assert_eq!(first.get("/").status, 200);
    let mut second = server.client();
    second.send(get("/"));
    assert_eq!(second.response().status, 503);
    drop(first);
    let served = || {
        let mut third = server.client();
        third.send(get("/"));
        (third.response().status == 200).then_some(())
    };
    wait_until("the first to have left its place", served);

    // A trusted proxy has the connections of many.
    let server = Scene::new(format!("{file}trusted_proxies = 'loopback'")).serve(&[]);
    let mut clients = [server.client(), server.client()];
    clients.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
}

/// Checks that something ends long before it would by default.
fn within<T>(default: u64, what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    assert!(start.elapsed() < Duration::from_secs(default), "{what}: only after {:?}", start.elapsed());
    done
}

#[test]
fn timeouts_are_those_of_the_file() {
    let server = Scene::new("idle_timeout = '100ms'").serve(&[]);
    let mut idle = server.client();
    assert_eq!(idle.get("/").status, 200);
    within(75, "idle", || idle.ends());
    for (setting, default, unfinished) in [
        ("head_timeout", 10, "GET / HTTP/1.1\r\nHos"),
        ("body_timeout", 60, "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nfour"),
    ] {
        let server = Scene::new(format!("{setting} = 0.001")).serve(&[]);
        let mut client = server.client();
        client.send(unfinished);
        assert_eq!(within(default, setting, || client.response()).status, 408, "{setting}");
    }
    let mut server = Scene::new("stop_timeout = '1ms'\nworkers = 1").serve(&[]);
    let mut client = server.client();
    // By the response to the first the second is known to be in flight.
    client.send(get("/healthz") + &get("/sleep/3600000"));
    assert_eq!(client.response().status, 200);
    server.terminate();
    assert_eq!(within(30, "stop_timeout", || server.wait()), Some(0));
}

#[test]
fn the_largest_values_do_no_harm() {
    let largest = i64::MAX;
    let years = "\"9years\"";
    let scene = Scene::new(format!(
        "max_head = {largest}\nmax_headers = 256\nmax_body = {largest}\nmax_connections = {largest}\nbacklog = {}\n\
         idle_timeout = {years}\nhead_timeout = {years}\nbody_timeout = {years}\nwrite_timeout = {years}\n\
         stop_timeout = {years}\nworkers = 1\n",
        i32::MAX
    ));
    let mut server = scene.serve(&[]);
    let mut client = server.client();
    client.send(post("/echo", "hello"));
    assert_eq!(client.response().text(), "hello");
    assert_eq!(client.get("/").status, 200);
    server.terminate();
    client.ends();
    assert_eq!(server.wait(), Some(0));
}
