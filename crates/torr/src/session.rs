//! Hurl files as load: from files and variables to a plan.

mod files;
mod once;
mod plan;
mod transport;

use files::{Prepared, prepare};
pub use once::{Walk, run as once};

use crate::exit::CliError;
use crate::flags::output::OutputArgs;
use crate::flags::request::RequestArgs;
use crate::flags::transport::TransportArgs;
use crate::flags::variables::VariableArgs;
use crate::press::{PressArgs, ReadyRun};
use crate::target::RunFile;
use std::path::Path;
use std::process::ExitCode;
use torr_press::request::Feeder;
use torr_press::{Plan, ThinkTime};
use torr_session::users::RunSettings;

/// Returns how many requests a session of a plan has, if each entry sends one; 1 for a URL.
pub fn requests_each(plan: &Plan) -> usize {
    plan.users.as_ref().map_or(1, |users| users.entries().len().max(1))
}

/// Returns the plan of one file's users, of which only how hard to press is left to say.
///
/// # Errors
/// As [`SessionSource::run`].
pub fn base(
    file: RunFile,
    variables: &VariableArgs,
    request: &RequestArgs,
    transport: &TransportArgs,
    keep_alive: bool,
) -> Result<Plan, CliError> {
    let files = [file];
    let source = SessionSource {
        files: &files,
        variables,
        setup: None,
        teardown: None,
        request,
        transport,
        think: None,
        keep_alive,
        output: None,
    };
    source.run().map(|run| run.plan)
}

/// Looks through the files of a run, of which nothing is sent.
///
/// # Errors
/// For a mistake in a file, with its position.
pub fn check(args: &PressArgs, files: &[RunFile]) -> Result<(), CliError> {
    SessionSource::of(args, files).prepare().map(|_| ())
}

/// Runs virtual users who walk through files, and prints the report.
pub fn run(args: &PressArgs, files: &[RunFile]) -> Result<ExitCode, CliError> {
    let ready = ReadyRun::of(args)?;
    let SessionRun { plan, teardown } = SessionSource::of(args, files).run()?;
    let ended = ready.run(plan);
    // What the setup made is cleared away however the run ended.
    let cleared = teardown.map(|teardown| once::quietly(teardown, &args.transport, "teardown")).transpose();
    let code = ended?;
    cleared?;
    Ok(code)
}

/// What a run of sessions is made of, beside its load.
pub struct SessionSource<'a> {
    /// The files, each with its weight.
    pub files: &'a [RunFile],
    pub variables: &'a VariableArgs,
    /// The file that one user runs before all others; its captures are variables of all users.
    pub setup: Option<&'a Path>,
    /// The file that one user runs at the end.
    pub teardown: Option<&'a Path>,
    pub request: &'a RequestArgs,
    pub transport: &'a TransportArgs,
    pub think: Option<ThinkTime>,
    pub keep_alive: bool,
    /// Rules and outputs that are to fit the entries, before the setup is sent.
    pub output: Option<&'a OutputArgs>,
}

/// A run of sessions, ready to begin.
pub struct SessionRun {
    pub plan: Plan,
    /// What is run at the end, with the variables that the run began with.
    pub teardown: Option<Prepared>,
}

/// The files of a run, looked through.
struct LookedThrough {
    setup: Option<Prepared>,
    files: Prepared,
    teardown: Option<Prepared>,
}

impl<'a> SessionSource<'a> {
    fn of(args: &'a PressArgs, files: &'a [RunFile]) -> Self {
        Self {
            files,
            variables: &args.session.variables,
            setup: args.session.setup.as_deref(),
            teardown: args.session.teardown.as_deref(),
            request: &args.request,
            transport: &args.transport,
            think: args.load.think.clone(),
            keep_alive: !args.load.no_keepalive,
            output: Some(&args.output),
        }
    }

    /// Reads and compiles all files.
    fn prepare(&self) -> Result<LookedThrough, CliError> {
        // What the setup will capture counts as given.
        let setup = self.setup.map(|path| prepare(&[RunFile::new(path)], self.variables, None, &[])).transpose()?;
        let later = setup.as_ref().map(Prepared::names).unwrap_or_default();
        let files = prepare(self.files, self.variables, self.request.feeder.as_deref(), &later)?;
        self.output.map_or(Ok(()), |output| output.check(&files.entries()))?;
        let teardown = self.teardown.map(|path| prepare(&[RunFile::new(path)], self.variables, None, &later));
        Ok(LookedThrough { setup, files, teardown: teardown.transpose()? })
    }

    /// Runs the setup, if there is one, and returns the plan of the run: as `base` for a URL, of which only how hard to press is
    /// left to say.
    ///
    /// # Errors
    /// For a mistake in a file, with its position; and if the setup fails.
    pub fn run(&self) -> Result<SessionRun, CliError> {
        // All files are read before anything is sent.
        let LookedThrough { setup, files: mut prepared, mut teardown } = self.prepare()?;
        if let Some(setup) = setup {
            let (captured, secrets) = once::quietly(setup, self.transport, "setup")?;
            prepared.values.extend(captured.clone());
            prepared.secrets.extend(secrets.iter().cloned());
            if let Some(teardown) = &mut teardown {
                teardown.values.extend(captured);
                teardown.secrets.extend(secrets);
            }
        }
        let plan = self.plan(prepared)?;
        Ok(SessionRun { plan, teardown })
    }

    fn plan(&self, prepared: Prepared) -> Result<Plan, CliError> {
        let feeder = self.request.feeder.as_deref().map(Feeder::read).transpose().map_err(CliError::usage)?;
        let transport = transport::with_options_of(&prepared.files, &prepared.values, self.transport)?;
        let settings = RunSettings {
            feeder,
            feeder_order: self.request.feeder_order.into(),
            think: self.think.clone(),
            ..prepared.settings()
        };
        plan::of(prepared.files, settings, &transport, self.keep_alive)
    }
}
