//! Results that are there already.

use super::CompareArgs;
use crate::exit::CliError;
use std::path::PathBuf;
use torr_lab::archive::{self, Archived};
use torr_lab::groups;
use torr_lab::report::Report;

/// Compares two results, or two groups of them.
pub fn compare(args: &CompareArgs) -> Result<Report, CliError> {
    let (a, b) = match &args.versions[..] {
        [a, b] => (std::slice::from_ref(a), std::slice::from_ref(b)),
        _ => (&args.a[..], &args.b[..]),
    };
    let (read_a, read_b) = (read(a)?, read(b)?);
    let rules = args.rules();
    let names = [name(a), name(b)];
    let seed = args.seed.unwrap_or(1);
    groups::compare([&read_a, &read_b], names, &rules, args.difference, seed).map_err(CliError::CannotTell)
}

fn read(words: &[String]) -> Result<Vec<Archived>, CliError> {
    let results = archive::read(&words.iter().map(PathBuf::from).collect::<Vec<_>>()).map_err(CliError::Usage)?;
    if results.is_empty() {
        return Err(CliError::Usage(format!(
            "{} has no results: write one with 'torr URL --json FILE'",
            words.join(" ")
        )));
    }
    Ok(results)
}

fn name(words: &[String]) -> String {
    match words {
        [only] => only.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
        [] => String::new(),
    }
}
