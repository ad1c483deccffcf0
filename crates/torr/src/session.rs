//! Hurl files as load: from files and variables to a plan.

mod files;
mod once;
mod plan;
mod transport;

use files::{Prepared, prepare};
pub use once::{OnceArgs, run as once};

use crate::exit::Stop;
use crate::flags::output::OutputArgs;
use crate::flags::request::RequestArgs;
use crate::flags::transport::TransportArgs;
use crate::flags::variables::VariableArgs;
use crate::press::{self, PressArgs};
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
) -> Result<Plan, Stop> {
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

/// Runs virtual users who walk through files, and prints the report.
pub fn run(args: &PressArgs, files: &[RunFile]) -> Result<ExitCode, Stop> {
    let source = SessionSource {
        files,
        variables: &args.session.variables,
        setup: args.session.setup.as_deref(),
        teardown: args.session.teardown.as_deref(),
        request: &args.request,
        transport: &args.transport,
        think: args.load.think.clone(),
        keep_alive: !args.load.no_keepalive,
        output: Some(&args.output),
    };
    let SessionRun { plan, teardown } = source.run()?;
    let ended = press::with_load(args, plan).and_then(|plan| press::run(args, &plan));
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
    /// The file that one user runs before all others; its captures are everybody's variables.
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

impl SessionSource<'_> {
    /// Runs the setup, if there is one, and returns the plan of the run: as `base` for a URL, of which only how hard to press is
    /// left to say.
    ///
    /// # Errors
    /// For a mistake in a file, with its place; and if the setup fails.
    pub fn run(&self) -> Result<SessionRun, Stop> {
        // All files are read before anything is sent; what the setup will capture counts as given.
        let setup = self.setup.map(|path| prepare(&[RunFile::new(path)], self.variables, None, &[])).transpose()?;
        let later = setup.as_ref().map(Prepared::names).unwrap_or_default();
        let mut prepared = prepare(self.files, self.variables, self.request.feeder.as_deref(), &later)?;
        self.output.map_or(Ok(()), |output| output.check(&prepared.entries()))?;
        let teardown = self.teardown.map(|path| prepare(&[RunFile::new(path)], self.variables, None, &later));
        let mut teardown = teardown.transpose()?;
        if let Some(setup) = setup {
            let captured = once::quietly(setup, self.transport, "setup")?;
            prepared.values.extend(captured.clone());
            if let Some(teardown) = &mut teardown {
                teardown.values.extend(captured);
            }
        }
        let plan = self.plan(prepared)?;
        Ok(SessionRun { plan, teardown })
    }

    fn plan(&self, prepared: Prepared) -> Result<Plan, Stop> {
        let feeder = self.request.feeder.as_deref().map(Feeder::read).transpose().map_err(Stop::usage)?;
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
