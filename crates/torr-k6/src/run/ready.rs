//! A test from its first virtual user to its summary.

use super::settings::{RunSettings, SummarySettings};
use crate::control::{StopCause, aborted};
use crate::error::{ErrorKind, ScriptError};
use crate::executors::Conductor;
use crate::log::Level;
use crate::machine::Machine;
use crate::metrics::{Collector, Thresholds, TrendSink};
use crate::modules::Program;
use crate::outputs::Writing;
use crate::shared::RunShared;
use crate::summary::collect::collect;
use crate::summary::data::{Summary, SummaryOptions};
use crate::summary::{deliver::deliver, json};
use crate::user::{Exports, Task, TaskEnd, Vu};
use crate::users::Load;
use std::fmt;
use std::io::IsTerminal;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::collector::{Measurement, Progress};
use torr_press::{Plan, RunError, SoFar};

/// The time between two evaluations of the thresholds.
const EVALUATION: Duration = Duration::from_secs(2);
/// The 99th percentile in milliseconds up to which iterations of arrival rates are on time.
const MOST_SEND_LAG: f64 = 10.0;
/// The longest time that `handleSummary` may take.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);

/// A test whose outputs are open and whose plan is known.
pub struct ReadyTest {
    pub(super) settings: RunSettings,
    pub(super) load: Arc<Load>,
    pub(super) plan: Plan,
    pub(super) thresholds: Thresholds,
    pub(super) writing: Option<Writing>,
}

impl fmt::Debug for ReadyTest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ReadyTest").field("load", &self.load).finish_non_exhaustive()
    }
}

/// The end of a test.
#[derive(Debug)]
pub struct TestEnd {
    /// The exit code of k6.
    pub exit_code: u8,
    /// The names of metrics with crossed thresholds, sorted.
    pub crossed: Vec<String>,
    /// What the load engine has measured; `None` if the load did not begin.
    pub measured: Option<Measurement>,
    /// The summary.
    pub summary: Summary,
}

impl ReadyTest {
    /// Returns the plan by which the load engine runs: with a steering, if the test has one.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Runs the test. `watch` is called about once a second while scenarios run, with the conductor and what is complete, and `ended` when
    /// they have ended, before the summary is printed.
    ///
    /// # Errors
    /// If an output fails.
    pub fn run(
        self,
        mut watch: impl FnMut(&Conductor, &Progress, &SoFar<'_>),
        ended: impl FnOnce(),
    ) -> Result<TestEnd, ScriptError> {
        let Self { settings, load, plan, thresholds, writing } = self;
        let (run, conductor, collector) = (load.run.clone(), load.conductor.clone(), load.collector.clone());
        let evaluated = Arc::new(Mutex::new(thresholds));
        let evaluation = evaluate_meanwhile(&run, &collector, &evaluated);
        let begun = Instant::now();
        let pressed =
            torr_press::run_watched(&plan, &run.leave, |progress, so_far| watch(&conductor, &progress, so_far));
        let elapsed = run.started.get().unwrap_or(&begun).elapsed();
        drop(evaluation);
        ended();
        let (program, exports) = (load.program.clone(), load.exports.clone());
        drop((plan, load));
        if let Some(writing) = writing {
            Writing::finish(writing, &run.log);
        }
        let measured = match pressed {
            Ok(measured) => Some(measured),
            Err(RunError::Unreachable { .. }) => None,
            Err(error) => {
                run.control.stop(StopCause::Failed(ScriptError::new(ErrorKind::Other, error.to_string())));
                None
            }
        };
        let mut thresholds = evaluated.lock().unwrap_or_else(PoisonError::into_inner);
        let crossed = {
            let mut merged = collector.merged();
            warn_of_send_lag(&run, merged.send_lag());
            thresholds.evaluate(collector.plan(), &mut merged, elapsed, true).crossed
        };
        let ended = Ended { settings: &settings.summary, run: &run, program: &program, exports: &exports };
        let summary = ended.summarise(&collector, &thresholds, elapsed);
        match run.control.cause() {
            Some(StopCause::Failed(error)) => {
                let text = format!("{error}\n{}", error.stack);
                run.log.write(Level::Error, text.trim_end(), &[]);
            }
            Some(StopCause::Aborted(why)) => run.log.write(Level::Error, &aborted(&why), &[]),
            _ => {}
        }
        if !crossed.is_empty() {
            let text = format!("thresholds on metrics '{}' have been crossed", crossed.join(", "));
            run.log.write(Level::Error, &text, &[]);
        }
        if run.control.failure().is_some() {
            run.log.write(Level::Error, "test run was marked as failed", &[]);
        }
        Ok(TestEnd { exit_code: exit_code(&run, !crossed.is_empty()), crossed, measured, summary })
    }
}

/// The parts of a test that has ended, of which the summary is made.
struct Ended<'t> {
    settings: &'t SummarySettings,
    run: &'t Arc<RunShared>,
    program: &'t Arc<Program>,
    exports: &'t Exports,
}

