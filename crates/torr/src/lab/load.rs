//! The load of a cell: this program again, in a process of its own, as a user would call it.

use super::call::{Ended, Output, call};
use crate::config;
use std::ffi::OsString;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use torr_gauge::RunResult;
use torr_net::errors::describe;

/// Calls this program.
///
/// # Errors
/// If it cannot be called.
pub fn torr(arguments: &[OsString], stop: &AtomicBool) -> Result<Output, Ended> {
    let program = config::this_program();
    let mut program = program.map_err(|error| format!("cannot run this program: {}", describe(&error)))?;
    call(program.args(arguments), Duration::MAX, stop)
}

/// Loads a URL with these arguments and returns the result.
///
/// # Errors
/// If there is no result.
pub fn load(arguments: &[String], stop: &AtomicBool) -> Result<RunResult, Ended> {
    let quiet = ["--json", "-", "--quiet"].map(OsString::from);
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).chain(quiet).collect();
    let output = torr(&arguments, stop)?;
    serde_json::from_str(&output.stdout).map_err(|error| match output.success {
        true => format!("the load returned no result: {error}").into(),
        false => output.last_line().trim_start_matches("torr: ").to_owned().into(),
    })
}
