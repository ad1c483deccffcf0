//! The examples serve as their first lines promise.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};
use support::PATIENCE;
use support::client::Client;

/// An example that runs; killed with this value.
struct Example {
    child: Child,
    address: SocketAddr,
}

impl Drop for Example {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Example {
    /// Starts it on a free port, and waits until it listens.
    fn start(name: &str) -> Self {
        let tests = std::env::current_exe().expect("a test is a program");
        let folder = tests.parent().and_then(|deps| deps.parent()).expect("it lies in target/debug/deps");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a port is free");
        let program = folder.join("examples").join(name);
        let child = Command::new(&program).arg(address.to_string()).spawn();
        let child = child.unwrap_or_else(|error| panic!("{}: {error}; cargo build --examples", program.display()));
        let mut example = Self { child, address };
        wait_until("the example to listen", || {
            let ended = example.child.try_wait().expect("a child can be waited for");
            assert_eq!(ended, None, "{name} has ended");
            is_answered(address)
        });
        example
    }

    /// Ends it by SIGTERM, which its client sees.
    fn leaves(mut self, mut client: Client) {
        let killed = Command::new("kill").arg(self.child.id().to_string()).status();
        assert!(killed.is_ok_and(|status| status.success()), "a child can be sent SIGTERM");
        client.ends();
        drop(client);
        let status = wait_until("the example to end", || self.child.try_wait().expect("a child can be waited for"));
        assert_eq!(status.code(), Some(0));
    }
}

/// Whether a request has an answer. To connect is not enough: a server looks whether its port is free by listening on it,
/// and stops again before its workers listen.
fn is_answered(address: SocketAddr) -> Option<()> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").ok()?;
    (stream.read(&mut [0]).ok()? == 1).then_some(())
}

/// Looks often, until there is something to see.
fn wait_until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn hello_greets_and_leaves() {
    let hello = Example::start("hello");
    let mut client = Client::connect(hello.address);
    assert_eq!(client.get("/").text(), "<p>Hello, world!</p>");
    hello.leaves(client);
}

#[test]
fn router_serves_a_controller_and_axum_side_by_side() {
    let router = Example::start("router");
    let mut client = Client::connect(router.address);
    assert_eq!(client.get("/fast").text(), "as fast as it gets");
    for visit in 1..4 {
        assert_eq!(client.get("/users/7").text(), format!(r#"{{"id":7,"visit":{visit}}}"#));
    }
    let sum = |a: i64, b: i64| {
        let body = format!(r#"{{"a":{a},"b":{b}}}"#);
        let fields = format!("Content-Type: application/json\r\nContent-Length: {}", body.len());
        format!("POST /add HTTP/1.1\r\nHost: x\r\n{fields}\r\n\r\n{body}")
    };
    for (a, b, status, text) in [(1, 2, 200, "3"), (i64::MAX, 1, 422, "too large")] {
        client.send(sum(a, b));
        let answer = client.answer();
        assert_eq!((answer.status, answer.text()), (status, text));
    }
    assert_eq!(client.get("/nap?ms=5").text(), "slept 5 ms");
    assert_eq!(client.get("/whoami").text(), "you are 127.0.0.1");
    assert_eq!(client.get("/page").text().len(), 3_300);
    assert_eq!(client.get("/users/seven").status, 400);
    assert_eq!(client.get("/fast/er").status, 404);
    router.leaves(client);
}
