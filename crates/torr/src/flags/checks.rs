//! `--expect-*` and `--follow`: what is expected of each response.

use super::file_source::FileSource;
use super::input::Input;
use crate::exit::CliError;
use clap::Args;
use torr_press::Inspection;
use torr_press::checks::Check;

/// Checks, each of which is counted; the exit code is 1 if a response fails one.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checks")]
pub struct CheckArgs {
    /// Expect one of these status codes, such as 200, 2xx or 200-204,301
    #[arg(long, value_name = "CODES")]
    pub expect_status: Vec<String>,
    /// Expect a header to be there, 'Name', to be this, 'Name: value', or to match, 'Name: ~regex'
    #[arg(long, value_name = "HEADER")]
    pub expect_header: Vec<String>,
    /// Expect the body to contain a text, to match '~regex', or to be what '@FILE' holds. A compressed body is decoded
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Vec<String>,
    /// Follow redirects that stay with the same scheme, host and port; what counts is the response that they lead to
    #[arg(short = 'L', long, visible_alias = "location", conflicts_with = "pipeline")]
    pub follow: bool,
    /// Where files come from.
    #[arg(skip)]
    pub files: FileSource,
}

/// The most checks: those of a response are bits of one number.
const MOST_CHECKS: usize = 32;

impl CheckArgs {
    /// Returns the checks of a run.
    pub fn inspection(&self) -> Result<Inspection, CliError> {
        let statuses = self.expect_status.iter().map(|text| Check::status(text).map_err(CliError::usage));
        let headers = self.expect_header.iter().map(|text| Check::header(text).map_err(CliError::usage));
        let bodies = self.expect_body.iter().map(|text| body(text, &self.files));
        let checks: Vec<_> = statuses.chain(headers).chain(bodies).collect::<Result<_, _>>()?;
        if checks.len() > MOST_CHECKS {
            return Err(CliError::Usage(format!("at most {MOST_CHECKS} checks are possible")));
        }
        Ok(Inspection { checks, follow: self.follow, keep_first: false })
    }
}

fn body(text: &str, files: &FileSource) -> Result<Check, CliError> {
    let Some(path) = text.strip_prefix('@') else { return Check::body(text).map_err(CliError::usage) };
    Ok(Check::whole_body(text, Input::of(files).read(path, "the expected body")?))
}
