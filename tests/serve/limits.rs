//! Limits of `torr serve` under clients that try them: slow ones by the hundred, many of one address, many requests each.

use socket2::{Domain, Socket, Type};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_test_support::certificates::self_signed;
use torr_test_support::client::{get, post};
use torr_test_support::metrics::Metrics;
use torr_test_support::program::{Running, run, signal, torr_json, torr_path};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::{Serve, free_port};
use torr_test_support::wait_until;

/// What a client may wait for a response while others do their worst: no time of its own, only not theirs.
const PROMPT: Duration = Duration::from_secs(10);

fn metrics(server: &Serve) -> Metrics {
    Metrics::parse(server.client().get("/metrics").text())
}

/// Sends requests until stopped, on one connection and on fresh ones. Returns their number and the longest response time.
fn ask_meanwhile(server: &Serve, stop: &AtomicBool) -> (usize, Duration) {
    let (mut kept, mut sent, mut longest) = (server.client(), 0, Duration::ZERO);
    while !stop.load(Ordering::SeqCst) {
        let start = Instant::now();
        assert_eq!(kept.get("/").status, 200);
        assert_eq!(server.client().get("/json").status, 200);
        longest = longest.max(start.elapsed());
        sent += 2;
    }
    (sent, longest)
}

#[test]
fn heads_that_come_byte_by_byte_delay_no_others_and_time_out() {
    let server = Serve::start(&["--workers", "1", "--head-timeout", "2s", "--idle-timeout", "10m"]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let normal = scope.spawn(|| ask_meanwhile(&server, &stop));
        let mut slow: Vec<_> = (0..500).map(|_| Some(server.connect())).collect();
        let start = Instant::now();
        // A byte each, again and again, until the server has ended all of them.
        for byte in b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ".iter().chain(std::iter::repeat(&b'y')) {
            for slot in &mut slow {
                let Some(stream) = slot else { continue };
                stream.set_nonblocking(true).expect("a socket takes options");
                let answered = !matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock);
                if answered || stream.write_all(&[*byte]).is_err() {
                    stream.set_nonblocking(false).expect("a socket takes options");
                    let mut response = Vec::new();
                    // It may have been reset while it went on to send.
                    let _ = stream.read_to_end(&mut response);
                    assert!(response.starts_with(b"HTTP/1.1 408 "), "{}", response.escape_ascii());
                    *slot = None;
                }
            }
            if slow.iter().all(Option::is_none) {
                break;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "some are still waited for");
            thread::sleep(Duration::from_millis(10));
        }
        stop.store(true, Ordering::SeqCst);
        let (sent, longest) = normal.join().expect("it is served");
        assert!(sent > 20 && longest < PROMPT, "{sent} answers, one after {longest:?}");
    });
    assert_eq!(metrics(&server).of("torr_connections_timed_out_total"), 500.0);
}

#[test]
fn readers_that_never_read_delay_no_others_and_are_closed() {
    let server = Serve::start(&["--workers", "1", "--write-timeout", "2s"]);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let normal = scope.spawn(|| ask_meanwhile(&server, &stop));
        let slow: Vec<_> = (0..300)
            .map(|n| {
                let mut stream = server.connect();
                // Large responses, and many small ones.
                let requests = if n % 2 == 0 { get("/bytes/100000000") } else { get("/bytes/10000").repeat(1000) };
                stream.write_all(requests.as_bytes()).expect("the server takes it");
                stream
            })
            .collect();
        wait_until("the server to give them up", || {
            (metrics(&server).of("torr_connections_timed_out_total") >= 300.0).then_some(())
        });
        drop(slow);
        stop.store(true, Ordering::SeqCst);
        let (sent, longest) = normal.join().expect("it is served");
        assert!(sent > 20 && longest < PROMPT, "{sent} answers, one after {longest:?}");
    });
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).expect("it runs");
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse::<u64>().ok());
    // At most what is made ready at a time for each, 64 KiB, and what came of its requests.
    assert!(peak.is_some_and(|kib| kib < 150_000), "{peak:?} KiB");
}

/// A connection from an address of this machine.
fn connect_from(from: [u8; 4], server: &Serve) -> TcpStream {
    let to: SocketAddr = server.address.parse().expect("it is an address");
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket can be made");
    socket.bind(&SocketAddr::from((Ipv4Addr::from(from), 0)).into()).expect("loopback has many addresses");
    socket.connect(&to.into()).expect("it listens");
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket takes options");
    stream
}

/// The status of a response, if there is one, with the connection.
fn status_of(mut stream: TcpStream) -> (Option<u16>, TcpStream) {
    let mut first = [0; 12];
    let status = stream.write_all(get("/").as_bytes()).and_then(|()| stream.read_exact(&mut first)).ok();
    (status.and_then(|()| std::str::from_utf8(&first[9..]).ok()?.parse().ok()), stream)
}

