//! The load that a command line of httpress means.

use super::args::Args;
use crate::error::FrontError;
use crate::load::{FrontLoad, request};
use std::time::Duration;
use torr_press::Target;

/// The time-out of a request. httpress has none.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the load.
pub fn load(args: &Args) -> Result<FrontLoad, FrontError> {
    let target = Target::parse(&args.url).map_err(FrontError::usage)?;
    let kept = if args.keep_alive { "keep-alive" } else { "close" };
    let headers = vec!["User-Agent:".to_owned(), "Accept:".to_owned(), format!("Connection: {kept}")];
    let request = request(&target, "GET", headers, None, args.keep_alive)?;
    Ok(FrontLoad {
        requests: Some(args.requests),
        keep_alive: args.keep_alive,
        ..FrontLoad::new(target, request, (args.connections, args.threads), TIMEOUT)
    })
}
