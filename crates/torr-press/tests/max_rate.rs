//! A closed loop with a highest rate: it is reached, never exceeded, and costs no connection.

mod server;

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_press::{Pace, Plan, Requests, Schedule, Target, run};
use torr_test_support::measured::measured;
use torr_test_support::{alone, quiet};

fn plan(rate: f64, seconds: u64) -> Plan {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    Plan {
        connections: 6,
        threads: 2,
        pace: Pace::closed(Some(rate)),
        duration: Some(Duration::from_secs(seconds)),
        ..Plan::new(target, vec![server::start(server::EMPTY).into()], request)
    }
}

/// Runs a plan until the rate is reached: where others take the CPU for long, fewer requests are sent. More are never sent. `None` on a
/// machine that stays busy.
fn pressed(plan: &Plan, most: u64) -> Option<RunResult> {
    measured("a highest rate", || {
        let result = run(plan, &AtomicBool::new(false), |_| {}).expect("it runs").result;
        // What is made up for, and one of each thread.
        assert!(result.requests as f64 <= 1.005 * most as f64 + 2.0, "{result:?}");
        quiet!(result.requests as f64 >= 0.98 * most as f64, "{} requests, not {most}", result.requests);
        result
    })
}

#[test]
fn a_rate_is_kept_by_all_threads_together_while_warming_up_too() {
    let _alone = alone();
    let Some(result) = pressed(&Plan { warmup: Duration::from_millis(500), ..plan(1000.0, 1) }, 1000) else { return };
    let warmup = result.warmup.expect("there was one").requests;
    assert!((400..=507).contains(&warmup), "{warmup} requests in half a second");
    assert_eq!(result.plan.max_rate, Some(1000.0));
    let connections = result.connections;
    assert_eq!((connections.carried, connections.opened, connections.peak), (6, 0, Some(6)), "all are kept");
}

#[test]
fn a_ramp_of_connections_keeps_it_as_well() {
    let _alone = alone();
    let stages = [(Duration::ZERO, 4.0), (Duration::from_secs(1), 6.0)];
    let connections = Some(Schedule::stages(&stages).expect("they are stages"));
    pressed(&Plan { pace: Pace::Closed { connections, max_rate: Some(500.0) }, ..plan(500.0, 1) }, 500);
}
