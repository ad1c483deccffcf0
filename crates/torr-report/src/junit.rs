//! Checks, entries of sessions and thresholds as JUnit XML, for CI systems.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;
use torr_gauge::sessions::EntryResult;
use torr_gauge::{RunResult, ThresholdRule};

use crate::{entries, expectations};

/// The name of the test case that passes if the target was reached and has answered.
const REACHED: &str = "reached";
/// The name of the test case that passes if all redirects were followed.
const REDIRECTS: &str = "redirects followed";

/// Returns a test case for the run itself, one for redirects if there were any to follow, one for each check, one for each entry and one for each threshold.
///
/// # Errors
/// Never for the result of a run.
pub fn run(run: &RunResult) -> Result<String, SerializeError> {
    let time = Duration::from_secs_f64(run.duration_s);
    let mut suite = TestSuite::new(run.target.as_str());
    suite.set_time(time);
    // The timestamp is optional in JUnit.
    suite.timestamp = run.started_at.parse().ok();
    let mut reached = case(REACHED, status("unanswered", expectations::unanswered(run)));
    reached.set_time(time);
    suite.add_test_case(reached);
    if run.redirects_followed > 0 || run.errors.redirect > 0 {
        suite.add_test_case(case(REDIRECTS, status("redirect", expectations::failed_redirects(run))));
    }
    suite.add_test_cases(run.checks.iter().map(|check| {
        let failed = (check.failed > 0).then(|| expectations::check_failure(check));
        case(&check.name, status("check", failed))
    }));
    let titles = entries::titles(&run.entries);
    suite.add_test_cases(run.entries.iter().zip(&titles).map(|(entry, title)| case(title, entry_status(entry))));
    suite.add_test_cases(run.thresholds.iter().map(|threshold| {
        let failed = threshold.failed.then(|| expectations::threshold_failure(threshold));
        case(&threshold.rule, status("threshold", failed))
    }));
    report(suite)
}

/// Returns the test cases for a target that could not be reached: the case of the run has failed, the others are skipped.
///
/// # Errors
/// Never for the rules that the command line accepts.
pub fn unreached(target: &str, rules: &[ThresholdRule], why: &str) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(target);
    suite.add_test_case(case(REACHED, status("unreachable", Some(why.to_owned()))));
    suite.add_test_cases(rules.iter().map(|rule| case(&rule.to_string(), TestCaseStatus::skipped())));
    report(suite)
}

fn case(name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname("torr");
    case
}

fn status(kind: &str, failed: Option<String>) -> TestCaseStatus {
    let Some(why) = failed else { return TestCaseStatus::success() };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(kind);
    status.set_message(why);
    status
}

/// Returns the status of an entry, with the examples of its failed asserts as the failure's text.
fn entry_status(entry: &EntryResult) -> TestCaseStatus {
    let asserts = entry.asserts.iter().filter(|assert| assert.failed > 0);
    let lines: Vec<_> = asserts.flat_map(|assert| entries::assert_lines(assert, entry.requests)).collect();
    let kind = if lines.is_empty() { "session" } else { "assert" };
    let mut status = status(kind, entries::failure(entry));
    if !lines.is_empty() {
        status.set_description(lines.join("\n"));
    }
    status
}

fn report(suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new("torr");
    report.add_test_suite(suite);
    report.to_string()
}
