//! The terminal: its width, and the target of progress lines.

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};
use std::io;

/// Returns the width of standard output in columns: that of the variable COLUMNS, or of its terminal. A file or a pipe has
/// no limit.
pub fn columns() -> usize {
    let configured =
        std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok()).filter(|&columns| columns > 0);
    configured.or_else(|| own(&Term::stdout())).unwrap_or(usize::MAX)
}

/// Returns the width of the terminal on standard error in columns. A file or a pipe has no limit, because programs read
/// its lines whole.
pub fn stderr_columns() -> usize {
    own(&Term::stderr()).unwrap_or(usize::MAX)
}

fn own(term: &Term) -> Option<usize> {
    term.size_checked().map(|(_, columns)| columns.into()).filter(|&columns| columns > 0)
}

/// Columns that a progress line leaves free at its right end, so that the `^C` of a Ctrl-C stays on the line and is
/// cleared with it.
const MARGIN: u16 = 5;

/// The highest rate at which a line is drawn, per second.
const HZ: u8 = 20;

/// Returns standard error as a target of progress lines, hidden if it is not a terminal.
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
