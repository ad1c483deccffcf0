//! How the command ends: with a diagnosis or a comparison, or with neither.

use crate::exit::{self, Stop};
use crate::output;
use crate::press::why_not;
use crate::sink::Sink;
use serde::Serialize;
use std::process::ExitCode;
use torr_doctor::Halt;

/// Why there is nothing to tell.
pub fn halted(halt: Halt, what: &str) -> Result<ExitCode, Stop> {
    match halt {
        Halt::Interrupted => {
            output::note(&format!("interrupted before there was {what}"));
            Ok(exit::interrupted())
        }
        Halt::Run(error) => Err(why_not(error)),
        Halt::Silent(line) => Err(Stop::Unreachable(line)),
        halt => Err(Stop::usage(halt)),
    }
}

/// Writes what came of it as JSON where that is wanted, and as text unless JSON has taken standard output.
pub fn put(found: &impl Serialize, json: Option<Sink>, text: impl FnOnce() -> String) -> Result<(), Stop> {
    let stdout_is_taken = json.as_ref().is_some_and(Sink::takes_stdout);
    if let Some(json) = json {
        let text = serde_json::to_string_pretty(found).map_err(|error| Stop::Failed(error.to_string()))?;
        json.put(&text).map_err(Stop::Failed)?;
    }
    if !stdout_is_taken {
        output::report(&text());
    }
    Ok(())
}
