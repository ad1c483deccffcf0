//! The example `hello` serves as its first line promises.

mod support;

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};
use support::PATIENCE;
use support::client::Client;

/// Killed with its value.
struct Hello(Child);

impl Drop for Hello {
    fn drop(&mut self) {
        // Where it has ended already there is nothing to kill.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
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
    let tests = std::env::current_exe().expect("a test is a program");
    let folder = tests.parent().and_then(|deps| deps.parent()).expect("it lies in target/debug/deps");
    let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free");
    let program = folder.join("examples/hello");
    let child = Command::new(&program).arg(port.to_string()).spawn();
    let mut hello =
        Hello(child.unwrap_or_else(|error| panic!("{}: {error}; cargo build --examples", program.display())));
    wait_until("hello to listen", || {
        let ended = hello.0.try_wait().expect("a child can be waited for");
        assert_eq!(ended, None, "hello has ended");
        TcpStream::connect(port).ok()
    });
    let mut client = Client::connect(port);
    assert_eq!(client.get("/").text(), "<p>Hello, world!</p>");
    let killed = Command::new("kill").arg(hello.0.id().to_string()).status();
    assert!(killed.is_ok_and(|status| status.success()), "a child can be sent SIGTERM");
    client.ends();
    drop(client);
    let status = wait_until("hello to end", || hello.0.try_wait().expect("a child can be waited for"));
    assert_eq!(status.code(), Some(0));
}