impl Ended<'_> {
    /// Makes the summary, has the script handle it, and delivers it.
    fn summarise(&self, collector: &Collector, thresholds: &Thresholds, elapsed: Duration) -> Summary {
        let (run, settings) = (self.run, self.settings);
        let options = &run.options.get().expect("a test that is loaded has options").options;
        let shown = SummaryOptions {
            trend_stats: options.trend_stats(),
            time_unit: options.summary_time_unit.map_or(String::new(), |unit| unit.name().to_owned()),
            no_color: settings.no_color,
        };
        let mut summary = collect(&mut collector.merged(), &run.registry, thresholds, shown, elapsed);
        summary.state.stdout_is_terminal = std::io::stdout().is_terminal();
        summary.state.stderr_is_terminal = std::io::stderr().is_terminal();
        summary.setup_data = run.setup_data.get().and_then(Option::as_deref).map(str::to_owned);
        let returned = if settings.mode.is_some() { self.handled(&summary) } else { None };
        deliver(&summary, settings.mode, settings.export.as_deref(), returned, &run.log);
        summary
    }

    /// Returns what `handleSummary` returned; `None` if there is none, or it returned nothing.
    fn handled(&self, summary: &Summary) -> Option<crate::user::Files> {
        let failed = |error: &ScriptError| {
            self.run.log.write(Level::Error, &format!("cannot handle the summary: {error}"), &[]);
        };
        let vu = Vu::new(self.run.clone(), 0, std::rc::Rc::default());
        let mut machine = Machine::new(vu, self.program).map_err(|error| failed(&error)).ok()?;
        if let TaskEnd::Threw(error) = machine.load() {
            failed(&error);
            return None;
        }
        if !self.exports.has("handleSummary") {
            return None;
        }
        let limit = self.run.options.get().and_then(|all| all.options.handle_summary_timeout);
        let deadline = Instant::now().checked_add(limit.unwrap_or(SUMMARY_TIMEOUT));
        match machine.run(Task::Summary(json::argument(summary)), deadline) {
            TaskEnd::Files(files) => files,
            TaskEnd::Threw(error) => {
                failed(&error);
                None
            }
            _ => {
                failed(&ScriptError::new(ErrorKind::Timeout, "handleSummary() execution timed out"));
                None
            }
        }
    }
}

/// Evaluates the thresholds while a test runs, until what is returned is dropped.
fn evaluate_meanwhile(run: &Arc<RunShared>, collector: &Collector, thresholds: &Arc<Mutex<Thresholds>>) -> Evaluating {
    let (end, ended) = mpsc::channel::<()>();
    let (run, collector, thresholds) = (run.clone(), collector.clone(), thresholds.clone());
    let evaluate = move || {
        while ended.recv_timeout(EVALUATION) == Err(RecvTimeoutError::Timeout) {
            let Some(started) = run.started.get() else { continue };
            let mut thresholds = thresholds.lock().unwrap_or_else(PoisonError::into_inner);
            let evaluation = thresholds.evaluate(collector.plan(), &mut collector.merged(), started.elapsed(), false);
            if evaluation.aborts {
                run.control.stop(StopCause::Thresholds);
            }
        }
    };
    let thread = thread::Builder::new().name("thresholds".into()).spawn(evaluate).ok();
    Evaluating { end: Some(end), thread }
}

/// The thread that evaluates thresholds.
struct Evaluating {
    end: Option<mpsc::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Drop for Evaluating {
    fn drop(&mut self) {
        self.end.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Warns if iterations of arrival rates began late: their times do not show what a service does at that rate.
fn warn_of_send_lag(run: &RunShared, lag: &mut TrendSink) {
    let late = lag.percentile(99.0);
    if late > MOST_SEND_LAG {
        let (all, most) = (lag.len(), lag.max());
        let text = format!(
            "iterations with an arrival rate began late: 1% of {all} began {late:.0} ms to {most:.0} ms after they were due; \
             use a lower rate, or run on a less busy machine"
        );
        run.log.write(Level::Warning, &text, &[]);
    }
}

/// Returns the exit code of a run that has ended.
fn exit_code(run: &RunShared, has_crossed: bool) -> u8 {
    match run.control.cause() {
        _ if run.leave.load(Ordering::Relaxed) => ErrorKind::Interrupted.exit_code(),
        Some(StopCause::Failed(error)) => error.kind.exit_code(),
        Some(StopCause::Aborted(_)) => ErrorKind::Aborted.exit_code(),
        Some(StopCause::Interrupted) => ErrorKind::Interrupted.exit_code(),
        _ if run.control.failure().is_some() => 110,
        Some(StopCause::Thresholds) => 99,
        Some(StopCause::Ended) | None if has_crossed => 99,
        Some(StopCause::Ended) | None => 0,
    }
}
