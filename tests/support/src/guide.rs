//! The commands that a page of the documentation shows. Tests run them with less load.

use crate::program::{Ended, Running};
use std::process::Command;

/// Returns the commands of Torr in a page's blocks, fenced or indented.
pub fn commands(page: &str) -> Vec<&str> {
    let mut is_fenced = false;
    let is_command = |line: &&str| {
        is_fenced ^= line.starts_with("```");
        (is_fenced || line.starts_with("    ")) && line.trim_start().starts_with("torr ")
    };
    page.lines().filter(is_command).map(str::trim_start).collect()
}

/// Runs a page's command as a test has changed it, and checks its exit code: 0, or also 1 for `limit`, whose result a disturbed
/// machine can hide, and for the commands in `may_fail`.
pub fn run(shown: &str, changed: Command, may_fail: &[&str]) -> Ended {
    let ended = Running::start(changed).wait();
    let name = shown.split(' ').nth(1).expect("a command has a name or a target");
    let may_fail = name == "limit" || may_fail.contains(&name);
    assert!(ended.code == Some(0) || may_fail && ended.code == Some(1), "{shown}: {ended:?}");
    ended
}
