//! `--expect-*` and `--follow`: what is expected of each response.

use super::input::Input;
use crate::error::PlanError;
use torr_load::{CheckPart, FileSource};
use torr_press::Inspection;
use torr_press::checks::Check;

/// The most checks: those of a response are bits of one number.
const MOST_CHECKS: usize = 32;

/// Returns the checks of a run.
///
/// # Errors
/// For a check that is none, and for too many.
pub fn inspection(part: &CheckPart) -> Result<Inspection, PlanError> {
    let statuses = part.expect_status.iter().map(|text| Check::status(text).map_err(PlanError::usage));
    let headers = part.expect_header.iter().map(|text| Check::header(text).map_err(PlanError::usage));
    let bodies = part.expect_body.iter().map(|text| body(text, &part.files));
    let checks: Vec<_> = statuses.chain(headers).chain(bodies).collect::<Result<_, _>>()?;
    if checks.len() > MOST_CHECKS {
        return Err(PlanError::Usage(format!("at most {MOST_CHECKS} checks are supported")));
    }
    Ok(Inspection { checks, follow: part.follow, digest: None, keep_first: false })
}

fn body(text: &str, files: &FileSource) -> Result<Check, PlanError> {
    let Some(path) = text.strip_prefix('@') else { return Check::body(text).map_err(PlanError::usage) };
    Ok(Check::whole_body(text, Input::of(files).read(path, "the expected body")?))
}
