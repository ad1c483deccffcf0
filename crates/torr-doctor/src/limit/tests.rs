//! The search, on services of many shapes.

use super::simulated::Simulated;
use super::*;
use std::time::Duration;
use torr_gauge::verdict::{Advice, Course, Fact, SearchGoal, StepReason};

pub(super) fn settings() -> Settings {
    Settings {
        unit: LoadUnit::Requests,
        slo: Slo::parse(Slo::DEFAULT).expect("the default is one"),
        keeps_gaps: false,
        budget: Duration::from_secs(60),
        max_rate: None,
        max_connections: 64,
        depth: 1,
    }
}

pub(super) fn about() -> About {
    About { target: "http://simulated/".into(), started_at: String::new(), arrivals: "poisson".into() }
}

fn found(service: &mut Simulated, settings: &Settings) -> Outcome {
    find(service, settings, about()).expect("it can be reached")
}

fn rate(outcome: &Outcome) -> f64 {
    outcome.sustained.as_ref().unwrap_or_else(|| panic!("nothing is sustained: {:?}", outcome.kind)).rate
}

fn within(outcome: &Outcome, low: f64, high: f64) {
    let steps: Vec<_> = outcome.steps.iter().map(|s| format!("{:?} {} {:?}", s.load, s.kept, s.failure)).collect();
    assert!((low..=high).contains(&rate(outcome)), "{} is not within {low} and {high}: {steps:#?}", rate(outcome));
}

#[test]
fn a_hard_limit_is_found() {
    for (servers, service_s) in [(1, 0.002), (4, 0.005), (16, 0.02)] {
        let outcome = found(&mut Simulated::new(servers, service_s), &settings());
        let capacity = servers as f64 / service_s;
        assert_eq!(outcome.kind, LimitKind::Limit, "{:?}", outcome.failed);
        // Independent users wait in line before all of it is used.
        within(&outcome, 0.8 * capacity, capacity);
        let sustained = outcome.sustained.as_ref().expect("it was looked at");
        assert!(sustained.confirmed, "{}", course(&outcome));
        assert!(sustained.latency_us.is_some_and(|l| l.p99.is_some_and(|p99| p99 < 50_000)), "{sustained:?}");
        assert!(outcome.fails_at.is_some_and(|at| at <= 1.13 * sustained.rate), "{:?}", outcome.fails_at);
        assert!(outcome.spent_s <= outcome.budget_s, "{} s", outcome.spent_s);
        assert!(outcome.knee.is_some_and(|knee| (knee / servers as f64 - 1.0).abs() < 0.15), "{:?}", outcome.knee);
        let connections = outcome.connections.expect("it sustains something");
        assert!(connections.busy <= connections.recommended as f64 && connections.recommended >= servers as u64);
    }
}

#[test]
fn the_beginning_is_gentle() {
    let mut service = Simulated::new(1, 0.002);
    let outcome = found(&mut service, &settings());
    let first = &service.asks[0];
    assert_eq!((first.purpose, first.load), (Purpose::Base, Load::Connections(1)));
    assert_eq!(service.asks[1].load, Load::Connections(1));
    let bracket: Vec<_> =
        outcome.steps.iter().filter(|s| s.purpose == Purpose::Bracket).filter_map(|s| s.rate()).collect();
    assert!(bracket[0] < 0.15 * 500.0 && bracket.windows(2).all(|pair| pair[1] <= 2.0 * pair[0]), "{bracket:?}");
    let most =
        outcome.steps.iter().filter(|s| s.purpose == Purpose::Bisect).filter_map(|s| s.rate()).fold(0.0, f64::max);
    assert!(most < 600.0, "{most}");
}

#[test]
fn an_overload_is_tried_and_what_follows_is_seen() {
    let outcome = found(&mut Simulated::new(1, 0.002), &settings());
    let overload = outcome.overload.expect("there was time for it");
    assert_eq!(overload.course, Course::Recovers, "{overload:?}");
    assert!((overload.rate / rate_of(&outcome.sustained) - ABOVE).abs() < 1e-9 && !overload.kept);
    // Its queue of a fifth of the requests of the step is worked off first.
    assert!(overload.recovered_after_s.is_some_and(|s| s > 0.005 && s < 2.0), "{overload:?}");
}

