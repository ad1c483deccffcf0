//! Hurl files as load: from files and variables to a plan.

mod ignored;
mod once;

pub use ignored::note as note_ignored;
pub use once::{Walk, run as once};

use crate::exit::CliError;
use crate::press::ReadyRun;
use ignored::note_all;
use std::path::Path;
use std::process::ExitCode;
use torr_load::{FileSource, Load, TransportPart};
use torr_plan::input;
use torr_plan::session::files::{Given, Prepared, prepare};
use torr_plan::session::{plan, transport};
use torr_plan::target::RunFile;
use torr_press::Plan;
use torr_session::users::RunSettings;

/// Returns how many requests a session of a plan has, if each entry sends one; 1 for a URL.
pub fn requests_each(plan: &Plan) -> usize {
    plan.work.users().map_or(1, |users| users.entries().len().max(1))
}

/// Returns the plan of one file's users, of which only how hard to press is left to say.
///
/// # Errors
/// As [`SessionSource::run`].
pub fn base(file: RunFile, given: Given, load: &Load) -> Result<Plan, CliError> {
    SessionSource { files: &[file], given, load }.run().map(|run| run.plan)
}

/// Looks through the files of a run, of which nothing is sent.
///
/// # Errors
/// For a mistake in a file, with its position.
pub fn check(load: &Load, files: &[RunFile]) -> Result<(), CliError> {
    let given = Given::of(&load.session.variables)?;
    let LookedThrough { setup, files, .. } = SessionSource { files, given, load }.prepare()?;
    // The values that a setup captures are known only in the run.
    preflight(setup.unwrap_or(files), &load.transport)
}

/// Finds what would stop files from being run, before anything is sent.
///
/// # Errors
/// As the run itself.
pub fn preflight(prepared: Prepared, transport: &TransportPart) -> Result<(), CliError> {
    let transport = transport::with_options_of(&prepared.files, &prepared.given.values, transport)?;
    let settings = prepared.settings();
    Ok(plan::check(prepared.files, settings, &transport)?)
}

/// Runs virtual users who walk through files, and prints the report.
pub fn run(load: &Load, files: &[RunFile]) -> Result<ExitCode, CliError> {
    let ready = ReadyRun::of(load)?;
    let given = Given::of(&load.session.variables)?;
    let SessionRun { plan, teardown, .. } = SessionSource { files, given, load }.run()?;
    let ended = ready.run(plan);
    // What the setup made is cleared away however the run ended.
    let cleared = tear_down(teardown, load);
    let code = ended?;
    cleared?;
    Ok(code)
}

/// Runs the file that clears away what a setup made, if there is one.
///
/// # Errors
/// If its session fails.
pub fn tear_down(teardown: Option<Prepared>, load: &Load) -> Result<(), CliError> {
    teardown.map_or(Ok(()), |teardown| once::quietly(teardown, load, "teardown").map(drop))
}

/// What a run of sessions is made of.
pub struct SessionSource<'a> {
    /// The files, each with its weight.
    pub files: &'a [RunFile],
    pub given: Given,
    pub load: &'a Load,
}

/// A run of sessions, ready to begin.
pub struct SessionRun {
    pub plan: Plan,
    /// The variables that each session begins with, those of the setup among them.
    pub given: Given,
    /// What is run at the end, with the variables that the run began with.
    pub teardown: Option<Prepared>,
}

/// The files of a run, looked through.
struct LookedThrough {
    setup: Option<Prepared>,
    files: Prepared,
    teardown: Option<Prepared>,
}

impl SessionSource<'_> {
    /// Reads and compiles all files.
    fn prepare(&self) -> Result<LookedThrough, CliError> {
        // What the setup will capture counts as given.
        // What one user sends before and after the load, this machine sends.
        let alone = |path: &Path, later: &[String]| -> Result<Prepared, CliError> {
            let file = [RunFile::new(path)];
            let prepared = prepare(&file, &self.given, None, later, &FileSource::Here)?;
            note_all(&file, &prepared);
            Ok(prepared)
        };
        let Load { request, session, output, .. } = self.load;
        let setup = session.setup.as_deref().map(|path| alone(path, &[])).transpose()?;
        let later = setup.as_ref().map(Prepared::names).unwrap_or_default();
        let files = prepare(self.files, &self.given, request.feeder.as_deref(), &later, &request.files)?;
        // The coordinator's user has the notes of files that a fleet's agent reads.
        if !matches!(request.files, FileSource::Sent(_)) {
            note_all(self.files, &files);
        }
        // Rules and outputs have to fit the entries before the setup is sent.
        output.check(&files.entries(), true).map_err(CliError::Usage)?;
        let teardown = session.teardown.as_deref().map(|path| alone(path, &later));
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
            let captured = once::quietly(setup, self.load, "setup")?;
            prepared.given.extend(&captured);
            if let Some(teardown) = &mut teardown {
                teardown.given.extend(&captured);
            }
        }
        let given = prepared.given.clone();
        let plan = self.plan(prepared)?;
        Ok(SessionRun { plan, given, teardown })
    }

    fn plan(&self, prepared: Prepared) -> Result<Plan, CliError> {
        let Load { request, transport, pace, .. } = self.load;
        let feeder = request.feeder.as_deref().map(|path| input::feeder(path, &request.files)).transpose()?;
        let transport = transport::with_options_of(&prepared.files, &prepared.given.values, transport)?;
        if request.files.is_of_fleet() {
            transport::check_for_fleet(&transport)?;
        }
        let settings = RunSettings {
            feeder,
            feeder_order: request.feeder_order(),
            think: pace.think.as_deref().cloned(),
            ..prepared.settings()
        };
        let plan = plan::of(prepared.files, settings, &transport, self.load.keep_alive())?;
        Ok(Plan { events: Some(self.load.stream.in_sessions()), ..plan })
    }
}
