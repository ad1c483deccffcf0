//! A program without a `tracing` subscriber: warnings are on its standard error. The program is this test, started anew.

use std::env;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use torr_serve::{App, Response, Server};
use torr_test_support::PATIENCE;
use torr_test_support::client::Client;

const ROLE: &str = "TORR_TEST_SERVES";

/// Serves a controller that computes, and requests it until this process is killed.
fn serve() {
    let spin = |_: &torr_serve::Request<'_>| {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            std::hint::spin_loop();
        }
        Response::text("spun")
    };
    let by_router = axum::Router::new().fallback(|| async {
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(50) {
            std::hint::spin_loop();
        }
        "spun"
    });
    let bound =
        Server::new(App::new().get("/spin", spin).router(by_router)).bind("127.0.0.1:0").expect("a port is free");
    let address = bound.address();
    thread::spawn(move || bound.run());
    let mut client = Client::connect(address);
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        assert_eq!(client.get("/spin").text(), "spun");
        assert_eq!(client.get("/\u{9b}31m/\u{202e}spin").text(), "spun");
    }
}

#[test]
fn a_route_that_holds_up_its_worker_is_named_on_standard_error() {
    if env::var_os(ROLE).is_some() {
        return serve();
    }
    let program = env::current_exe().expect("a test is a program");
    let mut command = Command::new(program);
    command.args(["a_route_that_holds_up_its_worker_is_named_on_standard_error", "--exact", "--nocapture"]);
    let mut child =
        command.env(ROLE, "1").stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("a test can be started");
    let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
    let (mut named, mut routed) = (None, None);
    while let (None, _) | (_, None) = (&named, &routed) {
        let Some(Ok(line)) = lines.next() else { break };
        if line.contains("GET /spin blocked its worker") {
            named = Some(line);
        } else if line.contains("31m") {
            routed = Some(line);
        }
    }
    // Where it has ended already there is nothing to kill.
    let _ = child.kill();
    child.wait().expect("a child can be waited for");
    let named = named.expect("the program's standard error names the route");
    assert!(named.starts_with("torr-serve: "), "{named}");
    let routed = routed.expect("the program's standard error names the router's route");
    assert!(routed.contains(r"GET /\xc2\x9b31m/\xe2\x80\xaespin blocked its worker"), "{routed}");
}
