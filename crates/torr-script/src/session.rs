//! Scripts with a function `session(user)`, which reads like straight code: each virtual user is a coroutine that yields to the
//! event loop whenever it sends a request or waits.

mod names;
mod socket;
mod user;
mod users;

pub use users::SessionUsers;

use crate::error::ScriptError;
use crate::facts::Facts;
use crate::file::ScriptFile;
use crate::state::State;

/// A script with sessions that is ready to run: its file was run in a state for each load thread.
#[derive(Debug)]
pub struct SessionScript {
    threads: Vec<State>,
}

impl SessionScript {
    /// Runs the file in a state for each thread. `first` is a state in which it was run.
    ///
    /// # Errors
    /// If the script ends in an error.
    pub(crate) fn start(first: State, file: &ScriptFile, facts: &Facts) -> Result<Self, ScriptError> {
        let others = (1..facts.threads.max(1)).map(|_| State::load(file, facts));
        Ok(Self { threads: std::iter::once(Ok(first)).chain(others).collect::<Result<_, _>>()? })
    }
}
