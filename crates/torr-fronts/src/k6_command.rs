//! k6's command line carried out: its help and version here, its scripts by the host, whose interface names k6's arguments.

use crate::error::FrontError;
use crate::host::Host;
use crate::k6::{Command, USAGE, parse};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::process::ExitCode;

/// The exit code of a command line that cannot be used, which k6 has for all errors without a code of their own.
const OTHER_ERROR: u8 = 255;
/// The exit code of a variable that is wrong: it is a part of the configuration.
const WRONG_SETTING: u8 = 104;

/// Runs the command line.
pub(crate) fn run<H: Host>(args: Vec<OsString>, host: &mut H) -> Result<ExitCode, FrontError> {
    let environment: BTreeMap<String, String> = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    match parse(args, &environment) {
        Ok(Command::Help) => {
            H::print(USAGE);
            Ok(ExitCode::SUCCESS)
        }
        Ok(Command::Version) => {
            H::print(concat!("torr v", env!("CARGO_PKG_VERSION"), ", with the command line of k6 v2.2.0\n"));
            Ok(ExitCode::SUCCESS)
        }
        Ok(Command::Run(args)) => host.k6(*args, false),
        Ok(Command::Inspect(args)) => host.k6(*args, true),
        Err(error) => {
            eprintln!("k6: {}", error.message);
            Ok(ExitCode::from(if error.is_of_variable { WRONG_SETTING } else { OTHER_ERROR }))
        }
    }
}
