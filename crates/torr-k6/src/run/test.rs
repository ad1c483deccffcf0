//! A test: the script is loaded and its options are consolidated, then it runs.

use super::ready::{ReadyTest, TestEnd};
use super::settings::{RunSettings, ScriptSource};
use super::{local_ips, memory, servers, unsupported};
use crate::api;
use crate::control::{StopCause, aborted};
use crate::error::{ErrorKind, ScriptError};
use crate::executors::{Conductor, ExecutionPlan};
use crate::log::{Level, Log};
use crate::machine::Machine;
use crate::metrics::{Collector, MetricsPlan, Thresholds};
use crate::modules::{Access, Fetch, ModuleError, Program, SentFiles};
use crate::network::NetworkSettings;
use crate::options::{Consolidated, OptionError, Options, layered};
use crate::outputs::Outputs;
use crate::sessions::ScriptSessions;
use crate::shared::RunShared;
use crate::sockets::Carrier;
use crate::user::{Exports, TaskEnd, Vu};
use crate::users::{K6Users, Layout, Load, RateLimit};
use serde_json::{Map, Value};
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use torr_gauge::machine::cpus;
use torr_press::users::Users;
use torr_press::{Plan, Target, Work};

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
        let run = Arc::new(RunShared {
            env: settings.env.clone(),
            network: settings.network.clone(),
            log,
            ..RunShared::default()
        });
        let mut first = Machine::new(Vu::new(run.clone(), 0, std::rc::Rc::default()), &program)?;
        let exports = match first.load() {
            TaskEnd::Loaded(exports) => exports,
            TaskEnd::Threw(error) => return Err(*error),
            _ => return Err(stopped(&run)),
        };
        drop(first);
        program.seal();
        let consolidated = consolidate(&settings, &exports)?;
        for warning in consolidated.warnings.iter().chain(&unsupported::warnings(&consolidated.options)) {
            run.log.write(Level::Warning, &warning.0, &[]);
        }
        check_functions(&exports, &consolidated)?;
        let plan = ExecutionPlan::new(&consolidated.scenarios, consolidated.options.min_iteration_duration)
            .map_err(option_error)?;
        memory::check(plan.vus.planned, exports.memory, settings.memory.or_else(torr_signals::available_memory))?;
        check_servers(&consolidated.options, &run.network)?;
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
    pub fn run(self, mut watch: impl FnMut(&Conductor)) -> Result<TestEnd, ScriptError> {
        self.ready(false)?.run(|conductor, _, _| watch(conductor), || {})
    }

    /// Prepares the run of the test: outputs are open, and its plan is known. One that `is_steered` has an operator, who marks moments and
    /// ends it.
    ///
    /// # Errors
    /// If an output cannot be written, or an option cannot be used.
    pub fn ready(mut self, is_steered: bool) -> Result<ReadyTest, ScriptError> {
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
        let threads = self.threads();
        let conductor = Arc::new(Conductor::new(self.plan.clone(), threads));
        let _ = run.conductor.set(conductor.clone());
        let servers = servers::learnt(options, &run.network).map_err(ScriptError::config)?;
        if has_sockets(&self.program) {
            let _ = run.carrier.set(carrier(options, &run.network)?);
        }
        let load = Arc::new(Load {
            layout: Layout::new(threads, self.plan.vus.most, lanes(&run, &self.program)),
            run: run.clone(),
            program: self.program.clone(),
            exports: self.exports.clone(),
            conductor,
            collector,
            samples,
            servers: Arc::new(servers),
            steering: OnceLock::new(),
            is_over: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
            rate: options.rps.and_then(RateLimit::new),
        });
        let mut plan = press_plan(&load, options)?;
        if is_steered {
            let (steered, steering) = plan.scripted();
            let _ = load.steering.set(steering);
            plan = steered;
        }
        let thresholds = std::mem::take(&mut self.thresholds);
        Ok(ReadyTest { settings: self.settings, load, plan, thresholds, writing })
    }

    /// Returns the name of the script among the files that it reads, and those files, if they were kept.
    #[must_use]
    pub fn files(&self) -> Option<(String, SentFiles)> {
        let ScriptSource::File(path) = &self.settings.script else { return None };
        let access = self.program.access();
        Some((access.name_of(&path.canonicalize().ok()?)?, access.kept()?))
    }

    /// Returns the sessions of the script: its iterations, without executors and thresholds.
    ///
    /// # Errors
    /// If an option about servers cannot be used.
    pub fn sessions(self) -> Result<ScriptSessions, ScriptError> {
        let find = servers::finder(&self.options().options, &self.run.network).map_err(ScriptError::config)?;
        // It shows the scenarios to the script, and begins nothing.
        let _ = self.run.conductor.set(Arc::new(Conductor::new(self.plan, 1)));
        Ok(ScriptSessions::new(self.run, self.program, self.exports, find))
    }

    /// Returns the number of load threads. More than virtual users would have nothing to do.
    fn threads(&self) -> usize {
        self.settings.threads.unwrap_or_else(cpus).clamp(1, self.plan.vus.most.max(1))
    }
}

