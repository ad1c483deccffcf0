//! The rules of each executor on a simulated clock.

use super::order::Ending;
use super::progress::Status;
use super::simulation::{MS, Simulation, plan};
use serde_json::{Value, json};
use std::time::Duration;

fn one(scenario: Value) -> Value {
    json!({"scenarios": {"a": scenario}})
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}

#[test]
fn shared_iterations_are_taken_by_fast_virtual_users() {
    let options = one(json!({"executor": "shared-iterations", "vus": 2, "iterations": 7}));
    let outcome = Simulation::default().run(&options, |start| if start.vu == 0 { 100 } else { 500 });
    let by_vu = |vu| outcome.iterations.iter().filter(|iteration| iteration.vu == vu).count();
    assert_eq!((by_vu(0), by_vu(1), outcome.end), (6, 1, 600));
    let numbers = sorted(outcome.iterations.iter().map(|iteration| iteration.start.in_test).collect());
    assert_eq!(numbers, (0..7).collect::<Vec<_>>());
    assert_eq!(outcome.dropped.get(&0), None);
}

#[test]
fn per_vu_iterations_are_counted_for_each() {
    let options = one(json!({"executor": "per-vu-iterations", "vus": 3, "iterations": 2}));
    let outcome = Simulation::default().run(&options, |start| 100 * (start.vu as u64 + 1));
    let found = outcome.iterations.iter().map(|iteration| (iteration.vu, iteration.start.in_scenario)).collect();
    assert_eq!(sorted(found), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]);
    assert_eq!(outcome.end, 600);
}

#[test]
fn iterations_that_did_not_begin_in_time_are_dropped() {
    for (executor, begun, dropped) in [("shared-iterations", 4, 6), ("per-vu-iterations", 4, 16)] {
        let options = one(json!({"executor": executor, "vus": 2, "iterations": 10, "maxDuration": "1s"}));
        let outcome = Simulation::default().run(&options, |_| 700);
        assert_eq!((outcome.iterations.len(), outcome.dropped[&0], outcome.end), (begun, dropped, 1_400), "{executor}");
        assert_eq!(outcome.interrupted(), 0);
    }
}

#[test]
fn constant_virtual_users_loop_until_the_end() {
    let options = json!({"vus": 3, "duration": "1s"});
    let outcome = Simulation::default().run(&options, |_| 300);
    assert_eq!((outcome.iterations.len(), outcome.end, outcome.interrupted()), (12, 1_200, 0));
    assert_eq!(outcome.conductor.counts().complete, 12);
}

#[test]
fn a_graceful_stop_is_the_limit_of_the_last_iterations() {
    for (graceful, end, interrupted) in [("0s", 1_000, 2), ("100ms", 1_100, 2), ("300ms", 1_200, 0)] {
        let options = one(json!({"executor": "constant-vus", "vus": 2, "duration": "1s", "gracefulStop": graceful}));
        let outcome = Simulation::default().run(&options, |_| 600);
        assert_eq!((outcome.end, outcome.interrupted()), (end, interrupted), "{graceful}");
        let deadline = outcome.iterations[0].start.deadline;
        assert_eq!(deadline % (100 * MS), 0);
        assert_eq!(outcome.conductor.counts().interrupted, interrupted as u64);
    }
}

#[test]
fn the_number_of_virtual_users_follows_the_stages() {
    let options = json!({"vus": 1, "stages": [{"duration": "3s", "target": 4}, {"duration": "2s", "target": 0}]});
    let outcome = Simulation::default().run(&options, |_| 100);
    let begins = outcome.iterations.iter().filter(|iteration| iteration.start.in_scenario == 0);
    let begins = sorted(begins.map(|iteration| (iteration.begin, iteration.vu)).collect());
    assert_eq!(begins, [(0, 0), (1_000, 1), (2_000, 2), (3_000, 3)]);
    let last = |vu| outcome.iterations.iter().filter(|found| found.vu == vu).map(|found| found.end).max();
    assert_eq!([3, 2, 1, 0].map(last), [Some(3_500), Some(4_000), Some(4_500), Some(5_000)]);
    assert_eq!(outcome.interrupted(), 0);
}

