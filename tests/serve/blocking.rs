//! Handlers that block: on workers, of which more help even beyond the cores, and on threads of their own.

use std::time::{Duration, Instant};
use torr_test_support::client::get;
use torr_test_support::metrics::Metrics;
use torr_test_support::program::torr_json;
use torr_test_support::result::adds_up;
use torr_test_support::servers::Serve;
use torr_test_support::wait_until;

/// Requests per second that many clients get.
fn throughput(server: &Serve, path: &str) -> f64 {
    let result = torr_json(&["-d", "3s", "-c", "64", "-t", "1", "--timeout", "30s", &server.url(path)]);
    adds_up(&result);
    result["rps"].as_f64().expect("it is a number")
}

/// What one that blocks for 50 ms can do a second, and a little more for where its time begins and ends.
const ONE: f64 = 21.0;

/// Eight do at least four times what one can, and no more than eight times that. Whatever else the machine does can only make it
/// less: so the best of three counts.
fn eight_do_as_eight(args: &[&str], path: &str) {
    // Each on a server of its own: calls of one press without a response would delay those of the next.
    let mut rates = Vec::new();
    while rates.len() < 3 && rates.iter().all(|rate| *rate < 4.0 * ONE) {
        rates.push(throughput(&Serve::start(args), path));
    }
    assert!(rates.iter().all(|rate| *rate <= 8.0 * ONE), "{path} with {args:?}: {rates:.1?}/s");
    assert!(rates.iter().any(|rate| *rate >= 4.0 * ONE), "{path} with {args:?}: {rates:.1?}/s");
}

/// What the documents of this project's origin say: workers that block are multiplied by starting more of them.
#[test]
fn blocking_work_grows_with_the_workers_beyond_the_cores() {
    let one = throughput(&Serve::start(&["--workers", "1"]), "/block/50");
    assert!(one > 0.0 && one <= ONE, "{one:.1}/s with one worker");
    eight_do_as_eight(&["--workers", "8"], "/block/50");
}

#[test]
fn one_worker_does_as_much_with_threads_for_what_blocks() {
    let args = ["--workers", "1", "--blocking-threads", "8"];
    let worker = throughput(&Serve::start(&args), "/block/50");
    assert!(worker > 0.0 && worker <= ONE, "{worker:.1}/s on the worker");
    eight_do_as_eight(&args, "/pool/50");
}

#[test]
fn threads_and_queue_are_as_many_as_is_set() {
    let server = Serve::start(&["--workers", "1", "--blocking-threads", "2", "--blocking-queue", "3"]);
    const HOLD: Duration = Duration::from_secs(4);
    let mut other = server.client();
    // The worker is free meanwhile, and tells how many calls there are.
    let mut calls = |expected: f64| {
        wait_until("calls to be taken", || {
            let metrics = Metrics::parse(other.get("/metrics").text());
            (metrics.of("torr_blocking_calls") == expected).then_some(metrics)
        })
    };
    let ask = |n: usize, path: &str| -> Vec<_> {
        let clients = (0..n).map(|_| server.client());
        clients
            .map(|mut client| {
                client.send(get(path));
                client
            })
            .collect()
    };
    let start = Instant::now();
    let mut held = ask(2, "/pool/4000");
    calls(2.0);
    let mut queued = ask(3, "/pool/1");
    calls(5.0);
    // None of those that wait has come later than this.
    let late = start.elapsed();
    let mut refused = ask(7, "/pool/1");
    refused.iter_mut().for_each(|client| assert_eq!(client.response().status, 503));
    assert!(start.elapsed() < HOLD, "the machine stood still for seconds");
    held.iter_mut().chain(&mut queued).for_each(|client| assert_eq!(client.response().status, 200));
    let took = start.elapsed();
    assert!(took >= HOLD, "{took:?}");
    let metrics = calls(0.0);
    assert_eq!((metrics.of("torr_blocking_calls_total"), metrics.of("torr_blocking_refused_total")), (5.0, 7.0));
    // Three have waited for one of the two.
    let waited = metrics.of("torr_blocking_wait_seconds_total");
    let (least, most) = (3.0 * HOLD.saturating_sub(late).as_secs_f64(), 5.0 * took.as_secs_f64());
    assert!((least - 0.1..=most).contains(&waited), "{waited} s, not {least} to {most}");
    // A connection that was refused goes on.
    assert!(refused.iter_mut().all(|client| client.get("/").status == 200));
}
