//! A proxy in between, and what is behind it.

use super::case::{Which, peer, service, thread, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::ExperimentId;
use torr_gauge::{Confidence, Factor};

/// A change that adds to what the kernel tells of the peer.
fn upstream(more: Value) -> Value {
    peer("other", 0.3, vec![thread(9, 0.3, 0.0)], more)
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely};
    let proxied = || service(1e-3, 4000.0).everywhere(upstream(json!({})));
    let direct: Which = |id| id == ExperimentId::Direct;
    let three: Which = |id| matches!(id, ExperimentId::Upstream(_));
    let churning = upstream(json!({"kept": 0.1}));
    let unknown_opens = json!({"signals": {"network": {"active_opens": null}}});
    let full_machine = || uses(1.0, vec![thread(1, 0.95, 0.3), thread(2, 0.95, 0.3), thread(3, 0.95, 0.3)]);
    let full_upstream = peer("other", 1.0, vec![thread(9, 0.97, 0.02), thread(10, 0.02, 0.0)], json!({}));
    let taken = || json!({"signals": {"clients": {"established": 64.0, "unread": 60.0}}});
    let relay = |threads| service(5e-3, 800.0).everywhere(uses(0.1, threads)).everywhere(taken());
    let four = || upstream(json!({"connections": 4.0, "connections_max": 4}));
    // Processes that speak FastCGI, behind a Unix socket whose accept queue has the other requests.
    let behind = |accepted: f64, cores: f64, threads: Vec<Value>, peers: Value| {
        let more = json!({"address": "/run/fpm.sock", "waiting": null, "accepted": accepted, "unread": 0.0,
            "listener": {"queued_mean": 64.0 - accepted}, "peers": peers});
        peer("other", cores, threads, more)
    };
    let front = |most: f64| service(5e-3, most).everywhere(uses(0.1, vec![thread(1, 0.05, 0.0)]));
    let scan = json!([{"address": "127.0.0.1:3306", "role": "database", "connections": 2.0, "connections_max": 2,
        "processes": [{"pid": 3, "name": "mariadbd", "cores": 1.9, "threads": [thread(9, 0.95, 0.0), thread(10, 0.95, 0.0)]}]}]);
    let short_queue = json!({"address": "/run/fpm.sock", "waiting": null, "accepted": 8.0, "unread": 0.0,
        "connections": 16.0, "connections_max": 16, "listener": {"queued_mean": 7.9}});
    let queries_and_calls = json!({"signals": {"peers": [
        {"address": "127.0.0.1:9000", "role": "other", "connections": 4.0, "connections_max": 4, "waiting": 1.0,
            "processes": [{"pid": 4, "name": "orders", "cores": 0.1}]},
        {"address": "127.0.0.1:5432", "role": "database", "connections": 16.0, "connections_max": 16, "waiting": 0.1,
            "sends_per_s": 800.0, "processes": [{"pid": 3, "name": "postgres", "cores": 0.1}]}]}});
    let stranger = json!({"run": {"bytes": {"body": 5}}});
    vec![
        (
            "a relay with four workers that wait: directly it does ten times as much, but no single request is quicker",
            relay(waiting(4, "wait_woken")).everywhere(four()).times(direct, 10.0),
            Factor::Workers,
            Certain,
        ),
        (
            "the same by the requests that it has not read alone",
            relay(waiting(4, "ep_poll")).everywhere(upstream(json!({}))).times(direct, 10.0),
            Factor::Workers,
            Likely,
        ),
        (
            "the same, but a single request takes five times as long through it",
            relay(waiting(4, "wait_woken"))
                .everywhere(four())
                .times(direct, 10.0)
                .at(three, json!({"times": {"answered": {"median_us": 1000.0}}})),
            Factor::Proxy,
            Likely,
        ),
        (
            "four at a time through a proxy that has read all requests: its own limit",
            service(5e-3, 800.0).everywhere(four()).times(direct, 10.0),
            Factor::Proxy,
            Certain,
        ),
        (
            "two FastCGI processes that sleep, behind a front",
            front(400.0).everywhere(behind(2.0, 0.04, waiting(2, "hrtimer_nanosleep"), json!([]))),
            Factor::Workers,
            Certain,
        ),
        (
            "eight FastCGI processes that wait for a lock of a file",
            front(200.0).everywhere(behind(8.0, 0.04, waiting(8, "locks_lock_inode_wait"), json!([]))),
            Factor::Lock,
            Certain,
        ),
        (
            "two FastCGI processes that wait for a table scan",
            front(400.0).everywhere(behind(2.0, 0.04, waiting(2, "wait_woken"), scan)),
            Factor::Database,
            Likely,
        ),
        (
            "eight FastCGI processes that sleep, behind a front with few more requests",
            front(1600.0).load(|setting| (setting.connections, setting.max_connections) = (16, 32)).everywhere(peer(
                "other",
                0.04,
                waiting(8, "hrtimer_nanosleep"),
                short_queue,
            )),
            Factor::Workers,
            Likely,
        ),
        (
            "a service that queries a database for each request, and calls another one that responds alike",
            service(5e-3, 800.0).everywhere(queries_and_calls).times(direct, 10.0),
            Factor::Pool,
            Likely,
        ),
        (
            "a service with a pool of two connections to another service, which has no queue",
            front(400.0)
                .everywhere(upstream(
                    json!({"connections": 2.0, "connections_max": 2, "waiting": 1.9, "listener": {"queued_mean": 0.0}}),
                ))
                .at(three, stranger),
            Factor::Pool,
            Likely,
        ),
        ("directly it does twice as much", proxied().times(direct, 2.0), Factor::Proxy, Certain),
        (
            "directly it does twice as much, and a connection is opened for each request",
            proxied().everywhere(churning).everywhere(unknown_opens).times(direct, 2.0),
            Factor::Proxy,
            Certain,
        ),
        (
            "what is behind it gives another response",
            proxied().times(direct, 2.0).at(three, json!({"run": {"bytes": {"body": 5}}})),
            Factor::Pool,
            Likely,
        ),
        (
            "directly it does no more: what is behind it has a full thread",
            service(1e-3, 4000.0).everywhere(full_upstream),
            Factor::SingleCore,
            Certain,
        ),
        (
            "directly it does twice as much, on a machine that is full",
            proxied().everywhere(full_machine()).times(direct, 2.0),
            Factor::ServerCpu,
            Likely,
        ),
        (
            "a request that changes something is not sent to what is behind it",
            proxied().times(direct, 2.0).load(|setting| setting.is_read_only = false),
            Factor::Pool,
            Likely,
        ),
    ]
}

#[test]
fn a_proxy_differs_from_the_service_behind_it() {
    check(rows());
}
