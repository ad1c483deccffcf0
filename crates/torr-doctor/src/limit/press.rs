//! Steps that are really pressed.

use super::ask::{Ask, Bench, Load};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::collector::{Measurement, Progress};
use torr_press::{Arrivals, Pace, Plan, RunError, Schedule};

/// How often a step is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// A service that is pressed as one plan says, but for how hard and how long.
pub struct Press<'p, S> {
    plan: &'p Plan,
    arrivals: Arrivals,
    stop: &'p AtomicBool,
    started: Instant,
    show: S,
}

impl<'p, S: FnMut(&Ask, Duration, Option<&Progress>)> Press<'p, S> {
    /// Presses by this plan, whose connections are the most of an open loop, until `stop` is set. `show` is told of each
    /// step, with the time since the beginning: when it begins, and several times while it goes on.
    pub fn new(plan: &'p Plan, arrivals: Arrivals, stop: &'p AtomicBool, show: S) -> Self {
        Self { plan, arrivals, stop, started: Instant::now(), show }
    }

    fn plan_for(&self, ask: &Ask) -> Plan {
        let (pace, connections) = match ask.load {
            Load::Rate(rate) => {
                let schedule = Schedule::constant(rate.clamp(1e-3, 1e9)).expect("the rate is within its bounds");
                (Pace::Open(schedule, self.arrivals), self.plan.connections)
            }
            Load::Connections(connections) => (Pace::Closed, connections),
        };
        Plan {
            pace,
            connections,
            duration: Some(ask.length),
            warmup: ask.warmup,
            requests: ask.requests,
            interval: LOOK,
            ..self.plan.clone()
        }
    }
}

impl<S: FnMut(&Ask, Duration, Option<&Progress>)> Bench for Press<'_, S> {
    fn press(&mut self, ask: &Ask, fails: &mut dyn FnMut(&Progress) -> bool) -> Result<Measurement, RunError> {
        let plan = self.plan_for(ask);
        let begun = self.started.elapsed();
        (self.show)(ask, begun, None);
        let over = AtomicBool::new(self.stopped());
        torr_press::run(&plan, &over, |progress| {
            (self.show)(ask, begun, Some(&progress));
            if fails(&progress) || self.stop.load(Ordering::Relaxed) {
                over.store(true, Ordering::Relaxed);
            }
        })
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn pause(&mut self, length: Duration) {
        thread::sleep(length);
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
