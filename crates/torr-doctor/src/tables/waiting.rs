//! Requests that wait though nothing is busy: for a worker, a lock, a connection to the database.

use super::case::{Case, peer, service, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::{Confidence, Factor};

/// A service that works on so many requests at a time, 5 ms each, with threads that wait.
fn holds(requests: f64, threads: Vec<Value>) -> Case {
    service(5e-3, 200.0 * requests).everywhere(uses(0.1, threads))
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely, Unknown};
    let sleeping = |count| waiting(count, "hrtimer_nanosleep");
    let turns = |count| waiting(count, "futex_wait_queue");
    let idle = || waiting(4, "ep_poll");
    let unread = |unread: f64| json!({"signals": {"clients": {"established": 64.0, "unread": unread}}});
    let pool = |connections: f64, waiting: f64| {
        let more = json!({"connections": connections, "connections_max": connections as u64, "waiting": waiting});
        peer("database", 0.1, vec![], more)
    };
    vec![
        (
            "four workers that sleep, and others wait",
            holds(4.0, sleeping(4)).others_wait(4e-3),
            Factor::Workers,
            Certain,
        ),
        (
            "one worker that sleeps, and others wait",
            holds(1.0, sleeping(1)).others_wait(4e-3),
            Factor::Workers,
            Certain,
        ),
        (
            "four at a time, and the others have not been read",
            holds(4.0, idle()).others_wait(4e-3).everywhere(unread(60.0)),
            Factor::Workers,
            Certain,
        ),
        (
            "the same with a connection for each request: they may wait to be accepted at a pace",
            holds(4.0, idle())
                .load(|setting| setting.keep_alive = false)
                .others_wait(4e-3)
                .everywhere(json!({"signals": {"clients": {"established": 4.0, "unread": 0.0}}})),
            Factor::Workers,
            Likely,
        ),
        (
            "a connection for each request, and four workers that sleep",
            holds(4.0, sleeping(4)).load(|setting| setting.keep_alive = false).others_wait(4e-3),
            Factor::Workers,
            Certain,
        ),
        ("four at a time, and others wait", holds(4.0, vec![]).others_wait(4e-3), Factor::Workers, Likely),
        ("one at a time, and threads take turns", holds(1.0, turns(8)), Factor::Lock, Certain),
        ("one at a time, all in hand, and no thread takes turns", holds(1.0, idle()), Factor::Lock, Likely),
        ("four at a time, all in hand: a semaphore", holds(4.0, idle()), Factor::Lock, Likely),
        ("a pool of four, all of which wait", holds(4.0, idle()).everywhere(pool(4.0, 3.9)), Factor::Database, Certain),
        ("a pool of eight that hardly waits", holds(4.0, idle()).everywhere(pool(8.0, 0.2)), Factor::Lock, Likely),
        (
            "four workers that sleep, beside a pool of four",
            holds(4.0, sleeping(4)).others_wait(4e-3).everywhere(pool(4.0, 3.9)),
            Factor::Workers,
            Certain,
        ),
        (
            "forty messages to the database for each request",
            holds(4.0, idle()).everywhere(peer("database", 0.1, vec![], json!({"sends_per_s": 32_000.0}))),
            Factor::Orm,
            Likely,
        ),
        ("four at a time, of a server that is not visible", holds(4.0, vec![]).unseen(), Factor::Unknown, Unknown),
        ("less than one at a time", holds(0.3, idle()), Factor::RateLimit, Certain),
    ]
}

#[test]
fn a_worker_a_lock_a_pool_and_a_limiter_are_distinguished() {
    check(rows());
}
