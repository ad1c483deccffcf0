//! Checks and thresholds as JUnit XML, for programs that build and test.

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;
use torr_gauge::{RunResult, ThresholdRule};

use crate::expectations;

/// The name of the case that tells whether there was a run at all.
const REACHED: &str = "reached";

/// A case for the run itself, one for each check, one for each threshold.
///
/// # Errors
/// Never for a result that a run made; the writer cannot promise that.
pub fn run(run: &RunResult) -> Result<String, SerializeError> {
    let time = Duration::from_secs_f64(run.duration_s);
    let mut suite = TestSuite::new(run.target.as_str());
    suite.set_time(time);
    // The format of JUnit can do without it.
    suite.timestamp = run.started_at.parse().ok();
    let mut reached = case(REACHED, TestCaseStatus::success());
    reached.set_time(time);
    suite.add_test_case(reached);
    suite.add_test_cases(run.checks.iter().map(|check| {
        let failed = (check.failed > 0).then(|| expectations::check_failure(check));
        case(&check.name, status("check", failed))
    }));
    suite.add_test_cases(run.thresholds.iter().map(|threshold| {
        let failed = threshold.failed.then(|| expectations::threshold_failure(threshold));
        case(&threshold.rule, status("threshold", failed))
    }));
    report(suite)
}

/// A target that could not be reached: the case of the run itself has failed, and there is nothing to judge.
///
/// # Errors
/// Never for what the command line lets through; the writer cannot promise that.
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

fn report(suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new("torr");
    report.add_test_suite(suite);
    report.to_string()
}
