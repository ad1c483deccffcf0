//! A warning before a run that will use up the local ports.

use crate::output;
use std::time::Duration;
use torr_net::{Address, local_ports};
use torr_press::{Pace, Plan};
use torr_report::human::count;

/// Connections per second that a closed loop is expected to reach where each carries one request: the least that the
/// source documents have for a service on the same network.
const EXPECTED_RATE: f64 = 10_000.0;

/// What can be done.
const REMEDY: &str = "keep connections alive, add source addresses with --bind, or widen net.ipv4.ip_local_port_range";

/// Prints a warning if the run needs more local ports than there are. No progress line is shown yet.
pub fn warn(plan: &Plan) {
    if let Some(warning) = warning(plan) {
        output::note(&format!("warning: {warning}"));
    }
}

/// Returns a warning if the run needs more local ports than there are.
fn warning(plan: &Plan) -> Option<String> {
    let addresses: Vec<_> = plan.addresses.iter().filter_map(Address::tcp).collect();
    let on_loopback = addresses.iter().all(|address| address.ip().is_loopback());
    // Each pair of a source and a destination has ports of its own.
    let pairs = plan.source_addresses() as u64 * addresses.len() as u64;
    let ports = Ports { count: local_ports::count().saturating_mul(pairs), held: local_ports::time_wait(on_loopback) };
    if addresses.is_empty() { None } else { ports.too_few_for(plan) }
}

/// The ports that a run can use.
struct Ports {
    count: u64,
    /// How long one is taken after its connection was closed from this side.
    held: Duration,
}

impl Ports {
    fn too_few_for(&self, plan: &Plan) -> Option<String> {
        let there_are = format!("than the {} local ports", count(self.count));
        if plan.connections as u64 > self.count {
            let at_a_time = count(plan.connections as u64);
            return Some(format!("{at_a_time} simultaneous connections need more ports {there_are}: {REMEDY}"));
        }
        let carried = if plan.keep_alive { plan.requests_per_connection? } else { 1 };
        // Ports of connections that were closed longer ago are free again.
        let window = plan.duration.map_or(self.held, |duration| (duration + plan.warmup).min(self.held));
        let seconds = window.as_secs_f64();
        let each = if carried == 1 { "one request".into() } else { format!("{} requests", count(carried)) };
        let held = format!("each port stays in TIME_WAIT for {:.0} s", self.held.as_secs_f64());
        let rate = match &plan.pace {
            // Stages may never ask for so many requests at all.
            Pace::Open(schedule, _) if schedule.due((self.count * carried) as f64).is_none() => return None,
            Pace::Open(schedule, _) => Some(schedule.peak()),
            // The rate is not known before the log is read.
            Pace::Fed(_) => return None,
            Pace::Closed { max_rate, .. } => *max_rate,
        };
        let of_rate = rate.map(|rate| rate * seconds / carried as f64);
        let of_count = plan.requests.map(|requests| requests as f64 / carried as f64);
        let needed = match (of_rate, of_count) {
            (Some(rate), Some(count)) => Some(rate.min(count)),
            (rate, count) => rate.or(count),
        };
        match needed {
            Some(needed) if needed > self.count as f64 => Some(format!(
                "{} connections of {each} may need more ports {there_are}, as {held}: {REMEDY}",
                count(needed.ceil() as u64)
            )),
            None if EXPECTED_RATE / carried as f64 * seconds > self.count as f64 => Some(format!(
                "above {} connections per second the run needs more ports {there_are}, as {held}: {REMEDY}",
                count((self.count as f64 / seconds) as u64)
            )),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use torr_press::{Arrivals, Requests, Schedule, Target};

    fn plan(change: impl FnOnce(&mut Plan)) -> Plan {
        let target = Target::parse("http://10.0.0.1/").unwrap();
        let request = Requests::get(&target, false).unwrap();
        let mut plan = Plan::new(target, vec![Address::Tcp("10.0.0.1:80".parse().unwrap())], request);
        plan.keep_alive = false;
        change(&mut plan);
        plan
    }

    #[test]
    fn runs_that_need_more_ports_than_there_are() {
        let ports = Ports { count: 28_232, held: Duration::from_secs(60) };
        let open = |rate| Pace::Open(Schedule::constant(rate).unwrap(), Arrivals::Constant);
        let seconds = |s| Some(Duration::from_secs(s));
        type Case<'c> = (&'c dyn Fn(&mut Plan), Option<&'c str>);
        let stages = |seconds, rate| {
            Pace::Open(Schedule::stages(&[(Duration::from_secs(seconds), rate)]).unwrap(), Arrivals::Constant)
        };
        let cases: [Case<'_>; 15] = [
            (&|plan| plan.pace = stages(10, 5_000.0), None),
            (&|plan| plan.pace = stages(60, 5_000.0), Some("300,000 connections")),
            (&|plan| plan.requests = Some(28_232), None),
            (&|plan| plan.requests = Some(100_000), Some("100,000 connections of one request")),
            (&|plan| (plan.requests, plan.keep_alive) = (Some(100_000), true), None),
            (&|plan| plan.duration = seconds(10), Some("above 2,823 connections per second")),
            (&|plan| plan.duration = seconds(1), None),
            (&|plan| plan.duration = seconds(600), Some("above 470 connections per second")),
            (&|plan| (plan.pace, plan.duration) = (open(400.0), seconds(600)), None),
            (&|plan| (plan.pace, plan.duration) = (open(500.0), seconds(600)), Some("30,000 connections")),
            (&|plan| (plan.pace, plan.duration) = (open(2_000.0), seconds(10)), None),
            (&|plan| (plan.pace, plan.duration) = (Pace::closed(Some(500.0)), None), Some("30,000 connections")),
            (&|plan| (plan.pace, plan.requests) = (open(2_000.0), Some(10_000)), None),
            (
                &|plan| {
                    (plan.keep_alive, plan.requests_per_connection, plan.requests) = (true, Some(10), Some(1_000_000));
                },
                Some("100,000 connections of 10 requests"),
            ),
            (&|plan| (plan.keep_alive, plan.connections) = (true, 30_000), Some("30,000 simultaneous connections")),
        ];
        for (number, (change, warned)) in cases.into_iter().enumerate() {
            let warning = ports.too_few_for(&plan(change));
            assert_eq!(warning.is_some(), warned.is_some(), "case {number}: {warning:?}");
            assert!(
                warned.is_none_or(|warned| warning.as_ref().unwrap().starts_with(warned)),
                "case {number}: {warning:?}"
            );
        }
    }
}
