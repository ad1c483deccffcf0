//! What `torr` makes of a file, and sends.

use crate::compare::{Compared, compared};
use crate::echo::Echo;
use std::path::Path;
use torr_test_support::program::{Ended, Running, torr_command};

/// Imports a file.
pub fn import(folder: &Path, args: &[&str]) -> Ended {
    let mut command = torr_command(&[&["import"], args, &["-o", "made.hurl"]].concat());
    command.current_dir(folder);
    Running::start(command).wait()
}

/// Walks through the imported file, with values of its secrets, and returns the requests that the server got: none where the walk
/// failed, with the reason among the test's output.
pub fn once(folder: &Path, echo: &Echo, secrets: &[(&str, &str)], own: &[&str]) -> Vec<Compared> {
    let given: Vec<String> = secrets.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let given: Vec<&str> = given.iter().flat_map(|secret| ["--secret", secret.as_str()]).collect();
    let mut command = torr_command(&[&["once", "made.hurl"][..], &given].concat());
    command.current_dir(folder);
    let ended = Running::start(command).wait();
    let arrived = compared(echo.take(), own);
    if ended.code == Some(0) {
        return arrived;
    }
    println!("{ended:?}");
    Vec::new()
}
