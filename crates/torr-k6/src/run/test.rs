//! A test: the script is loaded and its options are consolidated, then it runs.

use super::servers;
use super::settings::{RunSettings, ScriptSource};
use crate::api;
use crate::control::StopCause;
use crate::error::{ErrorKind, ScriptError};
use crate::executors::{Conductor, ExecutionPlan};
use crate::log::{Level, Log};
use crate::machine::Machine;
use crate::metrics::{Collector, MetricsPlan, Thresholds, TrendSink};
use crate::modules::{Access, Fetch, ModuleError, Program};
use crate::options::{Consolidated, OptionError, Options, layered, unsupported};
use crate::outputs::{Outputs, Writing};
use crate::shared::RunShared;
use crate::summary::collect::collect;
use crate::summary::data::{Summary, SummaryOptions};
use crate::summary::{deliver::deliver, json};
use crate::user::{Exports, Task, TaskEnd, Vu};
use crate::users::{K6Users, Layout, Load};
use serde_json::{Map, Value};
use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use torr_gauge::collector::Measurement;
use torr_press::learnt::LearntServers;
use torr_press::users::Users;
use torr_press::{Plan, RunError, Target, Work};

/// The time between two evaluations of the thresholds.
const EVALUATION: Duration = Duration::from_secs(2);
/// The 99th percentile in milliseconds up to which iterations of arrival rates are on time.
const MOST_SEND_LAG: f64 = 10.0;
/// The longest time that `handleSummary` may take.
const SUMMARY_TIMEOUT: Duration = Duration::from_secs(120);
/// The name of a script that comes as text.
const TEXT_NAME: &str = "-";

/// A test that is ready to run.
#[derive(Debug)]
pub struct Test {
    settings: RunSettings,
    run: Arc<RunShared>,
    program: Arc<Program>,
    exports: Exports,
    plan: ExecutionPlan,
    thresholds: Thresholds,
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

impl Test {
    /// Loads a script, runs its top level once, and consolidates its options. `fetch` gets the content of a URL; modules from other
    /// machines are kept in the folder `cache`.
    ///
    /// # Errors
    /// What is wrong with the script, or with its options.
    pub fn load(
        settings: RunSettings,
        cache: Option<PathBuf>,
        fetch: impl Fn(&str) -> Result<Vec<u8>, String> + Send + Sync + 'static,
    ) -> Result<Self, ScriptError> {
        let log = Log::open(settings.log.clone())?;
        Self::load_with(settings, cache, fetch, log)
    }

    /// Loads a script as [`load`](Self::load) does, with a log that is open already.
    ///
    /// # Errors
    /// Returns the errors of [`load`](Self::load).
    pub fn load_with(
        settings: RunSettings,
        cache: Option<PathBuf>,
        fetch: impl Fn(&str) -> Result<Vec<u8>, String> + Send + Sync + 'static,
        log: Log,
    ) -> Result<Self, ScriptError> {
        let program = Arc::new(load_program(&settings, cache, Box::new(fetch)).map_err(module_error)?);
        let run = Arc::new(RunShared { env: settings.env.clone(), log, ..RunShared::default() });
        let mut first = Machine::new(Vu::new(run.clone(), 0, std::rc::Rc::default()), &program)?;
        let exports = match first.load() {
            TaskEnd::Loaded(exports) => exports,
            TaskEnd::Threw(error) => return Err(*error),
            _ => return Err(stopped(&run)),
        };
        drop(first);
        program.seal();
        let consolidated = consolidate(&settings, &exports)?;
        for warning in consolidated.warnings.iter().chain(&unsupported(&consolidated.options)) {
            run.log.write(Level::Warning, &warning.0, &[]);
        }
        check_functions(&exports, &consolidated)?;
        let plan = ExecutionPlan::new(&consolidated.scenarios, consolidated.options.min_iteration_duration)
            .map_err(option_error)?;
        let thresholds = match (settings.no_thresholds, &consolidated.options.thresholds) {
            (false, Some(thresholds)) => Thresholds::new(&run.registry, thresholds).map_err(option_error)?,
            _ => Thresholds::default(),
        };
        let _ = run.options.set(consolidated);
        Ok(Self { settings, run, program, exports, plan, thresholds })
    }

