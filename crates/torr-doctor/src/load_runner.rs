//! The runner of real experiments: load on the service, within the permitted limits, with the server's machine observed.

mod orders;

use crate::agents::Agents;
use crate::assignment::Assignment;
use crate::experiment::NullContent;
use crate::halt::Halt;
use crate::locate::Locator;
use crate::observation::{ExperimentStart, Observation, Seen};
use crate::observer::Observer;
use crate::thresholds::{LONGEST_DRAIN, TIMEOUT_SHARE};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::collector::{Measurement, Progress};
use torr_gauge::verdict::{ExperimentId, ExperimentLabel};
use torr_press::request::Options;
use torr_press::{Pace, Plan};
use torr_signals::{QuotaUse, Signals, own_quota};

/// The plan of a null service, which does nothing but respond with some content.
pub type Null<'n> = dyn Fn(NullContent) -> Result<Plan, Halt> + 'n;

/// What learns of the progress of the experiment that runs: once an interval, and at its end.
pub type Watch<'w> = dyn Fn(&Progress) + Sync + 'w;

/// A runner that loads the real service, and keeps the observations.
pub struct LoadRunner<'l> {
    /// The service.
    pub assignment: &'l Assignment,
    observer: Option<&'l dyn Observer>,
    stop: &'l AtomicBool,
    tell: &'l mut dyn FnMut(ExperimentStart<'_>),
    started: Instant,
    /// All experiments so far, in their order.
    pub trail: Vec<Observation>,
    /// The time that the service may need to finish requests of the last experiment without a response.
    drain: Duration,
    null: Option<&'l Null<'l>>,
    agents: Option<&'l dyn Agents>,
    locator: Option<&'l dyn Locator>,
    watch: Option<&'l Watch<'l>>,
}

