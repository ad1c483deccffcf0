//! Requests that wait though nothing is busy: for a worker, a lock, a connection to the database.

use super::case::{ALONE, Case, peer, service, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::{Advice, Fact, Headline, WaitKind};
use torr_gauge::{Confidence, Factor};

/// A service that works on so many requests at a time, 5 ms each, with threads that wait.
fn holds(requests: f64, threads: Vec<Value>) -> Case {
    service(5e-3, 200.0 * requests).everywhere(uses(0.1, threads))
}

/// Returns threads with these shares of their time in waits.
fn that_wait(count: i32, waits: &Value) -> Vec<Value> {
    let mut threads = waiting(count, "");
    threads.iter_mut().for_each(|thread| thread["waiting"] = waits.clone());
    threads
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely, Unknown};
    let sleeping = |count| waiting(count, "hrtimer_nanosleep");
    let turns = |count| waiting(count, "futex_wait_queue");
    let idle = || waiting(4, "ep_poll");
    // Sixteen threads, four of which have a permit of a semaphore at a time.
    let permits = || that_wait(16, &json!({"futex_wait_queue": 0.75, "hrtimer_nanosleep": 0.25}));
    // Threads of which none is seen past a lock.
    let asleep = |count| that_wait(count, &json!({"futex_do_wait": 1.0}));
    // Threads of a runtime that passes requests between them.
    let without_work = |count| that_wait(count, &json!({"futex_do_wait": 0.75, "do_epoll_wait": 0.25}));
    // An event loop, and threads of its runtime that hardly run.
    let helped = || -> Vec<Value> {
        let mut threads = asleep(5);
        threads.iter_mut().skip(1).for_each(|thread| thread["waits_per_s"] = json!(3.0));
        threads
    };
    let unread = |unread: f64| json!({"signals": {"clients": {"established": 64.0, "unread": unread}}});
    let pool = |connections: f64, waiting: f64| {
        let more = json!({"connections": connections, "connections_max": connections as u64, "waiting": waiting});
        peer("database", 0.1, vec![], more)
    };
    let pooler = |servers: f64, waiting: Value, unread: f64| {
        let behind = json!({"address": "127.0.0.1:5432", "role": "database", "connections": servers,
            "connections_max": servers as u64, "waiting": servers.min(2.0)});
        let more = json!({"connections": 16.0, "connections_max": 16, "waiting": waiting, "accepted": 16.0,
            "unread": unread, "listener": {"queued_mean": 0.0}, "peers": [behind]});
        peer("database", 0.1, vec![], more)
    };
    let during_call = |querying: f64, elsewhere: f64| {
        let database = json!({"address": "10.0.0.1:5432", "role": "database", "connections": 10.0, "connections_max": 10,
            "waiting": querying});
        let other = json!({"address": "10.0.0.2:80", "role": "other", "connections": 20.0, "connections_max": 20,
            "waiting": elsewhere});
        json!({"signals": {"peers": [database, other]}})
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
        (
            "one at a time, and threads take turns, but single requests with pauses met a cold service",
            holds(1.0, turns(8)).at(ALONE, json!({"times": {"answered": {"mean_us": 17e3, "median_us": 17e3}}})),
            Factor::Lock,
            Certain,
        ),
        (
            "one at a time, of a loop that waits as for a lock, beside helpers of its runtime",
            holds(1.0, helped()).others_wait(4e-3).everywhere(unread(63.0)),
            Factor::Workers,
            Certain,
        ),
        ("four at a time, all in hand: a semaphore", holds(4.0, idle()), Factor::Pool, Likely),
        ("six at a time, of a runtime whose five threads wait by turns", holds(6.0, turns(5)), Factor::Pool, Likely),
        (
            "three at a time, of a runtime whose threads wait for each other and for events without work",
            holds(3.0, without_work(5)),
            Factor::Pool,
            Likely,
        ),
        (
            "five at a time, of a runtime in which a sleep looks like a lock",
            holds(5.0, asleep(64)),
            Factor::Pool,
            Likely,
        ),
        (
            "four at a time, and sixteen threads contend: others wait for a thread, but the threads for a semaphore",
            holds(4.0, permits()).others_wait(4e-3).everywhere(unread(48.0)),
            Factor::Pool,
            Likely,
        ),
        (
            "two at a time, of sixteen threads that contend for one lock: a part of a request needs no lock",
            holds(2.0, turns(16)).everywhere(unread(48.0)),
            Factor::Lock,
            Likely,
        ),
        (
            "two at a time, and the sixteen queries of a pool wait in a pooler with two connections to the database",
            holds(2.0, idle()).everywhere(pooler(2.0, json!(16.0), 0.0)),
            Factor::Database,
            Certain,
        ),
        (
            "the same, though TCP hardly shows the queries that wait in the pooler",
            holds(2.0, idle()).everywhere(pooler(2.0, json!(1.3), 0.5)),
            Factor::Database,
            Certain,
        ),
        (
            "a pooler whose connections suffice",
            holds(4.0, idle()).everywhere(pooler(16.0, json!(1.0), 0.0)),
            Factor::Pool,
            Likely,
        ),
        (
            "ten connections to the database, seven of which are held during another call",
            holds(10.0, idle()).everywhere(during_call(3.0, 7.0)),
            Factor::Database,
            Likely,
        ),
        (
            "ten connections to the database, most of them idle, and nothing else is in flight",
            holds(10.0, idle()).everywhere(during_call(3.0, 0.5)),
            Factor::Pool,
            Likely,
        ),
        ("a pool of four, all of which wait", holds(4.0, idle()).everywhere(pool(4.0, 3.9)), Factor::Database, Certain),
        ("a pool of eight that hardly waits", holds(4.0, idle()).everywhere(pool(8.0, 0.2)), Factor::Pool, Likely),
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

/// Returns the headline of a verdict, and whether one of its facts is such a one.
fn tells(case: &Case, is_such: fn(&Fact) -> bool) -> (Headline, bool) {
    let finding = case.diagnose().finding;
    let tells = finding.because.iter().any(is_such);
    (finding.headline, tells)
}

#[test]
fn a_pool_has_its_number_and_what_its_requests_wait_for() {
    let four = holds(4.0, waiting(4, "ep_poll"));
    let seen = |change: Value| four.clone().everywhere(change);
    let (headline, resolves) =
        tells(&seen(json!({"signals": {"lookups": 3.9}})), |fact| matches!(fact, Fact::NamesResolved { .. }));
    assert!(matches!(headline, Headline::Pool { size } if (size - 4.0).abs() < 0.2) && resolves, "{headline:?}");
    let calls = json!({"signals": {"peers": [{"address": "10.0.0.2:80", "connections": 4.0, "waiting": 3.8}]}});
    let (_, calls) =
        tells(&seen(calls), |fact| matches!(fact, Fact::PeerInFlight { peer, .. } if peer == "10.0.0.2:80"));
    assert!(calls, "what the requests wait for is named");
    // A lock that is held while data is written: one thread waits for the disk, the others for the lock.
    let mut threads = waiting(8, "futex_wait_queue");
    threads.extend(waiting(1, "jbd2_log_wait_commit"));
    let (headline, syncs) = tells(
        &holds(1.0, threads),
        |fact| matches!(fact, Fact::WaitsIn { what: WaitKind::Disk, threads } if *threads > 0.8),
    );
    assert_eq!((headline, syncs), (Headline::Lock, true));
    // An event loop has read all requests, and sleeps.
    let blocked = holds(1.0, waiting(1, "hrtimer_nanosleep")).others_wait(4e-3);
    let (headline, blocked) = tells(&blocked, |fact| matches!(fact, Fact::LoopBlocked { .. }));
    assert_eq!((headline, blocked), (Headline::OneWorker, true));
}

#[test]
fn a_service_in_a_hidden_network_namespace_is_reported_with_the_rights_that_show_it() {
    let hidden = holds(4.0, vec![]).unseen().load(|setting| setting.hidden_namespace = true);
    let finding = hidden.diagnose().finding;
    assert_eq!(finding.factor, Factor::Unknown);
    assert!(finding.because.contains(&Fact::OtherNamespace) && finding.advice == [Advice::LookAsRoot], "{finding:#?}");
}

#[test]
fn a_worker_a_lock_a_pool_and_a_limiter_are_distinguished() {
    check(rows());
}
