//! The search, on services of many shapes.

use super::simulated::Simulated;
use super::*;

fn settings() -> Settings {
    Settings {
        slo: Slo::parse(Slo::DEFAULT).expect("the default is one"),
        budget: Duration::from_secs(60),
        max_rate: None,
        max_connections: 64,
    }
}

fn about() -> About {
    About { target: "http://simulated/".into(), started_at: String::new(), arrivals: "poisson".into() }
}

fn found(service: &mut Simulated, settings: &Settings) -> Outcome {
    let outcome = find(service, settings, about()).expect("it can be reached");
    let told = serde_json::to_string(&outcome).expect("it has a form");
    let again: Outcome = serde_json::from_str(&told).expect("the form can be read");
    assert_eq!((again.answer, again.steps.len()), (outcome.answer, outcome.steps.len()));
    outcome
}

fn rate(outcome: &Outcome) -> f64 {
    outcome.sustained.as_ref().unwrap_or_else(|| panic!("nothing is sustained: {}", outcome.summary)).rate
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
        assert_eq!(outcome.answer, Answer::Limit, "{}", outcome.summary);
        // Independent users wait in line before all of it is used.
        within(&outcome, 0.8 * capacity, capacity);
        let sustained = outcome.sustained.as_ref().expect("it was looked at");
        assert!(sustained.confirmed && sustained.latency_us.is_some_and(|l| l.p99.is_some_and(|p99| p99 < 50_000)));
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
    assert!(service.asks.iter().all(|ask| !ask.why.is_empty()));
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
    // The more are under way, the longer each takes: throughput levels off, and response times grow.
    let mut service = Simulated { contention: 0.05, ..Simulated::new(200, 0.01) };
    let outcome = found(&mut service, &settings());
    assert_eq!(outcome.answer, Answer::Limit, "{}", outcome.summary);
    let fit = outcome.fit.expect("the ladder has rungs enough");
    assert!(fit.good && (fit.sigma - 0.05).abs() < 0.01 && (fit.lambda - 100.0).abs() < 3.0, "{fit:?}");
    within(&outcome, 1000.0, 2000.0);
}

#[test]
fn a_rate_limiter_is_a_limit_with_its_name() {
    let outcome = found(&mut Simulated { limiter: Some(200.0), ..Simulated::new(8, 0.002) }, &settings());
    assert_eq!(outcome.answer, Answer::Limit, "{}", outcome.summary);
    within(&outcome, 100.0, 205.0);
    let failure = outcome.failure.expect("a rate failed");
    assert!(failure.contains("429"), "{failure}");
    let overload = outcome.overload.expect("there was time for it");
    assert!(overload.error_share > 0.01 && overload.course == Course::Recovers, "{overload:?}");
}

#[test]
fn noise_costs_little_of_the_limit() {
    // It hangs for 30 ms every 7 seconds: one step in three has that in it.
    let outcome = found(&mut Simulated { hangs: Some((7.0, 0.03)), ..Simulated::new(2, 0.004) }, &settings());
    assert_eq!(outcome.answer, Answer::Limit, "{}", outcome.summary);
    within(&outcome, 350.0, 500.0);
}

#[test]
fn a_flapping_service_is_given_no_more_than_it_keeps_to() {
    // A fifth of each two seconds it does nothing.
    let outcome = found(&mut Simulated { hangs: Some((2.0, 0.4)), ..Simulated::new(2, 0.004) }, &settings());
    assert!(outcome.sustained.is_none_or(|s| s.rate < 100.0), "{}", outcome.summary);
}

#[test]
fn the_generators_limit_is_not_the_services() {
    let outcome = found(&mut Simulated { generator: Some(1000.0), ..Simulated::new(64, 0.005) }, &settings());
    assert_eq!(outcome.answer, Answer::AtLeastGenerator, "{}", outcome.summary);
    within(&outcome, 900.0, 1000.0);
    assert!(outcome.summary.contains("at least") && outcome.summary.contains("the service may sustain more"));
}

#[test]
fn what_keeps_to_nothing_is_told_at_once() {
    let mut service = Simulated::new(1, 0.08);
    let outcome = found(&mut service, &settings());
    assert_eq!((outcome.answer, outcome.sustained.is_none()), (Answer::Never, true));
    assert!(outcome.summary.contains("does not keep to p99<50ms,errors<0.1% at all"), "{}", outcome.summary);
    assert!(service.asks.len() <= 2 && outcome.ladder.is_empty());
}

#[test]
fn a_slow_service_has_a_low_limit() {
    let slo = Slo::parse("p99<1s,errors<0.1%").expect("it is one");
    let wide = Settings { slo, budget: Duration::from_secs(120), ..settings() };
    let outcome = found(&mut Simulated::new(1, 0.05), &wide);
    assert_eq!(outcome.answer, Answer::Limit, "{}", outcome.summary);
    within(&outcome, 12.0, 20.0);
}

#[test]
fn no_bound_is_passed() {
    let bounded = Settings { max_rate: Some(300.0), max_connections: 10, ..settings() };
    let mut service = Simulated::new(8, 0.002);
    let outcome = found(&mut service, &bounded);
    assert_eq!((outcome.answer, rate(&outcome)), (Answer::AtLeastMaxRate, 300.0), "{}", outcome.summary);
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
    assert_eq!(outcome.answer, Answer::AtLeastConnections, "{}", outcome.summary);
    within(&outcome, 100.0, 267.0);
    assert_eq!(outcome.knee, None, "throughput did not bend");
}

#[test]
fn a_service_that_breaks_has_failed_there() {
    let outcome = found(&mut Simulated { breaks_at: Some(300.0), ..Simulated::new(4, 0.004) }, &settings());
    within(&outcome, 250.0, 300.0);
    assert!(outcome.failure.is_some_and(|failure| failure.contains("cannot be reached")));
}

#[test]
fn an_interruption_leaves_what_is_known() {
    let mut all = Simulated::new(1, 0.002);
    found(&mut all, &settings());
    for stop_after in (0..all.asks.len()).step_by(5) {
        let outcome = found(&mut Simulated { stop_after: Some(stop_after), ..Simulated::new(1, 0.002) }, &settings());
        assert!(outcome.interrupted && outcome.answer != Answer::Never, "after {stop_after}: {}", outcome.summary);
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
    assert!(outcome.sustained.as_ref().is_none_or(|s| !s.confirmed || s.seconds < 4.0), "{}", outcome.summary);
    assert!(outcome.spent_s <= outcome.budget_s, "{} s", outcome.spent_s);
}