fn rate_of(sustained: &Option<Sustained>) -> f64 {
    sustained.as_ref().expect("something is sustained").rate
}

#[test]
fn a_soft_knee_ends_where_its_latency_does() {
    // The more requests are in flight, the longer each takes: throughput levels off, and response times grow.
    let mut service = Simulated { contention: 0.05, ..Simulated::new(200, 0.01) };
    // Near its limit it is chance whether it stays fast, which takes time to see.
    let outcome = found(&mut service, &Settings { budget: Duration::from_secs(120), ..settings() });
    assert_eq!(outcome.kind, LimitKind::Limit, "{:?}\n{}", outcome.failed, course(&outcome));
    let fit = outcome.fit.expect("the ladder has rungs enough");
    assert!(fit.good && (fit.sigma - 0.05).abs() < 0.01 && (fit.lambda - 100.0).abs() < 3.0, "{fit:?}");
    within(&outcome, 1000.0, 2000.0);
}

#[test]
fn a_rate_limiter_is_a_limit_with_its_name() {
    let outcome = found(&mut Simulated { limiter: Some(200.0), ..Simulated::new(8, 0.002) }, &settings());
    assert_eq!(outcome.kind, LimitKind::Limit, "{:?}", outcome.failed);
    within(&outcome, 100.0, 205.0);
    let failure = outcome.failed.and_then(|reading| reading.failure).expect("a rate failed");
    assert!(matches!(failure, Fact::StatusShare { status: 429, .. }), "{failure:?}");
    let overload = outcome.overload.expect("there was time for it");
    assert!(overload.error_share > 0.001 && overload.course == Course::Recovers, "{overload:?}");
}

#[test]
fn noise_costs_little_of_the_limit() {
    // It hangs for 30 ms every 7 seconds: one step in three has that in it.
    let outcome = found(&mut Simulated { hangs: Some((7.0, 0.03)), ..Simulated::new(2, 0.004) }, &settings());
    assert_eq!(outcome.kind, LimitKind::Limit, "{:?}", outcome.failed);
    within(&outcome, 350.0, 500.0);
}

#[test]
fn a_flapping_service_is_given_no_more_than_it_keeps_to() {
    // A fifth of each two seconds it does nothing.
    let outcome = found(&mut Simulated { hangs: Some((2.0, 0.4)), ..Simulated::new(2, 0.004) }, &settings());
    assert!(outcome.sustained.is_none_or(|s| s.rate < 100.0), "{:?}", outcome.failed);
}

#[test]
fn the_generators_limit_is_not_the_services() {
    let outcome = found(&mut Simulated { generator: Some(1000.0), ..Simulated::new(64, 0.005) }, &settings());
    assert_eq!(outcome.kind, LimitKind::AtLeastGenerator, "{:?}", outcome.failed);
    within(&outcome, 900.0, 1000.0);
}

#[test]
fn a_service_that_misses_all_objectives_is_reported_at_once() {
    let mut service = Simulated::new(1, 0.08);
    let outcome = found(&mut service, &settings());
    assert_eq!((outcome.kind, outcome.sustained.is_none()), (LimitKind::Never, true));
    assert!(service.asks.len() <= 2 && outcome.ladder.is_empty());
}

#[test]
fn a_slow_service_has_a_low_limit() {
    let slo = Slo::parse("p99<1s,errors<0.1%").expect("it is one");
    let wide = Settings { slo, budget: Duration::from_secs(120), ..settings() };
    let outcome = found(&mut Simulated::new(1, 0.05), &wide);
    assert_eq!(outcome.kind, LimitKind::Limit, "{:?}", outcome.failed);
    within(&outcome, 12.0, 20.0);
}

#[test]
fn no_bound_is_passed() {
    let bounded = Settings { max_rate: Some(300.0), max_connections: 10, ..settings() };
    let mut service = Simulated::new(8, 0.002);
    let outcome = found(&mut service, &bounded);
    assert_eq!((outcome.kind, rate(&outcome)), (LimitKind::AtLeastMaxRate, 300.0), "{:?}", outcome.failed);
    for ask in &service.asks {
        assert!(
            matches!(ask.load, Load::Rate(rate) if rate <= 300.0)
                || matches!(ask.load, Load::Connections(n) if n <= 10)
        );
    }
    assert!(outcome.overload.is_none(), "it would be more than is allowed");
}