    /// Returns what all virtual users share, with the signal to stop.
    #[must_use]
    pub fn shared(&self) -> &Arc<RunShared> {
        &self.run
    }

    /// Returns the plan of the scenarios.
    #[must_use]
    pub fn plan(&self) -> &ExecutionPlan {
        &self.plan
    }

    /// Returns the options of the run.
    ///
    /// # Panics
    /// Never: a test that is loaded has options.
    #[must_use]
    pub fn options(&self) -> &Consolidated {
        self.run.options.get().expect("a test that is loaded has options")
    }

    /// Runs the test. `watch` is called with the conductor about once a second while scenarios run.
    ///
    /// # Errors
    /// If the load cannot begin.
    pub fn run(mut self, mut watch: impl FnMut(&Conductor)) -> Result<TestEnd, ScriptError> {
        let run = self.run.clone();
        let options = &run.options.get().expect("a test that is loaded has options").options;
        let by_scope = matches!(self.settings.summary.mode, Some(crate::summary::text::Mode::Full));
        let names: Vec<_> = self.thresholds.names().map(str::to_owned).collect();
        let metrics_plan =
            MetricsPlan::new(&run.registry, names.iter().map(String::as_str), by_scope).map_err(ScriptError::config)?;
        let metrics_plan = Arc::new(metrics_plan);
        let collector = Collector::new(metrics_plan.clone());
        let system_tags: Vec<_> = options.enabled_system_tags().names().into_iter().map(str::to_owned).collect();
        let outputs = Outputs::open(&self.settings.outputs, &system_tags)?.start(metrics_plan, &self.thresholds)?;
        let (samples, writing) = outputs.map_or((None, None), |(sender, writing)| (Some(sender), Some(writing)));
        let conductor = Arc::new(Conductor::new(self.plan.clone(), 1));
        let _ = run.conductor.set(conductor.clone());
        let find = servers::finder(options).map_err(ScriptError::config)?;
        let load = Arc::new(Load {
            layout: Layout::new(1, self.plan.vus.most, lanes(&run, &self.program)),
            run: run.clone(),
            program: self.program.clone(),
            exports: self.exports.clone(),
            conductor: conductor.clone(),
            collector: collector.clone(),
            samples,
            servers: Arc::new(LearntServers::new(1, find)),
            is_over: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
        });
        let plan = press_plan(&load, options)?;
        let evaluated = Arc::new(Mutex::new(std::mem::take(&mut self.thresholds)));
        let evaluation = evaluate_meanwhile(&run, &collector, &evaluated);
        let begun = Instant::now();
        let pressed = torr_press::run(&plan, &run.leave, |_| watch(&conductor));
        let elapsed = run.started.get().unwrap_or(&begun).elapsed();
        drop(evaluation);
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
        let summary = self.summarise(&collector, &thresholds, elapsed);
        if let Some(StopCause::Failed(error)) = run.control.cause() {
            let text =
                if error.stack.is_empty() { error.to_string() } else { format!("{error}\n{}", error.stack.trim_end()) };
            run.log.write(Level::Error, &text, &[]);
        }
        if !crossed.is_empty() {
            let names: Vec<_> = crossed.iter().map(|name| format!("'{name}'")).collect();
            let text = format!("thresholds on metrics {} have been crossed", names.join(", "));
            run.log.write(Level::Error, &text, &[]);
        }
        Ok(TestEnd { exit_code: exit_code(&run, !crossed.is_empty()), crossed, measured, summary })
    }

