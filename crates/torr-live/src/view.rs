//! What the screen shows, without a terminal.

use crate::log::{ENDED, Log, Tone};
use crate::printed::Printed;
use crate::wish::Wish;
use std::sync::Arc;
use torr_gauge::RunResult;
use torr_gauge::collector::Progress;
use torr_gauge::steering::{SteeringEvent, SteeringKind};
use torr_press::{Pace, Plan, Steerable, Steering, SteeringState};
use torr_report::human::{count, printable, rate};

/// For so many seconds a verdict would be a guess.
const TOO_EARLY_S: f64 = 3.0;

/// The load of a run in words, as it was planned.
#[derive(Debug, Clone, PartialEq)]
pub struct Load {
    /// The target, without a password.
    pub target: String,
    /// The load in words.
    pub words: String,
    /// How long the run lasts, if that is known.
    pub length_s: Option<f64>,
    /// The length of the warm-up.
    pub warmup_s: f64,
    /// The stages: when they begin, in seconds since the measurement began, and what they are.
    pub stages: Vec<(f64, String)>,
    /// What a rate counts: `requests` or `sessions`.
    pub unit: &'static str,
    /// What can be changed.
    pub steerable: Steerable,
}

impl Load {
    /// Returns the load of a plan, which has a steering.
    pub fn of(plan: &Plan) -> Self {
        let has_sessions = plan.work.users().is_some_and(|users| users.has_sessions());
        let unit = if has_sessions { "sessions" } else { "requests" };
        let plural = |n: usize, what: &str| format!("{} {what}{}", count(n as u64), if n == 1 { "" } else { "s" });
        let connections = plural(plan.connections, if has_sessions { "user" } else { "connection" });
        let pace = match &plan.pace {
            Pace::Open(schedule, _) => match schedule.constant_rate() {
                Some(offered) => format!("open loop, {} {unit}/s, at most {connections}", rate(offered)),
                None => format!("open loop in stages, at most {connections}"),
            },
            Pace::Fed(_) => format!("open loop at the times of a log, at most {connections}"),
            Pace::Closed { connections: Some(_), .. } => format!("connections in stages, at most {connections}"),
            Pace::Closed { max_rate: Some(most), .. } => {
                format!("closed loop, {connections}, at most {} {unit}/s", rate(*most))
            }
            Pace::Closed { .. } => format!("closed loop, {connections}"),
        };
        let stages = match &plan.pace {
            Pace::Closed { connections, .. } => {
                connections.as_ref().map_or_else(Vec::new, |schedule| stages(schedule, "connections"))
            }
            Pace::Open(schedule, _) => stages(schedule, &format!("{unit}/s")),
            Pace::Fed(_) => Vec::new(),
        };
        let warmup_s = plan.warmup.as_secs_f64();
        let steerable = plan.steering.as_ref().map_or(Steerable::Nothing, |steering| steering.steerable());
        Self {
            target: printable(&plan.target.shown()).into_owned(),
            words: match steerable {
                Steerable::Remote => format!("{pace}, over a fleet"),
                _ => format!("{pace}, {}", plural(plan.thread_count(), "thread")),
            },
            length_s: plan.length().map(|length| length.as_secs_f64() - warmup_s),
            warmup_s,
            stages,
            unit,
            steerable,
        }
    }

    /// Whether the run begins with its view: that of other machines is prepared first.
    pub(crate) fn begins_at_once(&self) -> bool {
        self.steerable != Steerable::Remote
    }

    /// Returns the planned rate, if it is constant.
    pub fn planned_rate(&self) -> Option<f64> {
        match self.steerable {
            Steerable::Rate(planned) => planned,
            _ => None,
        }
    }
}

/// Returns the stages of a schedule that has several.
fn stages(schedule: &torr_press::Schedule, what: &str) -> Vec<(f64, String)> {
    let all: Vec<_> = schedule.stretches().collect();
    if all.len() < 2 {
        return Vec::new();
    }
    let stage = |(number, stretch): (usize, &torr_press::Stretch)| {
        let (from, to) = (rate(stretch.from), rate(stretch.to));
        let course = if from == to { format!("{to} {what}") } else { format!("from {from} to {to} {what}") };
        (stretch.begin_s, format!("stage {}: {course} in {} s", number + 1, stretch.length_s))
    };
    all.iter().enumerate().map(stage).collect()
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing was measured yet.
    Starting,
    /// Requests are measured.
    Running,
    /// The operator has ended the run, and the last responses are read.
    Ending,
}

/// All that the screen shows.
#[derive(Debug)]
pub struct View {
    /// The planned load.
    pub load: Load,
    /// Where the run stands.
    pub phase: Phase,
    /// Seconds since the run began, its warm-up included.
    pub elapsed_s: f64,
    /// The load as it was steered.
    pub state: SteeringState,
    /// The last interval.
    pub progress: Option<Progress>,
    /// The result of what is complete.
    pub result: Option<Arc<RunResult>>,
    /// What happened.
    pub log: Log,
    /// What scripts printed.
    pub printed: Printed,
    /// Whether the keys are explained.
    pub shows_help: bool,
    /// The number of stages that have begun.
    begun: usize,
    /// The number of events of the result that are in the log.
    known: usize,
    /// Events by this view's own operator that are in the log and in no result yet.
    own: Vec<SteeringEvent>,
}

