//! The terminal: how wide it is, and what progress lines are drawn on.

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};
use std::io;

/// Returns how many columns standard output has: those that the variable COLUMNS tells, or those of its terminal. A file
/// or a pipe has no end to its right.
pub fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok()).filter(|&columns| columns > 0);
    told.or_else(|| own(&Term::stdout())).unwrap_or(usize::MAX)
}

/// Returns how many columns the terminal has that standard error is. Its lines are for people there, and else for
/// programs, which read each as one.
pub fn stderr_columns() -> usize {
    own(&Term::stderr()).unwrap_or(usize::MAX)
}

fn own(term: &Term) -> Option<usize> {
    term.size_checked().map(|(_, columns)| columns.into()).filter(|&columns| columns > 0)
}

/// Columns that a progress line leaves free at its right, so that the `^C` that a terminal shows for each Ctrl-C stays
/// on the line, and is cleared with it.
const MARGIN: u16 = 5;

/// How many times a second a line is drawn at most.
const HZ: u8 = 20;

/// Returns standard error as what progress is drawn on; nothing is drawn where that is no terminal.
pub(crate) fn stderr() -> ProgressDrawTarget {
    let term = Term::buffered_stderr();
    if !term.features().is_attended() {
        return ProgressDrawTarget::hidden();
    }
    ProgressDrawTarget::term_like_with_hz(Box::new(Narrower(term)), HZ)
}

/// A terminal without its last columns.
#[derive(Debug)]
struct Narrower(Term);

impl TermLike for Narrower {
    fn width(&self) -> u16 {
        TermLike::width(&self.0).saturating_sub(MARGIN).max(1)
    }

    fn height(&self) -> u16 {
        TermLike::height(&self.0)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_up(n)
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_down(n)
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_right(n)
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.0.move_cursor_left(n)
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.0.write_line(text)
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.0.write_str(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.0.clear_line()
    }

    fn flush(&self) -> io::Result<()> {
        self.0.flush()
    }
}
