//! `torr watch`: signals of a real server and its peers, and the requests that it refuses.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;
use torr_doctor::remote::{RemoteError, RemoteWatch, Source};
use torr_gauge::Factor;
use torr_signals::{PeerUse, ProcessUse, Reading, Role, Signals};
use torr_test_support::client::{Client, ClientResponse};
use torr_test_support::databases::{Make, shared};
use torr_test_support::metrics::Metrics;
use torr_test_support::program::{torr, torr_command, torr_json};
use torr_test_support::script::Script;
use torr_test_support::servers::{Nginx, Serve, closed_port};
use torr_test_support::supervised::Supervised;
use torr_test_support::wait_until;

fn watch(args: &[&str]) -> Serve {
    let mut command = torr_command(&[&["watch", "--listen", "127.0.0.1:0"], args].concat());
    command.env_remove("TORR_WATCH_TOKEN");
    Serve::start_as(command)
}

/// Asks the watcher at an address for a path, with this `Host` and these further field lines.
fn ask(address: &str, path: &str, host: &str, fields: &str) -> ClientResponse {
    let mut client = Client::connect(address);
    client.send(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{fields}\r\n"));
    client.response()
}

fn port(address: &str) -> u16 {
    address.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).expect("an address has a port")
}

#[test]
fn a_server_under_load_is_seen() {
    let (server, watch) = (Supervised::start(&["--processes", "2", "--workers", "1"]), watch(&[]));
    let remote = RemoteWatch::connect(&watch.address, None, port(&server.address)).expect("it answers");
    assert_eq!(remote.source(), Source::TorrWatch);
    let begin = remote.reading().expect("it answers");
    let result = torr_json(&[&format!("http://{}/", server.address), "-c", "20", "-d", "3s"]);
    let seen = Signals::between(&begin, &remote.reading().expect("it answers"));

    assert!(seen.seconds > 1.0);
    assert!(seen.machine.is_some_and(|machine| machine.cpu_share > 0.1 && machine.cores > 0));
    let network = seen.network.expect("the kernel tells");
    assert!(network.passive_opens.is_some_and(|opens| opens >= 20), "{network:?}");
    let requests = result["requests"].as_u64().expect("it is counted");
    assert!(network.segments_sent >= Some(requests), "{requests}: {network:?}");
    let listener = &seen.listeners[0];
    assert_eq!(listener.address, server.address);
    assert!(listener.backlog.is_some_and(|backlog| backlog > 0) && listener.queued_max.is_some());
    // Samples before and after the run have no connections.
    let clients = seen.clients.expect("the kernel tells");
    assert!(clients.established > 2.0 && clients.established <= 20.0, "{clients:?}");
    assert!(clients.min_rtt_us.is_some_and(|rtt| rtt > 0.0));
    // The workers, which share the listeners, and their supervisor.
    assert_eq!(seen.processes.len(), 3, "{:#?}", seen.processes);
    assert!(seen.processes.iter().all(|process| process.name == "torr"));
    assert!(seen.processes.iter().any(|process| process.pid == server.pid() as i32));
    let used: f64 = seen.processes.iter().map(|process| process.cores).sum();
    // However long the CPUs were busy with other programs, each request took the server some time.
    assert!(used * seen.seconds > requests as f64 * 2e-6, "{used} CPUs for {} s, {requests} requests", seen.seconds);
}

#[test]
fn new_worker_processes_are_found() {
    let (server, watch) = (Supervised::start(&["--processes", "2", "--workers", "1"]), watch(&[]));
    let remote = RemoteWatch::connect(&watch.address, None, port(&server.address)).expect("it answers");
    let alive = || -> BTreeSet<i32> {
        let reading = remote.reading().expect("it answers");
        reading.processes.iter().filter(|process| process.thread_count > 0).map(|process| process.pid).collect()
    };
    let before = alive();
    assert_eq!(before.len(), 3);
    torr_test_support::program::signal(server.pid(), "HUP");
    wait_until("two other workers", || {
        let now = alive();
        (now.len() == 3 && now.difference(&before).count() == 2).then_some(())
    });
}

