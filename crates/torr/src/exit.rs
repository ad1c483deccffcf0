//! Exit codes, and the one line that says why.

use crate::output;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::fmt::Display;
use std::process::ExitCode;
use torr_gauge::redact;

/// Why the program ends without having done what was asked.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// The command line is wrong: exit code 2.
    Usage(String),
    /// The target could not be reached at all: exit code 3.
    Unreachable(String),
    /// Something else failed, such as writing a file: exit code 1.
    Failed(String),
}

impl Stop {
    /// Returns the end of a program whose command line has this mistake.
    pub fn usage(mistake: impl Display) -> Self {
        Self::Usage(mistake.to_string())
    }

    /// Prints the line and gives the code.
    pub fn report(self) -> ExitCode {
        let (code, line) = match self {
            Self::Failed(line) => (1, line),
            Self::Usage(line) => (2, line),
            Self::Unreachable(line) => (3, line),
        };
        output::note(&redact::line(&line));
        ExitCode::from(code)
    }
}

/// The work was done, but not all is well: a line for each thing that is not, and exit code 1. `None` if all is.
pub fn failed(lines: &[String]) -> Option<ExitCode> {
    lines.iter().for_each(|line| output::note(&redact::line(line)));
    (!lines.is_empty()).then(|| ExitCode::from(1))
}

/// The exit code of an interrupted program.
pub const INTERRUPTED: u8 = 130;

/// Everything was done, but somebody ended it early: exit code 130.
pub fn interrupted() -> ExitCode {
    ExitCode::from(INTERRUPTED)
}

/// Help and version are printed as clap has them; a mistake becomes one line with a hint.
pub fn from_clap(error: clap::Error) -> Result<ExitCode, Stop> {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Nobody may be reading any more.
        let _ = error.print();
        return Ok(ExitCode::SUCCESS);
    }
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        let _ = error.print();
        return Ok(ExitCode::from(2));
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    // What is missing, or what there is to choose from.
    let tells = |line: &str| ["<", "[", "--"].iter().any(|start| line.trim().starts_with(start));
    let more = text.lines().skip(1).filter(|l| tells(l)).map(str::trim).collect::<Vec<_>>().join(" ");
    let suggestion = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let hint = suggestion.iter().find_map(|&kind| match error.get(kind)? {
        ContextValue::String(one) => Some(format!("did you mean '{one}'?")),
        ContextValue::Strings(some) => some.first().map(|one| format!("did you mean '{one}'?")),
        _ => None,
    });
    let hint = hint.unwrap_or_else(|| "see 'torr --help'".into());
    let space = if more.is_empty() { "" } else { " " };
    Err(Stop::Usage(format!("{first}{space}{more} ({hint})")))
}
