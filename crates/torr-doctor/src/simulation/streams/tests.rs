//! The diagnosis of simulated services of streams.

use super::{HEALTHY, Limit, Service, Simulation};
use crate::diagnosis::Diagnosis;
use crate::driver;
use crate::setting::{Setting, StreamKind};
use std::sync::atomic::AtomicBool;
use torr_gauge::verdict::{ExperimentId, Fact, Headline};
use torr_gauge::{Confidence, Factor};

fn setting(service: &Service) -> Setting {
    Setting {
        connections: service.streams,
        max_connections: 2 * service.streams,
        depth: 1,
        streams: Some(StreamKind::Events),
        threads: 1,
        generator_cpus: 1,
        keep_alive: true,
        is_read_only: true,
        is_plain: true,
        same_machine: service.is_seen,
        has_null: true,
        budget_s: 60.0,
        timeout_s: 10.0,
        url: "http://simulated/".into(),
        ..Setting::default()
    }
}

fn diagnosed(service: Service, seed: u64, change: impl FnOnce(&mut Setting)) -> Diagnosis {
    let (mut setting, mut runner) = (setting(&service), Simulation::of(service, seed));
    change(&mut setting);
    let budget_s = setting.budget_s;
    let found = driver::diagnose(setting, &mut runner, &AtomicBool::new(false), &mut |_| {});
    assert!(runner.clock.as_secs_f64() <= budget_s, "{:?} of {budget_s} s: {service:?}", runner.clock);
    Diagnosis::of(found.expect("a simulated service is reached"), runner.clock.as_secs_f64())
}

fn diagnose(service: Service) -> Diagnosis {
    diagnosed(service, 1, |_| {})
}

#[test]
fn what_limits_streams_is_named() {
    use Confidence::{Certain, Likely};
    let unseen = Service { is_seen: false, ..HEALTHY };
    for (what, service, factor, confidence) in [
        ("a service that keeps its pace", HEALTHY, Factor::None, Certain),
        ("one stream", Service { streams: 1, ..HEALTHY }, Factor::None, Certain),
        ("streams that end", Service { events: Some(30.0), first_s: 0.3, ..HEALTHY }, Factor::None, Certain),
        ("an event a second", Service { gap_s: 1.0, ..HEALTHY }, Factor::None, Certain),
        ("events that cost much", Service { limit: Limit::Cpu, cpu_s: 3e-3, ..HEALTHY }, Factor::ServerCpu, Certain),
        (
            "as many events as fit",
            Service { limit: Limit::Cpu, cpu_s: 1e-4, gap_s: 0.0, ..HEALTHY },
            Factor::ServerCpu,
            Certain,
        ),
        ("one thread", Service { limit: Limit::OneThread, cpu_s: 1e-3, ..HEALTHY }, Factor::SingleCore, Certain),
        ("a thread for each stream", Service { limit: Limit::Workers(8), ..HEALTHY }, Factor::Workers, Certain),
        (
            "threads for streams that end",
            Service { limit: Limit::Workers(8), events: Some(40.0), ..HEALTHY },
            Factor::Workers,
            Certain,
        ),
        ("a semaphore", Service { limit: Limit::Semaphore(8), ..HEALTHY }, Factor::Pool, Certain),
        ("a semaphore elsewhere", Service { limit: Limit::Semaphore(8), ..unseen }, Factor::Pool, Likely),
        ("workers elsewhere", Service { limit: Limit::Workers(8), ..unseen }, Factor::Workers, Likely),
        ("a limit of open streams", Service { limit: Limit::Refuses(10), ..HEALTHY }, Factor::RateLimit, Certain),
        ("a quota", Service { limit: Limit::Quota(0.5), cpu_s: 5e-4, ..HEALTHY }, Factor::CpuQuota, Certain),
        ("a slow generator", Service { generator_s: 1e-3, ..HEALTHY }, Factor::Generator, Certain),
    ] {
        let found = diagnose(service).finding;
        assert_eq!((found.factor, found.confidence), (factor, confidence), "{what}: {found:#?}");
        let is_of_requests = |fact: &Fact| {
            matches!(
                fact,
                Fact::ThroughputFlat { .. }
                    | Fact::NullService { .. }
                    | Fact::RequestAlone { .. }
                    | Fact::Handler { .. }
            )
        };
        assert!(!found.because.iter().any(is_of_requests), "{what}: {:?}", found.because);
        assert!(found.verify.is_some() && !found.advice.is_empty(), "{what}: {found:#?}");
    }
}

