//! Services of streams of events that exist only in numbers, and the search for how many streams they sustain.

use super::ask::{Ask, Bench, Load};
use super::tests::{about, settings};
use super::*;
use std::time::Duration;
use torr_gauge::collector::{Measurement, Progress, RunFacts};
use torr_gauge::generator::ThreadCost;
use torr_gauge::result::PlanSummary;
use torr_gauge::verdict::{Course, StepReason};
use torr_gauge::{Collector, Latency, Sample};

/// A service whose streams have an event each `gap_s` seconds, as long as all of them together need no more than it can send.
struct Paced {
    gap_s: f64,
    /// The length of a stream; endless without.
    length_s: Option<f64>,
    /// The most events per second of all streams.
    most_events: f64,
    /// The most streams at a time; others wait.
    most_open: usize,
    /// The streams that have events; the others have one.
    stalls_from: usize,
    asks: Vec<Ask>,
    clock: Duration,
}

impl Paced {
    fn new(gap_s: f64, most_events: f64) -> Self {
        let (most_open, stalls_from) = (usize::MAX, usize::MAX);
        Self { gap_s, length_s: None, most_events, most_open, stalls_from, asks: vec![], clock: Duration::ZERO }
    }

    /// Returns the number of streams up to which gaps are not more than this many times those by design.
    fn streams(&self, times: f64) -> f64 {
        self.most_events * self.gap_s * times
    }
}

impl Bench for Paced {
    fn press(&mut self, ask: &Ask, _: &mut dyn FnMut(&Progress) -> bool) -> Result<Measurement, RunError> {
        self.asks.push(ask.clone());
        let Load::Streams(wanted) = ask.load else { panic!("a rate says nothing of streams: {ask:?}") };
        let seconds = ask.length.as_secs_f64();
        let open = wanted.min(self.most_open);
        let gap_s = self.gap_s.max(open as f64 / self.most_events);
        let rounded = |seconds: f64| Latency::rounded((seconds * 1e9) as u64);
        let mut sample = Sample::default();
        // As often as there is an event, a stream of so many has ended, and the next one begins.
        let length_s = self.length_s.map(|length_s| length_s * gap_s / self.gap_s);
        let ended = length_s.map_or(0, |length_s| (open as f64 * seconds / length_s) as u64);
        let streams = sample.streams.get_or_insert_default();
        let stalled = open.saturating_sub(self.stalls_from);
        let (begun, events) =
            (ended + open as u64, ((open - stalled) as f64 * seconds / gap_s) as u64 + stalled as u64);
        streams.events = events.max(begun);
        streams.first_event.record_many(rounded(0.001), begun);
        streams.gaps.record_many(rounded(gap_s), streams.events - begun);
        streams.open = open as u64;
        streams.open_gaps.record_many(rounded(gap_s / 2.0), (open - stalled) as u64);
        streams.open_gaps.record_many(rounded(seconds), stalled as u64);
        streams.longest_silence = (if stalled > 0 { seconds } else { gap_s } * 1e9) as u64;
        sample.answered.record_many(rounded(length_s.unwrap_or(seconds)), ended);
        (0..ended).for_each(|_| sample.status.count(200));
        sample.unfinished = wanted as u64;
        sample.unanswered.record_many(rounded(seconds), wanted as u64);
        let mut collector = Collector::new(1, ask.length);
        collector.take(0, 0, &sample, true);
        self.clock += ask.warmup + ask.length;
        Ok(collector.finish(RunFacts {
            plan: PlanSummary { connections: wanted, keep_alive: true, threads: Some(1), ..PlanSummary::default() },
            duration: ask.length,
            started: ended + wanted as u64,
            peak: Some(wanted as u64),
            threads: vec![ThreadCost {
                wall: ask.length,
                cpu: ask.length / 10,
                queued: None,
                idle: ask.length.mul_f64(0.9),
            }],
            ..RunFacts::default()
        }))
    }

    fn now(&self) -> Duration {
        self.clock
    }

