//! The known defects of other load generators, and that Torr has none of them.
//!
//! | program | defect | that Torr does not share it is shown by |
//! |---|---|---|
//! | ab | one thread | `press_counts::exactly_n_requests_on_exactly_c_connections` |
//! | ab | calls a body of another size a failure | here |
//! | ab | needs the literal `Keep-Alive` in the response | `press_counts::exactly_n_requests_on_exactly_c_connections`, whose responses have no such field |
//! | ab | ends without a report after a quiet time | here |
//! | ab, oha, k6 | memory grows with the number of requests | here |
//! | ab, wrk2 | whole or half milliseconds | `truth_metronome` |
//! | wrk | counts a time-out only once the late response arrives | `truth_stall::a_server_that_hangs_for_good_is_timed_out_all_the_while` |
//! | wrk | the longest never exceeds the time-out | `press_bad_servers::a_server_that_accepts_and_says_nothing_is_timed_out` |
//! | wrk | adds samples without a measurement | here |
//! | wrk | starts the clock after connecting | here |
//! | wrk | uses a socket again that the server means to close | `press_framing::responses_of_every_framing_are_counted_to_the_byte`, `Connection: close` |
//! | wrk | a failed connect kills that connection for the whole run | here |
//! | wrk | loses connections by dividing them among threads | `press_counts::exactly_n_requests_on_exactly_c_connections`, 10 on 3 threads |
//! | wrk2 | throws its first ten seconds away | `press_open_loop::the_offered_rate_is_the_rate_that_is_sent` |
//! | httpress | ignores the status | `press_framing::statuses_from_400_are_responses_and_errors` |
//! | httpress | IPv4 only | here |
//! | httpress | 204, 304 and bodies without a length fail | `press_framing::responses_of_every_framing_are_counted_to_the_byte` |
//! | httpress | has no time-out | `press_counts::a_hung_server_shows_time_outs_while_it_hangs` |
//! | press | takes any status for success | `press_framing::statuses_from_400_are_responses_and_errors` |
//! | press | gives up without figures above 10% of errors | `press_counts::a_server_that_fails_now_and_then_loses_no_request`, 43% |
//! | press | counters underflow | `press_bad_servers::an_interruption_at_any_time_gives_a_report_that_adds_up` |
//! | hey | keeps the latencies of the first million only | here, since all is counted in the memory of few |
//! | vegeta, bombardier | start the clock when a request is sent, not when it is due | `press_open_loop::a_stall_is_in_the_latency_of_all_requests_that_were_due_meanwhile` |
//! | h2load | misses the rate by a factor | `press_open_loop::the_offered_rate_is_the_rate_that_is_sent` |

use serde_json::Value;
use socket2::{Domain, Socket, Type};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use torr_test_support::program::{Running, torr, torr_command, torr_json};
use torr_test_support::script::{OK, Script, answering};
use torr_test_support::servers::{Nginx, free_port};
use torr_test_support::{PATIENCE, wait_until};

fn count(result: &Value, pointer: &str) -> u64 {
    result.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {pointer} in {result}"))
}

