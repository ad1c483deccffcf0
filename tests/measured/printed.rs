//! The commands that reports print, run as they stand.

use torr_test_support::program::{Running, torr_shell};
use torr_test_support::wait_until;

/// The commands in a report: behind `verify`, and at the end of an advice.
pub fn commands(report: &str) -> Vec<String> {
    let behind = |line: &str| {
        let begins = ["verify torr ", "verify: torr ", ": torr "];
        let at = begins.iter().find_map(|begin| Some(line.find(begin)? + begin.len() - "torr ".len()))?;
        Some(line[at..].trim_end().to_owned())
    };
    report.lines().filter_map(behind).collect()
}

/// Runs a command in a shell until it has sent requests as `is_pressing` sees it, and ends it with Ctrl-C.
pub fn runs(command: &str, variables: &[(&str, &str)], mut is_pressing: impl FnMut(u32) -> bool) {
    let mut shell = torr_shell(&format!("exec {command}"));
    shell.envs(variables.iter().copied());
    let torr = Running::start(shell);
    let pid = torr.pid();
    wait_until(&format!("'{command}' to press the service"), || (is_pressing(pid) || has_ended(pid)).then_some(()));
    if !has_ended(pid) {
        torr.signal("INT");
    }
    let ended = torr.wait();
    // An interrupted run tells what it has seen, which may break a threshold.
    assert!(matches!(ended.code, Some(0 | 1 | 130)), "{command}: {ended:?}");
    let is_of_the_service = |line: &str| line.contains("interrupted") || line.contains("threshold failed");
    let complains = |line: &str| line.starts_with("torr: ") && !is_of_the_service(line);
    assert!(!ended.stderr.lines().any(complains), "{command}: {ended:?}");
}

/// Whether a process has as many sockets open as only one has that presses a service with several connections.
pub fn has_sockets(pid: u32) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return false };
    let is_socket = |name: std::path::PathBuf| name.to_string_lossy().starts_with("socket:");
    open.flatten().filter(|file| std::fs::read_link(file.path()).is_ok_and(is_socket)).count() > 4
}

fn has_ended(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).map_or(true, |stat| stat.contains(") Z "))
}