    fn pause(&mut self, length: Duration) {
        self.clock += length;
    }

    fn stopped(&self) -> bool {
        false
    }
}

fn of_streams(slo: &str) -> Settings {
    let slo = Slo::parse(slo).expect("these are objectives");
    Settings { unit: LoadUnit::Streams, slo, max_connections: 512, ..settings() }
}

fn found(service: &mut Paced, settings: &Settings) -> Outcome {
    find(service, settings, about()).expect("it can be reached")
}

fn at_a_time(outcome: &Outcome) -> usize {
    let sustained = outcome.sustained.as_ref().and_then(|sustained| sustained.streams);
    sustained.unwrap_or_else(|| panic!("no number is sustained: {:?}, {:?}", outcome.kind, outcome.failed)).at_a_time
}

#[test]
fn the_most_streams_whose_gaps_are_kept_are_found() {
    for (gap_s, most_events, length_s) in
        [(0.02, 5000.0, None), (0.02, 5000.0, Some(1.0)), (0.1, 70.0, Some(30.0)), (0.2, 600.0, Some(0.9))]
    {
        let mut service = Paced { length_s, ..Paced::new(gap_s, most_events) };
        let outcome = found(&mut service, &of_streams(&format!("gap_p99<{}ms,errors<0.1%", gap_s * 1500.0)));
        let (most, streams) = (service.streams(1.5), at_a_time(&outcome) as f64);
        assert_eq!(outcome.kind, LimitKind::Limit, "{length_s:?}: {:?}", outcome.failed);
        assert!(streams < most && streams >= (most / 1.06 - 1.0).floor(), "{streams} of {most} with {length_s:?}");
        assert!(outcome.sustained.as_ref().is_some_and(|sustained| sustained.confirmed), "{:?}", outcome.sustained);
        assert!(
            outcome.fails_at.is_some_and(|at| at > streams && at <= streams * 1.06 + 1.0),
            "{:?}",
            outcome.fails_at
        );
        assert!(outcome.spent_s <= outcome.budget_s, "{} s", outcome.spent_s);
        // Streams that begin all at once would make a queue that the service does not have otherwise.
        let steps = service.asks.iter().filter(|ask| ask.load != Load::Streams(1));
        assert!(
            steps.clone().count() > 5 && steps.clone().all(|ask| ask.begins_per_s.is_some() && ask.warmup.is_zero())
        );
        // How long a stream lasts neither adds connections nor makes the verdict.
        assert_eq!((outcome.connections, outcome.ladder.len()), (None, 0));
        let overload = outcome.overload.expect("there was time for it");
        assert_eq!(overload.course, Course::Recovers, "{overload:?}");
    }
}

#[test]
fn without_objectives_streams_are_to_keep_the_gaps_of_one() {
    for (gap_s, most_events, objective) in [(0.2, 600.0, "gap_p99<450ms"), (0.02, 5000.0, "gap_p99<90ms")] {
        let mut service = Paced::new(gap_s, most_events);
        let outcome = found(&mut service, &Settings { keeps_gaps: true, ..of_streams(Slo::OF_STREAMS) });
        let most = service.most_events * (2.0 * gap_s + 0.05);
        let streams = at_a_time(&outcome) as f64;
        assert_eq!(outcome.kind, LimitKind::Limit, "{:?}", outcome.failed);
        assert!(streams <= most && streams > most / 1.1 - 1.0, "{streams} of {most}");
        let objectives: Vec<_> = outcome.slo.iter().map(String::as_str).collect();
        assert_eq!(objectives, ["first_event_p99<1s", objective, "errors<0.1%"]);
    }
    // Without a gap there is nothing to keep to.
    let outcome = found(&mut Paced::new(60.0, 1e9), &Settings { keeps_gaps: true, ..of_streams(Slo::OF_STREAMS) });
    assert_eq!((outcome.kind, outcome.slo.len()), (LimitKind::AtLeastConnections, 2), "{:?}", outcome.failed);
}

