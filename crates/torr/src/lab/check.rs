//! The check of a row: a hurl file that is walked through before anything is timed.

use super::call::{Ended, Output};
use super::folder;
use super::load::torr;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use torr_net::errors::describe;
use torr_report::human::cut;

/// The longest line of a failure.
const LONGEST: usize = 200;

/// Walks through a check, whose variables are `url`, that of the level, and `base`, the same without what follows the path.
///
/// # Errors
/// What was not as expected.
pub fn check(text: &str, url: &str, base: &str, certificate: Option<&Path>, stop: &AtomicBool) -> Result<(), Ended> {
    let folder = folder::temporary()?;
    let file = folder.path().join("check.hurl");
    let written = fs::write(&file, text);
    written.map_err(|error| format!("cannot write {}: {}", file.display(), describe(&error)))?;
    let mut arguments = vec!["once".into(), file.into_os_string()];
    for variable in [format!("url={url}"), format!("base={base}")] {
        arguments.extend(["--variable".into(), variable.into()]);
    }
    if let Some(certificate) = certificate {
        arguments.extend(["--cacert".into(), certificate.into()]);
    }
    let output = torr(&arguments, stop)?;
    if output.success { Ok(()) } else { Err(format!("a check failed: {}", cut(&why(&output), LONGEST)).into()) }
}

/// Returns what the transcript says about the failure: the first assert that failed, with what it expected and what was there.
fn why(output: &Output) -> String {
    let mut lines = output.stdout.lines().map(str::trim).skip_while(|line| !line.starts_with("failed:"));
    let Some(first) = lines.next() else { return output.last_line().to_owned() };
    let details = lines.take_while(|line| line.starts_with("expected:") || line.starts_with("actual:"));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let all = std::iter::once(words(first.trim_start_matches("failed:"))).chain(details.map(words));
    all.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_one_line() {
        let transcript = "< Hello\n  1.4 ms\n  failed: body == \"x\"\n    expected: string \"x\"\n    actual:   string \"y\"\n\nThe session failed";
        let output =
            |stdout: &str, stderr: &str| Output { success: false, stdout: stdout.into(), stderr: stderr.into() };
        assert_eq!(why(&output(transcript, "")), "body == \"x\"; expected: string \"x\"; actual: string \"y\"");
        assert_eq!(why(&output("", "torr: no such server\n")), "torr: no such server");
    }
}