fn result(ended: &torr_test_support::program::Ended) -> Value {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

/// A listener that can take a port over at once, with room for so many waiting connections.
fn listen(port: u16, backlog: i32) -> TcpListener {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket.set_reuse_address(true).expect("a socket takes options");
    socket.bind(&SocketAddr::from(([127, 0, 0, 1], port)).into()).expect("the port is free");
    socket.listen(backlog).expect("it listens");
    socket.into()
}

#[test]
fn ab_calls_a_body_of_another_size_a_failure() {
    let turn = AtomicUsize::new(0);
    let server = Script::start(move |client| {
        while client.request().is_some() {
            let body = "x".repeat(turn.fetch_add(1, Ordering::SeqCst) % 100);
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let result = torr_json(&["-n", "1000", "-c", "4", &server.url()]);
    assert_eq!((count(&result, "/requests"), result["causes"].is_null()), (1000, true), "{result}");
    // Ten times 0 + 1 + ... + 99.
    assert_eq!(count(&result, "/bytes/body"), 49_500, "{result}");
}

#[test]
fn ab_ends_without_a_report_after_a_quiet_time() {
    let served = AtomicUsize::new(0);
    let server = Script::start(move |client| {
        while client.request().is_some() {
            if served.fetch_add(1, Ordering::SeqCst) < 100 {
                client.send(OK);
            }
        }
    });
    let ended = torr(&["-d", "2s", "-c", "2", "-t", "1", "--timeout", "500ms", "-q", &server.url()]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    for words in ["200 x 100", "timeout", "no complete response within 500 ms", "latency"] {
        assert!(ended.stdout.contains(words), "no {words:?} in {}", ended.stdout);
    }
}

#[test]
fn ab_and_oha_grow_with_the_number_of_requests() {
    let nginx = Nginx::start("keepalive_requests 1000000; location / { return 200 hello; }");
    // The most memory that a run of so many requests had, in KiB.
    let most = |requests: u64, more: &[&str]| {
        let (requests_arg, url) = (requests.to_string(), nginx.url());
        let args = ["-n", &requests_arg, "-c", "20", "-t", "2", "--json", "-", &url];
        let run = Running::start(torr_command(&[&args[..], more].concat()));
        let path = format!("/proc/{}/status", run.pid());
        let mut most = 0;
        // It has no memory once it has ended, until then that of the last look is near enough to the last.
        let start = Instant::now();
        loop {
            let status = std::fs::read_to_string(&path).unwrap_or_default();
            let peak =
                status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
            let Some(peak) = peak else { break };
            most = most.max(peak);
            // So many requests take a busy machine longer than all else.
            assert!(start.elapsed() < 5 * PATIENCE, "{requests} requests take too long");
            std::thread::sleep(Duration::from_millis(5));
        }
        let result = result(&run.wait());
        assert_eq!(count(&result, "/requests"), requests, "{result}");
        most
    };
    // Both take some seconds, so that both hand over samples on the way.
    let (few, many): (u64, u64) = (most(50_000, &["-r", "20k"]), most(700_000, &[]));
    assert!(few > 1000, "{few} KiB cannot be all");
    // Each request kept at only 8 bytes would be 5,078 KiB more. Pages of histograms that are touched later were up to 2,064 KiB where
    // the hypervisor made the longest times many.
    assert!(many < few + 4096, "{few} KiB at 50,000 requests, {many} KiB at 700,000");
}

#[test]
fn wrk_adds_samples_without_a_measurement() {
    let turn = AtomicUsize::new(0);
    let server = Script::start(move |client| {
        while client.request().is_some() {
            if turn.fetch_add(1, Ordering::SeqCst) == 500 {
                // Not synchronisation: this is the stall that is to be measured, once.
                std::thread::sleep(Duration::from_secs(1));
            }
            client.send(OK);
        }
    });
    let result = torr_json(&["-n", "1000", "-c", "1", "-t", "1", &server.url()]);
    assert!(count(&result, "/latency_us/max") >= 1_000_000, "{result}");
    // One connection cannot have waited longer than the run took. Samples that stand for requests that were never sent
    // would add half a second each.
    let waited = result["latency_us"]["mean"].as_f64().expect("it is a number") * 1000.0 / 1e6;
    let took = result["duration_s"].as_f64().expect("it is a number");
    assert!((1.0..=took * 1.001).contains(&waited), "{waited} s of waiting in {took} s: {result}");
    assert!(count(&result, "/latency_us/p99") < 500_000, "one of a thousand was slow: {result}");
}

#[test]
fn wrk_starts_the_clock_after_connecting() {
    for load in [&["-r", "100"][..], &["--no-keepalive"]] {
        // A queue of one is full with two; the SYN of a further client is dropped, and retransmitted after a second.
        let listener = listen(0, 1);
        let address = listener.local_addr().expect("it is bound");
        let _waiting = [0; 2].map(|_| TcpStream::connect(address).expect("there is room in the queue"));
        let url = format!("http://{address}/");
        let run =
            Running::start(torr_command(&[load, &["-n", "3", "-c", "3", "-t", "1", "--json", "-", &url]].concat()));
        let connecting = format!("{:08X}:{:04X} 02", u32::from_be_bytes([1, 0, 0, 127]), address.port());
        wait_until("torr to have asked for its connections", || {
            let sockets = std::fs::read_to_string("/proc/net/tcp").expect("the kernel tells its sockets");
            (sockets.lines().filter(|line| line.contains(&connecting)).count() == 3).then_some(())
        });
        // From here on it serves, and responds at once.
        listener.set_nonblocking(true).expect("a socket takes options");
        let mut streams = Vec::new();
        let mut served = 0;
        wait_until("three requests", || {
            while let Ok((stream, _)) = listener.accept() {
                stream.set_nonblocking(true).expect("a socket takes options");
                streams.push(stream);
            }
            for stream in &mut streams {
                if stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) {
                    served += 1;
                    stream.write_all(OK).expect("torr waits for it");
                }
            }
            (served == 3).then_some(())
        });
        let ended = run.wait();
        let result = result(&ended);
        assert_eq!(count(&result, "/requests"), 3, "{load:?}: {result}");
        let (least, connect) = (count(&result, "/latency_us/min"), count(&result, "/phases_us/connect/min"));
        assert!(least >= 900_000 && connect >= 900_000, "{load:?}: {least} us, {connect} us to connect: {result}");
    }
}

#[test]
fn wrk_loses_a_connection_whose_connect_failed() {
    const CONNECTIONS: usize = 6;
    let port = free_port();
    let listener = listen(port, 64);
    let url = format!("http://127.0.0.1:{port}/");
    let run = Running::start(torr_command(&["-d", "60s", "-c", "6", "-t", "2", "--json", "-", &url]));
    // The first request of each is answered, then the server goes away, and each connects in vain.
    let first = serve(&listener, CONNECTIONS);
    drop(listener);
    drop(first);
    // Not synchronisation: this is how long it is away, several attempts of each.
    std::thread::sleep(Duration::from_millis(500));
    // All of them come back.
    let streams = serve(&listen(port, 64), CONNECTIONS);
    run.signal("INT");
    let ended = run.wait();
    drop(streams);
    let result = result(&ended);
    assert!(count(&result, "/errors/connect") >= CONNECTIONS as u64, "each was refused: {result}");
    assert_eq!(count(&result, "/connections/peak"), CONNECTIONS as u64, "{result}");
}

/// Serves until so many connections, all open at once, have had a response each, and gives them.
fn serve(listener: &TcpListener, connections: usize) -> Vec<TcpStream> {
    listener.set_nonblocking(true).expect("a socket takes options");
    let (mut streams, mut answered) = (Vec::new(), BTreeSet::new());
    wait_until("requests on every connection", || {
        while let Ok((stream, from)) = listener.accept() {
            stream.set_nonblocking(true).expect("a socket takes options");
            streams.push((from, stream));
        }
        for (from, stream) in &mut streams {
            if stream.read(&mut [0; 4096]).is_ok_and(|n| n > 0) && stream.write_all(OK).is_ok() {
                answered.insert(*from);
            }
        }
        (answered.len() == connections).then_some(())
    });
    streams.into_iter().map(|(_, stream)| stream).collect()
}

#[test]
fn httpress_knows_ipv4_only() {
    let server = Script::start_on("[::1]:0", answering(OK));
    let result = torr_json(&["-n", "100", "-c", "4", &server.url()]);
    assert_eq!((count(&result, "/requests"), server.requests()), (100, 100), "{result}");
}
