//! Tests that nothing else of their test program may disturb.

use std::env;
use std::process::Command;

/// The variable that tells a test that its process is its own.
const OWN: &str = "TORR_TEST_OWN_PROCESS";

/// Returns whether the test has a process of its own. Otherwise it runs once more in one, and need not go on here. `test` is its
/// name as the test program lists it.
///
/// Other tests of a program begin and end threads and child processes in the process that they share.
pub fn has_own_process(test: &str) -> bool {
    if env::var_os(OWN).is_some() {
        return true;
    }
    let tests = env::current_exe().expect("a test is a program");
    let mut command = Command::new(tests);
    let output =
        command.args(["--exact", test, "--test-threads", "1"]).env(OWN, "1").output().expect("it can run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{text}{}", String::from_utf8_lossy(&output.stderr));
    false
}
