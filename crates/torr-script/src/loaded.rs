//! A script that was loaded: what it defines tells which kind it is.

use crate::error::ScriptError;
use crate::facts::{Facts, Printing};
use crate::file::ScriptFile;
use crate::session::SessionScript;
use crate::state::State;
use crate::wrk::WrkScript;

/// A script that is ready to run.
#[derive(Debug)]
pub enum LoadedScript {
    /// A script of wrk.
    Wrk(WrkScript),
    /// A script with a function `session`.
    Sessions(SessionScript),
}

impl LoadedScript {
    /// Runs the file of a script for each thread. `note` takes a line about what seems to be a mistake.
    ///
    /// # Errors
    /// If the script ends in an error, or nothing calls a function of its file.
    pub fn load(file: &ScriptFile, facts: &Facts, note: impl Fn(&str)) -> Result<Self, ScriptError> {
        let first = State::load(file, facts)?;
        if let Some((name, called)) = first.misspelt(file.source()) {
            let problem =
                first.problem(None, format!("the function '{name}' is never called: did you mean '{called}'?"));
            match first.is_called() {
                true => note(&problem.to_string()),
                false => return Err(problem),
            }
        }
        match first.defines("session") {
            true => SessionScript::start(first, file, facts).map(Self::Sessions),
            false => WrkScript::start(first, file, facts).map(Self::Wrk),
        }
    }
}

/// Returns the URL that a script names itself, as the global `target`.
///
/// # Errors
/// If the script ends in an error, or names none.
pub fn target(file: &ScriptFile, printing: Printing) -> Result<String, ScriptError> {
    let state = State::load(file, &Facts { printing, ..Facts::default() })?;
    state.lua.globals().get::<Option<String>>("target").ok().flatten().ok_or_else(|| {
        let hint =
            format!("set target = 'http://127.0.0.1:8080/' in the script, or pass a URL with '--script {}'", file.name);
        state.problem(None, format!("missing target: {hint}"))
    })
}
