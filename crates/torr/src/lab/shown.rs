//! `torr lab list` and `torr lab show`.

use super::args::ShowArgs;
use super::programs::missing;
use crate::exit::CliError;
use crate::output;
use std::process::ExitCode;
use torr_lab::shipped;
use torr_report::human::plural;
use torr_report::style::{FAINT, STRONG, paint};
use torr_report::table::align;

/// Lists suites and subjects.
pub fn list() -> Result<ExitCode, CliError> {
    let ours = |why: String| CliError::Failed(format!("invalid lab file: {why}"));
    let mut text = format!("\n{}\n", paint(STRONG, "suites"));
    for name in shipped::suites() {
        let suite = shipped::suite(name).map_err(ours)?;
        text += &entry(name, &suite.about);
    }
    text += &format!("\n{}\n", paint(STRONG, "subjects"));
    let mut databases = format!("\n{}\n", paint(STRONG, "databases"));
    for name in shipped::subjects() {
        let subject = shipped::subject(name).map_err(ours)?;
        let line = match missing(&subject) {
            Ok(()) => entry(name, &subject.about),
            Err(why) => entry(name, &format!("{} ({})", subject.about, paint(FAINT, &why))),
        };
        if subject.is_database() { databases += &line } else { text += &line }
    }
    output::report(&(text + &databases));
    Ok(ExitCode::SUCCESS)
}

fn entry(name: &str, about: &str) -> String {
    format!("  {name:<24}  {about}\n")
}

/// Shows a suite.
pub fn show(args: &ShowArgs) -> Result<ExitCode, CliError> {
    let suite = shipped::suite(&args.suite).map_err(CliError::Usage)?;
    let mut text = format!("\n{}  {}\n", paint(STRONG, &suite.name), suite.about);
    if let Some(source) = &suite.source {
        text += &format!("{source}\n");
    }
    let levels = suite.levels();
    let mut rows = vec![["row", "path", "flags of torr", "check"].map(str::to_owned).to_vec()];
    rows.extend(levels.iter().map(|level| {
        let row = &suite.rows[level.row];
        let connections = level.connections.map(|connections| format!("-c {connections} "));
        let n = level.n.unwrap_or(0).to_string();
        let path = format!("{}{}", row.path, row.suffix.replace("{n}", &n));
        vec![level.name.clone(), path, format!("{}{}", connections.unwrap_or_default(), row.flags), row.check.clone()]
    }));
    text += &format!("\n{}", align(&rows));
    let each_s = suite.seconds + suite.warmup;
    let runs = suite.rounds * levels.len();
    let rounds = plural(suite.rounds as u64, "round");
    let all = |subjects: usize| about(each_s * (runs * subjects) as f64);
    text += &format!(
        "\n{rounds} of {} s: at least {} for each subject, {} for all; --scale 0.1 takes a tenth.\n",
        suite.seconds,
        all(1),
        all(suite.subjects.len())
    );
    text += &format!("\nsubjects: {}\n", suite.subjects.join(", "));
    output::report(&text);
    Ok(ExitCode::SUCCESS)
}

/// Returns a time in seconds or minutes, whichever has a whole number that says something.
fn about(seconds: f64) -> String {
    let (count, unit) = if seconds < 90.0 { (seconds.ceil(), "second") } else { ((seconds / 60.0).round(), "minute") };
    plural(count as u64, unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_suite_takes_seconds() {
        assert_eq!(
            [0.4, 6.2, 89.0, 90.0, 600.0].map(about),
            ["1 second", "7 seconds", "89 seconds", "2 minutes", "10 minutes"]
        );
    }
}