#[test]
fn an_address_has_no_more_connections_than_it_may() {
    let server = Serve::start(&["--workers", "4", "--max-connections-per-address", "3"]);
    let mut held = Vec::new();
    for from in [[127, 0, 0, 2], [127, 0, 0, 3]] {
        for expected in [200, 200, 200, 503, 503] {
            let (status, stream) = status_of(connect_from(from, &server));
            assert_eq!(status, Some(expected), "{from:?}");
            held.push(stream);
        }
    }
    assert_eq!(metrics(&server).of("torr_connections_refused_total"), 4.0);
    // Each that ends lets another in. The first three are of the first address.
    for _ in 0..20 {
        drop(held.remove(0));
        let next = wait_until("a free slot", || {
            let (status, stream) = status_of(connect_from([127, 0, 0, 2], &server));
            (status == Some(200)).then_some(stream)
        });
        held.insert(2, next);
    }
}

/// `torr serve` under these limits of open files, the soft and the hard one.
fn serve_with_files(soft: u32, hard: u32, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let line = format!("ulimit -Sn {soft} && ulimit -Hn {hard} && exec \"$@\"");
    command.args(["-c", &line, "sh", torr_path(), "serve"]).args(args);
    command
}

#[test]
fn a_small_limit_of_open_files_turns_clients_away_instead_of_letting_them_wait() {
    let address = format!("127.0.0.1:{}", free_port());
    let args = ["--listen", &address, "--workers", "1", "--db-rows", "10", "--defer-accept", "false"];
    let command = serve_with_files(300, 300, &args);
    let server = Running::start(command);
    let mut first = wait_until("the server to listen", || TcpStream::connect(&address).ok());
    let mut held = Vec::new();
    let mut statuses = Vec::new();
    for _ in 0..300 {
        let stream = TcpStream::connect(&address).expect("it listens");
        stream.set_read_timeout(Some(PROMPT)).expect("a socket takes options");
        let (status, stream) = status_of(stream);
        statuses.push(status);
        held.push(stream);
    }
    let of = |status| statuses.iter().filter(|known| **known == status).count();
    let (served, refused) = (of(Some(200)), of(Some(503)));
    assert_eq!(served + refused, 300, "{statuses:?}");
    // The rest is for the files of handlers and the server's own.
    assert!((150..=250).contains(&served), "{served} are served");
    // A handler that opens files finds room for them.
    first.write_all(get("/db/raw").as_bytes()).expect("it is connected");
    first.set_read_timeout(Some(PROMPT)).expect("a socket takes options");
    let mut response = [0; 12];
    first.read_exact(&mut response).expect("it answers");
    assert_eq!(&response, b"HTTP/1.1 200");
    drop((first, held));
    signal(server.pid(), "TERM");
    let ended = server.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let warnings: Vec<_> = ended.stderr.lines().filter(|line| line.contains("the limit of open files, 300,")).collect();
    assert_eq!(warnings.len(), 1, "{}", ended.stderr);
}

#[test]
fn the_limit_of_open_files_is_raised_to_what_max_connections_needs() {
    for (connections, least, most) in [("100", 1_100, 1_400), ("2000", 3_000, 3_300), ("9000", 5_000, 5_000)] {
        let args = ["--listen", "127.0.0.1:0", "--workers", "1", "--max-connections", connections];
        let server = Serve::start_as(serve_with_files(256, 5_000, &args));
        let limits = std::fs::read_to_string(format!("/proc/{}/limits", server.pid())).expect("it runs");
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"));
        let soft = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).expect("it has a limit");
        assert!((least..=most).contains(&soft), "{connections}: {soft}");
    }
}

#[test]
fn over_tls_who_is_too_many_gets_no_plain_text() {
    let folder = tempfile::tempdir().expect("there is room for temporary files");
    let (certificate, key) = self_signed(folder.path());
    let (certificate, key) = (certificate.display().to_string(), key.display().to_string());
    let server = Serve::start(&[
        "--tls-cert",
        &certificate,
        "--tls-key",
        &key,
        "--max-connections",
        "1",
        "--defer-accept",
        "false",
    ]);
    let mut both = [server.connect(), server.connect()];
    for stream in &both {
        stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a socket takes options");
    }
    // Either of the two may have the slot.
    let came = wait_until("one to be turned away", || {
        both.iter_mut().find_map(|stream| match stream.read(&mut [0; 100]) {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => None,
            Err(_) => Some(0),
            Ok(n) => Some(n),
        })
    });
    assert_eq!(came, 0, "there is nothing but the end");
}

