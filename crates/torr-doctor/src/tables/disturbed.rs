//! Other programs on the server's machine, and a hypervisor.

use super::case::{ALONE, Case, RUNGS, peer, service, spread, thread, uses, waiting};
use super::{Row, check};
use serde_json::{Value, json};
use torr_gauge::verdict::Advice;
use torr_gauge::{Confidence, Factor};

/// An event loop whose thread computes in most of the time on a machine that others fill, and of which a request alone seemed to take
/// twice as long, since others had more of the CPU before.
fn event_loop(alone: Value) -> Case {
    service(1e-3, 900.0)
        .others_wait(2e-3)
        .at(ALONE, json!({"times": {"answered": alone}}))
        .everywhere(uses(0.93, vec![thread(1, 0.8, 0.03)]))
        .everywhere(json!({"signals": {"clients": {"established": 64.0, "unread": 62.0}}}))
}

/// Returns the CPU of the machine that all programs use.
fn machine(share: f64) -> Value {
    json!({"signals": {"machine": {"cpu_share": share}}})
}

pub fn rows() -> Vec<Row> {
    use Confidence::{Certain, Likely, Unknown};
    let slow = || service(1e-3, 1000.0);
    let starved = || uses(1.0, vec![thread(1, 0.5, 0.45), thread(2, 0.5, 0.45)]);
    let served = || uses(1.0, vec![thread(1, 0.97, 0.02), thread(2, 0.02, 0.0)]);
    let stolen = |share: f64| json!({"signals": {"machine": {"steal_share": share}}});
    vec![
        (
            "others use three CPUs of four, and the server waits for one",
            slow().everywhere(starved()),
            Factor::Unknown,
            Unknown,
        ),
        (
            "others use three CPUs of four, and the server gets its one",
            slow().everywhere(served()),
            Factor::SingleCore,
            Certain,
        ),
        (
            "the hypervisor takes a third, and the server waits for a CPU",
            slow()
                .everywhere(uses(1.0, vec![thread(1, 0.6, 0.3), thread(2, 0.6, 0.3), thread(3, 0.6, 0.3)]))
                .everywhere(stolen(0.35)),
            Factor::Unknown,
            Unknown,
        ),
        (
            "the hypervisor takes an eighth beside a full thread",
            slow().everywhere(uses(0.4, vec![thread(1, 0.85, 0.02), thread(2, 0.01, 0.0)])).everywhere(stolen(0.12)),
            Factor::SingleCore,
            Likely,
        ),
        (
            "a thread that computes does not wait, however long a request alone took",
            event_loop(spread(60.0, 2.3e-3)),
            Factor::Unknown,
            Unknown,
        ),
        (
            "four workers that sleep, beside others that stay",
            four_workers().everywhere(machine(0.6)),
            Factor::Workers,
            Certain,
        ),
        (
            "four workers that sleep, beside others that end",
            four_workers().at(ALONE, machine(0.95)).at(RUNGS, machine(0.9)),
            Factor::Workers,
            Likely,
        ),
        (
            "a full thread, beside others that come",
            slow().everywhere(served()).at(RUNGS, machine(0.3)).at(ALONE, machine(0.05)),
            Factor::SingleCore,
            Likely,
        ),
    ]
}

/// Returns a service of four workers that sleep, and for which other requests wait.
fn four_workers() -> Case {
    service(5e-3, 800.0).everywhere(uses(0.1, waiting(4, "hrtimer_nanosleep"))).others_wait(4e-3)
}

#[test]
fn an_unknown_factor_has_a_best_hypothesis_and_what_would_prove_it() {
    let starved = uses(1.0, vec![thread(1, 0.5, 0.48), thread(2, 0.02, 0.3)]);
    for (what, case, best) in [
        ("a starved thread", service(1e-3, 500.0).others_wait(2e-3).everywhere(starved), Factor::SingleCore),
        ("an event loop", event_loop(spread(60.0, 2.3e-3)), Factor::SingleCore),
    ] {
        let verdict = case.diagnose().finding;
        assert_eq!(verdict.hypotheses.first().map(|best| best.factor), Some(best), "{what}: {verdict:#?}");
        assert!(verdict.advice.contains(&Advice::Prove { factor: best }), "{what}: {verdict:#?}");
    }
    let known = service(5e-3, 800.0).everywhere(peer("cache", 0.1, vec![], json!({}))).diagnose().finding;
    assert!(known.factor != Factor::Unknown && known.hypotheses.is_empty(), "{known:#?}");
}

#[test]
fn a_machine_that_others_use_tells_only_of_what_gets_its_cpu() {
    check(rows());
}
