//! Scripts of k6 over a fleet: this program's user runs `setup`, the first iteration and `teardown`, and agents run iterations.

use super::load::failure;
use super::sessions::K6Sessions;
use crate::exit::CliError;
use crate::press::why_not;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use torr_k6::SentFiles;
use torr_k6::run::{RunSettings, ScriptSource, Test};
use torr_k6::sessions::{FirstIteration, SessionsError};
use torr_load::Load;
use torr_plan::url;
use torr_press::Plan;

/// The name among the files that travel of what `setup` and the first iteration have shown. No file that a script reads has it.
const FIRST_ITERATION: &str = "//first-iteration.json";
/// The settings of a load over a fleet that mean something to a script of k6, beside outputs.
const MEANT: [&str; 18] = [
    "target",
    "variable",
    "no_keepalive",
    "connections",
    "max_connections",
    "threads",
    "duration",
    "requests",
    "rate",
    "stages",
    "max_rate",
    "arrivals",
    "coalesce",
    "timestamps",
    "timeout",
    "warmup",
    "think",
    "requests_per_connection",
];

/// A script of which `setup` and the first iteration have run, as agents need it.
pub struct Travelling {
    pub sessions: K6Sessions,
    pub plan: Plan,
    /// The name of the script among its files.
    pub entry: String,
    pub files: SentFiles,
}

/// Runs `setup` and the first iteration of a script, whose files are to be sent to agents.
///
/// # Errors
/// With the mistake of the script, or of a setting that a script cannot have.
pub fn travelling(load: &Load, path: &Path) -> Result<Travelling, CliError> {
    super::load::check_settings_of(path, load, &[&MEANT[..], &super::load::OUTPUTS[..], &["fail_if"]].concat())?;
    let (sessions, plan, files) = K6Sessions::for_fleet(load, path)?;
    let (entry, mut files) = files.ok_or_else(|| {
        CliError::Usage(format!(
            "cannot send '{}' to agents: its path is not UTF-8, or leaves the folder",
            path.display()
        ))
    })?;
    let first = serde_json::to_vec(&sessions.first_iteration())
        .map_err(|error| CliError::Failed(format!("cannot send the data of setup(): {error}")))?;
    files.insert(FIRST_ITERATION.to_owned(), first.into());
    let plan = url::with_load(load, plan)?;
    Ok(Travelling { sessions, plan, entry, files })
}

/// Returns the plan of a script that a coordinator sent. Nothing of this machine is read, and no variable of it is seen.
///
/// # Errors
/// For a script that cannot run here.
pub fn sent(
    load: &Load,
    path: &Path,
    files: &SentFiles,
    variables: &BTreeMap<String, Value>,
) -> Result<Plan, CliError> {
    let first = files.get(FIRST_ITERATION).and_then(|text| serde_json::from_slice::<FirstIteration>(text).ok());
    let first = first.filter(FirstIteration::is_bounded);
    let first = first.ok_or_else(|| CliError::Usage("the coordinator did not send what setup() returned".into()))?;
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let env: BTreeMap<_, _> = variables.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let script = ScriptSource::Sent { entry: path.display().to_string(), files: Arc::new(files.clone()) };
    let settings = RunSettings { script, env, offline: true, ..RunSettings::default() };
    let test = Test::load(settings, None, |_| Err("not sent".to_owned())).map_err(failure)?;
    let mut sessions = test.sessions().map_err(failure)?;
    sessions.follow(first);
    let plan = sessions.plan().map_err(|error| match error {
        SessionsError::Run(error) => why_not(error),
        error => CliError::Usage(error.to_string()),
    })?;
    Ok(url::with_load(load, Plan { keep_alive: plan.keep_alive && !load.pace.no_keepalive, ..plan })?)
}