#[test]
fn too_few_connections_are_not_the_services_limit() {
    // It works on a thousand at a time, 30 ms each: eight connections bring 267 a second, and each more brings more.
    let few = Settings { max_connections: 8, ..settings() };
    let mut service = Simulated { delay_s: 0.02, connections: 8, ..Simulated::new(1000, 0.01) };
    let outcome = found(&mut service, &few);
    assert_eq!(outcome.kind, LimitKind::AtLeastConnections, "{:?}", outcome.failed);
    within(&outcome, 100.0, 267.0);
    assert_eq!(outcome.knee, None, "throughput did not bend");
    let connections = outcome.connections.expect("it sustains something");
    assert!(connections.busy <= 8.0 && connections.recommended <= 8, "{connections:?}");
}

#[test]
fn no_more_connections_are_busy_than_there_may_be() {
    let at = |rate: f64, max_connections, depth| {
        let settings = Settings { max_connections, depth, ..settings() };
        let Connections { busy, recommended, waiting } = Connections::at(rate, 20_000.0, &settings);
        (busy, recommended, waiting)
    };
    // 20 requests at a time, of which four connections have four.
    assert_eq!(at(1000.0, 4, 1), (4.0, 4, 16.0));
    assert_eq!(at(1000.0, 64, 1), (20.0, 34, 0.0));
    assert_eq!(at(1000.0, 64, 10), (2.0, 4, 0.0), "ten streams of each");
}

#[test]
fn the_lowest_rate_with_a_failure_stands_above_the_sustained_one() {
    let step = |rate, kept| {
        let ask = trials::ask(rate, Duration::from_secs(1), Purpose::Bracket, StepReason::LowRate);
        Reading { kept, ..Reading::unreached(&ask, "it failed".into(), 0.0) }
    };
    let steps = [step(10.0, true), step(20.0, false), step(20.0, false), step(20.0, true), step(40.0, false)];
    let mut found = found::Found::new(None);
    // The rate that failed twice was kept at last.
    for reading in [&steps[0], &steps[3], &steps[4]] {
        found.take(trials::Tried { reading: reading.clone(), kept: reading.kept });
    }
    let concluded = found.conclude(&steps);
    assert_eq!(concluded.kept.as_ref().and_then(Reading::rate), Some(10.0));
    assert_eq!(concluded.failed.as_ref().and_then(Reading::rate), Some(20.0));
}

#[test]
fn a_service_that_breaks_has_failed_there() {
    let outcome = found(&mut Simulated { breaks_at: Some(300.0), ..Simulated::new(4, 0.004) }, &settings());
    within(&outcome, 250.0, 300.0);
    assert!(matches!(outcome.failed.and_then(|reading| reading.failure), Some(Fact::NotConnected { .. })));
}

#[test]
fn an_interruption_leaves_what_is_known() {
    let mut all = Simulated::new(1, 0.002);
    found(&mut all, &settings());
    for stop_after in (0..all.asks.len()).step_by(5) {
        let outcome = found(&mut Simulated { stop_after: Some(stop_after), ..Simulated::new(1, 0.002) }, &settings());
        assert!(outcome.interrupted && outcome.kind != LimitKind::Never, "after {stop_after}: {:?}", outcome.failed);
        assert!(outcome.sustained.is_none_or(|s| s.rate <= 500.0));
    }
}

#[test]
fn a_short_budget_is_kept() {
    for seconds in [5, 8, 15] {
        let short = Settings { budget: Duration::from_secs(seconds), ..settings() };
        let outcome = found(&mut Simulated::new(1, 0.002), &short);
        assert!(outcome.spent_s <= outcome.budget_s + 0.5, "{} s of {seconds}", outcome.spent_s);
        within(&outcome, 0.0, 500.0);
    }
}

