//! Handlers that block: on workers, of which more help even beyond the cores, and on threads of their own.

mod support;

use std::time::{Duration, Instant};
use support::client::get;
use support::metrics::Metrics;
use support::program::torr_json;
use support::result::adds_up;
use support::servers::Serve;
use support::wait_until;

/// Requests per second that many clients get.
fn throughput(server: &Serve, path: &str) -> f64 {
    let result = torr_json(&["-d", "3s", "-c", "64", "-t", "1", "--timeout", "30s", &server.url(path)]);
    adds_up(&result);
    result["rps"].as_f64().expect("it is a number")
}

/// What the documents of this project's origin say: workers that block are multiplied by starting more of them.
#[test]
fn blocking_work_grows_with_the_workers_beyond_the_cores() {
    let one = throughput(&Serve::start(&["--workers", "1"]), "/block/50");
    let eight = throughput(&Serve::start(&["--workers", "8"]), "/block/50");
    // One cannot do more than twenty a second, and eight not more than eight times that.
    assert!(one <= 21.0 && eight <= 8.0 * 21.0, "{one:.1}/s with one worker, {eight:.1}/s with eight");
    assert!(eight >= 4.0 * one, "{one:.1}/s with one worker, {eight:.1}/s with eight");
}

#[test]
fn one_worker_does_as_much_with_threads_for_what_blocks() {
    // Each on a server of its own: what the first press has asked for in vain would be done while the second one waits.
    let start = || Serve::start(&["--workers", "1", "--blocking-threads", "8"]);
    let (worker, pool) = (throughput(&start(), "/block/50"), throughput(&start(), "/pool/50"));
    assert!(pool <= 8.0 * 21.0 && pool >= 4.0 * worker, "{worker:.1}/s on the worker, {pool:.1}/s on eight threads");
}

#[test]
fn threads_and_queue_are_as_many_as_is_set() {
    let server = Serve::start(&["--workers", "1", "--blocking-threads", "2", "--blocking-queue", "3"]);
    let mut clients: Vec<_> = (0..12).map(|_| server.client()).collect();
    let start = Instant::now();
    clients.iter_mut().for_each(|client| client.send(get("/pool/1000")));
    // The worker is free meanwhile.
    let mut other = server.client();
    assert_eq!(other.get("/").status, 200);
    let statuses: Vec<_> = clients.iter_mut().map(|client| client.answer().status).collect();
    let took = start.elapsed();
    assert_eq!(statuses.iter().filter(|&&status| status == 200).count(), 5, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|&&status| status == 503).count(), 7, "{statuses:?}");
    // Five calls of a second on two threads.
    assert!(took >= Duration::from_secs(3), "{took:?}");
    let metrics = wait_until("the counts", || {
        let metrics = Metrics::parse(other.get("/metrics").text());
        (metrics.of("torr_blocking_calls") == 0.0).then_some(metrics)
    });
    assert_eq!((metrics.of("torr_blocking_calls_total"), metrics.of("torr_blocking_refused_total")), (5.0, 7.0));
    // Two waited for a second, and one for two.
    let waited = metrics.of("torr_blocking_wait_seconds_total");
    assert!((4.0 - 0.5..30.0).contains(&waited), "{waited}");
    // A connection that was refused goes on.
    assert!(clients.iter_mut().all(|client| client.get("/").status == 200));
}