#[test]
fn a_virtual_user_that_is_not_wanted_finishes_within_the_ramp_down() {
    for (ramp_down, ends, interrupted) in [("5s", 3_000, 0), ("500ms", 2_500, 1), ("0s", 2_000, 1)] {
        let options = one(json!({"executor": "ramping-vus", "startVUs": 2, "gracefulRampDown": ramp_down,
            "stages": [{"duration": "2s", "target": 2}, {"duration": "0s", "target": 1}, {"duration": "8s", "target": 1}]}));
        let outcome = Simulation::default().run(&options, |start| if start.vu == 1 { 3_000 } else { 1_000 });
        let [only] = &outcome.iterations.iter().filter(|found| found.vu == 1).collect::<Vec<_>>()[..] else {
            panic!("it has one iteration: {outcome:?}")
        };
        assert_eq!((only.end, outcome.interrupted(), outcome.end), (ends, interrupted, 10_000), "{ramp_down}");
    }
}

#[test]
fn a_virtual_user_goes_on_that_is_wanted_again() {
    let stages = json!([{"duration": "1s", "target": 1}, {"duration": "0s", "target": 0}, {"duration": "1s", "target": 0},
        {"duration": "0s", "target": 1}, {"duration": "2s", "target": 1}]);
    let long = one(json!({"executor": "ramping-vus", "startVUs": 1, "gracefulRampDown": "5s", "stages": stages}));
    let outcome = Simulation::default().run(&long, |_| 3_000);
    // The iteration goes on over the time without virtual users, and the next one follows.
    assert_eq!(outcome.times(0), [(0, 3_000, 0), (3_000, 6_000, 0)]);
    let stopped = one(json!({"executor": "ramping-vus", "startVUs": 1, "gracefulRampDown": "500ms", "stages": stages}));
    let outcome = Simulation::default().run(&stopped, |_| 3_000);
    assert_eq!(outcome.times(0), [(0, 1_500, 0), (2_000, 5_000, 0)]);
    assert_eq!(outcome.interrupted(), 1);
}