#[test]
fn streams_of_an_hour_that_are_kept_are_limited_by_what_is_permitted() {
    let mut service = Paced { length_s: Some(3600.0), ..Paced::new(0.05, 1e9) };
    let settings = of_streams("first_event_p99<100ms,gap_p99<100ms");
    let outcome = found(&mut service, &settings);
    assert_eq!((outcome.kind, at_a_time(&outcome)), (LimitKind::AtLeastConnections, 512));
    // In HTTP/2 a connection has several.
    let outcome = found(&mut service, &Settings { max_connections: 3, depth: 100, ..settings.clone() });
    assert_eq!((outcome.kind, at_a_time(&outcome)), (LimitKind::AtLeastConnections, 300));
    // 21 streams of half a second begin in a second.
    let mut short = Paced { length_s: Some(0.5), ..Paced::new(0.05, 1e9) };
    let outcome = found(&mut short, &Settings { max_rate: Some(21.0), ..settings });
    assert_eq!((outcome.kind, at_a_time(&outcome)), (LimitKind::AtLeastMaxRate, 10));
    assert!(short.asks.iter().all(|ask| ask.begins_per_s.is_some_and(|rate| rate <= 21.0)));
}

#[test]
fn streams_that_wait_for_others_to_end_are_not_sustained() {
    let mut service = Paced { most_open: 40, ..Paced::new(0.05, 1e9) };
    let outcome = found(&mut service, &of_streams("gap_p99<100ms"));
    assert_eq!((outcome.kind, at_a_time(&outcome)), (LimitKind::Limit, 40), "{:?}", outcome.failed);
    let failure = outcome.failed.and_then(|failed| failed.failure);
    assert!(matches!(failure, Some(Fact::OpenStreams { open: 40, waiting: 1.. })), "{failure:?}");
}

#[test]
fn streams_that_stall_are_not_sustained() {
    // Of each stream beyond the tenth nothing comes after the first event.
    let mut service = Paced { stalls_from: 10, ..Paced::new(0.05, 1e9) };
    let outcome = found(&mut service, &of_streams("gap_max<100ms"));
    assert_eq!((outcome.kind, at_a_time(&outcome)), (LimitKind::Limit, 10), "{:?}", outcome.failed);
    let failure = outcome.failed.and_then(|failed| failed.failure);
    assert!(matches!(failure, Some(Fact::LongestSilence { .. })), "{failure:?}");
}

#[test]
fn a_pace_that_is_not_kept_even_alone_is_never_sustained() {
    let outcome = found(&mut Paced::new(0.2, 1e9), &of_streams("gap_p99<100ms"));
    assert_eq!((outcome.kind, outcome.steps.len()), (LimitKind::Never, 1));
    assert!(
        matches!(outcome.reason()[..], [Fact::StreamsFailed { streams: 1, why: Some(_) }]),
        "{:?}",
        outcome.reason()
    );
    // One event a minute shows no gap: that is not known, and no failure of the service.
    let outcome = found(&mut Paced::new(60.0, 1e9), &of_streams("gap_p99<100s"));
    assert_eq!(outcome.kind, LimitKind::Unknown, "{:?}", outcome.failed);
    assert!(matches!(outcome.failed.and_then(|failed| failed.failure), Some(Fact::NoGap { .. })));
}

#[test]
fn numbers_of_streams_are_tried_as_connections_can_have_them() {
    let settings = Settings { max_connections: 10, depth: 8, ..of_streams("gap_p99<150ms") };
    assert_eq!([1.0, 8.0, 9.0, 17.9, 80.0, 1e9].map(|n| settings.streams(n)), [1, 8, 8, 15, 80, 80]);
    let mut service = Paced::new(0.1, 400.0);
    let outcome = found(&mut service, &settings);
    assert_eq!((outcome.kind, at_a_time(&outcome)), (LimitKind::Limit, 56), "{:?}", outcome.failed);
    let first = outcome.steps.iter().map(|step| step.why).nth(1);
    assert_eq!(first, Some(StepReason::Streams(2)));
}