    /// Makes the summary, has the script handle it, and delivers it.
    fn summarise(&self, collector: &Collector, thresholds: &Thresholds, elapsed: Duration) -> Summary {
        let (run, options) = (&self.run, &self.options().options);
        let settings = &self.settings.summary;
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
        let mut machine = Machine::new(vu, &self.program).map_err(|error| failed(&error)).ok()?;
        if let TaskEnd::Threw(error) = machine.load() {
            failed(&error);
            return None;
        }
        if !self.exports.has("handleSummary") {
            return None;
        }
        let deadline = Instant::now().checked_add(SUMMARY_TIMEOUT);
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

fn load_program(settings: &RunSettings, cache: Option<PathBuf>, fetch: Fetch) -> Result<Program, ModuleError> {
    match &settings.script {
        ScriptSource::File(path) => {
            let access = Access::new(&Access::folder_of(path), cache, settings.offline, fetch)?;
            Program::load(path, access, api::builtins())
        }
        ScriptSource::Text(text) => {
            let folder = std::env::current_dir()
                .map_err(|error| ModuleError::new(format!("cannot read the working directory: {error}")))?;
            let access = Access::new(&folder, cache, settings.offline, fetch)?;
            Program::from_text(TEXT_NAME, text.clone(), access, api::builtins())
        }
    }
}

/// Returns an error of modules as that of a script.
fn module_error(error: ModuleError) -> ScriptError {
    ScriptError::new(ErrorKind::Exception, error.to_string())
}

fn option_error(error: OptionError) -> ScriptError {
    ScriptError::config(error.to_string())
}

/// Makes the options of all layers into those of the run.
fn consolidate(settings: &RunSettings, exports: &Exports) -> Result<Consolidated, ScriptError> {
    let mut warnings = Vec::new();
    let mut read = |layer: &Map<String, Value>| {
        let (options, of_layer) = Options::from_json(&Value::Object(layer.clone())).map_err(option_error)?;
        warnings.extend(of_layer);
        Ok::<_, ScriptError>(options)
    };
    let exported = match &exports.options {
        Some(json) => serde_json::from_str(json)
            .map_err(|error| ScriptError::config(format!("cannot read the exported options: {error}")))?,
        None => Map::new(),
    };
    let layers = (read(&settings.config)?, read(&exported)?, read(&settings.variables)?, read(&settings.flags)?);
    let mut all = layered(&layers.0, &layers.1, &layers.2, &layers.3).map_err(option_error)?;
    warnings.append(&mut all.warnings);
    all.warnings = warnings;
    Ok(all)
}

/// Checks that the functions of all scenarios are exported.
fn check_functions(exports: &Exports, options: &Consolidated) -> Result<(), ScriptError> {
    if exports.functions.is_empty() {
        return Err(ScriptError::config("no exported functions in script"));
    }
    for name in ["setup", "teardown"] {
        if exports.values.iter().any(|value| value == name) {
            return Err(ScriptError::config(format!("exported '{name}' must be a function")));
        }
    }
    for scenario in &options.scenarios {
        let function = scenario.function();
        if !exports.has(function) {
            let why = format!("function '{function}' of the scenario '{}' not found in exports", scenario.name);
            return Err(ScriptError::config(why));
        }
    }
    Ok(())
}

/// Returns the number of requests that a virtual user may have in flight beside its own: none if the script has no batches.
fn lanes(run: &RunShared, program: &Program) -> usize {
    let settings = run.http_settings();
    if program.mentions("batch") || program.mentions("asyncRequest") { settings.batch } else { 0 }
}

/// Returns the plan by which the load engine runs.
fn press_plan(load: &Arc<Load>, options: &Options) -> Result<Plan, ScriptError> {
    // The servers are learnt of; nothing is sent to this one.
    let failed = |error: String| ScriptError::new(ErrorKind::Other, error);
    let target = Target::parse("http://127.0.0.1:9").map_err(|error| failed(error.to_string()))?;
    let address = torr_net::address::resolve("127.0.0.1", 9).map_err(|error| failed(error.to_string()))?;
    let addresses = address.into_iter().map(torr_net::Address::Tcp).collect();
    let users: Arc<dyn Users> = Arc::new(K6Users(load.clone()));
    let mut plan = Plan::new(target, addresses, Work::from(users));
    plan.connections = load.layout.users();
    plan.threads = load.layout.threads;
    plan.keep_alive = options.no_connection_reuse != Some(true);
    plan.timeout = Duration::from_secs(86_400);
    plan.watch_server = false;
    Ok(plan)
}

fn stopped(run: &RunShared) -> ScriptError {
    match run.control.cause() {
        Some(StopCause::Failed(error)) => error,
        Some(StopCause::Aborted(why)) => ScriptError::new(ErrorKind::Aborted, why),
        _ => ScriptError::new(ErrorKind::Interrupted, "the test was interrupted"),
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
        None if has_crossed => 99,
        None => 0,
    }
}
