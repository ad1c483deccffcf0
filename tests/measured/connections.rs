//! Connections of a server that goes and comes back, and of one that closes those that are idle.

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use torr_test_support::measured::measured;
use torr_test_support::program::{Running, torr_command, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::script::{OK, Script};
use torr_test_support::servers::free_port;
use torr_test_support::{alone, quiet, wait_until};

/// Serves on a port until the test ends it, then closes its listener and all connections at once.
fn life(listener: &TcpListener, requests: &AtomicUsize, until: usize) {
    let mut streams: Vec<TcpStream> = Vec::new();
    listener.set_nonblocking(true).expect("a socket takes options");
    wait_until("requests", || {
        while let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).expect("a socket takes options");
            streams.push(stream);
        }
        let mut bytes = [0; 4096];
        for stream in &mut streams {
            if stream.read(&mut bytes).is_ok_and(|n| n > 0) {
                requests.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(OK);
            }
        }
        (requests.load(Ordering::SeqCst) >= until).then_some(())
    });
}

#[test]
fn a_server_that_comes_back_is_found_again_within_a_second() {
    let _alone = alone();
    measured("the time until a server is found again", || {
        let port = free_port();
        let bind = || {
            let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).expect("a socket");
            socket.set_reuse_address(true).expect("a socket takes options");
            socket.bind(&std::net::SocketAddr::from(([127, 0, 0, 1], port)).into()).expect("the port is free");
            socket.listen(64).expect("it listens");
            TcpListener::from(socket)
        };
        let requests = AtomicUsize::new(0);
        let listener = bind();
        let url = format!("http://127.0.0.1:{port}/");
        let run = Running::start(torr_command(&["-d", "60s", "-c", "4", "-t", "1", "--json", "-", &url]));
        life(&listener, &requests, 20);
        drop(listener);
        // Not synchronisation: this is how long it is away.
        std::thread::sleep(Duration::from_millis(1500));
        let listener = bind();
        let back = std::time::Instant::now();
        life(&listener, &requests, 21);
        let found = back.elapsed();
        life(&listener, &requests, 100);
        run.signal("INT");
        let ended = run.wait();
        assert_eq!(ended.code, Some(130), "{ended:?}");
        let result: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"));
        adds_up(&result);
        let refused = count(&result, "/errors/connect");
        assert!((4..=200).contains(&refused), "tried again and again, but not in a frenzy: {result}");
        quiet!(found < Duration::from_secs(1), "found again after {found:?}");
    });
}

#[test]
fn a_connection_that_was_in_use_is_not_idle() {
    let _alone = alone();
    // The second request arrives before the server closes, and stays unread: the kernel sends a reset.
    let server = Script::start(|client| {
        if client.request().is_some() {
            client.send(OK);
            let _ = client.stream.peek(&mut [0]);
        }
    });
    measured("a connection that was in use", || {
        let result = torr_json(&["-c", "1", "-t", "1", "-n", "6", &server.url()]);
        adds_up(&result);
        // On a busy machine some milliseconds may pass between response and request.
        quiet!(result.pointer("/connections/idle_closes").is_none(), "{result}");
    });
}
