//! Services of which each experiment takes long: what was observed is judged, even if no time is left for more.

use super::case::{ALONE, Case, service, uses, waiting};
use serde_json::json;
use torr_gauge::verdict::ExperimentId as Id;
use torr_gauge::{Confidence, Factor};

/// Four workers that sleep for as long as an acknowledgement may be delayed.
fn four_workers(budget_s: f64) -> Case {
    service(0.201, 19.9)
        .everywhere(uses(0.05, waiting(4, "hrtimer_nanosleep")))
        .at(ALONE, json!({"times": {"ack_delayed": 5}}))
        .others_wait(0.15)
        .load(|setting| setting.budget_s = budget_s)
}

#[test]
fn pairs_of_runs_end_once_two_agree() {
    let found = four_workers(60.0).diagnose();
    let count = |id| found.trail.iter().filter(|seen| seen.id == id).count();
    assert_eq!((count(Id::AckedAsUsual), count(Id::AckedAtOnce)), (2, 2), "{:?}", found.finding);
    assert_eq!(found.finding.factor, Factor::Workers, "{:?}", found.finding);
}

#[test]
fn a_plain_ladder_is_judged_whatever_the_budget_leaves() {
    for budget_s in [12.0, 20.0, 30.0, 60.0] {
        let found = four_workers(budget_s).diagnose().finding;
        assert_eq!(found.factor, Factor::Workers, "{budget_s}: {found:?}");
        assert_ne!(found.confidence, Confidence::Unknown, "{budget_s}: {found:?}");
    }
}
