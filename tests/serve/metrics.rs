//! `/metrics` of `torr serve`: its format, and that its numbers are those that clients have seen.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use torr_test_support::client::{Client, get, post};
use torr_test_support::metrics::Metrics;
use torr_test_support::program::{signal, torr_json};
use torr_test_support::result::{adds_up, count};
use torr_test_support::servers::Serve;
use torr_test_support::supervised::{Supervised, sockets};
use torr_test_support::wait_until;

const REQUESTS: &str = "torr_http_requests_total";
const LATENCY: &str = "torr_http_request_duration_seconds";

/// A scraper with one connection. A response is counted from the next one on.
struct Scraper {
    address: String,
    client: Client,
    scraped: f64,
}

impl Scraper {
    fn of(server: &Serve) -> Self {
        Self::at(&server.address)
    }

    fn at(address: &str) -> Self {
        Self { address: address.to_owned(), client: Client::connect(address), scraped: 0.0 }
    }

    fn scrape(&mut self) -> Metrics {
        let response = self.client.get("/metrics");
        self.scraped += 1.0;
        assert_eq!(response.field("Content-Type"), Some("text/plain; version=0.0.4; charset=utf-8"));
        // A worker that leaves says so.
        if response.field("Connection") == Some("close") {
            self.client = Client::connect(&self.address);
        }
        Metrics::parse(response.text())
    }