/// A server with the database or cache of these settings, its peer, and the server's requests meanwhile.
fn peer(settings: &[&str], path: &str, role: Role) -> PeerUse {
    let (server, watch) = (Serve::start(settings), watch(&[]));
    let remote = RemoteWatch::connect(&watch.address, None, port(&server.address)).expect("it answers");
    let _ = torr_json(&[&server.url(path), "-c", "8", "-n", "1000", "--timeout", "60s"]);
    let begin = remote.reading().expect("it answers");
    // The new peer's processes are looked for once in a while.
    wait_until("the peer and its processes", || {
        let _ = torr_json(&[&server.url(path), "-c", "8", "-n", "1000", "--timeout", "60s"]);
        let seen = Signals::between(&begin, &remote.reading().expect("it answers"));
        seen.peers
            .into_iter()
            .find(|peer| peer.role == role && !peer.processes.is_empty() && peer.sends_per_s > Some(0.0))
    })
}

#[test]
fn a_database_is_a_peer() {
    let url = shared(Make::Postgres).new_database();
    let peer = peer(&["--database", &url, "--db-rows", "100"], "/db", Role::Database);
    assert!(peer.connections >= 1.0 && peer.connections_max >= 1, "{peer:?}");
    assert!(
        peer.kept.is_some_and(|kept| kept > 0.9) && peer.waiting.is_some() && peer.bytes_per_s > Some(0.0),
        "{peer:?}"
    );
    assert!(peer.processes.iter().all(|process| process.name.starts_with("postgres")), "{peer:?}");
    // The one that listens, and those that it has started for connections.
    assert!(peer.processes.len() > 1 && peer.processes.iter().any(has_used_a_cpu), "{peer:?}");
}

/// Whether one of its threads has used a CPU. A process's own time is counted in ticks, of which it may have none.
fn has_used_a_cpu(process: &ProcessUse) -> bool {
    process.threads.iter().any(|thread| thread.cores > 0.0)
}

#[test]
fn a_cache_is_a_peer() {
    let url = shared(Make::Redis).url("3");
    let peer = peer(&["--cache", &url, "--db-rows", "100"], "/cached-worlds?count=5", Role::Cache);
    assert!(peer.processes.iter().all(|process| process.name.starts_with("redis")), "{peer:?}");
}

#[test]
fn connections_for_one_exchange_each_are_seen_and_known_for_that() {
    let (upstream, watch) = (Serve::start(&[]), watch(&[]));
    let nginx = Nginx::start(&format!("location / {{ proxy_pass http://{}; }}", upstream.address));
    let remote = RemoteWatch::connect(&watch.address, None, port(&nginx.address)).expect("it answers");
    let peer = wait_until("the peer and its processes", || {
        let begin = remote.reading().expect("it answers");
        let _ = torr_json(&[&format!("http://{}/", nginx.address), "-c", "20", "-d", "1s"]);
        let seen = Signals::between(&begin, &remote.reading().expect("it answers"));
        let seen = seen.peers.into_iter().find(|peer| peer.address == upstream.address);
        seen.filter(|peer| peer.kept.is_some() && !peer.processes.is_empty())
    });
    assert!(peer.kept.is_some_and(|kept| kept < 0.2), "{peer:?}");
    assert_eq!((peer.role, peer.processes[0].name.as_str()), (Role::Other, "torr"));
}

