//! A run that can be steered is the run that was planned as long as its operator changes nothing.

mod server;

use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::collector::Measurement;
use torr_press::{Pace, Plan, Requests, Target, run};

fn pressed(change: impl FnOnce(Plan) -> Plan) -> Measurement {
    let target = Target::parse("http://name.test/").expect("it is a URL");
    let request = Requests::get(&target, true).expect("it is a request");
    let plan = Plan { threads: 2, ..Plan::new(target, vec![server::start(server::EMPTY).into()], request) };
    let (plan, _) = change(plan).steered();
    run(&plan, &AtomicBool::new(false), |_| {}).expect("it runs")
}

#[test]
fn a_number_of_requests_is_shared_by_the_threads_that_were_planned() {
    let measured = pressed(|plan| Plan { connections: 20, requests: Some(30), ..plan });
    let each: Vec<_> = measured.threads.iter().map(|thread| thread.answered).collect();
    assert_eq!(measured.result.requests, 30, "{each:?}");
    assert!(
        each.iter().all(|answered| *answered >= 10),
        "a request is set aside for each planned connection: {each:?}"
    );
}

#[test]
fn a_highest_rate_goes_to_all_connections_in_turn() {
    let duration = Some(Duration::from_secs(2));
    let result = pressed(|plan| Plan { connections: 6, pace: Pace::closed(Some(100.0)), duration, ..plan }).result;
    assert_eq!((result.connections.opened, result.connections.peak), (6, Some(6)), "{result:?}");
}
