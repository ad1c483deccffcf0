//! The summary of a run in one line.

use crate::human::{count, micros, percent, rate};
use crate::sentence::{self, Named, caution};
use crate::style::{BAD, STRONG, paint};
use crate::{sessions, streams};
use torr_gauge::host::OTHERS_DISTURB;
use torr_gauge::latency::Summary;
use torr_gauge::result::validity::Criterion;
use torr_gauge::{Factor, RunResult, Verdict};

/// Returns throughput, tail latency, errors and the limiting factor in one line with colours; of a run with sessions, also
/// their rate and how many failed.
pub fn line(run: &RunResult) -> String {
    let streams = run.streams.as_ref().map(streams::summary);
    let parts = [
        run.sessions.as_ref().map(|sessions| sessions::rate(sessions, run)),
        streams.is_none().then(|| throughput(run)),
        run.latency_us.as_ref().filter(|_| streams.is_none()).map(tail),
        failures(run),
        run.sessions.as_ref().and_then(sessions::failed),
    ];
    let parts: Vec<_> = streams.into_iter().flatten().chain(parts.into_iter().flatten()).collect();
    let silence = silence(run);
    // Where nothing is known of a limit, a silence of the service is what there is to say.
    let limit = run.verdict.as_ref().filter(|verdict| silence.is_none() || is_limited(verdict)).map(limit);
    let ends = silence.into_iter().chain(limit).chain(disturbed(run)).map(|end| format!("; {end}"));
    let ends: Vec<_> = ends.collect();
    format!("{}{}", parts.join(", "), ends.concat())
}

fn throughput(run: &RunResult) -> String {
    // The rate of a run with sessions is one of sessions.
    let offered = run.plan.rate.filter(|_| run.sessions.is_none());
    let offered = offered.map_or(String::new(), |offered| format!(" of {}", rate(offered)));
    paint(STRONG, format!("{}{offered} requests/s", rate(run.rps)))
}

/// Returns the highest percentile with enough samples, or the maximum.
fn tail(latency: &Summary) -> String {
    let known = [("p99", latency.p99), ("p90", latency.p90), ("p50", latency.p50)];
    let known = known.into_iter().find_map(|(name, us)| Some((name, us?)));
    let (name, us) = known.unwrap_or(("max", latency.max));
    paint(STRONG, format!("{name} {}", micros(us as f64)))
}

/// Returns how many requests failed; `None` where none did but sessions failed, whose number says it all.
fn failures(run: &RunResult) -> Option<String> {
    match run.errors.total() {
        0 if !run.has_responses() => Some(paint(BAD, "no responses")),
        0 if run.sessions.as_ref().is_some_and(|sessions| sessions.failed > 0) => None,
        0 => Some("no errors".into()),
        failed => {
            let share = percent(failed as f64 / run.started.max(1) as f64);
            let errors = if failed == 1 { "error" } else { "errors" };
            Some(paint(BAD, format!("{} {errors} ({share})", count(failed))))
        }
    }
}

/// Returns when the service did not respond at all, if it fell silent during the run.
fn silence(run: &RunResult) -> Option<String> {
    let mut findings = run.validity.iter().flat_map(|validity| &validity.findings);
    let silence = findings.find(|finding| finding.what == Criterion::Silence && !finding.ok)?;
    Some(paint(BAD, caution::note(silence)))
}

/// Returns how much other programs used of the server's machine, if that disturbed the run.
fn disturbed(run: &RunResult) -> Option<String> {
    let share = run.signals.as_ref()?.named_others_share()?;
    let of = format!("other programs used {} of the CPU", percent(share));
    (share >= OTHERS_DISTURB).then(|| paint(BAD, of))
}

/// Returns whether a verdict names what limited the run.
fn is_limited(verdict: &Verdict) -> bool {
    !matches!(verdict.factor, Factor::None | Factor::Unknown)
}

