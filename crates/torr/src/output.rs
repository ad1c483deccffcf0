//! What the program prints on its own account.

use std::io::{ErrorKind, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use torr_gauge::redact;
use torr_report::{fit, terminal};

/// Whether a text for standard output was lost. All commands print, and each would have to hand the failure to its exit code.
static IS_LOST: AtomicBool = AtomicBool::new(false);

/// How many columns standard output has.
pub fn columns() -> usize {
    terminal::columns()
}

/// How many columns a table has whose lines are indented by two.
pub fn columns_of_table() -> usize {
    columns().saturating_sub(2)
}

/// Prints a report to standard output, broken between words where it is wider than that.
pub fn report(text: &str) {
    print(&fit::wrap(text, columns()));
}

/// Prints a line to standard error, without the secrets of URLs and what a terminal acts on; a terminal breaks it between words.
pub fn note(line: &str) {
    anstream::eprintln!("{}", fit::wrap(&format!("torr: {}", redact::line(line)), terminal::stderr_columns()));
}

/// Prints a URL of this program's own to standard error, with the token that its user needs to open it.
pub fn note_own_url(what: &str, url: &str) {
    anstream::eprintln!("torr: {what}: {}", redact::printable(url));
}

/// Prints to standard output as it is; a reader that has gone away is none of our business. The first text that is lost otherwise
/// gets a line on standard error.
pub fn print(text: &str) {
    let mut out = anstream::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
        && !IS_LOST.swap(true, Ordering::Relaxed)
    {
        note(&format!("cannot write to standard output: {error}"));
    }
}

/// Returns the exit code of a program that would end with `code`: 1 instead of 0 if a text for standard output was lost.
pub fn exit_code(code: ExitCode) -> ExitCode {
    if code == ExitCode::SUCCESS && IS_LOST.load(Ordering::Relaxed) { ExitCode::from(1) } else { code }
}
