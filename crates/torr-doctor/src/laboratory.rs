//! Where experiments are made: within a budget, never beyond what is allowed, with the server's machine watched.

use crate::invocation::Invocation;
use crate::keep_alive::KeepAlive;
use crate::observation::{ExperimentStart, Observation, Seen};
use crate::remote::RemoteWatch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use thiserror::Error;
use torr_gauge::Signals;
use torr_gauge::collector::Measurement;
use torr_gauge::signals::{QuotaUse, Reading, Watcher, own_quota};
use torr_press::request::{Options, RequestError};
use torr_press::{Plan, RunError, TargetError};

/// The shortest experiment that means anything, and what it is where there is time.
const SHORTEST: Duration = Duration::from_millis(120);
const SHORT: Duration = Duration::from_millis(400);
/// The experiments that are planned as if they took a second each fit a budget of this many seconds.
const PLANNED_S: f64 = 60.0;
/// At most this part of the budget is waited for a service to be done with what was left unanswered.
const LONGEST_DRAIN: u32 = 30;
/// At least so many experiments fit into what is left of the budget.
const SHARED_BY: u32 = 6;
/// A request that takes longer than this share of the budget has failed.
const TIMEOUT_SHARE: f64 = 1.0 / 6.0;

/// Who is examined, and how.
#[derive(Debug, Clone)]
pub struct Assignment {
    /// A closed loop as the user means to load the service. Its length does not matter.
    pub plan: Plan,
    /// What its requests were made of, so that others can be made.
    pub options: Options,
    /// What the user gave, for the commands that are printed.
    pub again: Invocation,
    /// How long all may take.
    pub budget: Duration,
    /// Requests per second that are never exceeded.
    pub max_rate: Option<f64>,
    /// Connections that are never exceeded.
    pub max_connections: usize,
}

/// Something that tells what the server's machine sees.
pub trait Observer {
    /// All counts at this moment. `None` if it does not answer.
    fn reading(&self) -> Option<Reading>;

    /// Whether it is this machine that it tells of.
    fn is_here(&self) -> bool;
}

impl Observer for Watcher {
    fn reading(&self) -> Option<Reading> {
        Some(Watcher::reading(self))
    }

    fn is_here(&self) -> bool {
        true
    }
}

impl Observer for RemoteWatch {
    fn reading(&self) -> Option<Reading> {
        RemoteWatch::reading(self).ok()
    }

    fn is_here(&self) -> bool {
        false
    }
}

/// Why there is no diagnosis.
#[derive(Debug, Error)]
pub enum Halt {
    /// Somebody ended it.
    #[error("interrupted")]
    Interrupted,
    /// A run could not be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A variation of the request cannot be made.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A URL of our own is none.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// There is not enough time for what is to be compared.
    #[error("a budget of {given:?} is too short to measure {ways} ways in turns: give at least {least:?}")]
    Budget {
        /// What there is.
        given: Duration,
        /// What there should be.
        least: Duration,
        /// What is compared.
        ways: usize,
    },
    /// The server that was to be started cannot be.
    #[error("{0}")]
    Command(String),
    /// It was started, but does not answer.
    #[error("{0}")]
    Silent(String),
}

/// Makes experiments, and keeps what came of them.
pub struct Laboratory<'l> {
    /// Who is examined.
    pub assignment: &'l Assignment,
    observer: Option<&'l dyn Observer>,
    stop: &'l AtomicBool,
    tell: &'l mut dyn FnMut(ExperimentStart<'_>),
    started: Instant,
    /// All experiments so far, in their order.
    pub trail: Vec<Observation>,
    /// What keep-alive was found to depend on.
    pub keep_alive: Option<KeepAlive>,
    acknowledges_at_once: bool,
}

