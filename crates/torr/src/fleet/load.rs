//! The load of a fleet: from a command line to what travels, and from that to an agent's plan.

use super::words::{check_sent, travelling};
use crate::exit::CliError;
use crate::flags::file_source::FileSource;
use crate::flags::given::GivenFlag;
use crate::flags::input::Input;
use crate::flags::session::{check_script, check_sessions, check_url};
use crate::press::{self, PressArgs, ScriptWords};
use crate::script::{self, Script};
use crate::session::{Given, Prepared, SessionRun, SessionSource};
use crate::target::{RunFile, TargetKind};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use torr_fleet::Load;
use torr_press::Plan;
use torr_script::Printing;
use torr_session::Value;

/// Where words come from.
pub enum WordSource {
    /// From this program's command line.
    User,
    /// From a coordinator's message, with all that they name.
    Message {
        load: Box<Load>,
        /// Whether scripts are carried out.
        scripts: bool,
    },
}

/// Reads words.
pub type Reader = fn(&[String], WordSource) -> Result<FleetLoad, CliError>;

/// The load of a fleet.
pub struct FleetLoad {
    pub args: PressArgs,
    pub plan: Plan,
    /// What agents read.
    pub load: Load,
    /// What is run at the end, on this machine.
    pub teardown: Option<Prepared>,
    /// The script, which has the last word.
    pub script: Option<Script>,
}

/// A plan, with what its user's machine does before and after.
struct Planned {
    plan: Plan,
    variables: Given,
    teardown: Option<Prepared>,
    script: Option<Script>,
}

impl FleetLoad {
    /// Returns the load of a command line, whose script has these arguments.
    ///
    /// # Errors
    /// If it is none that several machines can carry out.
    pub fn of(
        args: PressArgs,
        arguments: &[String],
        given: &[GivenFlag],
        source: WordSource,
    ) -> Result<Self, CliError> {
        match source {
            WordSource::User => Self::of_user(args, arguments, given),
            WordSource::Message { scripts: false, .. } if args.script.script.is_some() => {
                let line = "it carries out no scripts (--scripts of 'torr fleet agent')";
                Err(CliError::Usage(line.into()))
            }
            WordSource::Message { load, .. } => Self::sent(args, arguments, given, *load),
        }
    }

    /// Returns the load of this program's command line. Files are read, and a setup is run.
    fn of_user(mut args: PressArgs, arguments: &[String], given: &[GivenFlag]) -> Result<Self, CliError> {
        let kept = Arc::default();
        take_files_from(&mut args, &FileSource::Kept(Arc::clone(&kept)));
        let mut words = travelling(given)?;
        let planned = match (TargetKind::of(&args.targets)?, args.script.script.clone()) {
            (TargetKind::Url(url), None) => {
                check_url(given)?;
                let url = url.map(|url| with_scheme(&url));
                words.extend(url.clone());
                let plan = press::plan(&args, url.as_deref())?;
                Planned { plan, variables: Given::default(), teardown: None, script: None }
            }
            (TargetKind::Url(url), Some(path)) => {
                check_script(given)?;
                let url = with_scheme(&url.unwrap_or_default());
                words.extend([url.clone(), "--".into()]);
                words.extend_from_slice(arguments);
                planned_by_script(&args, &url, &path, arguments)?
            }
            (TargetKind::Script(path), Some(_)) => return Err(script::stands_alone(&path)),
            (TargetKind::Script(path), None) => {
                check_script(given)?;
                let url = script::target(&path, &args.request.files, press::printing(&args))?;
                words.extend([format!("--script={}", path.display()), url.clone()]);
                planned_by_script(&args, &url, &path, &[])?
            }
            (TargetKind::Sessions(files), _) => {
                check_sessions(given)?;
                words.push("--".into());
                words.extend(files.iter().map(RunFile::word));
                let source = SessionSource::of(&args, &files, Given::of(&args.session.variables)?);
                let SessionRun { plan, given, teardown } = source.run()?;
                Planned { plan: press::with_load(&args, plan)?, variables: given, teardown, script: None }
            }
            (TargetKind::Plan(_), _) => return Err(no_load()),
        };
        let Planned { plan, variables, teardown, script } = planned;
        let files = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let records = args.request.feeder.as_ref().map(|path| path.to_string_lossy().into_owned());
        let load = Load { words, files, records, variables: to_json(&variables.values)?, secrets: variables.secrets };
        Ok(Self { args, plan, load, teardown, script })
    }

