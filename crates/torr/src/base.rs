//! The plan of what `torr doctor`, `torr limit` and `torr once` load: a URL, a hurl file, or a script. Of the plan only how hard to press
//! is left to say.

use crate::exit::{self, CliError};
use crate::flags::given::GivenFlags;
use crate::flags::input::Input;
use crate::flags::request::RequestArgs;
use crate::flags::session::{check_script, check_sessions, check_url};
use crate::flags::transport::{TransportArgs, finder};
use crate::flags::variables::VariableArgs;
use crate::press;
use crate::script::{self, Script, ScriptSettings};
use crate::session::{self, Given};
use crate::target::TargetKind;
use std::path::Path;
use std::process::ExitCode;
use torr_press::request::Options;
use torr_press::{Plan, Work};
use torr_script::Printing;

/// What the command line says of the load.
pub struct BaseArgs<'a> {
    pub target: Option<&'a str>,
    /// The file of `--script`.
    pub script: Option<&'a Path>,
    /// The arguments of the script.
    pub arguments: &'a [String],
    pub given: &'a GivenFlags,
    pub variables: &'a VariableArgs,
    pub request: &'a RequestArgs,
    pub transport: &'a TransportArgs,
    pub keep_alive: bool,
}

/// A plan, with what its requests are made of.
pub struct Base {
    pub plan: Plan,
    /// The options of the requests of a URL; of files they are not known.
    pub options: Options,
    /// The variables of sessions and scripts.
    pub given: Given,
    pub script: Option<Script>,
}

impl Base {
    /// Returns the plan of a command line.
    ///
    /// # Errors
    /// If the target is none, or does not go with a flag; for a mistake in a file, with its position.
    pub fn of(args: &BaseArgs<'_>) -> Result<Self, CliError> {
        let targets: Vec<_> = args.target.map(str::to_owned).into_iter().collect();
        match (TargetKind::of(&targets)?, args.script) {
            (TargetKind::Url(url), None) => {
                check_url(&args.given.flags)?;
                let (plan, options) =
                    press::base_and_options(args.request, args.transport, url.as_deref(), args.keep_alive)?;
                Ok(Self { plan, options, given: Given::default(), script: None })
            }
            (TargetKind::Url(url), Some(path)) => args.scripted(url.as_deref(), path),
            (TargetKind::Script(path), None) => {
                let url = script::target(&path, &args.request.files, Printing::Stderr)?;
                args.scripted(Some(&url), &path)
            }
            (TargetKind::Script(path), Some(_)) => Err(script::stands_alone(&path)),
            (TargetKind::Sessions(files), _) => {
                check_sessions(&args.given.flags)?;
                let [file] =
                    <[_; 1]>::try_from(files).map_err(|_| CliError::Usage("one hurl file at a time".into()))?;
                let given = Given::of(args.variables)?;
                let plan = session::base(file, given.clone(), args.request, args.transport, args.keep_alive)?;
                Ok(Self { plan, options: Options::default(), given, script: None })
            }
            (TargetKind::Plan(path), _) => {
                Err(CliError::Usage(format!("'{}' is a plan, and the target of a plan cannot be one", path.display())))
            }
        }
    }

    /// Prints the error that ended a run, if the script had one, and returns the exit code.
    pub fn script_failed(script: Option<&Script>) -> Option<ExitCode> {
        exit::failed(&script.and_then(Script::error).into_iter().collect::<Vec<_>>())
    }
}

impl BaseArgs<'_> {
    fn scripted(&self, url: Option<&str>, path: &Path) -> Result<Base, CliError> {
        check_script(&self.given.flags)?;
        let plan = press::base(self.request, self.transport, url, self.keep_alive)?;
        // A state for each thread that an experiment can have.
        let plan = Plan { connections: plan.connections.max(plan.threads), ..plan };
        let variables = self.variables.values(&mut Input::default())?;
        let settings = ScriptSettings {
            path,
            files: &self.request.files,
            arguments: self.arguments,
            variables: variables.clone().into_iter().collect(),
            secrets: self.variables.secrets().collect(),
            feeder: self.request.records()?,
            feeder_order: self.request.feeder_order.into(),
            // Standard output belongs to the report.
            printing: Printing::Stderr,
            find: Box::new(finder(self.transport)),
        };
        let script = Script::load(&plan, settings)?;
        // Also of a script that decides nothing during the load the requests are its own, and no other is tried instead.
        let plan = Plan { work: Work::Users(script.users()), ..plan };
        let given = Given::of_texts(variables, self.variables.secrets().collect());
        Ok(Base { plan, options: Options::default(), given, script: Some(script) })
    }
}
