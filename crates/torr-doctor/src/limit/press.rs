//! The load generator of real services.

use super::ask::{Ask, Bench, Load};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::collector::{Measurement, Progress};
use torr_press::{Arrivals, Pace, Plan, RunError, Schedule};

/// The interval between samples of a step's progress.
const LOOK: Duration = Duration::from_millis(100);

/// What carries out the plan of a step: as [`torr_press::run`] does, with references to the progress.
pub type RunStep<'p> = dyn FnMut(&Plan, &AtomicBool, &mut dyn FnMut(&Progress)) -> Result<Measurement, RunError> + 'p;

/// A load generator whose steps follow a plan, except for load and length.
pub struct Press<'p, S> {
    plan: &'p Plan,
    arrivals: Arrivals,
    stop: &'p AtomicBool,
    started: Instant,
    show: S,
    /// The mean requests of a session in the latest step; 1 without sessions. A plan paces and counts sessions, a search requests.
    requests_each: f64,
    run: Box<RunStep<'p>>,
}

impl<'p, S: FnMut(&Ask, Duration, Option<&Progress>)> Press<'p, S> {
    /// Returns a generator for a plan, whose connections are the most of an open loop, until `stop` is set. `show` is called with each
    /// step and the time since the beginning: when the step begins, and several times during it.
    pub fn new(plan: &'p Plan, arrivals: Arrivals, stop: &'p AtomicBool, show: S) -> Self {
        let requests_each = plan.work.users().map_or(1.0, |users| users.entries().len().max(1) as f64);
        let here = |plan: &Plan, stop: &AtomicBool, watch: &mut dyn FnMut(&Progress)| {
            torr_press::run(plan, stop, |progress| watch(&progress))
        };
        Self { plan, arrivals, stop, started: Instant::now(), show, requests_each, run: Box::new(here) }
    }

    /// Lets `run` carry out the steps, instead of the load engine of this machine.
    #[must_use]
    pub fn by(
        mut self,
        run: impl FnMut(&Plan, &AtomicBool, &mut dyn FnMut(&Progress)) -> Result<Measurement, RunError> + 'p,
    ) -> Self {
        self.run = Box::new(run);
        self
    }

    fn plan_for(&self, ask: &Ask) -> Plan {
        let (pace, connections) = match ask.load {
            Load::Rate(rate) => {
                let schedule = Schedule::constant((rate / self.requests_each).clamp(1e-3, 1e9))
                    .expect("the rate is within its bounds");
                (Pace::Open(schedule, self.arrivals), self.plan.connections)
            }
            Load::Connections(connections) => (Pace::closed(None), connections),
            Load::Streams(streams) => {
                let connections = streams.div_ceil(usize::from(self.plan.depth.max(1)));
                (Pace::closed(ask.begins_per_s), connections.max(1))
            }
        };
        // As many on each connection, which is at most the depth of the plan.
        let depth = match ask.load {
            Load::Streams(streams) => u16::try_from(streams / connections).unwrap_or(self.plan.depth).max(1),
            Load::Rate(_) | Load::Connections(_) => self.plan.depth,
        };
        Plan {
            pace,
            connections,
            depth,
            duration: Some(ask.length),
            warmup: ask.warmup,
            requests: ask.requests.map(|requests| (requests as f64 / self.requests_each).ceil() as u64),
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
        let (show, stop) = (&mut self.show, self.stop);
        let run = (self.run)(&plan, &over, &mut |progress| {
            show(ask, begun, Some(progress));
            if fails(progress) || stop.load(Ordering::Relaxed) {
                over.store(true, Ordering::Relaxed);
            }
        })?;
        if let Some(sessions) = run.result.sessions.as_ref().filter(|sessions| sessions.finished > 0) {
            // Sessions that were cut off have not sent all of their requests.
            let ended = (sessions.finished + sessions.failed) as f64;
            self.requests_each = (run.result.requests as f64 / ended).max(1.0);
        }
        Ok(run)
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