    /// Returns the load of a message. No file and no variable of this machine becomes part of it.
    fn sent(mut args: PressArgs, arguments: &[String], given: &[GivenFlag], load: Load) -> Result<Self, CliError> {
        check_sent(given)?;
        let files = FileSource::Sent(Arc::new(load.files.clone()));
        take_files_from(&mut args, &files);
        let plan = match (&args.targets[..], &args.script.script) {
            ([], None) => press::plan(&args, None)?,
            ([url], None) if url.contains("://") => press::plan(&args, Some(url))?,
            ([url], Some(path)) if url.contains("://") => {
                let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let words = ScriptWords {
                    path,
                    arguments,
                    variables: load.variables.iter().map(|(name, value)| (name.clone(), text(value))).collect(),
                    secrets: load.secrets.clone(),
                    printing: Printing::Stderr,
                };
                press::scripted(&args, press::plan(&args, Some(url))?, words)?.1
            }
            (targets, None) => {
                let files = targets.iter().map(|word| RunFile::of_word(word)).collect::<Option<Vec<_>>>();
                let files = files.ok_or_else(no_load)?;
                let values = load.variables.iter().map(|(name, value)| (name.clone(), Value::from_json(value)));
                let variables = Given { values: values.collect(), secrets: load.secrets.clone() };
                press::with_load(&args, SessionSource::of(&args, &files, variables).run()?.plan)?
            }
            _ => return Err(no_load()),
        };
        Ok(Self { args, plan, load, teardown: None, script: None })
    }
}

/// Returns the plan of a script. This machine's states of it take no part in the load.
fn planned_by_script(args: &PressArgs, url: &str, path: &Path, arguments: &[String]) -> Result<Planned, CliError> {
    let texts = args.session.variables.values(&mut Input::default())?;
    let secrets: Vec<_> = args.session.variables.secrets().collect();
    let variables = texts.clone().into_iter().collect();
    let printing = press::printing(args);
    let words = ScriptWords { path, arguments, variables, secrets: secrets.clone(), printing };
    let (script, plan) = press::scripted(args, press::plan(args, Some(url))?, words)?;
    Ok(Planned { plan, variables: Given::of_texts(texts, secrets), teardown: None, script: Some(script) })
}

/// Returns a URL with its scheme.
pub(super) fn with_scheme(url: &str) -> String {
    if url.contains("://") { url.to_owned() } else { format!("http://{url}") }
}

fn take_files_from(args: &mut PressArgs, source: &FileSource) {
    args.request.files = source.clone();
    args.checks.files = source.clone();
    args.transport.tls.files = source.clone();
}

/// Returns variables as they travel.
///
/// # Errors
/// For a value that JSON has not.
pub(super) fn to_json(values: &BTreeMap<String, Value>) -> Result<BTreeMap<String, serde_json::Value>, CliError> {
    let json = |(name, value): (&String, &Value)| {
        let json = value.to_json().ok().and_then(|text| serde_json::from_str(&text).ok());
        let json = json.ok_or_else(|| {
            let hint = "it is neither text, number, list nor object: capture it as text";
            CliError::Usage(format!("the variable '{name}' does not go with a fleet: {hint}"))
        });
        Ok((name.clone(), json?))
    };
    values.iter().map(json).collect()
}

pub(super) fn no_load() -> CliError {
    CliError::Usage("a fleet loads a URL, a list of URLs, hurl files or a script".into())
}