#[test]
fn what_was_kept_to_by_chance_alone_is_not_sustained() {
    // It hangs for so long every 4 seconds that about half of the short steps do not see it, and all long ones do.
    let outcome = found(&mut Simulated { hangs: Some((4.0, 0.3)), ..Simulated::new(4, 0.004) }, &settings());
    assert!(outcome.sustained.as_ref().is_none_or(|s| !s.confirmed || s.seconds < 4.0), "{:?}", outcome.failed);
    assert!(outcome.spent_s <= outcome.budget_s, "{} s", outcome.spent_s);
}

/// The highest rate that was kept, or exceeded by one that was kept, at least twice, and more often than it and those a little
/// below failed: what a person would read off the steps.
fn kept_repeatedly(outcome: &Outcome) -> f64 {
    let steps = outcome.steps.iter().filter(|step| !matches!(step.purpose, Purpose::Base | Purpose::Overload));
    let steps: Vec<_> = steps.filter_map(|step| Some((step.rate()?, step.kept))).collect();
    let count = |which: &dyn Fn(f64, bool) -> bool| steps.iter().filter(|(rate, kept)| which(*rate, *kept)).count();
    let is_kept = |at: f64| {
        let kept = count(&|rate, kept| kept && rate >= at);
        kept >= 2 && kept > count(&|rate, kept| !kept && rate <= at && rate >= 0.7 * at)
    };
    steps.iter().map(|(rate, _)| *rate).filter(|rate| is_kept(*rate)).fold(0.0, f64::max)
}

/// All steps in their order, for a failing test.
fn course(outcome: &Outcome) -> String {
    let step = |s: &Reading| {
        let rate = s.rate().unwrap_or(0.0);
        format!("{:?} {rate:.0} for {:.1} s: {}\n", s.purpose, s.seconds, if s.kept { "kept" } else { "failed" })
    };
    outcome.steps.iter().map(step).collect()
}

/// Whether the service keeps the rate for long where nothing disturbs it.
fn truly_keeps(rate: f64) -> bool {
    let slo = Slo::parse(Slo::DEFAULT).expect("the default is one");
    let ask = trials::ask(rate, Duration::from_secs(20), Purpose::Confirm, StepReason::Longer);
    let run = Simulated::new(2, 0.004).press(&ask, &mut |_| false).expect("it can be reached");
    Reading::of(&ask, &slo, &run, 0.0, false).kept
}

#[test]
fn a_service_that_sometimes_fails_keeps_what_it_was_seen_to_keep() {
    // 500 requests/s at most. A pause of 0.3 s in a step makes it fail whatever its rate.
    let quiet = rate(&found(&mut Simulated::new(2, 0.004), &settings()));
    for probability in [0.1, 0.3] {
        for seed in 0..4 {
            let random = fastrand::Rng::with_seed(seed);
            let mut service = Simulated { pauses: (probability, 0.3), random, ..Simulated::new(2, 0.004) };
            let outcome = found(&mut service, &settings());
            let (rate, course) = (rate(&outcome), course(&outcome));
            let what = format!("seed {seed}, {probability}: {:?}\n{course}", outcome.failed);
            assert!(rate <= 500.0 && truly_keeps(0.9 * rate), "more than is truly kept: {what}");
            assert!(rate >= 0.9 * kept_repeatedly(&outcome), "far below what was kept: {what}");
            assert!(rate >= 0.7 * quiet, "far below the limit of {quiet:.0}: {what}");
            assert!(outcome.spent_s <= outcome.budget_s + 0.5, "{} s: {what}", outcome.spent_s);
        }
    }
}

#[test]
fn other_programs_that_come_and_go_are_waited_out_and_mentioned() {
    // For 2.5 s of each 13 s other programs make each request take three times as long.
    let quiet = rate(&found(&mut Simulated::new(2, 0.004), &settings()));
    for seed in 0..4 {
        let random = fastrand::Rng::with_seed(seed);
        let clock = 1_000_000_000 * seed;
        let mut service = Simulated { others: Some((13.0, 2.5, 3.0)), random, clock, ..Simulated::new(2, 0.004) };
        let outcome = found(&mut service, &settings());
        let what = format!("seed {seed}: {:?}\n{}", outcome.failed, course(&outcome));
        assert!(rate(&outcome) >= 0.7 * quiet && rate(&outcome) <= 500.0, "of {quiet:.0}: {what}");
        assert!(rate(&outcome) >= 0.9 * kept_repeatedly(&outcome), "far below what was kept: {what}");
        let disturbance = outcome.disturbance.unwrap_or_else(|| panic!("nothing is said of it: {what}"));
        assert!(disturbance.steps >= 1 && disturbance.most.others > 0.2, "{disturbance:?}: {what}");
        assert!(disturbance.steps <= disturbance.of && disturbance.failed <= disturbance.steps, "{disturbance:?}");
    }
    let quiet = found(&mut Simulated { others: Some((13.0, 0.0, 1.0)), ..Simulated::new(2, 0.004) }, &settings());
    assert_eq!(quiet.disturbance, None, "the service and the generator are no others");
}

