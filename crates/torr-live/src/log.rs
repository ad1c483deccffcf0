//! The log of what happened in a run: found by comparing what is known now with what was known before.

use std::collections::BTreeSet;
use torr_gauge::steering::{SteeringEvent, SteeringKind};
use torr_gauge::{Confidence, Factor, FailureKind, RunResult, Verdict};
use torr_report::human::{cut, printable, rate};

/// The most entries that are kept.
const MOST: usize = 500;
/// The most characters of a text of the server's.
const TEXT: usize = 120;

/// What an end by an operator is called.
pub const ENDED: &str = "ended by the operator";

/// How an entry is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Something that was expected.
    Plain,
    /// Something that asks for attention.
    Warn,
    /// An error.
    Bad,
}

/// An entry of the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Seconds since the measurement began.
    pub t: f64,
    /// What happened, without control characters.
    pub text: String,
    /// How the entry is shown.
    pub tone: Tone,
}

/// The entries, the oldest first.
#[derive(Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// The classes of errors that were seen.
    seen: BTreeSet<(FailureKind, Option<u16>, Option<String>)>,
    suspected: Option<Factor>,
    marks: u64,
}

impl Log {
    /// Returns the entries, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Adds an entry. Of a text of others all that a terminal acts on is escaped.
    pub fn add(&mut self, t: f64, text: impl AsRef<str>, tone: Tone) {
        if self.entries.len() == MOST {
            self.entries.remove(0);
        }
        self.entries.push(Entry { t, text: printable(text.as_ref()).into_owned(), tone });
    }

    /// Adds the errors that are seen for the first time.
    pub fn errors(&mut self, run: &RunResult) {
        for span in &run.error_times {
            let grpc = span.grpc.as_deref().map(str::to_owned);
            if !self.seen.insert((span.kind, span.status, grpc)) {
                continue;
            }
            let what = match (&span.grpc, span.status) {
                (Some(name), _) => format!("status {name}"),
                (None, Some(status)) => format!("status {status}"),
                (None, None) => {
                    let cause = run.causes.iter().find(|cause| cause.kind == span.kind);
                    cause.map_or_else(|| span.kind.to_string(), |cause| format!("{}: {}", span.kind, cause.what))
                }
            };
            self.add(span.first_s, format!("first error: {}", cut(&what, TEXT)), Tone::Bad);
        }
    }

    /// Adds the verdict where it points to another factor than before.
    pub fn verdict(&mut self, t: f64, verdict: &Verdict) {
        let names_one = verdict.confidence != Confidence::Unknown;
        let factor = if names_one { verdict.factor } else { Factor::Unknown };
        if self.suspected.replace(factor) != Some(factor) && names_one {
            match factor {
                Factor::None => self.add(t, "no limiting factor: the service keeps the rate", Tone::Plain),
                factor => self.add(t, format!("suspected limit: {factor}"), Tone::Warn),
            }
        }
    }

    /// Adds what an operator did. `planned` is the planned rate.
    pub fn steered(&mut self, event: SteeringEvent, planned: Option<f64>, unit: &str) {
        let value = event.value.unwrap_or(0.0);
        let text = match event.what {
            SteeringKind::Pause => "paused: Torr sends no requests".to_owned(),
            SteeringKind::Resume => "continued".to_owned(),
            SteeringKind::Rate => match planned {
                Some(planned) => format!("rate {} {unit}/s", rate(planned * value)),
                None => format!("rate {:.0}% of the stages", value * 100.0),
            },
            SteeringKind::Connections => format!("{value} connections"),
            SteeringKind::Mark => {
                self.marks += 1;
                format!("mark {}", self.marks)
            }
            SteeringKind::End => ENDED.to_owned(),
        };
        self.add(event.t, text, Tone::Plain);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_sends_is_escaped_and_cut() {
        let mut log = Log::default();
        log.add(1.0, "bad\u{1b}[2J\r\ntext", Tone::Bad);
        assert!(!log.entries()[0].text.chars().any(char::is_control), "{:?}", log.entries());
    }

    #[test]
    fn a_verdict_is_logged_once_and_an_unknown_one_never() {
        let mut log = Log::default();
        let verdict = |factor, confidence| Verdict::new(factor, confidence, "");
        log.verdict(1.0, &verdict(Factor::Unknown, Confidence::Unknown));
        log.verdict(2.0, &verdict(Factor::Database, Confidence::Likely));
        log.verdict(3.0, &verdict(Factor::Database, Confidence::Likely));
        log.verdict(4.0, &verdict(Factor::Unknown, Confidence::Unknown));
        log.verdict(5.0, &verdict(Factor::Database, Confidence::Likely));
        let times: Vec<_> = log.entries().iter().map(|entry| entry.t).collect();
        assert_eq!(times, [2.0, 5.0]);
    }

    #[test]
    fn the_log_is_bounded_and_marks_are_numbered() {
        let mut log = Log::default();
        for t in 0..2 * MOST {
            let event = SteeringEvent { t: t as f64, what: SteeringKind::Mark, value: None };
            log.steered(event, None, "requests");
        }
        assert_eq!((log.entries().len(), log.entries()[MOST - 1].text.as_str()), (MOST, "mark 1000"));
    }
}
