//! The load of a fleet: from a command line to what travels, and from that to an agent's plan.

use super::words::{check_sent, travelling};
use crate::exit::CliError;
use crate::flags::file_source::FileSource;
use crate::flags::given::GivenFlag;
use crate::flags::session::{check_sessions, check_url};
use crate::press::{self, PressArgs};
use crate::session::{Given, Prepared, SessionRun, SessionSource};
use crate::target::{RunFile, TargetKind};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use torr_fleet::Load;
use torr_press::Plan;
use torr_session::Value;

/// Where words come from.
pub enum WordSource {
    /// From this program's command line.
    User,
    /// From a coordinator's message, with all that they name.
    Message(Box<Load>),
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
}

impl FleetLoad {
    /// Returns the load of a command line.
    ///
    /// # Errors
    /// If it is none that several machines can carry out.
    pub fn of(args: PressArgs, given: &[GivenFlag], source: WordSource) -> Result<Self, CliError> {
        match source {
            WordSource::User => Self::of_user(args, given),
            WordSource::Message(load) => Self::sent(args, given, *load),
        }
    }

    /// Returns the load of this program's command line. Files are read, and a setup is run.
    fn of_user(mut args: PressArgs, given: &[GivenFlag]) -> Result<Self, CliError> {
        let kept = Arc::default();
        take_files_from(&mut args, &FileSource::Kept(Arc::clone(&kept)));
        let mut words = travelling(given)?;
        let (plan, variables, teardown) = match TargetKind::of(&args.targets)? {
            TargetKind::Url(url) => {
                check_url(given)?;
                let url = url.map(|url| with_scheme(&url));
                words.extend(url.clone());
                (press::plan(&args, url.as_deref())?, Given::default(), None)
            }
            TargetKind::Sessions(files) => {
                check_sessions(given)?;
                words.push("--".into());
                words.extend(files.iter().map(RunFile::word));
                let source = SessionSource::of(&args, &files, Given::of(&args.session.variables)?);
                let SessionRun { plan, given, teardown } = source.run()?;
                (press::with_load(&args, plan)?, given, teardown)
            }
            TargetKind::Script(_) | TargetKind::Plan(_) => return Err(no_load()),
        };
        let files = kept.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let records = args.request.feeder.as_ref().map(|path| path.to_string_lossy().into_owned());
        let load = Load { words, files, records, variables: to_json(&variables.values)?, secrets: variables.secrets };
        Ok(Self { args, plan, load, teardown })
    }

    /// Returns the load of a message. No file and no variable of this machine becomes part of it.
    fn sent(mut args: PressArgs, given: &[GivenFlag], load: Load) -> Result<Self, CliError> {
        check_sent(given)?;
        let files = FileSource::Sent(Arc::new(load.files.clone()));
        take_files_from(&mut args, &files);
        let plan = match &args.targets[..] {
            [] => press::plan(&args, None)?,
            [url] if url.contains("://") => press::plan(&args, Some(url))?,
            targets => {
                let files = targets.iter().map(|word| RunFile::of_word(word)).collect::<Option<Vec<_>>>();
                let files = files.ok_or_else(no_load)?;
                let values = load.variables.iter().map(|(name, value)| (name.clone(), Value::from_json(value)));
                let variables = Given { values: values.collect(), secrets: load.secrets.clone() };
                press::with_load(&args, SessionSource::of(&args, &files, variables).run()?.plan)?
            }
        };
        Ok(Self { args, plan, load, teardown: None })
    }
}

/// Returns a URL with its scheme.
pub(super) fn with_scheme(url: &str) -> String {
    if url.contains("://") { url.to_owned() } else { format!("http://{url}") }
}

fn take_files_from(args: &mut PressArgs, source: &FileSource) {
    args.request.files = source.clone();
    args.checks.files = source.clone();
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
    CliError::Usage("a fleet loads a URL, a list of URLs or hurl files: scripts do not go with it yet".into())
}
