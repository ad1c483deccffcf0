//! Scripts of k6 in commands that vary the load themselves, `torr doctor` and `torr limit`: an iteration is a session.

use super::load::{failure, loaded};
use crate::exit::{self, CliError};
use crate::press::{permission, why_not};
use crate::{interrupt, output};
use serde_json::Map;
use std::path::{Path, PathBuf};
use std::process::{self, ExitCode};
use std::sync::atomic::AtomicBool;
use torr_k6::SentFiles;
use torr_k6::sessions::{FirstIteration, ScriptSessions, SessionsError};
use torr_load::Load;
use torr_press::Plan;

/// The settings of a load that mean something to a script of k6 whose iterations are sessions.
const MEANT: [&str; 3] = ["target", "variable", "no_keepalive"];

/// The name of a script among the files that it reads, and those files.
pub type NamedFiles = (String, SentFiles);

/// A script whose iterations are sessions: `setup` has run, and `teardown` runs when it is dropped at the latest.
pub struct K6Sessions {
    sessions: ScriptSessions,
    path: PathBuf,
}

impl K6Sessions {
    /// Loads a script, runs its `setup` and one iteration. Returns it with the plan of a closed loop of its iterations. No request goes to
    /// a server that is neither on this machine nor in a private network, unless the user has vouched for it. `command` is what is to load
    /// the service.
    ///
    /// # Errors
    /// With the mistake of the script, or of a setting that a script cannot have.
    pub fn begin(load: &Load, path: &Path, vouched_for: bool, command: &str) -> Result<(Self, Plan), CliError> {
        super::load::check_settings_of(path, load, &MEANT)?;
        let test = loaded(path, load, Map::new(), None, false)?;
        let sessions = test.sessions().map_err(failure)?;
        if !vouched_for {
            permission::of_learnt(sessions.servers(), command);
        }
        let mut this = Self { sessions, path: path.to_path_buf() };
        let plan = this.prepared(load, command)?;
        Ok((this, plan))
    }

    /// Loads a script for a fleet, runs its `setup` and one iteration. Returns the plan of a closed loop of its iterations and the files
    /// that it reads, with the script's name among them; `None` for files that cannot be named.
    ///
    /// # Errors
    /// With the mistake of the script.
    pub fn for_fleet(load: &Load, path: &Path) -> Result<(Self, Plan, Option<NamedFiles>), CliError> {
        let test = loaded(path, load, Map::new(), None, true)?;
        let files = test.files();
        let mut this = Self { sessions: test.sessions().map_err(failure)?, path: path.to_path_buf() };
        let plan = this.prepared(load, "torr fleet run")?;
        Ok((this, plan, files))
    }

    /// Returns what agents need to run the same sessions.
    pub fn first_iteration(&self) -> FirstIteration {
        self.sessions.first_iteration()
    }

    /// Runs `setup` and one iteration, and returns the plan.
    fn prepared(&mut self, load: &Load, command: &str) -> Result<Plan, CliError> {
        self.note(command);
        let stop = interrupt::flag()?;
        match self.sessions.begin(&stop) {
            Ok(()) => {}
            Err(SessionsError::Interrupted) => {
                self.tear_down().iter().for_each(|line| output::note(line));
                process::exit(exit::INTERRUPTED.into());
            }
            Err(error) => return Err(self.error(error)),
        }
        let plan = self.sessions.plan().map_err(|error| self.error(error))?;
        Ok(Plan { keep_alive: plan.keep_alive && !load.pace.no_keepalive, ..plan })
    }

    /// Notes how a script is loaded.
    fn note(&self, command: &str) {
        let (function, scenario) = self.sessions.function();
        let of = if self.sessions.functions() > 1 { format!(" of the scenario '{scenario}'") } else { String::new() };
        output::note(&format!(
            "{command} runs the function '{function}'{of} as a session, without the script's executors and thresholds"
        ));
        if self.sessions.has_batches() {
            output::note(&format!(
                "{command} sends the requests of http.batch() and http.asyncRequest() one after another"
            ));
        }
    }

    fn error(&self, error: SessionsError) -> CliError {
        match error {
            SessionsError::Script(error) => CliError::Failed(format!("{}: {error}", self.path.display())),
            SessionsError::Run(error) => why_not(error),
            SessionsError::Interrupted => CliError::Failed("interrupted before the load began".into()),
        }
    }

    /// Runs `teardown`. Returns the exit code if the script has failed, in an iteration that ended the test or in `teardown`.
    pub fn finish(mut self) -> Option<ExitCode> {
        let stopped = self.sessions.stopped().map(|error| self.error(SessionsError::Script(error)).into_line());
        let torn_down = self.tear_down();
        exit::failed(&stopped.into_iter().chain(torn_down).collect::<Vec<_>>())
    }

    /// Runs `teardown`, if it has not run. Returns the line of its error.
    fn tear_down(&mut self) -> Option<String> {
        // The first interruption has ended the load. The second one ends the program.
        let error = self.sessions.finish(&AtomicBool::new(false)).err()?;
        Some(self.error(error).into_line())
    }
}

impl Drop for K6Sessions {
    fn drop(&mut self) {
        if let Some(line) = self.tear_down() {
            output::note(&line);
        }
    }
}
