//! A proxy in between, and what is behind it.

use super::case::{Which, peer, service, thread, uses};
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
    vec![
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
            Factor::Lock,
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
            Factor::Lock,
            Likely,
        ),
    ]
}

#[test]
fn a_proxy_differs_from_the_service_behind_it() {
    check(rows());
}
