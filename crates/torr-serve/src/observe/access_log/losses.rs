//! Failures to write the access log, which are reported once a minute at most.

use std::io;
use std::time::{Duration, Instant};

#[derive(Debug, Default)]
pub(super) struct Losses {
    /// Lines that were dropped since the last report.
    lines: u64,
    /// The last error that is not reported.
    reason: Option<String>,
    reported: Option<Instant>,
}

const PAUSE: Duration = Duration::from_secs(60);

impl Losses {
    /// Adds a failure and the number of lines that it lost.
    pub fn add(&mut self, lines: u64, error: &io::Error) {
        self.lines += lines;
        self.reason = Some(error.to_string());
    }

    /// Returns the report that is due, if any.
    pub fn report(&mut self, now: Instant) -> Option<String> {
        if self.reason.is_none() || self.reported.is_some_and(|at| now.saturating_duration_since(at) < PAUSE) {
            return None;
        }
        self.reported = Some(now);
        self.text()
    }

    /// Returns the last report, if lines were lost that are not reported.
    pub fn last_report(&mut self) -> Option<String> {
        if self.lines > 0 { self.text() } else { None }
    }

    fn text(&mut self) -> Option<String> {
        let reason = self.reason.take()?;
        let lines = std::mem::take(&mut self.lines);
        Some(match lines {
            0 => format!("cannot write: {reason}; no line was lost yet"),
            1 => format!("cannot write: {reason}; 1 line was lost"),
            _ => format!("cannot write: {reason}; {lines} lines were lost"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_comes_at_once_and_then_once_a_minute() {
        let (mut losses, start) = (Losses::default(), Instant::now());
        assert_eq!(losses.report(start), None);
        losses.add(0, &io::Error::other("full"));
        assert_eq!(losses.report(start).as_deref(), Some("cannot write: full; no line was lost yet"));
        losses.add(3, &io::Error::other("full"));
        losses.add(4, &io::Error::other("fuller"));
        assert_eq!(losses.report(start + PAUSE - Duration::from_nanos(1)), None);
        assert_eq!(losses.report(start + PAUSE).as_deref(), Some("cannot write: fuller; 7 lines were lost"));
        assert_eq!(losses.report(start + 2 * PAUSE), None);
        losses.add(1, &io::Error::other("full"));
        assert_eq!(losses.last_report().as_deref(), Some("cannot write: full; 1 line was lost"));
        assert_eq!(losses.last_report(), None);
    }
}
