//! The stages of a run, which the first thread leads: setup, the scenarios, teardown.

use super::ThreadVus;
use crate::control::StopCause;
use crate::error::{ErrorKind, ScriptError};
use crate::metrics::builtin;
use crate::user::{Task, TaskEnd};
use crate::users::slot::{Job, Resumption, State, VuSlot};
use crate::users::stage::Stage;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use torr_net::{Nanos, clock};
use torr_press::users::Wake;

/// How often the numbers of virtual users are recorded.
const GAUGES: Nanos = 1_000_000_000;
/// The default of `setupTimeout` and `teardownTimeout`.
const STAGE_TIMEOUT: Duration = Duration::from_secs(60);
/// The slot of setup and teardown.
const STAGE_SLOT: usize = 0;

impl ThreadVus<'_> {
    /// Leads the run through its stages, on the first thread.
    pub(super) fn lead(&mut self, now: Nanos) {
        let load = self.load;
        if load.steering.get().is_some_and(|steering| steering.is_ended()) {
            load.control().stop(StopCause::Ended);
        }
        match self.stage {
            Stage::Starting if load.ready.load(Ordering::Acquire) < load.layout.threads => {}
            Stage::Starting => {
                let _ = load.run.started.set(Instant::now());
                self.next_gauges = now + GAUGES;
                let options = load.run.options.get().map(|all| &all.options);
                let skips = options.is_some_and(|options| options.no_setup == Some(true));
                if load.control().is_stopped() {
                    // A virtual user could not be created.
                    self.finish();
                } else if load.exports.has("setup") && !skips {
                    let timeout = options.and_then(|options| options.setup_timeout).unwrap_or(STAGE_TIMEOUT);
                    self.begin_stage(Stage::Setup, Task::Setup, "::setup", now, timeout);
                } else {
                    let _ = load.run.setup_data.set(None);
                    self.begin_scenarios(now);
                }
            }
            Stage::Setup | Stage::Teardown => {
                let stops = self.stage == Stage::Setup && load.control().is_stopped();
                if now >= self.stage_end || stops {
                    self.stage_end = Nanos::MAX;
                    self.interrupt(STAGE_SLOT);
                }
            }
            Stage::Scenarios => {
                if load.control().is_stopped() && !self.is_stopping {
                    self.is_stopping = true;
                    load.conductor.stop(now);
                }
                if now >= self.next_gauges {
                    self.next_gauges = now + GAUGES;
                    self.record_gauges();
                }
                if load.conductor.is_over() {
                    self.begin_teardown(now);
                }
            }
            Stage::Over => {}
        }
        if load.run.leave.load(Ordering::Relaxed) {
            self.finish();
        }
    }

    pub(super) fn record_gauges(&mut self) {
        let counts = self.load.conductor.counts();
        let run_tags = self.load.run.options.get().and_then(|all| all.options.tags.clone()).unwrap_or_default();
        let run_tags: Vec<_> = run_tags.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let mut recorder = self.recorder.borrow_mut();
        let tags = recorder.tag_set(&Default::default(), &run_tags);
        recorder.add(builtin::VUS, counts.active as f64, &tags);
        recorder.add(builtin::VUS_MAX, counts.initialized as f64, &tags);
    }

    /// Begins `setup` or `teardown` in a script engine of its own.
    pub(super) fn begin_stage(&mut self, stage: Stage, task: Task, group: &str, now: Nanos, timeout: Duration) {
        let machine = match self.load.machine(0, &self.recorder) {
            Ok(machine) => machine,
            Err(error) => {
                self.load.fail(error);
                return self.finish();
            }
        };
        machine.vu.tags.borrow_mut().set_group(group);
        machine.vu.events.sockets.live_at(self.signal.clone(), STAGE_SLOT);
        let mut slot = VuSlot::new(machine, self.load.layout.lanes);
        slot.job = if stage == Stage::Setup { Job::Setup } else { Job::Teardown };
        // Each stage has connections of its own.
        self.wakes.push_back(Wake::Disconnect(STAGE_SLOT));
        self.stage = stage;
        self.stage_end = now.saturating_add(clock::nanos(timeout));
        slot.state = State::Ready(Resumption::Begin(task, self.instant(self.stage_end)));
        self.slots[STAGE_SLOT] = Some(Box::new(slot));
        self.wakes.push_back(Wake::Next(STAGE_SLOT));
    }

    pub(super) fn setup_ended(&mut self, end: TaskEnd, now: Nanos) {
        let timed_out = self.stage_end == Nanos::MAX || now >= self.stage_end;
        match end {
            TaskEnd::Returned(data) => {
                let _ = self.load.run.setup_data.set(data.map(Into::into));
                return self.begin_scenarios(now);
            }
            TaskEnd::Threw(error) => self.load.fail(*error),
            _ if self.load.control().is_stopped() => {}
            _ if timed_out => {
                let why = "setup() execution timed out; raise setupTimeout";
                self.load.fail(ScriptError::new(ErrorKind::SetupTimeout, why));
            }
            _ => self.load.fail(ScriptError::new(ErrorKind::Other, "setup() was interrupted")),
        }
        self.finish();
    }

    pub(super) fn begin_scenarios(&mut self, now: Nanos) {
        self.stage = Stage::Scenarios;
        self.stage_end = Nanos::MAX;
        self.load.conductor.start(now);
    }

    pub(super) fn begin_teardown(&mut self, now: Nanos) {
        let load = self.load;
        let options = load.run.options.get().map(|all| &all.options);
        let skips = options.is_some_and(|options| options.no_teardown == Some(true));
        if !load.exports.has("teardown") || skips {
            return self.finish();
        }
        let timeout = options.and_then(|options| options.teardown_timeout).unwrap_or(STAGE_TIMEOUT);
        self.begin_stage(Stage::Teardown, Task::Teardown, "::teardown", now, timeout);
    }

    pub(super) fn teardown_ended(&mut self, end: TaskEnd, _now: Nanos) {
        match end {
            TaskEnd::Threw(error) => self.load.fail(*error),
            TaskEnd::Interrupted if self.stage_end == Nanos::MAX => {
                let why = "teardown() execution timed out; raise teardownTimeout";
                self.load.fail(ScriptError::new(ErrorKind::TeardownTimeout, why));
            }
            TaskEnd::Interrupted => {
                self.load.control().stop(StopCause::Interrupted);
            }
            _ => {}
        }
        self.finish();
    }

    pub(super) fn finish(&mut self) {
        self.stage = Stage::Over;
        self.load.is_over.store(true, Ordering::Release);
        self.load.conductor.wake_all();
    }
}
