//! What the program prints on its own account.

use std::io::Write;
use torr_report::{fit, terminal};

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

/// Prints a line to standard error, where a terminal breaks it between words.
pub fn note(line: &str) {
    anstream::eprintln!("{}", fit::wrap(&format!("torr: {line}"), terminal::stderr_columns()));
}

/// Prints to standard output as it is; a reader that has gone away is none of our business.
pub fn print(text: &str) {
    let mut out = anstream::stdout();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
