//! Hurl files read and compiled for a run, with a note for each option that has no effect in a run.

use crate::exit::CliError;
use crate::output;
use std::path::Path;
use torr_load::FileSource;
use torr_plan::RunFile;
use torr_plan::session::files::{self, Given, Prepared};

/// Reads and compiles files as [`files::prepare`]. A coordinator's user gets the notes of files that a fleet's agent reads.
///
/// # Errors
/// For the first mistake, with its position.
pub fn prepare(
    files: &[RunFile],
    given: &Given,
    feeder: Option<&Path>,
    later: &[String],
    source: &FileSource,
) -> Result<Prepared, CliError> {
    let prepared = files::prepare(files, given, feeder, later, source)?;
    if !matches!(source, FileSource::Sent(_)) {
        for (file, compiled) in files.iter().zip(&prepared.files) {
            for (at, what) in &compiled.session.ignored {
                output::note(&format!("{}:{at}: {what}", file.path));
            }
        }
    }
    Ok(prepared)
}
