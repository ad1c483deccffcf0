//! Scripts of k6 in Torr's own commands: `torr SCRIPT`, `torr check`, `torr once`.

use super::watched::{Watched, words};
use super::{fetch, pace, settings, watch_interrupts};
use crate::exit::{self, CliError};
use crate::judge::judge;
use crate::output;
use crate::press::live::Views;
use crate::press::outputs::Outputs;
use serde_json::{Map, Value};
use std::cell::RefCell;
use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_gauge::Machine;
use torr_k6::log::LogSettings;
use torr_k6::run::{NetworkSettings, RunSettings, ScriptSource, SummarySettings, Test};
use torr_k6::summary::result::result;
use torr_k6::summary::text::Mode;
use torr_k6::{ErrorKind, ScriptError};
use torr_load::Load;
use torr_plan::input::Input;
use torr_plan::variables;

/// The settings of a load that mean something to a script of k6, beside outputs.
const MEANT: [&str; 8] =
    ["target", "connections", "duration", "max_connections", "rate", "requests", "threads", "variable"];

/// The outputs that a run of a script has.
pub(super) const OUTPUTS: [&str; 15] = [
    "json",
    "csv",
    "hlog",
    "prometheus",
    "junit",
    "report",
    "otlp",
    "prometheus_remote_write",
    "influxdb",
    "push_interval",
    "quiet",
    "live",
    "dashboard",
    "dashboard_cert",
    "dashboard_key",
];

/// Finds settings that a script of k6 cannot have: it sets its load and its requests itself.
///
/// # Errors
/// With the first such setting.
pub fn check_settings(path: &Path, load: &Load) -> Result<(), CliError> {
    check_settings_of(path, load, &[&MEANT[..], &OUTPUTS[..], &["fail_if"]].concat())
}

/// Finds settings that a script of k6 cannot have, beside these.
///
/// # Errors
/// With the first such setting.
pub(super) fn check_settings_of(path: &Path, load: &Load, meant: &[&str]) -> Result<(), CliError> {
    let is_known = |id: &str| meant.contains(&id);
    match load.given().into_iter().find(|given| !given.name.is_empty() && !is_known(&given.id.replace('-', "_"))) {
        Some(given) => Err(CliError::Usage(format!(
            "--{} is not supported for the k6 script '{}': set it in the script's options",
            given.name.trim_start_matches('-'),
            path.display()
        ))),
        None => Ok(()),
    }
}

/// Runs a script, and prints Torr's report and the script's metrics.
pub fn run_load(load: &Load, path: &Path) -> Result<ExitCode, CliError> {
    let mut outputs = Outputs::open(&load.output)?;
    let test = loaded(path, load, pace::options(&load.pace)?, Some(Mode::Compact), false)?;
    outputs.begin(&path.display().to_string())?;
    let shared = test.shared().clone();
    let is_over = Arc::new(AtomicBool::new(false));
    let stop = watch_interrupts(shared.clone(), is_over.clone())?;
    let are_wanted = Views::are_wanted(&load.output);
    let words = words(path, &test);
    let ready = test.ready(are_wanted).map_err(failure)?;
    let watched = RefCell::new(match are_wanted {
        true => Some(Watched::of(Views::of_script(&load.output, ready.plan(), words, &stop)?, shared)),
        false => None,
    });
    let mut dashboard = None;
    let ended = ready.run(
        |_, progress, so_far| {
            outputs.progress(progress, so_far, &stop);
            watched.borrow().iter().for_each(|watched| watched.update(progress, so_far));
        },
        || dashboard = watched.take().and_then(Watched::close),
    );
    is_over.store(true, Ordering::Relaxed);
    let ended = ended.map_err(failure)?;
    let code = ended.exit_code;
    let Some(mut measured) = ended.measured else { return Ok(own_code(code)) };
    // The script names its targets as it runs.
    measured.result.target = path.display().to_string();
    measured.result.script = Some(result(&ended.summary));
    judge(&mut measured.result);
    measured.result.machine = Some(Machine::this());
    let reported = outputs.finish(&mut measured);
    if let Some(dashboard) = dashboard {
        dashboard.finish(measured.result);
    }
    Ok(if code == 0 { reported } else { own_code(code) })
}

/// Runs one iteration, and shows its requests and responses.
pub fn once(path: &Path, load: &Load) -> Result<ExitCode, CliError> {
    let mut flags = Map::new();
    flags.insert("vus".to_owned(), 1.into());
    flags.insert("iterations".to_owned(), 1.into());
    flags.insert("httpDebug".to_owned(), "full".into());
    let test = loaded(path, load, flags, Some(Mode::Compact), false)?;
    let is_over = Arc::new(AtomicBool::new(false));
    watch_interrupts(test.shared().clone(), is_over.clone())?;
    let ended = test.run(|_| {});
    is_over.store(true, Ordering::Relaxed);
    Ok(own_code(ended.map_err(failure)?.exit_code))
}

/// Runs the top level of a script and reads its options. Nothing is sent.
///
/// # Errors
/// With the mistake of the script.
pub fn check(path: &Path, load: &Load) -> Result<(), CliError> {
    loaded(path, load, Map::new(), None, false).map(drop)
}

/// Returns the mistake of giving a script of k6 to a command that does not take one.
pub fn only_runs(path: &Path) -> CliError {
    let path = path.display();
    CliError::Usage(format!("k6 scripts are not supported here: use 'torr {path}' or 'torr k6 run {path}'"))
}

/// Runs the top level of a script, and consolidates its options with these flags. With a mode the summary is printed. The files of a
/// script that `is_sent` to agents are kept.
pub(super) fn loaded(
    path: &Path,
    load: &Load,
    flags: Map<String, Value>,
    mode: Option<Mode>,
    is_sent: bool,
) -> Result<Test, CliError> {
    let given = variables::values(&load.session.variables, &mut Input::default())?;
    let mut env: std::collections::BTreeMap<_, _> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    env.extend(given);
    let settings = RunSettings {
        script: ScriptSource::File(path.to_path_buf()),
        env,
        flags,
        log: LogSettings::default(),
        summary: SummarySettings { mode, export: None, no_color: !stdout().is_terminal() },
        threads: load.pace.threads.as_deref().copied(),
        keeps_files: is_sent,
        network: NetworkSettings::of(|name| std::env::var(name).ok()),
        ..RunSettings::default()
    };
    Test::load(settings, settings::cache(), fetch::get).map_err(failure)
}

/// Returns an error of a script as that of a command of Torr's own.
pub(super) fn failure(error: ScriptError) -> CliError {
    match error.kind {
        ErrorKind::Config | ErrorKind::Exception | ErrorKind::Unreadable => CliError::Usage(error.to_string()),
        _ => CliError::Failed(error.to_string()),
    }
}

/// Returns Torr's exit code for one of k6.
fn own_code(code: u8) -> ExitCode {
    match code {
        0 => ExitCode::SUCCESS,
        105 => exit::interrupted(),
        _ => {
            output::note(&format!("the script's run failed (k6's exit code {code})"));
            ExitCode::from(1)
        }
    }
}
