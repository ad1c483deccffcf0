//! Clients at their worst: they are refused, timed out or cut off, and others are served meanwhile.

use serde_json::Value;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use torr_test_support::program::{Running, run, signal, torr, torr_command, torr_json};
use torr_test_support::servers::{Serve, free_port};
use torr_test_support::wait_until;

const GET: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

/// Sends a request and reads one response that has a length. `None` if the server ended the connection instead.
fn ask(stream: &mut TcpStream) -> Option<String> {
    go_on(stream, GET)
}

/// Sends the rest of a request and reads the response.
fn go_on(stream: &mut TcpStream, rest: &[u8]) -> Option<String> {
    stream.write_all(rest).ok()?;
    let mut response = Vec::new();
    let mut bytes = [0; 4096];
    loop {
        let n = stream.read(&mut bytes).ok().filter(|&n| n > 0)?;
        response.extend_from_slice(&bytes[..n]);
        let text = String::from_utf8_lossy(&response);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length: usize = head.lines().find_map(|l| l.strip_prefix("Content-Length: ")?.parse().ok())?;
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
    }
}

/// Presses the server and sees that all is well. Returns the requests per second.
fn others_are_served(server: &Serve) -> f64 {
    let result = torr_json(&["-n", "2000", "-c", "8", "-t", "1", "--timeout", "60s", &server.url("/")]);
    assert_eq!(
        result["errors"],
        serde_json::json!({"connect": 0, "tls": 0, "timeout": 0, "read": 0, "write": 0, "protocol": 0, "status": 0, "ports": 0, "redirect": 0, "abandoned": 0}),
        "{result}"
    );
    result["rps"].as_f64().expect("it is a number")
}

/// CPU time of a process in clock ticks, hundredths of a second.
fn cpu_ticks(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("it runs");
    let fields: Vec<_> = stat.rsplit(')').next().expect("it has fields").split_whitespace().collect();
    [11, 12].iter().map(|&at| fields[at].parse::<u64>().expect("it is a number")).sum()
}

fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    line.split_whitespace().next().and_then(|n| n.parse().ok()).expect("it is a number")
}

fn open_files(pid: u32) -> usize {
    std::fs::read_dir(format!("/proc/{pid}/fd")).map_or(0, Iterator::count)
}

#[test]
fn two_thousand_slow_clients_leave_others_served() {
    let server = Serve::start(&["--workers", "1"]);
    let quiet = others_are_served(&server);
    let mut slow: Vec<_> = (0..2000)
        .map(|n| {
            let mut stream = server.connect();
            // Some stop within the head, some within the body.
            let part: &[u8] = if n % 2 == 0 {
                b"GET / HTTP/1.1\r\nHost: x\r\nX-"
            } else {
                b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx"
            };
            stream.write_all(part).expect("the server takes it");
            stream
        })
        .collect();
    wait_until("the server to accept them", || (open_files(server.pid()) > 2000).then_some(()));
    for stream in &mut slow {
        stream.write_all(b"y").expect("the server waits");
    }
    let busy = others_are_served(&server);
    // No timed test: only that no client is starved, on a busy machine too.
    assert!(busy > quiet / 10.0, "{quiet:.0}/s without them, {busy:.0}/s with them");
}

#[test]
fn a_client_that_sends_its_head_forever_is_timed_out() {
    let server = Serve::start(&["--workers", "1"]);
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a socket takes options");
    stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n").expect("the server takes it");
    let (start, mut response) = (Instant::now(), Vec::new());
    loop {
        let mut bytes = [0; 1024];
        match stream.read(&mut bytes) {
            Ok(0) => break,
            Ok(n) => response.extend_from_slice(&bytes[..n]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                // Each line puts its own end off, but not that of the head.
                if stream.write_all(b"X: y\r\n").is_err() {
                    break;
                }
            }
            Err(_) => break,
        }
        assert!(start.elapsed() < Duration::from_secs(30), "it is still waited for");
    }
    assert!(String::from_utf8_lossy(&response).starts_with("HTTP/1.1 408 "), "{response:?}");
}