impl<'l> LoadRunner<'l> {
    /// Returns a runner for an assignment. `tell` is called before each experiment; `stop` ends the current one.
    pub fn open(
        assignment: &'l Assignment,
        observer: Option<&'l dyn Observer>,
        stop: &'l AtomicBool,
        tell: &'l mut dyn FnMut(ExperimentStart<'_>),
    ) -> Self {
        Self {
            assignment,
            observer,
            stop,
            tell,
            started: Instant::now(),
            trail: vec![],
            drain: Duration::ZERO,
            null: None,
            agents: None,
            locator: None,
            watch: None,
        }
    }

    /// Adds a service that does nothing, to compare with.
    #[must_use]
    pub fn with_null(self, null: Option<&'l Null<'l>>) -> Self {
        Self { null, ..self }
    }

    /// Lets the agents of a fleet send the load of a diagnosis.
    #[must_use]
    pub fn with_agents(self, agents: Option<&'l dyn Agents>) -> Self {
        Self { agents, ..self }
    }

    /// Adds what samples the server for the place of a factor.
    #[must_use]
    pub fn with_locator(self, locator: Option<&'l dyn Locator>) -> Self {
        Self { locator, ..self }
    }

    /// Adds what learns of the progress of experiments.
    #[must_use]
    pub fn with_watch(self, watch: Option<&'l Watch<'l>>) -> Self {
        Self { watch, ..self }
    }

    /// The time since it opened.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Whether the server's machine is looked at, and is this one.
    pub fn sees_here(&self) -> bool {
        self.observer.is_some_and(Observer::is_here)
    }

    /// The plan that experiments vary: the user's, without an end.
    pub fn plan(&self) -> Plan {
        self.bounded(self.assignment.plan.clone())
    }

    /// A plan of another service, without an end and within the same limits.
    pub fn bounded(&self, plan: Plan) -> Plan {
        Plan {
            duration: None,
            requests: None,
            watch_server: false,
            pace: Pace::closed(self.assignment.max_rate),
            timeout: plan.timeout.min(self.assignment.budget.mul_f64(TIMEOUT_SHARE)),
            connections: plan.connections.min(self.assignment.max_connections),
            ..plan
        }
    }

    /// A plan for another path of the same server, with the user's request otherwise.
    ///
    /// # Errors
    /// What [`torr_press::Requests::new`] has.
    pub fn plan_for(&self, path: &str, change: impl FnOnce(&mut Options)) -> Result<Plan, Halt> {
        let target = self.assignment.plan.target.at(path);
        let mut options = self.assignment.options.clone();
        change(&mut options);
        let request = torr_press::Requests::new(&[target.clone().into()], &options)?;
        Ok(Plan { target, work: request.into(), keep_alive: options.keep_alive, ..self.plan() })
    }

    /// Makes an experiment with a variant of a comparison.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn run(&mut self, id: ExperimentId, variant: &str, plan: &Plan) -> Result<&Observation, Halt> {
        self.run_seen_by(self.observer, id, variant, plan)
    }

    /// Makes an experiment with another server, which `observer` observes.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn run_seen_by(
        &mut self,
        observer: Option<&dyn Observer>,
        id: ExperimentId,
        variant: &str,
        plan: &Plan,
    ) -> Result<&Observation, Halt> {
        self.begin(id, variant)?;
        self.let_drain()?;
        let (measured, seen) = self.observed(observer, |stop| torr_press::run(plan, stop, |_| {}));
        self.keep(id, Some(variant.into()), measured?, seen)
    }

    /// Waits until the service should be done with what the experiment before left unanswered.
    fn let_drain(&self) -> Result<(), Halt> {
        self.pause(self.drain.min(self.assignment.budget / LONGEST_DRAIN))
    }

    fn pause(&self, time: Duration) -> Result<(), Halt> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            self.go_on()?;
            thread::sleep(Duration::from_millis(20).min(end.saturating_duration_since(Instant::now())));
        }
        Ok(())
    }

    fn observed<R>(&self, observer: Option<&dyn Observer>, experiment: impl FnOnce(&AtomicBool) -> R) -> (R, Seen) {
        let look = || observer.and_then(Observer::reading);
        let (before, own_before, started) = (look(), own_quota(), Instant::now());
        let outcome = experiment(self.stop);
        let (after, own_after, seconds) = (look(), own_quota(), started.elapsed().as_secs_f64());
        let server = before.zip(after).map(|(before, after)| Signals::between(&before, &after));
        let own = own_before.zip(own_after).filter(|_| self.agents.is_none());
        let own_quota = own.and_then(|(before, after)| QuotaUse::between(&before, &after, seconds));
        (outcome, Seen { server, own_quota })
    }

    /// Tells what begins.
    ///
    /// # Errors
    /// [`Halt::Interrupted`].
    pub(crate) fn begin(&mut self, id: ExperimentId, variant: &str) -> Result<(), Halt> {
        self.go_on()?;
        let connections = self.assignment.plan.connections;
        let label = ExperimentLabel { id, connections, streams: None, rate: None, variant: Some(variant.into()) };
        let spent = self.elapsed().as_secs_f64() / self.assignment.budget.as_secs_f64();
        (self.tell)(ExperimentStart { label: &label, spent });
        Ok(())
    }

    fn keep(
        &mut self,
        id: ExperimentId,
        variant: Option<String>,
        measured: Measurement,
        seen: Seen,
    ) -> Result<&Observation, Halt> {
        self.go_on()?;
        let run = &measured.result;
        // Each connection may have left a request that the service still works on. A request has ended that failed before its
        // time was up.
        let failed = run.errors.unanswered().saturating_sub(run.errors.timeout) as f64 / run.duration_s.max(1e-3);
        // A server notices at the next event that a stream was left.
        let done = run.streams.as_ref().map_or(run.rps, |streams| run.rps.max(streams.events_per_s));
        self.drain = Duration::from_secs_f64(run.plan.connections as f64 / (done + failed).max(1.0));
        self.trail.push(Observation::new(id, variant, measured, seen));
        Ok(self.trail.last().expect("it was just kept"))
    }

    fn go_on(&self) -> Result<(), Halt> {
        if self.stop.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
    }
}
