//! Tests that cannot run on every machine: they say so, and fail where every test has to run.

use std::io::Write;

/// The environment variable that `./test` sets: every test has to run.
pub const ALL_TESTS: &str = "TORR_ALL_TESTS";

/// Says on standard error that a test cannot run here, past the capture of tests that pass.
///
/// # Panics
/// Where [`ALL_TESTS`] is set: what has to be true of every change would else be true of some.
#[track_caller]
pub fn cannot_run(test: &str, why: &str) {
    assert!(std::env::var_os(ALL_TESTS).is_none(), "{test} cannot run here, and {ALL_TESTS} wants it to: {why}");
    // Standard error may be closed.
    let _ = writeln!(std::io::stderr(), "NOT RUN: {test}: {why}");
}