fn limit(verdict: &Verdict) -> String {
    if verdict.factor == Factor::None {
        return "the rate was kept".into();
    }
    let Named { before, name, behind } = sentence::brief_factor(verdict);
    let name = name.map_or_else(String::new, |name| paint(STRONG, name));
    format!("{before}{name}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;
    use torr_gauge::collector::RunFacts;
    use torr_gauge::result::PlanSummary;
    use torr_gauge::result::validity::{Caution, Finding};
    use torr_gauge::sessions::SessionSummary;
    use torr_gauge::{Collector, Confidence, Failure, FailureKind, FailureSide, Sample, Validity};

    /// Returns a run of 2 s with a number of responses, each after a millisecond, and a number of failures.
    fn run(responses: u64, failures: u64) -> RunResult {
        let mut sample = Sample::default();
        for _ in 0..responses {
            sample.answered.record(1_000_000);
            sample.status.count(200);
        }
        (0..failures)
            .for_each(|_| sample.failures.count(Failure::new(FailureKind::Read, FailureSide::Server, "closed")));
        let mut collector = Collector::new(1, Duration::from_secs(1));
        collector.take(0, 0, &sample, true);
        let facts = RunFacts { duration: Duration::from_secs(2), started: responses + failures, ..RunFacts::default() };
        collector.finish(facts).result
    }

    fn plain(run: &RunResult) -> String {
        anstream::adapter::strip_str(&line(run)).to_string()
    }

    #[test]
    fn the_summary_has_throughput_tail_errors_and_limit() {
        let mut good = run(2000, 0);
        assert_eq!(plain(&good), "1,000 requests/s, p99 1.00 ms, no errors");
        good.verdict = Some(Verdict::new(Factor::ServerCpu, Confidence::Likely, ""));
        assert_eq!(plain(&good), "1,000 requests/s, p99 1.00 ms, no errors; limited by server-cpu (likely)");
        good.verdict = Some(Verdict::new(Factor::Unknown, Confidence::Unknown, ""));
        good.plan = PlanSummary { rate: Some(1500.0), ..PlanSummary::default() };
        assert_eq!(plain(&good), "1,000 of 1,500 requests/s, p99 1.00 ms, no errors; limiting factor unknown");
        assert_eq!(plain(&run(199, 1)), "99.5 requests/s, p90 1.00 ms, 1 error (0.5%)");
        assert_eq!(plain(&run(0, 0)), "0.00 requests/s, no responses");
    }

    #[test]
    fn a_busy_machine_is_in_the_summary() {
        let beside = |cores: f64| {
            let signals = json!({"machine": {"cores": 2}, "others": [{"name": "rustc", "cores": cores}]});
            let signals = serde_json::from_value(signals).expect("it has the schema's form");
            plain(&RunResult { signals, ..run(2000, 0) })
        };
        let start = "1,000 requests/s, p99 1.00 ms, no errors";
        assert_eq!(beside(0.92), format!("{start}; other programs used 46% of the CPU"));
        assert_eq!(beside(0.1), start);
    }

    #[test]
    fn a_silence_of_the_service_is_in_the_summary() {
        let (what, fact) = (Criterion::Silence, Some(Caution::Silence { from_s: 4.0, to_s: 6.0 }));
        let (agent, ended_early, note) = (None, Vec::new(), String::new());
        let (ok, value, limit, p, advice) = (false, 2.0, 0.9, None, None);
        let finding = Finding { what, ok, value, limit, p, fact, agent, ended_early, note, advice };
        let mut run = run(2000, 0);
        run.validity = Some(Validity { ok: false, findings: vec![finding] });
        let start = "1,000 requests/s, p99 1.00 ms, no errors; no response from 4.00 s to 6.00 s of the run";
        for (factor, end) in
            [(Factor::None, ""), (Factor::Unknown, ""), (Factor::ServerCpu, "; limited by server-cpu (likely)")]
        {
            run.verdict = Some(Verdict::new(factor, Confidence::Likely, ""));
            assert_eq!(plain(&run), format!("{start}{end}"));
        }
    }

    #[test]
    fn failed_sessions_never_stand_beside_no_errors() {
        let with = |finished, failed, errors| {
            let (users, started) = (1, finished + failed);
            let sessions = SessionSummary {
                users,
                started,
                finished,
                failed,
                unfinished: 0,
                per_second: 500.0,
                duration_us: None,
            };
            plain(&RunResult { sessions: Some(sessions), ..run(2000 - errors, errors) })
        };
        assert_eq!(with(1000, 0, 0), "500 sessions/s, 1,000 requests/s, p99 1.00 ms, no errors");
        assert_eq!(with(0, 1000, 0), "500 sessions/s, 1,000 requests/s, p99 1.00 ms, 1,000 sessions failed (100%)");
        assert_eq!(
            with(990, 10, 10),
            "500 sessions/s, 995 requests/s, p99 1.00 ms, 10 errors (0.5%), 10 sessions failed (1.0%)"
        );
    }
}