#[test]
fn metrics_are_for_prometheus() {
    let (server, watch) = (Serve::start(&[]), watch(&[]));
    let response = ask(&watch.address, &format!("/metrics?port={}", port(&server.address)), &watch.address, "");
    assert_eq!(response.field("Content-Type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let metrics = Metrics::of_any(response.text());
    assert!(metrics.sum("torr_watch_cpu_seconds_total") > 0.0);
    let service = format!("service=\"port {}\"", port(&server.address));
    let limit = metrics.of(&format!("torr_watch_accept_queue_limit{{{service},listener=\"{}\"}}", server.address));
    assert!(limit > 0.0);
    assert!(metrics.of(&format!("torr_watch_samples_total{{{service}}}")) > 0.0);
    assert!(metrics.sum("torr_watch_process_threads") >= 1.0);
    // Without a service, only the machine.
    let metrics = Metrics::of_any(ask(&watch.address, "/metrics", &watch.address, "").text());
    assert!(metrics.sum("torr_watch_cpu_seconds_total") > 0.0);
    assert_eq!(metrics.sum("torr_watch_samples_total"), 0.0);
}

#[test]
fn requests_without_the_token_are_refused() {
    let server = Serve::start(&[]);
    let mut command = torr_command(&["watch", "--listen", "127.0.0.1:0"]);
    command.env("TORR_WATCH_TOKEN", "a-secret");
    let (by_environment, by_argument) = (Serve::start_as(command), watch(&["--token", "a-secret"]));
    for watch in [by_environment, by_argument] {
        let connect = |token| RemoteWatch::connect(&watch.address, token, port(&server.address));
        for wrong in [None, Some(""), Some("a-secre"), Some("a-secret-"), Some("b-secret"), Some("a\r\nb")] {
            let refused = connect(wrong).expect_err("it is wrong");
            assert!(matches!(refused, RemoteError::Token(_)), "{wrong:?}: {refused}");
            assert!(refused.to_string().contains("TORR_WATCH_TOKEN"), "{refused}");
        }
        let remote = connect(Some("a-secret")).expect("it is right");
        assert_eq!(remote.reading().expect("it is right").processes.len(), 1);
        assert_eq!(Client::connect(&watch.address).get("/metrics").status, 401);
    }
}

/// A request without the token takes none of the threads that scan processes.
#[test]
fn a_request_without_the_token_starts_no_thread() {
    let watch = watch(&["--token", "a-secret"]);
    let threads = || {
        let tasks = fs::read_dir(format!("/proc/{}/task", watch.pid())).expect("the watcher runs");
        tasks.count()
    };
    let before = threads();
    for path in ["/signals", "/metrics", "/signals?port=1"] {
        assert_eq!(ask(&watch.address, path, "x", "").status, 401);
        assert_eq!(ask(&watch.address, path, "x", "Authorization: Bearer b-secret\r\n").status, 401);
    }
    assert_eq!(ask(&watch.address, "/signals?port=none", "x", "Authorization: Bearer a-secret\r\n").status, 400);
    assert_eq!(threads(), before);
    assert_eq!(ask(&watch.address, "/signals", "x", "Authorization: Bearer a-secret\r\n").status, 200);
    assert!(threads() > before, "the signals are read on a thread apart");
}

/// A page whose site's name resolves to 127.0.0.1 (DNS rebinding) shows that name in `Host`, and any page its `Origin`.
#[test]
fn without_a_token_no_web_page_is_answered() {
    let watch = watch(&[]);
    let of = |host: &str, fields: &str| ask(&watch.address, "/signals", host, fields);
    let port = port(&watch.address);
    for host in [&watch.address, &format!("localhost:{port}"), "localhost:9400", "LOCALHOST", "[::1]:80", "127.9.9.9"] {
        assert_eq!(of(host, "").status, 200, "{host}");
    }
    assert_eq!(of("localhost", &format!("Origin: http://localhost:{port}\r\n")).status, 200);
    for host in
        ["evil.test", &format!("evil.test:{port}"), "localhost.evil.test", "127.0.0.1.evil.test", "10.0.0.5", ""]
    {
        for path in ["/signals", "/metrics"] {
            let response = ask(&watch.address, path, host, "");
            assert_eq!(response.status, 421, "{host}: {response:?}");
            assert!(
                response.text().contains("TORR_WATCH_TOKEN") && response.text().lines().count() == 1,
                "{response:?}"
            );
        }
    }
    for origin in ["http://evil.test", "null", "https://localhost.evil.test", "file://", ""] {
        let response = of("localhost", &format!("Origin: {origin}\r\n"));
        assert_eq!(response.status, 403, "{origin:?}: {response:?}");
    }
    let two = of("localhost", "Origin: http://localhost\r\nOrigin: http://evil.test\r\n");
    assert_eq!(two.status, 403, "{two:?}");
    // HTTP/1.0 knows requests without a Host; no browser sends them.
    let mut client = Client::connect(&watch.address);
    client.send("GET /signals HTTP/1.0\r\n\r\n");
    assert_eq!(client.response().status, 421);
}

/// A response that a terminal would act on: the doctor shows its text, and nothing else happens.
#[test]
fn what_another_machine_says_is_shown_without_control_characters() {
    let server = Script::start(|client| {
        while client.request().is_some() {
            let body = "torr watch: \x1b]0;title\x07\x1b[2J no\u{9b}2J\u{202e}\r\n";
            client.send(format!("HTTP/1.1 404 Not Found\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let address = server.address.to_string();
    let refused = RemoteWatch::connect(&address, None, 80).expect_err("it says no");
    let shown = "\\u{1b}]0;title\\u{7}\\u{1b}[2J no\\u{9b}2J\\u{202e}";
    assert_eq!(refused.to_string(), format!("'torr watch' at {address} refused the request: {shown}"));
    let ended = torr(&["doctor", "http://127.0.0.1:9", "--watch", &address]);
    assert!(ended.stderr.contains(shown), "{ended:?}");
    assert!(!ended.stderr.trim_end_matches('\n').contains(char::is_control), "{ended:?}");
}

/// A response that is larger than any machine's readings is not read on, and what is no HTTP is not taken for a reading.
#[test]
fn a_response_that_cannot_be_a_reading_is_said_in_a_line() {
    const MEBIBYTES: usize = 65;
    let endless = Script::start(|client| {
        while client.request().is_some() {
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", MEBIBYTES << 20).as_bytes());
            (0..MEBIBYTES).for_each(|_| client.send(&[b' '; 1 << 20]));
        }
    });
    let mangled = Script::start(|client| {
        while client.request().is_some() {
            client.send(b"HTTP/1.1 200 OK\r\n\x1b[2J\r\n\r\n");
        }
    });
    for server in [endless, mangled] {
        let refused = RemoteWatch::connect(&server.address.to_string(), None, 80).expect_err("it is no reading");
        assert!(matches!(refused, RemoteError::NotHttp(..)), "{refused}");
        assert!(!refused.to_string().contains(char::is_control), "{refused}");
    }
}

/// The names of processes in a reading are another machine's, too.
#[test]
fn a_reading_of_another_machine_has_no_control_characters() {
    let (local, server) = (watch(&[]), Serve::start(&[]));
    let reading = ask(&local.address, &format!("/signals?port={}", port(&server.address)), "localhost", "");
    let mut reading: Reading = serde_json::from_str(reading.text()).expect("it is a reading");
    reading.processes[0].name = "torr\x1b[2J".into();
    reading.listeners[0].address = "127.0.0.1:80\n\u{9b}2J".into();
    let body = serde_json::to_string(&reading).expect("it can be written");
    let server = Script::start(move |client| {
        while client.request().is_some() {
            client.send(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
        }
    });
    let remote = RemoteWatch::connect(&server.address.to_string(), None, 80).expect("it answers");
    let seen = remote.reading().expect("it answers");
    assert_eq!(seen.processes[0].name, "torr\\u{1b}[2J");
    assert_eq!(seen.listeners[0].address, "127.0.0.1:80\\n\\u{9b}2J");
}

#[test]
fn nothing_is_offered_to_other_machines_without_a_token() {
    for listen in ["0.0.0.0:0", "[::]:0"] {
        let ended = torr(&["watch", "--listen", listen]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stderr.contains(listen) && ended.stderr.contains("TORR_WATCH_TOKEN"), "{ended:?}");
    }
    let mut command = torr_command(&["watch", "--listen", "0.0.0.0:0"]);
    command.env("TORR_WATCH_TOKEN", "a-secret");
    let watch = Serve::start_as(command);
    assert_eq!(Client::connect(("127.0.0.1", port(&watch.address))).get("/signals").status, 401);
}

#[test]
fn what_cannot_be_watched_is_said_in_a_line() {
    let (server, unused) = (Serve::start(&[]), closed_port());
    let only = port(&server.address).to_string();
    let (open, narrow) = (watch(&[]), watch(&["--port", &only]));
    let refused = |address: &str, port| match RemoteWatch::connect(address, None, port) {
        Err(RemoteError::Refused(_, why)) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(&open.address, unused).contains(&format!("no visible process listens on port {unused}")));
    assert!(refused(&narrow.address, unused).contains(&format!("port {unused} may not be watched")));
    assert!(RemoteWatch::connect(&narrow.address, None, port(&server.address)).is_ok());
    for query in ["port=0", "port=http", "address=127.0.0.1", "ports=1", "port=1&port=2"] {
        let response = ask(&open.address, &format!("/signals?{query}"), &open.address, "");
        assert_eq!((response.status, response.text().lines().count()), (400, 1), "{query}: {response:?}");
    }
    let stranger = RemoteWatch::connect(&server.address, None, 80).expect_err("it is an HTTP server, but another one");
    assert!(matches!(stranger, RemoteError::Stranger(_)), "{stranger}");
    let nowhere = RemoteWatch::connect(&format!("127.0.0.1:{unused}"), None, 80).expect_err("nobody is there");
    assert!(matches!(nowhere, RemoteError::Unreachable(..)), "{nowhere}");
    for wrong in ["", "localhost", "https://localhost:1", ":80", "a b:80"] {
        let wrong = RemoteWatch::connect(wrong, None, 80).expect_err("it is no such address");
        assert!(matches!(wrong, RemoteError::Address(_)), "{wrong}");
    }
}

#[test]
fn places_are_offered_only_on_request_and_within_bounds() {
    let (server, silent, offering) = (Serve::start(&[]), watch(&[]), watch(&["--where"]));
    let service = format!("/where?port={}", port(&server.address));
    let refused = |watch: &Serve, query: &str| {
        let response = ask(&watch.address, &format!("{service}{query}"), &watch.address, "");
        (response.status, String::from_utf8_lossy(&response.body).into_owned())
    };
    let whole = "&factor=lock&rps=100&seconds=1";
    let (status, line) = refused(&silent, whole);
    assert_eq!((status, &*line), (403, "torr watch: places are not offered: start it with --where\n"));
    for wrong in [
        "",
        "&factor=lock",
        "&factor=x&rps=1&seconds=1",
        "&factor=lock&rps=NaN&seconds=1",
        "&factor=lock&rps=1&seconds=9",
    ] {
        let (status, line) = refused(&offering, wrong);
        assert!(status == 400 && line.starts_with("torr watch: expected "), "{wrong}: {status} {line}");
    }
    let (status, line) = refused(&offering, "&factor=generator&rps=1&seconds=1");
    assert!(status == 404 && line.contains("has no place in a server's processes"), "{status} {line}");
}

#[test]
fn the_function_of_a_server_elsewhere_that_takes_the_cpu_is_found() {
    let (server, watch) = (Serve::start(&["--workers", "1"]), watch(&["--where"]));
    let remote = RemoteWatch::connect(&watch.address, None, port(&server.address)).expect("it answers");
    let url = format!("http://{}/cpu/2000", server.address);
    let stop = std::sync::atomic::AtomicBool::new(false);
    let located = std::thread::scope(|scope| {
        scope.spawn(|| {
            // The load goes on as long as the survey needs it.
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                torr_json(&[&url, "-c", "4", "-d", "1s"]);
            }
        });
        let located = remote.located(Factor::SingleCore, (500.0, Some(8)), Duration::from_secs(6));
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        located.expect("it is offered")
    });
    let code = located.places.first().and_then(|place| place.code.clone());
    let code = code.unwrap_or_else(|| panic!("it is not found: {located:#?}"));
    assert!(code.function.ends_with("work"), "{located:#?}");
    assert!(code.file.is_some_and(|file| file.ends_with("service.rs")) && code.line.is_some(), "{located:#?}");
}

/// Responds as a node_exporter does, with counts that rise: `GET /metrics`, and 404 for all else. It ends with the test,
/// which sends the last request.
fn node_exporter() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    std::thread::spawn(move || {
        let mut idle = 100.0;
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let (mut head, mut byte) = (vec![], [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read_exact(&mut byte).is_ok() {
                head.push(byte[0]);
            }
            idle += 1.0;
            let metrics = format!(
                "# TYPE node_cpu_seconds_total counter\nnode_cpu_seconds_total{{cpu=\"0\",mode=\"idle\"}} {idle}\n\
                 node_cpu_seconds_total{{cpu=\"0\",mode=\"user\"}} {}\nnode_netstat_TcpExt_ListenOverflows {}\n",
                idle * 3.0,
                idle * 5.0
            );
            let (status, body) = if head.starts_with(b"GET /metrics ") {
                ("200 OK", metrics)
            } else {
                ("404 Not Found", "404 page not found\n".into())
            };
            let response =
                format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len());
            if stream.write_all(response.as_bytes()).is_err() {
                return;
            }
        }
    });
    address
}

#[test]
fn a_node_exporter_tells_of_the_machine() {
    let remote = RemoteWatch::connect(&format!("http://{}/metrics", node_exporter()), None, 80).expect("it answers");
    assert_eq!(remote.source(), Source::NodeExporter);
    let begin = remote.reading().expect("it answers");
    let seen = Signals::between(&begin, &remote.reading().expect("it answers"));
    let machine = seen.machine.expect("it tells");
    assert_eq!((machine.cores, machine.cpu_share, machine.steal_share), (1, 0.75, None));
    let network = seen.network.expect("it tells");
    assert_eq!((network.listen_overflows, network.listen_drops), (Some(5), None));
    assert!(seen.clients.is_none() && seen.processes.is_empty() && seen.listeners.is_empty());
}
