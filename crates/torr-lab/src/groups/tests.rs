//! Results with streams of events, compared.

use super::*;
use crate::gate::Kept;
use crate::judgement::Outcome;
use std::path::PathBuf;
use std::time::Duration;
use torr_gauge::collector::RunFacts;
use torr_gauge::generator::ThreadCost;
use torr_gauge::result::PlanSummary;
use torr_gauge::result::validity::Validity;
use torr_gauge::{Collector, Sample};

/// The result of ten seconds with 100 streams of 30 s, whose events are so many milliseconds apart, and of which each run differs a little.
fn streams(run: u64, gap_ms: u64, first_ms: u64) -> Archived {
    let mut sample = Sample::default();
    let streams = sample.streams.get_or_insert_default();
    let noise_us = 10 * (run % 4);
    streams.events = 1_000_000 / gap_ms + run % 3;
    streams.gaps.record_many(gap_ms * 1000 + noise_us, streams.events - 100);
    streams.first_event.record_many(first_ms * 1000 + noise_us, 1000);
    streams.open = 100;
    sample.unfinished = 100;
    let mut collector = Collector::new(1, Duration::from_secs(10));
    collector.take(0, 0, &sample, true);
    let wall = Duration::from_secs(10);
    let mut run = collector.finish(RunFacts {
        plan: PlanSummary { connections: 100, threads: Some(1), ..PlanSummary::default() },
        duration: wall,
        started: 100,
        threads: vec![ThreadCost { wall, cpu: wall / 10, queued: None, idle: wall.mul_f64(0.9) }],
        started_at: format!("2026-11-23T00:{run:02}:00.000Z"),
        ..RunFacts::default()
    });
    // What the hypervisor takes away during this test was not taken away from the result.
    run.result.validity = Some(Validity { ok: true, findings: Vec::new() });
    Archived { path: PathBuf::new(), run: run.result }
}

fn compared(a: &[Archived], b: &[Archived], rules: &str) -> Report {
    let rules = Rule::parse_all(rules).expect("these are rules");
    compare([a, b], ["a".into(), "b".into()], &rules, 0.02, 1).expect("both are valid")
}

fn finding(report: &Report, metric: Metric) -> &Finding {
    let found = report.findings.iter().find(|finding| finding.metric == metric);
    found.unwrap_or_else(|| panic!("no finding about {}", metric.name()))
}

#[test]
fn streams_differ_by_events_first_events_and_gaps() {
    let group = |gap_ms, first_ms| (0..12).map(|run| streams(run, gap_ms, first_ms)).collect::<Vec<_>>();
    let (a, slower) = (group(20, 5), group(25, 5));
    let report = compared(&a, &slower, "gap_p99>+10%,events<-10%,first_event_p99>+10%");
    for (metric, ratio) in [(Metric::Events, 0.8), (Metric::GapP50, 1.25), (Metric::GapP99, 1.25)] {
        let found = finding(&report, metric);
        assert_eq!(found.outcome, Outcome::Different, "{found:?}");
        assert!(found.ratio.is_some_and(|found| (found / ratio - 1.0).abs() < 0.01), "{found:?}");
        assert!(found.interval.is_some_and(|[low, high]| low < ratio * 1.01 && high > ratio * 0.99), "{found:?}");
    }
    assert_eq!(finding(&report, Metric::FirstEventP99).outcome, Outcome::Same);
    let kept: Vec<_> = report.rules.iter().map(|judged| judged.outcome).collect();
    assert_eq!(kept, [Kept::Failed, Kept::Failed, Kept::Passed]);
    // How long a stream was, and how many ended, is not compared.
    for metric in [Metric::Throughput, Metric::Cpu, Metric::P50, Metric::P99] {
        let found = finding(&report, metric);
        assert_eq!((found.a, found.b, found.pairs), (None, None, 0), "{found:?}");
    }
    assert!(!report.notes.contains(&Note::ClosedLoop), "{:?}", report.notes);
}

#[test]
fn single_results_with_streams_have_figures_and_no_interval() {
    let report = compared(&[streams(0, 20, 5)], &[streams(0, 25, 10)], "gap_p99>+10%");
    let found = finding(&report, Metric::FirstEventP50);
    assert_eq!((found.outcome, found.interval), (Outcome::CannotTell, None));
    assert!(found.ratio.is_some_and(|ratio| (ratio - 2.0).abs() < 0.02), "{found:?}");
    assert_eq!(report.rules[0].outcome, Kept::CannotTell);
}

#[test]
fn streams_and_responses_have_nothing_in_common_but_errors() {
    let mut responses = streams(0, 20, 5);
    responses.run.streams = None;
    let report = compared(&[streams(0, 20, 5)], &[responses], "errors>+1%");
    assert!(report.notes.contains(&Note::DifferentLoads), "{:?}", report.notes);
    let measured = report.findings.iter().filter(|finding| finding.pairs > 0).map(|finding| finding.metric);
    assert_eq!(measured.collect::<Vec<_>>(), [Metric::Errors]);
}