/// A connection of HTTP/2 whose bodies come in frames of one byte each, which are ten on the wire.
#[test]
fn a_body_takes_the_memory_of_its_bytes_whatever_its_frames_are() {
    const STREAMS: u32 = 4;
    const BYTES: usize = 60_000;
    let server = Serve::start(&["--workers", "1"]);
    let mut stream = server.connect();
    let frame = |length: usize, kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(length).expect("it fits").to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    // Waits until the server has read everything so far: it acknowledges a PING.
    let settle = |stream: &mut TcpStream| {
        stream.write_all(&frame(8, 6, 0, 0, b"resident")).expect("the server takes it");
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).expect("a frame");
            let mut payload = vec![0; usize::from(u16::from_be_bytes([head[1], head[2]]))];
            stream.read_exact(&mut payload).expect("its payload");
            if head[3] == 6 {
                return;
            }
        }
    };
    let mut opening = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(0, 4, 0, 0, b"")].concat();
    let block = b"\x83\x86\x41\x01x\x04\x05/echo";
    (0..STREAMS).for_each(|n| opening.extend(frame(block.len(), 1, 4, 2 * n + 1, block)));
    stream.write_all(&opening).expect("the server takes it");
    settle(&mut stream);
    let before = resident_kib(server.pid());
    // No more at a time than what the server's library takes before it is consumed.
    let round: Vec<u8> = (0..STREAMS).flat_map(|n| frame(1, 0, 0, 2 * n + 1, b"b")).collect::<Vec<_>>().repeat(250);
    for _ in 0..BYTES / 250 {
        stream.write_all(&round).expect("the server takes it");
        settle(&mut stream);
    }
    let grown = resident_kib(server.pid()).saturating_sub(before);
    assert!(grown < 5 * 1024, "{grown} KiB more for {} KiB of bodies", STREAMS as usize * BYTES / 1024);
}

#[test]
fn ten_thousand_idle_connections_cost_little_and_block_no_others() {
    let room = torr_net::file_limit::raise_for_connections(15_000);
    assert_eq!(room, 15_000, "this test needs a hard limit of open files (ulimit -Hn) of 16,000");
    let server = Serve::start(&["--workers", "2"]);
    others_are_served(&server);
    let before = resident_kib(server.pid());
    let idle: Vec<_> = (0..10_000)
        .map(|_| {
            let mut stream = server.connect();
            assert!(ask(&mut stream).is_some(), "each has been served once");
            stream
        })
        .collect();
    let each = (resident_kib(server.pid()).saturating_sub(before)) * 1024 / idle.len() as u64;
    assert!(each < 4096, "{each} bytes of memory for each idle connection");
    others_are_served(&server);
}

#[test]
fn a_flood_beyond_the_limit_is_refused_and_the_rest_is_served() {
    let server = Serve::start(&["--workers", "2", "--max-connections", "50"]);
    let mut inside: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = server.connect();
            assert!(ask(&mut stream).is_some_and(|response| response.starts_with("HTTP/1.1 200 ")));
            stream
        })
        .collect();
    for _ in 0..500 {
        let mut stream = server.connect();
        // Refused with a response, or, where the request overtakes the refusal, with a reset.
        let response = ask(&mut stream);
        assert!(response.as_deref().is_none_or(|response| response.starts_with("HTTP/1.1 503 ")), "{response:?}");
    }
    let refusal = torr_json(&["-n", "20", "-c", "2", "-t", "1", &server.url("/")]);
    assert_eq!(refusal["status"]["200"], Value::Null, "{refusal}");
    for stream in &mut inside {
        assert!(
            ask(stream).is_some_and(|response| response.starts_with("HTTP/1.1 200 ")),
            "those inside are served on"
        );
    }
    drop(inside);
    wait_until("a seat to be free", || {
        ask(&mut server.connect()).filter(|response| response.starts_with("HTTP/1.1 200 "))
    });
}

