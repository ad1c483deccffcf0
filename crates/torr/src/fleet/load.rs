//! The load of a fleet: from a user's load to what travels, and from that to an agent's plan.

use crate::exit::CliError;
use crate::k6::K6Sessions;
use crate::k6::fleet::Travelling;
use crate::press::{self, ScriptWords};
use crate::script::{self, Script};
use crate::session::{SessionRun, SessionSource};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use torr_fleet::LoadAndFiles;
use torr_load::{FileSource, Load, Mistake, Work};
use torr_plan::input::Input;
use torr_plan::session::files::{Given, Prepared};
use torr_plan::target::{RunFile, TargetKind, is_k6};
use torr_plan::{url, variables};
use torr_press::Plan;
use torr_script::Printing;
use torr_session::Value;

/// The load of a fleet.
pub struct FleetLoad {
    pub plan: Plan,
    /// What agents read.
    pub load: LoadAndFiles,
    /// What is run at the end, on this machine.
    pub teardown: Option<Prepared>,
    /// The script, which has the last word.
    pub script: Option<Script>,
    /// The script of k6, whose `teardown` runs at the end.
    pub k6: Option<K6Sessions>,
}

/// A plan, with what its user's machine does before and after.
struct Planned {
    plan: Plan,
    variables: Given,
    teardown: Option<Prepared>,
    script: Option<Script>,
}

impl FleetLoad {
    /// Returns the load of this program's user, whose settings go together. Files are read, and a setup is run.
    ///
    /// # Errors
    /// If it is none that several machines can carry out.
    pub fn of(mut load: Load) -> Result<Self, CliError> {
        let kept = Arc::default();
        load.take_files_from(&FileSource::Kept(Arc::clone(&kept)));
        let mut sent = load.travelling();
        let Planned { plan, variables, teardown, script } = match (TargetKind::of(&load.targets)?, &load.script) {
            (TargetKind::Url(url), None) => {
                sent.targets = url.as_deref().map(with_scheme).into_iter().collect();
                let plan = url::plan(&load, sent.targets.first().map(String::as_str))?;
                Planned { plan, variables: Given::default(), teardown: None, script: None }
            }
            (TargetKind::Url(url), Some(path)) => {
                let url = with_scheme(&url.unwrap_or_default());
                sent.targets = vec![url.clone()];
                planned_by_script(&load, &url, path)?
            }
            (TargetKind::Script(path), Some(_)) => return Err(script::stands_alone(&path)),
            (TargetKind::Script(path), None) => {
                let url = script::target(&path, &load.request.files, press::printing(&load))?;
                sent.targets = vec![url.clone()];
                sent.script = Some(path.clone());
                planned_by_script(&load, &url, &path)?
            }
            (TargetKind::Sessions(files), _) => {
                sent.targets = files.iter().map(RunFile::word).collect();
                let given = Given::of(&load.session.variables)?;
                let SessionRun { plan, given, teardown } = SessionSource { files: &files, given, load: &load }.run()?;
                Planned { plan: url::with_load(&load, plan)?, variables: given, teardown, script: None }
            }
            (TargetKind::K6(path), _) => return Self::of_k6(&load, sent, &path),
            (TargetKind::Plan(_), _) => return Err(no_load()),
        };
        let files = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(Self { plan, load: with_files(&sent, files, &variables)?, teardown, script, k6: None })
    }

    fn of_k6(load: &Load, mut sent: Load, path: &Path) -> Result<Self, CliError> {
        let Travelling { sessions, plan, entry, files } = crate::k6::fleet::travelling(load, path)?;
        sent.targets = vec![plan.target.whole_as_user(plan.target.path())];
        sent.script = Some(entry.into());
        let texts = variables::values(&load.session.variables, &mut Input::default())?;
        let given = Given::of_texts(texts, variables::secrets(&load.session.variables).collect());
        Ok(Self { plan, load: with_files(&sent, files, &given)?, teardown: None, script: None, k6: Some(sessions) })
    }
}

/// Returns a load as it travels, with the files that it names and the variables that each session begins with.
///
/// # Errors
/// For a variable that JSON has not.
pub(super) fn with_files(
    load: &Load,
    files: BTreeMap<String, Arc<[u8]>>,
    variables: &Given,
) -> Result<LoadAndFiles, CliError> {
    Ok(LoadAndFiles {
        load: json(load)?,
        files,
        records: load.request.feeder.as_ref().map(|path| path.to_string_lossy().into_owned()),
        variables: to_json(&variables.values)?,
        secrets: variables.secrets.clone(),
    })
}

/// Returns a load as JSON.
///
/// # Errors
/// If JSON cannot say it.
pub(super) fn json(load: &Load) -> Result<serde_json::Value, CliError> {
    serde_json::to_value(load).map_err(|error| CliError::Failed(format!("cannot send the load: {error}")))
}

