//! Errors of the command line, each with an exit code and one line.

use crate::output;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::fmt::Display;
use std::process::ExitCode;
use torr_plan::PlanError;

/// The error that ends the program.
#[derive(Debug, PartialEq, Eq)]
pub enum CliError {
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// The target could not be reached at all: exit code 3.
    Unreachable(String),
    /// Something else failed, such as writing a file: exit code 1.
    Failed(String),
    /// What was measured is not enough to tell: exit code 4.
    CannotTell(String),
}

/// The exit codes of all commands, which the whole help of a command shows.
pub const CODES: &str = "\
Exit codes: 0 done; 1 a check, a threshold, an objective, an agent or an output failed, or no request got a response; 2 bad \
usage; 3 the target cannot be reached; 4 the comparison cannot tell; 130 interrupted (the report is still printed)";

/// The exit code of a comparison that cannot tell.
pub const CANNOT_TELL: u8 = 4;

impl From<PlanError> for CliError {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::Usage(line) => Self::Usage(line),
            PlanError::Unreachable(line) => Self::Unreachable(line),
        }
    }
}

impl CliError {
    /// Returns the error of a command line with this mistake.
    pub fn usage(mistake: impl Display) -> Self {
        Self::Usage(mistake.to_string())
    }

    /// Returns the line.
    pub fn into_line(self) -> String {
        match self {
            Self::Usage(line) | Self::Unreachable(line) | Self::Failed(line) | Self::CannotTell(line) => line,
        }
    }

    /// Prints the line and returns the exit code.
    pub fn report(self) -> ExitCode {
        let (code, line) = match self {
            Self::Failed(line) => (1, line),
            Self::Usage(line) => (2, line),
            Self::Unreachable(line) => (3, line),
            Self::CannotTell(line) => (CANNOT_TELL, line),
        };
        output::note(&line);
        ExitCode::from(code)
    }
}

/// Prints a line for each failed check of a run, and returns exit code 1. `None` if there is none.
pub fn failed(lines: &[String]) -> Option<ExitCode> {
    lines.iter().for_each(|line| output::note(line));
    (!lines.is_empty()).then(|| ExitCode::from(1))
}

/// The exit code of an interrupted program.
pub const INTERRUPTED: u8 = 130;

/// Returns the exit code of an interrupted run, whose report was printed.
pub fn interrupted() -> ExitCode {
    ExitCode::from(INTERRUPTED)
}

/// Returns whether clap has help or a version to show rather than a mistake.
pub fn is_help(error: &clap::Error) -> bool {
    use ErrorKind::{DisplayHelp, DisplayHelpOnMissingArgumentOrSubcommand, DisplayVersion};
    matches!(error.kind(), DisplayHelp | DisplayVersion | DisplayHelpOnMissingArgumentOrSubcommand)
}

/// Prints help or a version as clap has it. Without any argument that is bad usage.
pub fn show_help(error: &clap::Error) -> ExitCode {
    // The reader may be gone.
    let _ = error.print();
    ExitCode::from(u8::from(error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand) * 2)
}

/// Returns a mistake as one line with a hint, which without anything better is the command line that shows all flags.
pub fn from_clap(error: &clap::Error, help: &str) -> CliError {
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let given = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => word.as_str(),
        _ => "",
    };
    let first = match (error.kind(), given(ContextKind::InvalidArg), given(ContextKind::InvalidValue)) {
        (ErrorKind::UnknownArgument, word, _) if word.starts_with('-') => format!("unknown flag '{word}'"),
        (ErrorKind::UnknownArgument, word, _) => format!("unexpected argument '{word}'"),
        (ErrorKind::InvalidValue, flag, "") if !flag.is_empty() => format!("missing value of '{flag}'"),
        (ErrorKind::MissingRequiredArgument, ..) => "missing argument:".to_owned(),
        _ => first.to_owned(),
    };
    // What is missing, or what there is to choose from.
    let tells = |line: &str| ["<", "[", "--"].iter().any(|start| line.trim().starts_with(start));
    let more = text.lines().skip(1).filter(|l| tells(l)).map(str::trim).collect::<Vec<_>>().join(" ");
    let suggestion = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let hint = suggestion.iter().find_map(|&kind| match error.get(kind)? {
        ContextValue::String(one) => Some(format!("did you mean '{one}'?")),
        ContextValue::Strings(some) => some.first().map(|one| format!("did you mean '{one}'?")),
        _ => None,
    });
    let hint = hint.unwrap_or_else(|| format!("see '{help}'"));
    let space = if more.is_empty() { "" } else { " " };
    CliError::Usage(format!("{first}{space}{more} ({hint})"))
}
