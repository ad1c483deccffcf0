//! The findings of synthetic runs.

use super::{UnreportedFacts, judge};
use crate::collector::{Collector, RunFacts};
use crate::datagrams::DatagramTally;
use crate::generator::ThreadCost;
use crate::result::RunResult;
use crate::result::validity::{CHANCE, Caution, Criterion, Finding, OffSchedule, Validity};
use crate::result::{Arrivals, PlanSummary};
use crate::{Failure, FailureKind, FailureSide, Latency, Sample};
use fastrand::Rng;
use serde_json::json;
use std::time::Duration;
use torr_signals::{ProgramUse, Signals};

const SECOND: Duration = Duration::from_secs(1);

fn plan() -> PlanSummary {
    PlanSummary {
        connections: 10,
        threads: Some(1),
        duration_s: Some(10.0),
        keep_alive: true,
        ..PlanSummary::default()
    }
}

/// A thread that was busy half of the time.
fn at_ease() -> ThreadCost {
    ThreadCost { wall: SECOND, cpu: SECOND / 4, queued: Some(SECOND / 100), idle: SECOND / 2 }
}

/// A run of 10 s whose seconds are these: responses, and their time in microseconds.
fn run(
    plan: PlanSummary,
    thread: ThreadCost,
    seconds: impl Fn(u64) -> (u64, u64),
    all: impl Fn(&mut Sample),
) -> RunResult {
    let mut collector = Collector::new(1, SECOND);
    let mut started = 0;
    for second in 0..10 {
        let mut sample = Sample { opened: 1, ..Sample::default() };
        let (responses, us) = seconds(second);
        (0..responses).for_each(|_| sample.answered.record(us * 1000));
        if second == 0 {
            all(&mut sample);
        }
        started += responses + sample.failures.total();
        collector.take(0, second, &sample, false);
    }
    collector.take(0, 10, &Sample::default(), true);
    let (duration, threads) = (10 * SECOND, vec![thread]);
    let facts = RunFacts { plan, duration, started, peak: Some(5), threads, ..RunFacts::default() };
    collector.finish(facts).result
}

fn of(run: &RunResult, what: Criterion) -> Option<&Finding> {
    let found = run.validity.as_ref().expect("each run is examined");
    assert_eq!(found.ok, found.findings.iter().all(|finding| finding.ok));
    found.findings.iter().find(|finding| finding.what == what)
}

fn bad(run: &RunResult) -> Vec<Criterion> {
    let findings = &run.validity.as_ref().expect("each run is examined").findings;
    let bad: Vec<_> = findings.iter().filter(|f| !f.ok && f.what != Criterion::Steal).collect();
    bad.iter().map(|finding| finding.what).collect()
}

/// An open loop of 100 requests a second that sent so many, so late in nanoseconds.
fn open(plan: PlanSummary, thread: ThreadCost, sent: u64, late: u64, all: impl Fn(&mut Sample)) -> RunResult {
    let plan = PlanSummary { rate: Some(100.0), arrivals: Some(plan.arrivals.unwrap_or(Arrivals::Constant)), ..plan };
    run(
        plan,
        thread,
        |_| (sent / 10, 1000),
        |sample| {
            (0..sent).for_each(|_| sample.lag.record(late));
            all(sample);
        },
    )
}

#[test]
fn a_sound_run_is_found_sound() {
    let sound = run(plan(), at_ease(), |_| (1000, 500), |_| ());
    assert_eq!(bad(&sound), []);
    for what in [Criterion::Throughput, Criterion::Latency, Criterion::Generator, Criterion::Queued, Criterion::Samples]
    {
        assert!(of(&sound, what).is_some(), "{what:?} was not examined");
    }
    for what in [Criterion::SendLag, Criterion::Rate, Criterion::Arrivals] {
        assert_eq!(of(&sound, what), None, "a closed loop has no schedule");
    }
    let json = serde_json::to_value(&sound.validity).unwrap();
    assert_eq!(json["findings"][0]["what"], "throughput");
    assert_eq!(serde_json::from_value::<Option<Validity>>(json).unwrap(), sound.validity);
}

