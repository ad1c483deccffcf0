//! The load that a command line of wrk means.

use super::args::Args;
use crate::error::FrontError;
use crate::load::{FrontLoad, request};
use std::time::Duration;
use torr_press::{Schedule, Target};

/// Returns the load.
pub fn load(args: &Args) -> Result<FrontLoad, FrontError> {
    let target = Target::parse(&args.url).map_err(FrontError::usage)?;
    // By itself wrk sends nothing but Host.
    let headers = [args.headers.as_slice(), &["User-Agent:".to_owned(), "Accept:".to_owned()]].concat();
    let request = request(&target, "GET", headers, None, true)?;
    let schedule = args.rate.map(|rate| Schedule::constant(rate as f64)).transpose();
    Ok(FrontLoad {
        duration: Some(Duration::from_secs(args.duration)),
        schedule: schedule.map_err(FrontError::usage)?,
        script: args.script.as_ref().map(|(file, arguments)| (file.into(), arguments.clone())),
        ..FrontLoad::new(target, request, (args.connections, args.threads), Duration::from_secs(args.timeout))
    })
}