#[test]
fn a_confirmed_rate_is_sustained_and_the_rest_is_the_spread() {
    let step = |rate, purpose, kept| {
        let ask = trials::ask(rate, Duration::from_secs(1), purpose, StepReason::LowRate);
        Reading { kept, ..Reading::unreached(&ask, "it failed".into(), 0.0) }
    };
    use Purpose::{Bisect, Bracket, Confirm, Overload};
    let steps = [
        step(27_776.0, Bracket, true),
        step(55_552.0, Bracket, true),
        step(111_104.0, Bracket, false),
        step(78_563.0, Bisect, true),
        step(85_673.0, Bisect, true),
        step(85_673.0, Confirm, false),
        step(85_673.0, Confirm, false),
        step(78_563.0, Confirm, false),
        step(78_563.0, Confirm, false),
        step(55_552.0, Confirm, true),
        step(66_662.0, Overload, true),
    ];
    let mut found = found::Found::new(None);
    for reading in &steps[..steps.len() - 1] {
        found.take(trials::Tried { reading: reading.clone(), kept: reading.kept });
    }
    let concluded = found.conclude(&steps);
    assert_eq!(concluded.kept.as_ref().and_then(Reading::rate), Some(55_552.0));
    assert_eq!(concluded.failed.as_ref().and_then(Reading::rate), Some(78_563.0));
    let spread: Vec<_> = concluded.spread.iter().map(|at| (at.rate, at.kept, at.failed)).collect();
    assert_eq!(spread, [(78_563.0, 1, 2), (85_673.0, 1, 2)]);
}

#[test]
fn where_nothing_was_confirmed_the_rate_that_most_steps_agree_with_is_sustained() {
    let step = |rate, purpose, kept| {
        let ask = trials::ask(rate, Duration::from_secs(1), purpose, StepReason::LowRate);
        Reading { kept, ..Reading::unreached(&ask, "it failed".into(), 0.0) }
    };
    use Purpose::{Bisect, Bracket, Confirm};
    let sustained_rate = |steps: &[Reading]| {
        let mut found = found::Found::new(None);
        for reading in steps {
            found.take(trials::Tried { reading: reading.clone(), kept: reading.kept });
        }
        found.conclude(steps).kept.and_then(|reading| reading.rate())
    };
    let mut steps = vec![step(400.0, Bracket, true), step(800.0, Bracket, false), step(560.0, Bisect, true)];
    assert_eq!(sustained_rate(&steps), Some(560.0));
    // All three have two steps against them: the middle one.
    steps.extend([step(620.0, Bisect, true), step(620.0, Confirm, false), step(560.0, Confirm, false)]);
    assert_eq!(sustained_rate(&steps), Some(560.0));
    steps.push(step(560.0, Confirm, false));
    assert_eq!(sustained_rate(&steps), Some(400.0));
}