fn load_program(settings: &RunSettings, cache: Option<PathBuf>, fetch: Fetch) -> Result<Program, ModuleError> {
    match &settings.script {
        ScriptSource::File(path) => {
            let access = Access::new(&Access::folder_of(path), cache, settings.offline, fetch)?;
            Program::load(path, access.keeping(settings.keeps_files), api::builtins())
        }
        ScriptSource::Sent { entry, files } => {
            Program::load(Path::new(entry), Access::sent(files.clone()), api::builtins())
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
    // What has no place in a module keeps the script itself from being read.
    let kind = if error.file.is_empty() { ErrorKind::Unreadable } else { ErrorKind::Exception };
    ScriptError::new(kind, error.to_string())
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

/// Checks the options about servers and addresses, which are used when the run begins.
fn check_servers(options: &Options, network: &NetworkSettings) -> Result<(), ScriptError> {
    servers::learnt(options, network).map_err(ScriptError::config)?;
    sources(options).map(drop)
}

/// Returns the addresses that requests come from; none for the system's choice.
fn sources(options: &Options) -> Result<Vec<IpAddr>, ScriptError> {
    let list = options.local_ips.as_deref().filter(|list| !list.is_empty());
    list.map_or(Ok(Vec::new()), |list| local_ips::addresses(list).map_err(ScriptError::config))
}

/// Checks that the functions of all scenarios are exported.
fn check_functions(exports: &Exports, options: &Consolidated) -> Result<(), ScriptError> {
    if exports.functions.is_empty() {
        return Err(ScriptError::new(ErrorKind::Other, "no exported functions in script"));
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

/// Returns whether a script imports a module of sockets.
fn has_sockets(program: &Program) -> bool {
    ["k6/ws", "websockets", "k6/net/grpc", "k6/x/sse"].iter().any(|module| program.mentions(module))
}

/// Starts the thread that carries the sockets of a run.
fn carrier(options: &Options, network: &NetworkSettings) -> Result<Carrier, ScriptError> {
    let ways = servers::ways(options, network).map_err(ScriptError::config)?;
    let failed = |error: io::Error| ScriptError::new(ErrorKind::Other, format!("cannot carry sockets: {error}"));
    Carrier::start(ways, sources(options)?).map_err(failed)
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
    plan.sources = sources(options)?;
    plan.keep_alive = options.no_connection_reuse != Some(true);
    plan.timeout = Duration::from_secs(86_400);
    plan.watch_server = false;
    Ok(plan)
}

fn stopped(run: &RunShared) -> ScriptError {
    match run.control.cause() {
        Some(StopCause::Failed(error)) => error,
        Some(StopCause::Aborted(why)) => ScriptError::new(ErrorKind::Aborted, aborted(&why)),
        _ => ScriptError::new(ErrorKind::Interrupted, "the test was interrupted"),
    }
}
