//! Subjects that are Node.js servers.

use crate::environment::Environment;
use torr_test_support::error::Error;

/// Starts a Node.js server whose handler computes for `rounds`, with some worker processes.
///
/// # Errors
/// If the server cannot be started.
pub fn node(env: &mut Environment, rounds: &str, workers: usize) -> Result<String, Error> {
    env.script("node", "server.js", include_str!("../../programs/server.js"), &[rounds, &workers.to_string()])
}
