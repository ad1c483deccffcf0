//! `torr compare` of servers: a large difference is shown, and a version is never different from itself.

use serde_json::Value;
use torr_test_support::alone;
use torr_test_support::disturbance::{Disturbance, Outcome, until_right};
use torr_test_support::program::{torr, torr_path};
use torr_test_support::servers::Serve;

/// Returns the finding about a metric.
fn finding<'v>(report: &'v Value, metric: &str) -> &'v Value {
    let findings = report["findings"].as_array().expect("it is a list");
    findings.iter().find(|finding| finding["metric"] == metric).expect("each metric has a finding")
}

#[test]
fn a_large_difference_is_shown_and_fails_its_rule() {
    let _alone = alone();
    let server = Serve::start(&["--workers", "1"]);
    let [light, heavy] = ["/cpu/100", "/cpu/300"].map(|path| server.url(path));
    let args = ["compare", &light, &heavy, "--budget", "30s", "-c", "8", "-t", "1", "-q", "--seed", "7"];
    let report = until_right("a difference", || {
        let compare = || torr(&[&args[..], &["--fail-if", "cpu>+50%", "--json", "-"]].concat());
        let (outcome, disturbance) = Disturbance::during(compare);
        let report: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
        let cpu = finding(&report, "cpu");
        let ratio = cpu["ratio"].as_f64().filter(|ratio| (1.5..4.0).contains(ratio));
        match (outcome.code, cpu["outcome"].as_str(), ratio) {
            (Some(1), Some("different"), Some(_)) => Outcome::Right(report),
            (Some(4), _, _) => Outcome::Unknown(format!("{disturbance}: {}", outcome.stderr)),
            _ => Outcome::Wrong(format!("{outcome:?}"), disturbance),
        }
    });
    assert_eq!((report["schema"].as_str(), report["seed"].as_u64()), (Some("torr.versions/1"), Some(7)));
}

#[test]
fn a_version_is_never_different_from_itself() {
    let _alone = alone();
    let command = format!("{} serve --listen 127.0.0.1:{{port}} --workers 1", torr_path());
    let url = "http://127.0.0.1:{port}/cpu/100";
    let args =
        ["compare", "--a", &command, "--b", &command, "--url", url, "--budget", "30s", "-c", "8", "-t", "1", "-q"];
    let outcome = torr(&[&args[..], &["--json", "-"]].concat());
    assert!(matches!(outcome.code, Some(0 | 4)), "{outcome:?}");
    let report: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
    for finding in report["findings"].as_array().expect("it is a list") {
        assert_ne!(finding["outcome"], "different", "{report:#}");
    }
    assert!(report["blocks"].as_array().is_some_and(|blocks| !blocks.is_empty()), "{report:#}");
}
