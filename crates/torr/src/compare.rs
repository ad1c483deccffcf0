//! `torr compare`: two versions by their results, or loaded in turns.

mod args;
mod outputs;
mod results;
mod sentences;
mod servers;
mod words;
mod written;

use crate::exit::{self, CliError};
pub use args::CompareArgs;
use outputs::Outputs;
use std::path::Path;
use std::process::ExitCode;
use torr_gauge::redact;
use torr_lab::report::{Conclusion, Report};

/// Compares and prints the report.
pub fn run(args: &CompareArgs) -> Result<ExitCode, CliError> {
    if args.versions.len() == 1 {
        return Err(CliError::Usage("a comparison needs two versions: pass two URLs, or two results".into()));
    }
    let are_files = !args.versions.is_empty() && args.versions.iter().all(|version| Path::new(version).exists());
    // Each of --a and --b is a command, unless all of their words are files.
    let is_group = |words: &[String]| !words.is_empty() && words.iter().all(|word| Path::new(word).exists());
    let has_sides = !args.a.is_empty() && !args.b.is_empty();
    if args.versions.is_empty() && !has_sides {
        return Err(CliError::Usage("nothing to compare: pass two URLs or results, or --a and --b".into()));
    }
    check_kinds(args)?;
    let outputs = Outputs::open(args)?;
    let are_groups = args.url.is_none() && is_group(&args.a) && is_group(&args.b);
    let report = match () {
        () if are_files || are_groups => results::compare(args)?,
        () => match servers::compare(args)? {
            Ok(report) => report,
            Err(halt) => return crate::doctor::halted(halt, "the first block"),
        },
    };
    let failed = exit::failed(&outputs.put(&report));
    Ok(match failed {
        _ if report.interrupted => exit::interrupted(),
        Some(code) => code,
        None => code(&report),
    })
}

/// Demands that results are there, and that both versions are of one kind.
fn check_kinds(args: &CompareArgs) -> Result<(), CliError> {
    let exists = |word: &&String| Path::new(word).exists();
    let is_result = |word: &&String| {
        !word.contains("://") && Path::new(word).extension().is_some_and(|extension| extension == "json")
    };
    let is_path = |word: &&String| ["/", "./", "../"].iter().any(|start| word.starts_with(start));
    let versions = args.versions.iter().filter(|word| is_result(word) || is_path(word));
    // Words of --a and --b may be commands.
    let sides = args.a.iter().chain(&args.b).filter(|word| args.url.is_none() && is_result(word));
    if let Some(missing) = versions.chain(sides).find(|word| !exists(word)) {
        return Err(CliError::Usage(format!("no such file: '{missing}'")));
    }
    match &args.versions[..] {
        [a, b] if exists(&a) != exists(&b) => {
            let (result, url) = if exists(&a) { (a, b) } else { (b, a) };
            let url = redact::url(url);
            Err(CliError::Usage(format!(
                "cannot compare the URL '{url}' with the result '{result}': pass two URLs, or two results"
            )))
        }
        _ => Ok(()),
    }
}

fn code(report: &Report) -> ExitCode {
    match report.conclusion() {
        Conclusion::Shown => ExitCode::SUCCESS,
        Conclusion::Failed => ExitCode::FAILURE,
        Conclusion::CannotTell => ExitCode::from(exit::CANNOT_TELL),
    }
}