impl<'l> Laboratory<'l> {
    /// Opens for one assignment. `tell` is told each experiment before it is made; `stop` ends all.
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
            keep_alive: None,
            acknowledges_at_once: false,
        }
    }

    /// The time since it opened.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The part of the budget that is spent, 0 to 1.
    pub fn spent(&self) -> f64 {
        self.elapsed().as_secs_f64() / self.assignment.budget.as_secs_f64()
    }

    /// How long an experiment is that takes so many seconds of a budget of a minute; and where single requests are slow,
    /// longer, as far as the budget goes.
    pub fn length(&self, seconds: f64, response: Duration) -> Duration {
        let planned = Duration::from_secs_f64(self.assignment.budget.as_secs_f64() / PLANNED_S * seconds);
        let least = (self.assignment.budget / 40).clamp(SHORTEST, SHORT);
        let left = self.assignment.budget.saturating_sub(self.elapsed());
        planned.max(least).max(response * 8).min(self.assignment.budget / 8).min((left / SHARED_BY).max(SHORTEST))
    }

    /// Whether the server's machine is looked at, and is this one.
    pub fn sees_here(&self) -> bool {
        self.observer.is_some_and(Observer::is_here)
    }

    /// Whether time is left for another rule's experiments.
    pub fn has_time(&self) -> bool {
        self.has_time_for(Duration::ZERO)
    }

    /// Whether something that takes so long still fits into the budget.
    pub fn has_time_for(&self, long: Duration) -> bool {
        self.elapsed() + long <= self.assignment.budget.mul_f64(0.9)
    }

    /// From here on no experiment holds acknowledgements back.
    pub fn acknowledge_at_once(&mut self) {
        self.acknowledges_at_once = true;
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
            quick_ack: self.acknowledges_at_once,
            max_rate: self.assignment.max_rate,
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
        Ok(Plan { target, request, keep_alive: options.keep_alive, ..self.plan() })
    }

    /// Makes an experiment.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn run(&mut self, experiment: &str, why: &str, plan: &Plan) -> Result<&Observation, Halt> {
        self.run_seen_by(self.observer, experiment, why, plan)
    }

    /// The same where another server is meant, which somebody else watches.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn run_seen_by(
        &mut self,
        observer: Option<&dyn Observer>,
        experiment: &str,
        why: &str,
        plan: &Plan,
    ) -> Result<&Observation, Halt> {
        self.begin(experiment, why)?;
        self.let_drain()?;
        let (measured, seen) = self.observed(observer, |stop| torr_press::run(plan, stop, |_| {}));
        self.keep(experiment, why, measured?, seen)
    }

    /// The same with a second, light load beside it, which is kept as the experiment before.
    ///
    /// # Errors
    /// [`Halt`].
    pub fn run_beside(
        &mut self,
        experiment: &str,
        why: &str,
        plan: &Plan,
        beside: &Plan,
    ) -> Result<(&Observation, &Observation), Halt> {
        self.begin(experiment, why)?;
        self.let_drain()?;
        let part = |share: f64| self.assignment.max_rate.map(|rate| rate * share);
        let plan = &Plan { max_rate: part(0.9), ..plan.clone() };
        let beside = &Plan { max_rate: part(0.1), ..beside.clone() };
        let ((measured, other), signals) = self.observed(self.observer, |stop| {
            thread::scope(|scope| {
                let other = scope.spawn(|| torr_press::run(beside, stop, |_| {}));
                let measured = torr_press::run(plan, stop, |_| {});
                let other = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                (measured, other)
            })
        });
        self.keep(&format!("{experiment}: the light load"), why, other?, Seen::default())?;
        self.keep(experiment, why, measured?, signals)?;
        let [.., other, observation] = &self.trail[..] else { unreachable!("two observations were just kept") };
        Ok((observation, other))
    }

    /// Lets the service rest.
    ///
    /// # Errors
    /// [`Halt::Interrupted`].
    pub fn rest(&mut self, time: Duration, why: &str) -> Result<(), Halt> {
        self.begin("a pause", why)?;
        self.pause(time)
    }

    /// Waits until the service should be done with what the experiment before left unanswered.
    fn let_drain(&self) -> Result<(), Halt> {
        let Some(last) = self.trail.last() else { return Ok(()) };
        // All connections may have had a request under way, answered or not, that nobody waits for any more.
        let seconds = last.run.plan.connections as f64 / last.run.rps.max(1.0);
        self.pause(Duration::from_secs_f64(seconds).min(self.assignment.budget / LONGEST_DRAIN))
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
        let own = own_before.zip(own_after);
        let own_quota = own.and_then(|(before, after)| QuotaUse::between(&before, &after, seconds));
        (outcome, Seen { server, own_quota })
    }

    /// Tells what begins.
    ///
    /// # Errors
    /// [`Halt::Interrupted`].
    pub(crate) fn begin(&mut self, experiment: &str, why: &str) -> Result<(), Halt> {
        self.go_on()?;
        let spent = self.spent();
        (self.tell)(ExperimentStart { experiment, why, spent });
        Ok(())
    }

    fn keep(&mut self, experiment: &str, why: &str, measured: Measurement, seen: Seen) -> Result<&Observation, Halt> {
        self.go_on()?;
        self.trail.push(Observation::new(experiment, why, measured, seen));
        Ok(self.trail.last().expect("it was just kept"))
    }

    fn go_on(&self) -> Result<(), Halt> {
        if self.stop.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
    }
}
