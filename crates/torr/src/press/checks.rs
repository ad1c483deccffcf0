//! From the command line to what is looked at in answers.

use super::mistake;
use crate::cli::CheckArgs;
use crate::exit::Stop;
use torr_press::Inspection;
use torr_press::checks::Check;

/// Each answer's checks are bits of one number.
const MOST_CHECKS: usize = 32;

/// What is asked to be looked at.
pub fn inspection(args: &CheckArgs) -> Result<Inspection, Stop> {
    let statuses = args.expect_status.iter().map(|text| Check::status(text).map_err(mistake));
    let headers = args.expect_header.iter().map(|text| Check::header(text).map_err(mistake));
    let bodies = args.expect_body.iter().map(|text| body(text));
    let checks: Vec<_> = statuses.chain(headers).chain(bodies).collect::<Result<_, _>>()?;
    if checks.len() > MOST_CHECKS {
        return Err(Stop::Usage(format!("at most {MOST_CHECKS} checks can be asked for")));
    }
    Ok(Inspection { checks, follow: args.follow, keep_first: false })
}

fn body(text: &str) -> Result<Check, Stop> {
    let Some(path) = text.strip_prefix('@') else { return Check::body(text).map_err(mistake) };
    let read = std::fs::read(path);
    let body = read.map_err(|error| Stop::Usage(format!("cannot read the expected body from '{path}': {error}")))?;
    Ok(Check::whole_body(text, body))
}
