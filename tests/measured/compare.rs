//! `torr compare` of servers: a large difference is shown, and a version is never different from itself.

use crate::budget::has_room;
use crate::printed;
use serde_json::Value;
use torr_test_support::alone;
use torr_test_support::measured::measured;
use torr_test_support::program::{torr, torr_path};
use torr_test_support::quiet;
use torr_test_support::servers::Serve;

/// Returns the finding about a metric.
fn finding<'v>(report: &'v Value, metric: &str) -> &'v Value {
    let findings = report["findings"].as_array().expect("it is a list");
    findings.iter().find(|finding| finding["metric"] == metric).expect("each metric has a finding")
}

/// Checks that no finding claims a difference below what the machine can show by its own measurement.
fn claims_no_less_than_it_can_show(report: &Value) {
    for finding in report["findings"].as_array().expect("it is a list") {
        let Some(smallest) = report["smallest"][finding["metric"].as_str().expect("a name")].as_f64() else { continue };
        let change = finding["ratio"].as_f64().map_or(0.0, |ratio| ratio.max(1.0 / ratio) - 1.0);
        assert!(finding["outcome"] != "different" || change >= smallest, "below {smallest}: {finding}");
    }
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_large_difference_is_shown_and_fails_its_rule() {
    let _alone = alone();
    let server = Serve::start(&["--workers", "1"]);
    let [light, heavy] = ["/cpu/100", "/cpu/300"].map(|path| server.url(path));
    let args = ["compare", &light, &heavy, "--budget", "14s", "-c", "8", "-t", "1", "-q", "--seed", "7"];
    measured("a large difference", || {
        let outcome = torr(&[&args[..], &["--fail-if", "cpu>+50%", "--json", "-"]].concat());
        has_room(&outcome);
        assert!(matches!(outcome.code, Some(1 | 4)), "it is not said to be kept: {outcome:?}");
        let report: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
        assert_eq!((report["schema"].as_str(), report["seed"].as_u64()), (Some("torr.versions/1"), Some(7)));
        claims_no_less_than_it_can_show(&report);
        let cpu = finding(&report, "cpu");
        quiet!((outcome.code, cpu["outcome"].as_str()) == (Some(1), Some("different")), "{cpu}: {}", outcome.stderr);
        quiet!(cpu["ratio"].as_f64().is_some_and(|ratio| (1.5..4.0).contains(&ratio)), "{cpu}");
    });
}

#[test]
#[ignore = "measured for long: ./test full"]
fn a_version_is_never_different_from_itself() {
    let _alone = alone();
    let command = format!("{} serve --listen 127.0.0.1:{{port}} --workers 1", torr_path());
    let url = "http://127.0.0.1:{port}/cpu/100";
    let args =
        ["compare", "--a", &command, "--b", &command, "--url", url, "--budget", "60s", "-c", "8", "-t", "1", "-q"];
    measured("a version and itself", || {
        let outcome = torr(&[&args[..], &["--json", "-"]].concat());
        has_room(&outcome);
        assert!(matches!(outcome.code, Some(0 | 4)), "{outcome:?}");
        let report: Value = serde_json::from_str(&outcome.stdout).expect("it is JSON");
        // By the smallest difference that counts unless one is given.
        for finding in report["findings"].as_array().expect("it is a list") {
            assert_ne!(finding["outcome"], "different", "{report:#}");
        }
        claims_no_less_than_it_can_show(&report);
        let again = report["command"].as_str().expect("it is kept");
        assert!(again.contains("--budget 60s") && again.contains(" --b '"), "{again}");
        printed::runs(again, &[], printed::has_sockets);
        assert!(report["blocks"].as_array().is_some_and(|blocks| !blocks.is_empty()), "{report:#}");
        let ratio = finding(&report, "cpu")["ratio"].as_f64();
        quiet!(ratio.is_some_and(|ratio| (0.8..1.25).contains(&ratio)), "{:#}", report["findings"]);
    });
}
