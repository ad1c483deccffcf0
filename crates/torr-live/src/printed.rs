//! What the scripts of a run printed.

use std::collections::VecDeque;
use torr_report::human::{cut, printable};

/// The most lines that are kept.
const LINES: usize = 200;
/// The most characters of a line.
const LENGTH: usize = 500;

/// The last lines that scripts printed, without control characters.
#[derive(Debug, Default)]
pub struct Printed {
    lines: VecDeque<String>,
    /// The number of all lines, those that are kept no longer included.
    count: u64,
}

impl Printed {
    /// Adds a line.
    pub fn add(&mut self, line: &str) {
        if self.lines.len() == LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(printable(&cut(line, LENGTH)).into_owned());
        self.count += 1;
    }

    /// Returns the lines that are kept, the oldest first.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &str> + ExactSizeIterator {
        self.lines.iter().map(String::as_str)
    }

    /// Returns the number of all lines.
    pub fn count(&self) -> u64 {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_have_no_control_characters() {
        let mut printed = Printed::default();
        (0..1000).for_each(|n| printed.add(&format!("\u{1b}[2J line {n} {}", "x".repeat(10_000))));
        assert_eq!((printed.lines().len(), printed.count()), (LINES, 1000));
        assert!(printed.lines().all(|line| line.chars().count() < LENGTH + 20 && !line.chars().any(char::is_control)));
    }
}
