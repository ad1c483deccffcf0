//! A run sampled every ten milliseconds: a burst stands in its series when it was, and nothing is lost.

mod server;

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_gauge::result::RateStage;
use torr_press::{Arrivals, Pace, Plan, Requests, Schedule, Target, run};
use torr_test_support::measured::measured;
use torr_test_support::{alone, quiet};

const MS: Duration = Duration::from_millis(1);

fn pressed(change: impl FnOnce(Plan) -> Plan) -> RunResult {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let plan = Plan {
        connections: 8,
        threads: 2,
        interval: 10 * MS,
        ..Plan::new(target, vec![server::start(server::EMPTY).into()], request)
    };
    run(&change(plan), &AtomicBool::new(false), |_| {}).expect("it runs").result
}

#[test]
fn a_burst_after_a_pause_is_where_it_was() {
    let _alone = alone();
    let jump = Duration::ZERO;
    let stages = [(jump, 100.0), (100 * MS, 100.0), (jump, 0.0), (200 * MS, 0.0), (jump, 2000.0), (100 * MS, 2000.0)];
    let pace = Pace::Open(Schedule::stages(&stages).expect("they are stages"), Arrivals::Constant);
    measured("a burst after a pause", || {
        let result = pressed(|plan| Plan { pace: pace.clone(), ..plan });
        assert_eq!((result.started, result.errors.total()), (210, 0), "{result:?}");
        let stages = [(0.1, 100.0), (0.2, 0.0), (0.1, 2000.0)];
        let stages = stages.map(|(length_s, rate)| RateStage { length_s, from: rate, to: rate });
        assert_eq!(result.plan.stages, stages, "as they were planned");
        let series = result.series;
        let within = |from: f64, to: f64| -> u64 {
            let points = series.iter().filter(|point| point.t > from + 1e-6 && point.t < to + 1e-6);
            points.map(|point| point.requests).sum()
        };
        // A response may come a little after its request was due, but not before.
        assert!(within(0.0, 0.1) <= 10 && within(0.0, 0.3) <= 10 && within(0.0, 0.35) <= 110, "{series:?}");
        let is_in_time = within(0.0, 0.1) >= 9 && within(0.11, 0.3) == 0;
        quiet!(is_in_time && within(0.3, 0.31) >= 15 && within(0.3, 0.35) >= 90, "{series:?}");
    });
}

#[test]
fn every_response_of_a_fast_run_is_in_one_of_its_points() {
    let _alone = alone();
    let result = pressed(|plan| Plan { duration: Some(600 * MS), ..plan });
    assert_eq!(result.series.iter().map(|point| point.requests).sum::<u64>(), result.requests);
    let ends: Vec<_> = result.series.iter().map(|point| (point.t * 1e3).round() as u64).collect();
    assert_eq!(ends[..59], (1..60).map(|n| n * 10).collect::<Vec<_>>());
}
