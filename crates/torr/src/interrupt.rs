//! Ctrl-C: the first ends the work and lets it report, the second ends the program and all that it has started.

use crate::exit::{self, CliError};
use crate::group;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use std::fs;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use torr_report::live;

/// Returns a flag that the first interruption sets. The second one kills the programs that Torr has started and ends
/// Torr, as SIGQUIT (Ctrl-\) does at once.
pub fn flag() -> Result<Arc<AtomicBool>, CliError> {
    flag_before(exit::INTERRUPTED)
}

/// Returns such a flag for a program that has an exit code of its own for the second interruption.
pub fn flag_before(code: u8) -> Result<Arc<AtomicBool>, CliError> {
    let failed = |error: std::io::Error| CliError::Failed(format!("cannot watch for signals: {error}"));
    let set = Arc::new(AtomicBool::new(false));
    // A closed terminal ends the program, unless it runs under 'nohup'.
    let hangup = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGQUIT].into_iter().chain(hangup)).map_err(failed)?;
    let flag = Arc::clone(&set);
    let watch = move || {
        for signal in signals.forever() {
            if signal == SIGQUIT || flag.swap(true, Ordering::Relaxed) {
                end(code);
            }
        }
    };
    thread::Builder::new().name("interrupt".into()).spawn(watch).map_err(failed)?;
    Ok(set)
}

/// Ends the program at once. Values are not dropped, so what they would end is ended here.
fn end(code: u8) -> ! {
    let _none_is_started_any_more = group::kill_all();
    live::clear_all();
    torr_live::restore();
    process::exit(code.into())
}

/// Returns whether this process was started with a signal ignored.
fn is_ignored(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rusts_runtime_ignores_broken_pipes_and_no_alarms() {
        // Not SIGINT: a shell ignores that for what it runs in the background.
        assert_eq!([signal_hook::consts::SIGALRM, signal_hook::consts::SIGPIPE].map(is_ignored), [false, true]);
    }
}