#[test]
fn what_events_wait_for_is_unknown_where_nothing_shows_it() {
    let found = diagnose(Service { limit: Limit::Source(500.0), ..HEALTHY }).finding;
    assert_eq!((found.factor, &found.headline), (Factor::Unknown, &Headline::EventsHeld), "{found:#?}");
    let unseen = diagnose(Service { limit: Limit::Source(500.0), is_seen: false, ..HEALTHY }).finding;
    assert_eq!(unseen.factor, Factor::Unknown, "{unseen:#?}");
}

#[test]
fn a_pace_has_what_shows_it() {
    let found = diagnose(HEALTHY).finding;
    let Headline::StreamsPaced { streams: 64, gap_s } = found.headline else { panic!("{found:#?}") };
    assert!((gap_s - 0.02).abs() < 0.001, "{gap_s}");
    let grew = found.because.iter().find_map(|fact| match fact {
        Fact::EventsGrew { factor, from: 64, to: 128 } => Some(*factor),
        _ => None,
    });
    assert!(grew.is_some_and(|factor| (1.9..2.1).contains(&factor)), "{found:#?}");
}

#[test]
fn a_stream_with_an_event_a_minute_needs_more_time() {
    let found = diagnose(Service { gap_s: 60.0, ..HEALTHY });
    assert_eq!((found.finding.factor, &found.finding.headline), (Factor::Unknown, &Headline::FewEvents));
    let tried: Vec<_> = found.trail.iter().map(|seen| seen.id).collect();
    assert_eq!(tried, [ExperimentId::Alone, ExperimentId::AloneLonger], "no load would tell more");
}

#[test]
fn a_rate_of_new_streams_that_is_too_low_is_what_limits() {
    let found = diagnosed(HEALTHY, 1, |setting| setting.streams = Some(StreamKind::Messages)).finding;
    assert_eq!(found.factor, Factor::None, "{found:#?}");
    let held = diagnosed(Service { limit: Limit::Workers(8), ..HEALTHY }, 1, |setting| {
        setting.streams = Some(StreamKind::Messages);
    });
    // Without another request the threads tell, and what was read.
    assert_eq!((held.finding.factor, held.finding.confidence), (Factor::Workers, Confidence::Certain));
    assert!(held.trail.iter().all(|seen| !matches!(seen.id, ExperimentId::Cheap(_))));
}

#[test]
fn short_budgets_are_kept() {
    for budget_s in [5.0, 8.0, 20.0] {
        for service in [
            HEALTHY,
            Service { limit: Limit::Workers(8), ..HEALTHY },
            Service { limit: Limit::Cpu, cpu_s: 3e-3, ..HEALTHY },
            Service { gap_s: 1.0, ..HEALTHY },
        ] {
            diagnosed(service, 1, |setting| setting.budget_s = budget_s);
        }
    }
}

#[test]
fn no_wrong_verdict_about_streams_is_certain() {
    let (mut certain, mut right, all) = (0, 0, 400);
    for seed in 0..all {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut between = |least: f64, most: f64| least * (most / least).powf(random.f64());
        let (gap_s, cpu_s, generator_s) = (between(1e-3, 0.5), between(2e-6, 3e-3), between(1e-6, 2e-4));
        let (first_s, source, quota, noise) =
            (between(5e-4, 0.5), between(50.0, 5e4), between(0.2, 0.9), between(0.005, 0.05));
        let streams = 1 << random.u8(0..9);
        let most = random.usize(1..32);
        let limit = match random.u8(0..9) {
            0 => Limit::None,
            1 => Limit::Cpu,
            2 => Limit::OneThread,
            3 => Limit::Workers(most),
            4 => Limit::Semaphore(most),
            5 => Limit::Refuses(most),
            6 => Limit::Source(source),
            _ => Limit::Quota(quota),
        };
        let events = random.bool().then(|| random.u32(2..200).into());
        let (cores, is_seen) = ([2, 4, 8][random.usize(..3)], random.u8(..4) > 0);
        let service = Service { limit, gap_s, first_s, events, cpu_s, generator_s, cores, streams, is_seen, noise };
        let found = diagnosed(service, seed, |_| {}).finding;
        let truths = service.truths();
        right += u64::from(truths.contains(&found.factor));
        if found.confidence == Confidence::Certain {
            certain += 1;
            assert!(truths.contains(&found.factor), "{seed}: {} of {truths:?}: {service:?}: {found:#?}", found.factor);
        }
    }
    assert!(certain * 4 > all && right * 2 > all, "{certain} certain and {right} right of {all}");
}