#[test]
fn findings_of_other_versions_are_read_without_what_this_one_does_not_know() {
    let text = json!({"what": "steal", "ok": false, "value": 0.5, "limit": 0.01, "note": "n", "advice": "a"});
    let older: Finding = serde_json::from_value(text.clone()).unwrap();
    assert_eq!((older.fact.as_ref(), older.note.as_str(), older.advice.as_deref()), (None, "n", Some("a")));
    assert_eq!(serde_json::to_value(&older).unwrap(), text);
    let mut newer = text;
    newer["fact"] = json!({"name": "of-another-version", "x": [1]});
    assert_eq!(serde_json::from_value::<Finding>(newer).unwrap(), older);
    let known = Finding { fact: Some(Caution::Steal { share: 0.5 }), ..older };
    let json = serde_json::to_value(&known).unwrap();
    assert_eq!(json["fact"], json!({"name": "steal", "share": 0.5}));
    assert_eq!(serde_json::from_value::<Finding>(json).unwrap(), known);
}

/// The share of runs that are called bad whose seconds' responses and medians are 1,000 and 10,000, times these factors.
fn called_bad(mut factor: impl FnMut() -> f64) -> f64 {
    const RUNS: usize = 1000;
    let sound = run(plan(), at_ease(), |_| (1000, 10_000), |_| ());
    let called = (0..RUNS).filter(|_| {
        let mut noisy = sound.clone();
        for point in &mut noisy.series {
            point.requests = (1000.0 * factor()) as u64;
            point.p50 = Some((10_000.0 * factor()) as u64);
        }
        !judge(&noisy, &UnreportedFacts { sent: 0, gaps: &[], steal: None }).ok
    });
    called.count() as f64 / RUNS as f64
}

#[test]
fn noise_is_called_bad_at_most_once_in_a_hundred_runs() {
    let mut random = Rng::with_seed(4);
    for spread in [0.05, 0.3, 0.9] {
        let called = called_bad(|| 1.0 + spread * (2.0 * random.f64() - 1.0));
        assert!(called <= 0.01, "{called} of the runs with a noise of {spread}");
    }
    // Noise that lingers, of the size that it has on a quiet machine.
    let mut value = 0.0;
    let called = called_bad(|| {
        value = 0.6 * value + 0.06 * (random.f64() - 0.5);
        1.0 + value
    });
    assert!(called <= 0.01, "{called} of the runs with a noise that lingers");
}

#[test]
fn a_run_that_drifts_is_reported_with_its_share() {
    let slower = run(plan(), at_ease(), |second| (1000 - 50 * second, 1000 + 200 * second), |_| ());
    assert_eq!(bad(&slower), [Criterion::Throughput, Criterion::Latency]);
    let throughput = of(&slower, Criterion::Throughput).unwrap();
    assert!(matches!(throughput.fact, Some(Caution::Throughput { scheduled: false, .. })), "{throughput:?}");
    assert!((throughput.value + 0.3684).abs() < 0.001, "{throughput:?}");
    // A server that hangs from the middle on.
    let hung = run(plan(), at_ease(), |second| (if second < 5 { 1000 + second } else { 0 }, 1000), |_| ());
    assert_eq!(bad(&hung), [Criterion::Throughput, Criterion::Silence]);
    // A clear trend of no importance.
    let hardly = run(plan(), at_ease(), |second| (1000 - 5 * second, 100 + 4 * second), |_| ());
    assert_eq!(bad(&hardly), []);
    // A load with stages may change.
    let stages = PlanSummary { arrivals: Some(Arrivals::Constant), staged: true, ..plan() };
    let ramp = run(stages, at_ease(), |second| (100 * second, 1000 + 100 * second), |_| ());
    assert_eq!((of(&ramp, Criterion::Throughput), of(&ramp, Criterion::Latency)), (None, None));
}

#[test]
fn a_time_without_responses_is_reported_and_slow_responses_are_none() {
    let silent = |seconds: &dyn Fn(u64) -> (u64, u64)| {
        let run = run(plan(), at_ease(), seconds, |_| ());
        of(&run, Criterion::Silence).map(|silence| (silence.ok, silence.fact.clone()))
    };
    let crashed = silent(&|second| (if second < 8 { 1000 } else { 0 }, 500));
    assert_eq!(crashed, Some((false, Some(Caution::Silence { from_s: 8.0, to_s: 10.0 }))));
    let restarted = silent(&|second| (if second == 4 { 0 } else { 1000 }, 500));
    assert_eq!(restarted, Some((false, Some(Caution::Silence { from_s: 4.0, to_s: 5.0 }))));
    let late = silent(&|second| (if second < 3 { 0 } else { 1000 }, 500));
    assert!(late.is_some_and(|(ok, _)| ok), "what was not there at the start has not fallen silent");
    let in_step = silent(&|second| (if second % 3 == 2 { 1000 } else { 0 }, 3_000_000));
    assert!(in_step.is_some_and(|(ok, _)| ok), "responses of three seconds come every three seconds");
    assert_eq!(silent(&|second| (second % 2 * 10, 500)), None, "few responses leave gaps");
}