#[test]
fn each_result_has_its_reason_and_its_advice() {
    let outcome = found(&mut Simulated::new(1, 0.002), &settings());
    let with = |kind, failed: Option<Reading>| Outcome { kind, failed, ..outcome.clone() };
    let failed = outcome.failed.clone().expect("a rate failed");
    let fails = failed.failed();
    assert!(matches!(&fails, Fact::RateFailed { rps: Some(_), why: Some(_) }), "{fails:?}");
    let ended = |before| Fact::SearchEnded { interrupted: false, before };
    let longer = Advice::RaiseBudget { seconds: 180.0 };
    let busy = Fact::GeneratorBusy { share: 0.98, cores: None };
    let by_generator = Reading { generator: Some(busy.clone()), ..failed.clone() };
    for (outcome, reason, advice) in [
        (with(LimitKind::Limit, Some(failed.clone())), vec![fails.clone()], vec![]),
        (with(LimitKind::AtLeastMaxRate, None), vec![Fact::MaxRateReached], vec![]),
        (
            with(LimitKind::AtLeastGenerator, Some(by_generator)),
            vec![Fact::GeneratorLimit { why: Some(Box::new(busy)) }, fails.clone()],
            vec![Advice::MoreCpu],
        ),
        (
            with(LimitKind::AtLeastConnections, Some(failed.clone())),
            vec![Fact::ConnectionLimit, fails.clone()],
            vec![Advice::RaiseMaxConnections { connections: 256 }],
        ),
        (
            with(LimitKind::AtLeastTime, Some(failed.clone())),
            vec![ended(SearchGoal::CloserLimit), fails.clone()],
            vec![longer.clone()],
        ),
        (with(LimitKind::AtLeastTime, None), vec![ended(SearchGoal::FailedRate)], vec![longer]),
        (
            Outcome { interrupted: true, ..with(LimitKind::AtLeastTime, None) },
            vec![Fact::SearchEnded { interrupted: true, before: SearchGoal::FailedRate }],
            vec![],
        ),
        (with(LimitKind::Unknown, Some(failed.clone())), vec![ended(SearchGoal::SustainedRate), fails.clone()], vec![]),
        (with(LimitKind::Unknown, None), vec![ended(SearchGoal::AnyRate)], vec![]),
        (with(LimitKind::Never, Some(failed)), vec![fails], vec![Advice::LowerObjectives]),
    ] {
        assert_eq!((outcome.reason(), outcome.advice()), (reason, advice), "{:?}", outcome.kind);
    }
    let seen = outcome.observations();
    assert!(
        seen.iter().any(|fact| matches!(fact, Fact::Overload(seen) if seen.course == Course::Recovers)),
        "{seen:?}"
    );
    assert!(seen.iter().any(|fact| matches!(fact, Fact::ConnectionsNeeded { all: false, .. })), "{seen:?}");
}

#[test]
fn what_was_seen_beside_the_limit_has_its_advice() {
    let outcome = found(&mut Simulated::new(1, 0.002), &settings());
    let limit = rate(&outcome);
    let overload = outcome.overload.clone().expect("there was time for it");
    let after = |course| Outcome { overload: Some(Overload { course, ..overload.clone() }), ..outcome.clone() };
    let above =
        |fails_at| Outcome { overload: Some(Overload { kept: true, ..overload.clone() }), fails_at, ..outcome.clone() };
    let disturbed = |failed| {
        let most = Taken { others: 0.5, stolen: 0.0 };
        Outcome { disturbance: Some(Disturbance { most, steps: 2, failed, of: 9 }), ..outcome.clone() }
    };
    let search_again = |noise| Advice::SearchAgain { factor: 1.2, noise };
    for (outcome, advice) in [
        (after(Course::Recovers), vec![]),
        (after(Course::Collapses), vec![Advice::ShedLoad]),
        (after(Course::StaysSlow), vec![Advice::BoundQueue]),
        (disturbed(0), vec![]),
        (disturbed(1), vec![Advice::StopOthers]),
        (above(None), vec![search_again(false)]),
        (above(Some(1.1 * limit)), vec![search_again(true)]),
        (above(Some(1.3 * limit)), vec![search_again(false)]),
    ] {
        assert_eq!(outcome.advice(), advice, "{:?} {:?}", outcome.overload, outcome.disturbance);
    }
}

#[test]
fn the_spread_names_each_rate_that_does_not_agree() {
    let at = |rate, kept, failed| Spread { rate, kept, failed };
    let outcome = found(&mut Simulated::new(1, 0.002), &settings());
    let sustained = rate(&outcome);
    let spread = vec![at(sustained / 2.0, 1, 1), at(2.0 * sustained, 2, 0)];
    let facts = Outcome { spread, ..outcome }.observations();
    let spread = Fact::OtherRates {
        kept_above: vec![(2.0 * sustained, 2)],
        failed_too: false,
        failed_below: vec![(sustained / 2.0, 1)],
    };
    assert_eq!(facts[0], spread);
}