#[test]
fn a_constant_rate_begins_iterations_on_time() {
    for threads in [1, 2, 3] {
        let options =
            one(json!({"executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 4}));
        let outcome = Simulation { threads, ..Simulation::default() }.run(&options, |_| 150);
        let begins: Vec<_> = outcome.times(0).iter().map(|(begin, ..)| *begin).collect();
        assert_eq!(begins, (0..10).map(|n| n * 100).collect::<Vec<_>>());
        // First come first served: all virtual users get used in turn.
        let vus: Vec<_> = outcome.times(0).iter().map(|(.., vu)| *vu).collect();
        assert_eq!(vus[..8], [0, 1, 2, 3, 0, 1, 2, 3], "{threads} threads");
        assert!(outcome.dropped.is_empty() && outcome.warned.is_empty());
    }
}

#[test]
fn iterations_without_an_idle_virtual_user_are_dropped() {
    let options = one(json!({"executor": "constant-arrival-rate", "rate": 10, "duration": "2s", "preAllocatedVUs": 2}));
    let outcome = Simulation::default().run(&options, |_| 450);
    // Two begin each 500 ms, at the first two due times at which both are idle again.
    let begins: Vec<_> = outcome.times(0).iter().map(|(begin, ..)| *begin).collect();
    assert_eq!(begins, [0, 100, 500, 600, 1_000, 1_100, 1_500, 1_600]);
    assert_eq!((outcome.dropped[&0], &outcome.warned), (12, &vec![0]));
    let progress = outcome.conductor.progress(0, u64::MAX);
    assert_eq!((progress.status, progress.begun, progress.is_cut), (Status::Done, 8, true));
}

#[test]
fn one_more_virtual_user_is_created_for_a_dropped_iteration() {
    let options = one(json!({"executor": "constant-arrival-rate", "rate": 10, "duration": "2s", "preAllocatedVUs": 1,
        "maxVUs": 3}));
    let simulation = Simulation { creation: 150, ..Simulation::default() };
    let outcome = simulation.run(&options, |_| 10_000);
    // Dropped at 100 and 200; created at 250, so that the iteration of 300 begins; dropped again at 400 and 500.
    assert_eq!(outcome.created, [(1, 100), (2, 400)]);
    let begins: Vec<_> = outcome.times(0).iter().map(|(begin, ..)| *begin).collect();
    assert_eq!(begins, [0, 300, 600]);
    assert_eq!((outcome.dropped[&0], &outcome.warned), (17, &vec![0]));
    assert_eq!(outcome.conductor.counts().initialized, 3);
}

#[test]
fn a_rate_may_begin_without_virtual_users() {
    let options = one(json!({"executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 0,
        "maxVUs": 1}));
    let outcome = Simulation::default().run(&options, |_| 10);
    assert_eq!((outcome.iterations.len(), outcome.dropped[&0]), (9, 1));
}

#[test]
fn a_ramping_rate_is_exact_over_threads() {
    let options = one(json!({"executor": "ramping-arrival-rate", "startRate": 0, "preAllocatedVUs": 5,
        "stages": [{"duration": "10s", "target": 20}, {"duration": "5s", "target": 20}, {"duration": "10s", "target": 0}]}));
    for threads in [1, 2, 4] {
        let outcome = Simulation { threads, ..Simulation::default() }.run(&options, |_| 7);
        let begins: Vec<_> = outcome.times(0).iter().map(|(begin, ..)| *begin).collect();
        assert_eq!((begins.len(), begins[0], begins[99], begins[199]), (300, 1_000, 10_000, 15_000));
        for iteration in &outcome.iterations {
            let due = iteration.start.due.expect("it has a rate");
            assert_eq!(iteration.begin, (due - 7_000 * MS) / MS, "{threads} threads");
        }
        assert!(outcome.dropped.is_empty());
    }
}

#[test]
fn a_late_thread_begins_iterations_late_and_drops_none_that_had_a_virtual_user() {
    let options = one(json!({"executor": "constant-arrival-rate", "rate": 10, "duration": "1s", "preAllocatedVUs": 3}));
    let conductor = super::Conductor::new(plan(&options), 1);
    conductor.start(0);
    let mut orders = Vec::new();
    conductor.poll(0, 450 * MS, &mut orders);
    let dues: Vec<_> = orders
        .iter()
        .filter_map(|order| match order {
            super::Order::Begin(start) => start.due,
            _ => None,
        })
        .collect();
    assert_eq!(dues, [0, 100 * MS, 200 * MS]);
    orders.clear();
    // Those of 300 and 400 found no idle virtual user.
    conductor.ended(0, Ending::Complete, 460 * MS, &mut orders);
    assert_eq!(orders, [super::Order::Dropped { scenario: 0, count: 2 }, super::Order::Insufficient { scenario: 0 }]);
    assert_eq!(conductor.next_wake(0), 500 * MS);
}

#[test]
fn scenarios_begin_at_their_time_and_hand_over_virtual_users() {
    let options = json!({"scenarios": {
        "a": {"executor": "constant-vus", "vus": 2, "duration": "1s", "gracefulStop": "0s"},
        "b": {"executor": "per-vu-iterations", "vus": 2, "iterations": 1, "startTime": "1s"},
    }});
    assert_eq!((plan(&options).vus.planned, plan(&options).vus.most), (2, 2));
    let outcome = Simulation::default().run(&options, |start| if start.scenario == 0 { 700 } else { 50 });
    assert_eq!(outcome.times(0).len(), 4);
    assert_eq!(outcome.interrupted(), 2);
    assert_eq!(sorted(outcome.times(1)), [(1_000, 1_050, 0), (1_000, 1_050, 1)]);
}

#[test]
fn a_scenario_waits_for_virtual_users_that_another_one_has_too_long() {
    // By the plan both have their own time; an iteration that was interrupted late would still have its virtual user.
    let options = json!({"scenarios": {
        "a": {"executor": "shared-iterations", "vus": 1, "iterations": 1, "maxDuration": "1s", "gracefulStop": "0s"},
        "b": {"executor": "shared-iterations", "vus": 1, "iterations": 1, "startTime": "1s", "maxDuration": "1s"},
    }});
    let conductor = super::Conductor::new(plan(&options), 1);
    conductor.start(0);
    let mut orders = Vec::new();
    conductor.poll(0, 0, &mut orders);
    conductor.poll(0, 1_000 * MS, &mut orders);
    assert!(matches!(orders[..], [super::Order::Begin(_), super::Order::Interrupt(0)]), "{orders:?}");
    orders.clear();
    conductor.ended(0, Ending::Interrupted, 1_300 * MS, &mut orders);
    assert!(matches!(&orders[..], [super::Order::Begin(start)] if start.scenario == 1), "{orders:?}");
    conductor.ended(0, Ending::Complete, 1_400 * MS, &mut orders);
    assert!(conductor.is_over());
}

#[test]
fn the_pool_has_what_is_needed_at_a_time() {
    let counts = |options: &Value| {
        let plan = plan(options);
        (plan.vus.planned, plan.vus.most, plan.max_duration)
    };
    let seconds = Duration::from_secs;
    assert_eq!(counts(&json!({"vus": 10, "duration": "30s"})), (10, 10, seconds(60)));
    // A second scenario begins after the first one's graceful stop, or within it.
    let two = |start: &str| {
        json!({"scenarios": {"a": {"executor": "constant-vus", "vus": 5, "duration": "10s", "gracefulStop": "5s"},
            "b": {"executor": "constant-vus", "vus": 3, "duration": "10s", "startTime": start, "gracefulStop": "0s"}}})
    };
    assert_eq!(counts(&two("15s")), (5, 5, seconds(25)));
    assert_eq!(counts(&two("14s")), (8, 8, seconds(24)));
    let arrival = one(json!({"executor": "constant-arrival-rate", "rate": 1, "duration": "5s", "preAllocatedVUs": 2,
        "maxVUs": 7, "gracefulStop": "1s"}));
    assert_eq!(counts(&arrival), (2, 7, seconds(6)));
    // Down by one and up again within the ramp down: the virtual user that finishes is still needed.
    let ramp = |ramp_down: &str| {
        json!({"scenarios": {"a": {"executor": "ramping-vus", "startVUs": 3, "gracefulRampDown": ramp_down, "gracefulStop": "10s",
            "stages": [{"duration": "0s", "target": 0}, {"duration": "5s", "target": 0}]},
            "b": {"executor": "constant-vus", "vus": 3, "duration": "5s", "startTime": "2s", "gracefulStop": "0s"}}})
    };
    assert_eq!(counts(&ramp("1s")).1, 3);
    assert_eq!(counts(&ramp("3s")).1, 6);
    assert_eq!(counts(&json!({"vus": 2, "stages": [{"duration": "4s", "target": 0}]})).2, seconds(34));
}

#[test]
fn short_iterations_are_padded() {
    let options = json!({"vus": 1, "duration": "1s", "minIterationDuration": "400ms"});
    let outcome = Simulation::default().run(&options, |start| if start.in_test == 1 { 500 } else { 100 });
    assert_eq!(outcome.times(0), [(0, 100, 0), (400, 900, 0), (900, 1_000, 0)]);
}

#[test]
fn a_stopped_test_interrupts_everything_and_ends() {
    let options = json!({"scenarios": {
        "a": {"executor": "constant-vus", "vus": 2, "duration": "10s"},
        "b": {"executor": "constant-arrival-rate", "rate": 1, "duration": "10s", "preAllocatedVUs": 2},
        "c": {"executor": "per-vu-iterations", "startTime": "5s"},
        "d": {"executor": "ramping-vus", "stages": [{"duration": "10s", "target": 3}]},
    }});
    let outcome = Simulation { stop: Some(2_500), ..Simulation::default() }.run(&options, |_| 2_000);
    assert_eq!(outcome.end, 2_500);
    assert!(outcome.interrupted() >= 4, "{outcome:?}");
    assert_eq!(outcome.times(2), []);
    assert_eq!(outcome.conductor.counts().active, 0);
    assert!((0..4).all(|number| outcome.conductor.progress(number, u64::MAX).is_cut));
}

#[test]
fn virtual_users_are_active_while_they_have_work() {
    let options = json!({"scenarios": {
        "a": {"executor": "constant-vus", "vus": 2, "duration": "2s"},
        "b": {"executor": "constant-arrival-rate", "rate": 1, "duration": "2s", "preAllocatedVUs": 3},
    }});
    let conductor = super::Conductor::new(plan(&options), 1);
    conductor.start(0);
    let mut orders = Vec::new();
    conductor.poll(0, 0, &mut orders);
    assert_eq!((orders.len(), conductor.counts().active, conductor.counts().initialized), (3, 3, 5));
    let progress = conductor.progress(1, 500 * MS);
    assert_eq!((progress.active, progress.vus, progress.share), (1, 3, 0.25));
    assert_eq!(conductor.vus_of(0).count(), 5);
}

#[test]
fn a_test_is_described() {
    let options = json!({"scenarios": {
        "b": {"executor": "constant-vus", "vus": 2, "duration": "5s"},
        "a": {"executor": "per-vu-iterations", "startTime": "1s", "maxDuration": "2s"},
    }});
    let lines = plan(&options).description();
    assert_eq!(lines[0], "scenarios: (100.00%) 2 scenarios, 3 max VUs, 35s max duration (incl. graceful stop):");
    assert_eq!(lines[1], "* b: 2 looping VUs for 5s (gracefulStop: 30s)");
    assert!(lines[2].starts_with("* a: 1 iterations for each of 1 VUs (maxDuration: 2s, startTime: 1s"));
}

#[test]
fn no_virtual_user_starts_at_the_very_end() {
    let options = one(json!({"executor": "ramping-vus", "startVUs": 0, "stages": [{"duration": "2s", "target": 2}]}));
    let outcome = Simulation::default().run(&options, |_| 300);
    assert_eq!(outcome.times(0), [(1_000, 1_300, 0), (1_300, 1_600, 0), (1_600, 1_900, 0), (1_900, 2_200, 0)]);
    assert_eq!(plan(&options).vus.most, 2);
}
