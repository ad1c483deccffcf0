//! The examples that cargo has built beside the running test.

use std::path::PathBuf;

/// Returns the program of an example of the package whose test runs.
///
/// # Panics
/// If it has not been built: a filter of targets has left the examples out.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("a test is a program");
    let folder = test.parent().and_then(|deps| deps.parent()).expect("it lies in target/debug/deps");
    let program = folder.join("examples").join(name);
    assert!(program.exists(), "{} is missing: cargo build --examples", program.display());
    program
}