#[test]
fn a_kept_schedule_differs_from_one_that_was_not_kept() {
    let reason = |run: &RunResult| match of(run, Criterion::Rate)?.fact {
        Some(Caution::Rate { reason, .. }) => reason,
        _ => None,
    };
    let kept = open(plan(), at_ease(), 1000, 50_000, |_| ());
    assert_eq!(bad(&kept), []);
    assert!(of(&kept, Criterion::Rate).is_some_and(|rate| rate.value == 0.0));
    let late = open(plan(), at_ease(), 1000, 400_000, |_| ());
    assert_eq!(bad(&late), [Criterion::SendLag]);
    // A tenth is missing, for no known reason.
    let missing = open(plan(), at_ease(), 900, 50_000, |_| ());
    assert_eq!(bad(&missing), [Criterion::Rate]);
    assert_eq!(of(&missing, Criterion::Rate).unwrap().value, -0.1);
    assert_eq!(reason(&missing), Some(OffSchedule::Unknown));
    // The generator is why.
    let busy = ThreadCost { idle: Duration::ZERO, ..at_ease() };
    let behind = open(plan(), busy, 900, 50_000, |_| ());
    assert_eq!(bad(&behind), [Criterion::Rate, Criterion::Generator]);
    assert_eq!(reason(&behind), Some(OffSchedule::GeneratorBehind));
    // The service is why.
    let full = open(PlanSummary { connections: 5, ..plan() }, at_ease(), 900, 50_000, |_| ());
    assert_eq!(bad(&full), []);
    assert_eq!(reason(&full), Some(OffSchedule::AllWaiting));
    let failing = open(plan(), at_ease(), 900, 50_000, |sample| {
        sample.failures.count(Failure::new(FailureKind::Connect, FailureSide::Server, "refused"));
    });
    assert_eq!(bad(&failing), []);
    assert_eq!(reason(&failing), Some(OffSchedule::Failures));
    // What was drawn by lot may be a little off.
    let by_lot = open(PlanSummary { arrivals: Some(Arrivals::Poisson), ..plan() }, at_ease(), 950, 50_000, |_| ());
    assert_eq!(bad(&by_lot), []);
}

#[test]
fn arrivals_are_those_of_independent_users_or_not() {
    let poisson = PlanSummary { arrivals: Some(Arrivals::Poisson), ..plan() };
    let even = open(poisson.clone(), at_ease(), 1000, 50_000, |sample| {
        (0..5000).for_each(|_| sample.record_gap(10_000_000));
        assert_eq!(sample.gaps.len(), crate::sample::MAX_GAPS);
    });
    assert_eq!(bad(&even), [Criterion::Arrivals]);
    let random = std::cell::RefCell::new(Rng::with_seed(5));
    let users = |sample: &mut Sample| {
        (0..2000).for_each(|_| sample.record_gap((-(1.0 - random.borrow_mut().f64()).ln() * 1e7) as u64));
    };
    let independent = open(poisson, at_ease(), 1000, 50_000, users);
    assert_eq!(bad(&independent), []);
    assert!(of(&independent, Criterion::Arrivals).unwrap().p.is_some_and(|p| p > CHANCE));
    let constant = open(plan(), at_ease(), 1000, 50_000, users);
    assert_eq!(of(&constant, Criterion::Arrivals), None, "arrivals are not random");
}