impl View {
    /// Returns the view of a run that begins now.
    pub fn new(load: Load, state: SteeringState) -> Self {
        let mut log = Log::default();
        log.add(0.0, "the run begins", Tone::Plain);
        Self {
            load,
            phase: Phase::Starting,
            elapsed_s: 0.0,
            state,
            progress: None,
            result: None,
            log,
            printed: Printed::default(),
            shows_help: false,
            begun: 0,
            known: 0,
            own: Vec::new(),
        }
    }

    /// Takes over what is complete.
    pub fn update(&mut self, progress: Progress, result: Arc<RunResult>) {
        if self.phase == Phase::Starting {
            self.phase = Phase::Running;
        }
        self.log.errors(&result);
        for event in result.steering.get(self.known..).unwrap_or_default() {
            match self.own.iter().position(|own| own == event) {
                Some(at) => drop(self.own.remove(at)),
                None => self.steered(*event),
            }
        }
        self.known = result.steering.len();
        let before = self.progress.as_ref().map_or((0, 0), |before| (before.requests, before.errors));
        let (requests, errors) = (progress.requests.saturating_sub(before.0), progress.errors.saturating_sub(before.1));
        self.log.burst(progress.elapsed_s, requests, errors);
        if let Some(verdict) = result.verdict.as_ref().filter(|_| progress.elapsed_s >= TOO_EARLY_S) {
            self.log.verdict(progress.elapsed_s, verdict);
        }
        self.progress = Some(progress);
        self.result = Some(result);
    }

    /// Notes the time, and the stages that begin with it.
    pub fn at(&mut self, elapsed_s: f64) {
        self.elapsed_s = elapsed_s;
        while let Some((begin_s, text)) = self.load.stages.get(self.begun)
            && *begin_s <= self.measured_s()
        {
            self.log.mark(*begin_s, text, Tone::Plain, format!("stage {}", self.begun + 1));
            self.begun += 1;
        }
    }

    /// Returns the seconds since the measurement began.
    pub fn measured_s(&self) -> f64 {
        (self.elapsed_s - self.load.warmup_s).max(0.0)
    }

    /// Whether the run still warms up.
    pub fn is_warming_up(&self) -> bool {
        self.elapsed_s < self.load.warmup_s
    }

    /// Whether enough was measured for a verdict.
    pub fn can_judge(&self) -> bool {
        self.progress.as_ref().is_some_and(|progress| progress.elapsed_s >= TOO_EARLY_S)
    }

    /// Notes what is to be known of the run.
    pub fn note(&mut self, line: &str) {
        self.log.add(self.measured_s(), line, Tone::Plain);
    }

    /// Notes what happened to the run elsewhere.
    pub fn warn(&mut self, line: &str) {
        self.log.add(self.measured_s(), line, Tone::Warn);
    }

    /// Notes that the run ends.
    pub fn ending(&mut self, why: &str) {
        if self.phase != Phase::Ending {
            self.phase = Phase::Ending;
            self.log.mark(self.measured_s(), why, Tone::Plain, "end");
        }
    }

    /// Does what the operator wants.
    pub fn fulfil(&mut self, wish: Wish, steering: &Steering) {
        let event = match wish {
            Wish::Pause => steering.toggle_pause(),
            Wish::Raise => steering.raise(),
            Wish::Lower => steering.lower(),
            Wish::Mark => steering.mark(),
            Wish::End => steering.end(),
        };
        self.state = steering.state();
        match event {
            Some(event) => {
                self.own.push(event);
                self.steered(event);
            }
            // The run has not begun.
            None if wish == Wish::End => self.ending(ENDED),
            None => self.refused(wish),
        }
    }

    /// Takes over what an operator did.
    fn steered(&mut self, event: SteeringEvent) {
        match event.what {
            SteeringKind::End => self.ending(ENDED),
            _ => self.log.steered(event, self.load.planned_rate(), self.load.unit),
        }
        let changes_load = !matches!(event.what, SteeringKind::End | SteeringKind::Mark);
        if changes_load && self.is_warming_up() {
            self.log.add(event.t, "the change takes effect after the warm-up", Tone::Warn);
        }
    }

    /// Tells why a wish could not be fulfilled.
    pub(crate) fn refused(&mut self, wish: Wish) {
        let text = match (wish, self.load.steerable) {
            (Wish::Raise, Steerable::Connections { most, .. }) => {
                format!("this run has at most {} connections", count(most as u64))
            }
            (Wish::Lower, Steerable::Connections { least, .. }) => {
                format!("this run has at least {} connections", count(least as u64))
            }
            _ => "not possible now".to_owned(),
        };
        self.log.add(self.measured_s(), text, Tone::Warn);
    }
}