    /// Scrapes until something holds: a worker adds to its counts after its responses are on their way.
    fn until(&mut self, what: &str, holds: impl Fn(&Metrics, f64) -> bool) -> Metrics {
        let start = Instant::now();
        loop {
            let before = self.scraped;
            let metrics = self.scrape();
            if holds(&metrics, before) {
                return metrics;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{what}: {metrics:#?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_new_server_has_all_its_numbers() {
    let server = Serve::start(&["--workers", "3"]);
    // A worker is there once it has begun.
    let started = |metrics: &Metrics| {
        (0..3).all(|n| metrics.or_none(&format!("torr_worker_start_time_seconds{{worker=\"{n}\"}}")) > 1.7e9)
    };
    let metrics = Scraper::of(&server).until("all workers", |metrics, _| started(metrics));
    for name in ["torr_connections_accepted_total", "torr_worker_busy_seconds_total{worker=\"2\"}"] {
        metrics.of(name);
    }
    assert_eq!(metrics.of(&format!("torr_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), 1.0);
    assert_eq!(metrics.of("torr_connections{by=\"hyper\"}"), 0.0);
    let mut client = server.client();
    client.send("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_eq!(client.response_head().status, 200);
    client.send(post("/metrics", ""));
    assert_eq!(client.response().status, 405);
}

#[test]
fn counts_are_those_that_clients_have_seen() {
    let server = Serve::start(&["--workers", "2", "--max-body", "10", "--head-timeout", "300ms"]);
    let mut scraper = Scraper::of(&server);
    let (mut responses, mut ok, mut opened, mut sent, mut received) = (0, 0, 1, 0, 0);
    let mut handed_over = 0;
    for (flags, path) in [
        (&["-n", "700", "-c", "5", "--pipeline", "4"][..], "/"),
        (&["-n", "200", "-c", "5", "--no-keepalive"], "/json"),
        (&["-n", "300", "-c", "3", "--http2-prior-knowledge", "--streams", "5"], "/"),
        (&["-n", "30", "-c", "3"], "/bytes/500000"),
        (&["-n", "30", "-c", "3", "--http2-prior-knowledge"], "/bytes/500000"),
        (&["-n", "50", "-c", "5"], "/sleep/2"),
        (&["-n", "50", "-c", "5"], "/pool/2"),
        (&["-n", "50", "-c", "5", "--http2-prior-knowledge"], "/sleep/2"),
    ] {
        let result = torr_json(&[flags, &["-t", "1", &server.url(path)]].concat());
        adds_up(&result);
        assert_eq!(count(&result, "/requests"), count(&result, "/status/200"), "{result}");
        ok += count(&result, "/requests");
        opened += count(&result, "/connections/opened");
        sent += count(&result, "/bytes/sent");
        received += count(&result, "/bytes/received");
        if flags.contains(&"--http2-prior-knowledge") {
            handed_over += count(&result, "/connections/opened");
        }
    }
    // Beside them one of each other kind.
    let mut expected = vec![(200, ok)];
    for (request, status) in [
        (get("/nowhere"), 404),
        (post("/", "x"), 405),
        (post("/echo", "eleven bytes"), 413),
        ("nonsense\r\n\r\n".into(), 400),
        ("GET / HT".into(), 408),
        ("BREW / HTTP/1.1\r\nHost: x\r\n\r\n".into(), 501),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n".into(), 204),
    ] {
        let mut client = server.client();
        client.send(request);
        assert_eq!(client.response().status, status);
        expected.push((status, 1));
        opened += 1;
    }
    responses += expected.iter().map(|(_, n)| n).sum::<u64>();
    let metrics = scraper.until("everything", |metrics, scraped| {
        let total = responses as f64 + scraped;
        metrics.sum(REQUESTS) == total
            && metrics.of(&format!("{LATENCY}_count")) == total
            && metrics.of("torr_connections{by=\"engine\"}") == 1.0
            && metrics.of("torr_connections{by=\"hyper\"}") == 0.0
            && metrics.of("torr_sent_bytes_total") >= received as f64
    });
    for (status, n) in expected {
        let scraped = if status == 200 { scraper.scraped - 1.0 } else { 0.0 };
        assert_eq!(metrics.of(&format!("{REQUESTS}{{code=\"{status}\"}}")), n as f64 + scraped, "{status}");
    }
    assert_eq!(metrics.of("torr_connections_accepted_total"), opened as f64);
    assert_eq!(metrics.sum("torr_worker_accepted_total"), opened as f64);
    assert_eq!(metrics.of("torr_connections_handed_over_total"), handed_over as f64);
    assert_eq!(metrics.of("torr_connections_timed_out_total"), 1.0);
    assert_eq!(metrics.of("torr_connections_refused_total"), 0.0);
    assert_eq!((metrics.of("torr_blocking_calls_total"), metrics.of("torr_blocking_calls")), (50.0, 0.0));
    assert_eq!(metrics.of("torr_handler_panics_total"), 0.0);
    // Of HTTP/1.1 those of /sleep and /pool.
    assert_eq!(metrics.of("torr_handler_waits_total"), 100.0);
    // Neither side counts what the other does not, but for the scrapes, and what clients sent before they went.
    let (got, gave) = (metrics.of("torr_received_bytes_total"), metrics.of("torr_sent_bytes_total"));
    let scrapes = scraper.scraped * 20_000.0 + 10_000.0;
    assert!(got >= sent as f64 && got <= sent as f64 + scrapes, "received {got}, sent by clients {sent}");
    assert!(
        gave >= received as f64 && gave <= received as f64 + scrapes,
        "sent {gave}, received by clients {received}"
    );
    let sum = metrics.of(&format!("{LATENCY}_sum"));
    assert!(sum >= 150.0 * 0.002, "those that waited alone take {sum} s");
}

#[test]
fn connections_beyond_a_limit_are_counted() {
    let server = Serve::start(&["--workers", "1", "--max-connections", "3"]);
    let mut scraper = Scraper::of(&server);
    scraper.scrape();
    let mut held: Vec<_> = (0..2).map(|_| server.client()).collect();
    held.iter_mut().for_each(|client| assert_eq!(client.get("/").status, 200));
    for _ in 0..5 {
        let mut client = server.client();
        client.send(get("/"));
        assert_eq!(client.response().status, 503);
    }
    let metrics = scraper.until("refusals", |metrics, _| metrics.of("torr_connections_refused_total") == 5.0);
    assert_eq!(metrics.of("torr_connections_accepted_total"), 8.0);
    assert_eq!(metrics.of("torr_connections{by=\"engine\"}"), 3.0);
}

#[test]
fn a_connection_times_out_at_most_once() {
    let server = Serve::start(&["--workers", "1", "--head-timeout", "300ms", "--idle-timeout", "1m"]);
    let mut scraper = Scraper::of(&server);
    // Two that are answered, and stay after that: one has taken too long, the other is malformed.
    let mut held: Vec<_> = ["GET / HT", "nonsense\r\n\r\n"]
        .into_iter()
        .map(|request| {
            let mut client = server.client();
            client.send(request);
            client
        })
        .collect();
    held.iter_mut().for_each(|client| assert_eq!(client.response().field("Connection"), Some("close")));
    held.iter_mut().for_each(Client::ends);
    let metrics = scraper.until("both to be gone", |metrics, _| metrics.of("torr_connections{by=\"engine\"}") == 1.0);
    assert_eq!(metrics.of("torr_connections_timed_out_total"), 1.0);
    drop(held);
}

/// Counts of all processes, which are never less than at the last look.
struct Sums<'s> {
    server: &'s Supervised,
    scraper: Scraper,
    pressed: f64,
    last: f64,
}

impl Sums<'_> {
    /// Presses, and waits until all requests are counted.
    fn add_up(&mut self) {
        let result = torr_json(&["-n", "400", "-c", "8", "-t", "1", &self.server.url()]);
        adds_up(&result);
        assert_eq!(count(&result, "/status/200"), 400, "{result}");
        self.pressed += 400.0;
        let (pressed, last) = (self.pressed, std::cell::Cell::new(self.last));
        self.scraper.until("all of them", |metrics, scraped| {
            let sum = metrics.sum(REQUESTS);
            let former = last.replace(sum);
            assert!(sum >= former, "it went back from {former} to {sum}");
            assert!(sum <= pressed + scraped, "{sum} of {pressed} and {scraped}");
            sum == pressed + scraped && metrics.of(&format!("{LATENCY}_count")) == sum
        });
        self.last = last.get();
    }
}

#[test]
fn counts_of_processes_add_up_and_outlive_them() {
    let server = Supervised::start(&["--processes", "2", "--workers", "1"]);
    let workers = server.new_workers(2, &BTreeSet::new());
    let sockets_of = |workers: &BTreeSet<u32>| workers.iter().map(|pid| (*pid, sockets(*pid))).collect::<Vec<_>>();
    let before = sockets_of(&workers);
    let mut scraper = Scraper::at(&server.address);
    scraper.scrape();
    let mut sums = Sums { server: &server, scraper, pressed: 0.0, last: 0.0 };
    // Who does not respond to the scrapes dies: the last one may not be counted yet.
    let after = sockets_of(&workers);
    let victim = before.iter().find(|worker| after.contains(worker)).expect("one has no connection").0;
    sums.add_up();
    signal(victim, "KILL");
    server.says("SIGKILL");
    let workers = wait_until("a new worker", || {
        let now = server.workers();
        (now.len() == 2 && !now.contains(&victim)).then_some(now)
    });
    sums.add_up();
    // The rows of a worker and of its successor are used in turns.
    let mut old = workers;
    for times in 1..=3 {
        server.signal("HUP");
        server.says_times("reloaded:", times);
        sums.scraper.client = server.client();
        old = server.new_workers(2, &old);
        sums.add_up();
    }
    drop(sums);
    server.leaves();
}

/// How long the one worker was busy while something was done, and how long that took.
fn busy_while(scraper: &mut Scraper, work: impl FnOnce()) -> (f64, f64) {
    const BUSY: &str = "torr_worker_busy_seconds_total{worker=\"0\"}";
    let (before, start) = (scraper.scrape().of(BUSY), Instant::now());
    work();
    // What the worker does with a request counts once it has done it.
    wait_until("the worker's next turn", || (scraper.scrape().of(BUSY) > before).then_some(()));
    let took = start.elapsed().as_secs_f64();
    (scraper.scrape().of(BUSY) - before, took)
}

#[test]
fn a_worker_is_busy_when_it_blocks_and_not_when_it_waits() {
    let server = Serve::start(&["--workers", "1"]);
    let mut scraper = Scraper::of(&server);
    let mut client = server.client();
    let mut five = |path: &str| (0..5).for_each(|_| assert_eq!(client.get(path).status, 200));
    let by_http_2 = |path: &str| {
        let load = ["-n", "5", "-c", "1", "--http2-prior-knowledge", "-t", "1", &server.url(path)];
        assert_eq!(count(&torr_json(&load), "/status/200"), 5);
    };
    for path in ["/block/200", "/cpu/200000"] {
        let (busy, took) = busy_while(&mut scraper, || five(path));
        assert!(busy >= 1.0 && busy <= took + 0.1, "{path}: busy for {busy} s of {took}");
        // A connection that hyper serves.
        let (busy, took) = busy_while(&mut scraper, || by_http_2(path));
        assert!(busy >= 1.0 && busy <= took + 0.1, "{path} over HTTP/2: busy for {busy} s of {took}");
    }
    for path in ["/sleep/200", "/pool/200"] {
        let (busy, took) = busy_while(&mut scraper, || five(path));
        assert!(took >= 1.0 && busy <= took / 2.0, "{path}: busy for {busy} s of {took}");
        let (busy, took) = busy_while(&mut scraper, || by_http_2(path));
        assert!(took >= 1.0 && busy <= took / 2.0, "{path} over HTTP/2: busy for {busy} s of {took}");
    }
}