#[test]
fn the_last_request_of_a_connection_says_so_and_none_is_lost() {
    let server = Serve::start(&["--workers", "2", "--requests-per-connection", "10"]);
    // One by one, waited for or not, with bodies or without.
    let mut client = server.client();
    for n in 1..=10 {
        let request = match n % 4 {
            0 => get("/"),
            1 => get("/sleep/1"),
            2 => post("/echo", "body"),
            _ => get("/bytes/200000"),
        };
        client.send(request);
        let response = client.response();
        assert_eq!(response.field("Connection"), (n == 10).then_some("close"), "{n}: {response:?}");
    }
    client.ends();
    // Pipelined, with many more behind it, all of which have arrived or are on their way.
    for path in ["/", "/sleep/1", "/bytes/200000"] {
        let mut client = server.client();
        client.send_what_goes(get(path).repeat(2000).as_bytes());
        for n in 1..=10 {
            let response = client.response();
            assert_eq!(response.field("Connection"), (n == 10).then_some("close"), "{path} {n}: {response:?}");
        }
        client.ends();
    }
    // HTTP/1.0 with keep-alive, which the response confirms.
    let mut client = server.client();
    for n in 1..=10 {
        client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
        let response = client.response();
        assert_eq!(response.field("Connection"), Some(if n == 10 { "close" } else { "keep-alive" }), "{n}");
    }
    client.ends();
    // The press opens as many connections as that takes, and fails nowhere.
    let result = torr_json(&["-n", "1000", "-c", "5", "-t", "1", &server.url("/")]);
    adds_up(&result);
    assert_eq!(count(&result, "/status/200"), 1000, "{result}");
    // At the end each slot may have opened one more connection with fewer requests.
    assert!((100..=105).contains(&count(&result, "/connections/opened")), "{result}");
}

/// Over HTTP/2 the server says GOAWAY, and handles what came before the client has read that.
#[test]
fn a_connection_of_http_2_brings_no_more_requests_than_it_may() {
    let server = Serve::start(&["--workers", "1", "--requests-per-connection", "10"]);
    for (path, streams) in [("/", "1"), ("/", "5"), ("/sleep/1", "1"), ("/bytes/100000", "1")] {
        let before = metrics(&server).of("torr_connections_handed_over_total");
        let load =
            ["-n", "300", "-c", "2", "-t", "1", "--http2-prior-knowledge", "--streams", streams, &server.url(path)];
        let result = torr_json(&load);
        adds_up(&result);
        assert_eq!(count(&result, "/status/200"), 300, "{path} {streams}: {result}");
        let opened = count(&result, "/connections/opened");
        assert!((15..=32).contains(&opened), "{path} {streams}: {opened} connections");
        assert_eq!(metrics(&server).of("torr_connections_handed_over_total"), before + opened as f64);
    }
    let unlimited = Serve::start(&["--workers", "1"]);
    let result = torr_json(&["-n", "300", "-c", "2", "-t", "1", "--http2-prior-knowledge", &unlimited.url("/")]);
    assert_eq!(count(&result, "/connections/opened"), 2, "{result}");
}

#[test]
fn heads_and_bodies_have_their_limits_over_http_2_too() {
    let server = Serve::start(&["--max-head", "2000", "--max-body", "1000"]);
    let (fits, exceeds) = ("b".repeat(1000), "b".repeat(1001));
    let ask = |args: &[&str], path: &str| {
        let url = server.url(path);
        let always = ["--silent", "--http2-prior-knowledge", "--output", "/dev/null", "--write-out", "%{http_code}"];
        let ended = run("curl", &[&always[..], args, &[&url]].concat());
        assert_eq!(ended.code, Some(0), "curl {args:?} at {path}");
        ended.stdout
    };
    assert_eq!(ask(&["--data", &fits], "/echo"), "200");
    assert_eq!(ask(&["--data", &exceeds], "/echo"), "413");
    // Of an unknown length as well.
    assert_eq!(ask(&["--data", &exceeds, "--header", "Content-Length:"], "/echo"), "413");
    // Not even a client that sends far more than fits the flow-control windows loses the response.
    let file = tempfile::NamedTempFile::new().expect("there is room for temporary files");
    file.as_file().set_len(10_000_000).expect("a file can be extended");
    assert_eq!(ask(&["--data-binary", &format!("@{}", file.path().display())], "/echo"), "413");
    assert_eq!(ask(&["--header", &format!("X-Long: {}", "x".repeat(1000))], "/"), "200");
    assert_eq!(ask(&["--header", &format!("X-Long: {}", "x".repeat(5000))], "/"), "431");
}