#[test]
fn missing_resources_of_this_machine_are_reported() {
    let queued = ThreadCost { queued: Some(SECOND / 3), ..at_ease() };
    assert_eq!(bad(&run(plan(), queued, |_| (1000, 500), |_| ())), [Criterion::Queued]);
    // Who had the CPU meanwhile is named.
    let others = vec![ProgramUse { name: "rustc".into(), cores: 1.5 }, ProgramUse { name: "cat".into(), cores: 0.01 }];
    let signals = Some(Signals { others, ..Signals::default() });
    let named = |thread| {
        let run = RunResult { signals: signals.clone(), ..run(plan(), thread, |_| (1000, 500), |_| ()) };
        let findings = judge(&run, &UnreportedFacts { sent: 0, gaps: &[], steal: None }).findings;
        match findings.into_iter().find(|finding| finding.what == Criterion::Queued)?.fact? {
            Caution::Queued { others, .. } => Some(others),
            _ => None,
        }
    };
    assert_eq!(named(queued).map(|others| others[..] == signals.as_ref().unwrap().others[..1]), Some(true));
    assert_eq!(named(at_ease()), Some(vec![]), "no other program was in the way");
    let unknown = ThreadCost { queued: None, ..at_ease() };
    assert_eq!(of(&run(plan(), unknown, |_| (1000, 500), |_| ()), Criterion::Queued), None);
    let busy = ThreadCost { idle: Duration::ZERO, ..at_ease() };
    assert_eq!(bad(&run(plan(), busy, |_| (1000, 500), |_| ())), [Criterion::Generator]);
    let found = judge(
        &run(plan(), at_ease(), |_| (1000, 500), |_| ()),
        &UnreportedFacts { sent: 0, gaps: &[], steal: Some(0.05) },
    );
    let steal = found.findings.iter().find(|finding| finding.what == Criterion::Steal);
    assert!(!found.ok && steal.is_some_and(|steal| !steal.ok && steal.value == 0.05), "{steal:?}");
    let found =
        judge(&run(plan(), at_ease(), |_| (1000, 500), |_| ()), &UnreportedFacts { sent: 0, gaps: &[], steal: None });
    assert!(found.findings.iter().all(|finding| finding.what != Criterion::Steal), "unknown is not nothing");
}

#[test]
fn percentiles_that_are_left_out_are_named() {
    let few = run(plan(), at_ease(), |_| (10, 500), |_| ());
    assert_eq!(bad(&few), [Criterion::Samples]);
    let left_out = |run: &RunResult| match of(run, Criterion::Samples)?.fact.clone()? {
        Caution::Samples { count, left_out, .. } => Some((count, left_out.join(" "))),
        _ => None,
    };
    assert_eq!(left_out(&few), Some((100, "p99 p99.9 p99.99".into())));
    let some = run(plan(), at_ease(), |_| (100, 500), |_| ());
    assert_eq!(bad(&some), [], "what only few runs can tell may be missing");
    assert_eq!(left_out(&some), Some((1000, "p99.9 p99.99".into())));
    let none = run(plan(), at_ease(), |_| (0, 0), |_| ());
    assert_eq!(of(&none, Criterion::Samples), None);
    assert_eq!(Latency::default().summary(), None);
}

/// A run of 1,000 responses over QUIC with these datagrams, of so many bytes.
fn quic(size: u64, datagrams: DatagramTally) -> RunResult {
    let all = |sample: &mut Sample| {
        sample.datagrams = DatagramTally { sent: 1000, sends: 1000, ..datagrams };
        sample.received = size * datagrams.received;
    };
    run(plan(), at_ease(), |_| (100, 500), all)
}

#[test]
fn dropped_datagrams_are_a_caution_of_their_own() {
    let dropped = |dropped| DatagramTally { dropped, received: 990, receives: 990, ..DatagramTally::default() };
    assert_eq!(bad(&quic(1200, dropped(0))), []);
    let few = quic(1200, dropped(10));
    assert_eq!(bad(&few), [Criterion::Drops]);
    assert_eq!(of(&few, Criterion::Drops).map(|drops| drops.value), Some(0.01));
    assert_eq!(of(&run(plan(), at_ease(), |_| (100, 500), |_| ()), Criterion::Drops), None, "there are no datagrams");
}

#[test]
fn bursts_are_judged_where_datagrams_could_arrive_together() {
    let received = |received, receives| DatagramTally { received, receives, ..DatagramTally::default() };
    let bursts =
        |size, datagrams| of(&quic(size, datagrams), Criterion::Bursts).map(|bursts| (bursts.ok, bursts.value));
    assert_eq!(bursts(1200, received(8000, 8000)), Some((false, 1.0)));
    assert_eq!(bursts(1200, received(8000, 4000)), Some((true, 2.0)));
    for (why, size, datagrams) in [
        ("responses of few datagrams", 1200, received(3000, 3000)),
        ("acknowledgements", 50, received(8000, 8000)),
        ("few system calls", 1200, received(8000, 900)),
    ] {
        assert_eq!(bursts(size, datagrams), None, "{why}");
    }
}