#[test]
fn without_free_files_nothing_spins_and_accepting_goes_on_later() {
    let server = Serve::start(&["--workers", "1"]);
    others_are_served(&server);
    // The limit sinks later: what the server finds at its start it leaves room for.
    let pid = server.pid().to_string();
    let limited = run("prlimit", &["--pid", &pid, "--nofile=120"]);
    assert_eq!(limited.code, Some(0), "{limited:?}");
    let mut streams: Vec<_> = (0..200).map(|_| server.connect()).collect();
    // The first bytes make them known to the server, in this order.
    streams.iter_mut().for_each(|stream| stream.write_all(&GET[..10]).expect("the kernel takes it"));
    wait_until("the files to be used up", || (open_files(server.pid()) >= 120).then_some(()));
    let (start, ticks) = (Instant::now(), cpu_ticks(server.pid()));
    assert!(go_on(&mut streams[0], &GET[10..]).is_some(), "those inside are served");
    // Not synchronisation: the time over which its CPU use is watched.
    std::thread::sleep(Duration::from_secs(1));
    let used = (cpu_ticks(server.pid()) - ticks) as f64 / 100.0 / start.elapsed().as_secs_f64();
    assert!(used < 0.5, "it used {used:.2} of a CPU while it could not accept");
    let mut last = streams.pop().expect("there are many");
    streams.clear();
    assert!(go_on(&mut last, &GET[10..]).is_some(), "accepted once there were files again");
}

#[test]
fn a_reader_that_never_reads_costs_bounded_memory() {
    let server = Serve::start(&["--workers", "1"]);
    others_are_served(&server);
    let before = resident_kib(server.pid());
    let greedy: Vec<_> = (0..50)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(b"GET /bytes/1000000000 HTTP/1.1\r\nHost: x\r\n\r\n").expect("the server takes it");
            // Many responses, none of which is read: 20 MB of each connection.
            let mut pipeline = server.connect();
            pipeline.set_nonblocking(true).expect("a socket takes options");
            let _ = pipeline.write(&b"GET /bytes/10000 HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2000));
            (stream, pipeline)
        })
        .collect();
    others_are_served(&server);
    let grown = resident_kib(server.pid()).saturating_sub(before);
    assert!(grown < 100 * 1024, "{grown} KiB for {} connections that read nothing", 2 * greedy.len());
}

#[test]
fn leaving_under_load_fails_no_request() {
    let mut server = Serve::start(&["--workers", "2"]);
    let (answered, failed, noticed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                let mut stream = server.connect();
                while let Some(response) = ask(&mut stream) {
                    answered.fetch_add(1, Ordering::SeqCst);
                    if response.contains("\r\nConnection: close\r\n") {
                        return;
                    }
                }
                failed.fetch_add(1, Ordering::SeqCst);
            });
        }
        wait_until("the load", || (answered.load(Ordering::SeqCst) > 2000).then_some(()));
        server.terminate();
        noticed.store(true, Ordering::SeqCst);
    });
    assert!(noticed.load(Ordering::SeqCst), "nobody was sent away before");
    assert_eq!(failed.load(Ordering::SeqCst), 0, "of {} requests", answered.load(Ordering::SeqCst));
    assert_eq!(server.wait(), Some(0));
    assert_eq!(torr(&["-n", "1", "-c", "1", &server.url("/")]).code, Some(3), "it no longer listens");
}

/// The crate below warns of each acknowledgement of a ping that was never sent.
#[test]
fn a_client_cannot_fill_the_log() {
    const UNASKED: &[u8] = b"\0\0\x08\x06\x01\0\0\0\0unasked!";
    for level in ["info", "warn"] {
        let address = format!("127.0.0.1:{}", free_port());
        let args = ["serve", "--listen", &address, "--workers", "1", "--log-level", level, "--defer-accept", "false"];
        let server = Running::start(torr_command(&args));
        for _ in 0..20 {
            let mut stream = wait_until("the server to listen", || TcpStream::connect(&address).ok());
            let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
            stream.write_all(preface).expect("it listens");
            // It ends the connection before it has taken all of them.
            let _ = stream.write_all(&UNASKED.repeat(3)).and_then(|()| stream.write_all(&UNASKED.repeat(10_000)));
            let _ = stream.read_to_end(&mut Vec::new());
        }
        signal(server.pid(), "TERM");
        let ended = server.wait();
        assert!(ended.stderr.contains("serving on"), "{}", ended.stderr);
        assert!(ended.stderr.lines().count() < 5, "{level}: {}", ended.stderr);
    }
}