/// Returns the plan of a load that a coordinator sent. No file and no variable of this machine becomes part of it, and scripts are
/// carried out only where this machine's user lets them.
///
/// # Errors
/// For a load that is none, or that this machine does not carry out.
pub fn sent(message: LoadAndFiles, scripts: bool) -> Result<Plan, CliError> {
    let mut load: Load = serde_json::from_value(message.load).map_err(CliError::usage)?;
    let refused = |mistake: Mistake| CliError::Usage(mistake.line);
    load.check_travelled().map_err(refused)?;
    if load.script.is_some() && !scripts {
        return Err(CliError::Usage("scripts are not permitted: add --scripts to 'torr fleet agent'".into()));
    }
    load.take_files_from(&FileSource::Sent(Arc::new(message.files.clone())));
    let check = |work| load.check(work).map_err(refused);
    match (&load.targets[..], &load.script) {
        ([], None) => check(Work::Requests).and_then(|()| Ok(url::plan(&load, None)?)),
        ([one], None) if one.contains("://") => check(Work::Requests).and_then(|()| Ok(url::plan(&load, Some(one))?)),
        ([one], Some(path)) if one.contains("://") && is_k6(&path.to_string_lossy()) => {
            check(Work::Script)?;
            crate::k6::fleet::sent(&load, path, &message.files, &message.variables)
        }
        ([one], Some(path)) if one.contains("://") => {
            check(Work::Script)?;
            let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let words = ScriptWords {
                path,
                variables: message.variables.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
                secrets: message.secrets,
                printing: Printing::Stderr,
            };
            press::scripted(&load, url::plan(&load, Some(one))?, words).map(|(_, plan)| plan)
        }
        (targets, None) => {
            check(Work::Sessions)?;
            let files = targets.iter().map(|word| RunFile::of_word(word)).collect::<Option<Vec<_>>>();
            let files = files.ok_or_else(no_load)?;
            let values = message.variables.iter().map(|(name, value)| (name.clone(), Value::from_json(value)));
            let given = Given { values: values.collect(), secrets: message.secrets };
            Ok(url::with_load(&load, SessionSource { files: &files, given, load: &load }.run()?.plan)?)
        }
        _ => Err(no_load()),
    }
}

/// Returns the plan of a script. This machine's states of it take no part in the load.
fn planned_by_script(load: &Load, target: &str, path: &Path) -> Result<Planned, CliError> {
    let texts = variables::values(&load.session.variables, &mut Input::default())?;
    let secrets: Vec<_> = variables::secrets(&load.session.variables).collect();
    let variables = texts.clone().into_iter().collect();
    let words = ScriptWords { path, variables, secrets: secrets.clone(), printing: press::printing(load) };
    let (script, plan) = press::scripted(load, url::plan(load, Some(target))?, words)?;
    Ok(Planned { plan, variables: Given::of_texts(texts, secrets), teardown: None, script: Some(script) })
}

/// Returns a URL with its scheme.
pub(super) fn with_scheme(url: &str) -> String {
    if url.contains("://") { url.to_owned() } else { format!("http://{url}") }
}

/// Returns variables as they travel.
///
/// # Errors
/// For a value that JSON has not.
fn to_json(values: &BTreeMap<String, Value>) -> Result<BTreeMap<String, serde_json::Value>, CliError> {
    let json = |(name, value): (&String, &Value)| {
        let json = value.to_json().ok().and_then(|text| serde_json::from_str(&text).ok());
        let json = json.ok_or_else(|| {
            let hint = "capture it as text, a number, a list or an object";
            CliError::Usage(format!("the variable '{name}' is not supported in a fleet: {hint}"))
        });
        Ok((name.clone(), json?))
    };
    values.iter().map(json).collect()
}

pub(super) fn no_load() -> CliError {
    CliError::Usage("a fleet needs a URL, a list of URLs, hurl files or a script".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn no_message_reads_a_file_or_starts_anything_on_an_agent() {
        let of = |settings: serde_json::Value| LoadAndFiles {
            load: json!({ "schema": "torr.load/1", "settings": settings }),
            ..LoadAndFiles::default()
        };
        let why = |settings| sent(of(settings), true).map(drop).expect_err("it is refused").into_line();
        let url = json!(["target", "http://127.0.0.1:1/"]);
        for name in ["json", "report", "setup", "teardown", "variables-file", "cert", "unix-socket", "proxy", "bind"] {
            assert!(
                why(json!([url, [name, "/etc/passwd"]])).starts_with(&format!("--{name} is not supported")),
                "{name}"
            );
        }
        for (settings, line) in [
            (json!([url, ["live", null]]), "--live is not supported in a fleet"),
            (json!([url, ["print-plan", null]]), "--print-plan is not supported in a fleet"),
            (json!([url, ["variable", "a=b"]]), "--variable is not supported in a fleet"),
            (json!([url, ["data", "@/etc/hostname"]]), "the coordinator did not send this file"),
            (json!([url, ["feeder", "/etc/hostname"]]), "the coordinator did not send this file"),
            (json!([url, ["connections", "0"]]), "must be a whole number"),
            (json!([url, ["no-such-setting", "0"]]), "unknown setting"),
            (json!([url, ["rate", "5"], ["stages", "1s:5"]]), "--rate cannot be used with --stages"),
            (json!([["target", "/etc/hostname"]]), "a fleet needs a URL"),
        ] {
            assert!(why(settings.clone()).contains(line), "{settings}");
        }
        let script = json!([url, ["script", "a.lua"]]);
        assert!(sent(of(script), false).is_err_and(|stop| stop.into_line().contains("scripts are not permitted")));
    }
}
