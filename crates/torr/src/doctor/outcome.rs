//! The output of a diagnosis or a comparison, and its errors.

use crate::command_line::Repeatable;
use crate::exit::{self, CliError};
use crate::output;
use crate::press::why_not;
use crate::sink::Sink;
use serde::Serialize;
use std::process::ExitCode;
use torr_doctor::Halt;

/// Returns the error of a diagnosis or a comparison without a result.
pub fn halted(halt: Halt, what: &str) -> Result<ExitCode, CliError> {
    match halt {
        Halt::Interrupted => {
            output::note(&format!("interrupted before {what} was complete"));
            Ok(exit::interrupted())
        }
        Halt::Run(error) => Err(why_not(error)),
        Halt::Silent(line) => Err(CliError::Unreachable(line)),
        Halt::Agents(line) => Err(CliError::Failed(line)),
        halt => Err(CliError::usage(halt)),
    }
}

/// Writes a result as JSON if requested, and as text unless JSON is on standard output.
pub fn put(found: &impl Serialize, json: Option<Sink>, text: impl FnOnce() -> String) -> Result<(), CliError> {
    let stdout_is_taken = json.as_ref().is_some_and(Sink::takes_stdout);
    if let Some(json) = json {
        write(found, json)?;
    }
    if !stdout_is_taken {
        output::report(&text());
    }
    Ok(())
}

/// Writes a result as JSON.
pub fn write(found: &impl Serialize, json: Sink) -> Result<(), CliError> {
    let text = Repeatable::new(found).json().map_err(|error| CliError::Failed(error.to_string()))?;
    json.put(&text).map_err(CliError::Failed)
}
