//! The log of what happened in a run: found by comparing what is known now with what was known before.

use std::collections::BTreeSet;
use torr_gauge::steering::{SteeringEvent, SteeringKind};
use torr_gauge::{Confidence, Factor, FailureKind, RunResult, Verdict};
use torr_report::human::{cut, percent, printable, rate};

/// The most entries that are kept.
const MOST: usize = 500;
/// The most characters of a text of the server's.
const TEXT: usize = 120;

/// The share of an interval's requests from which errors are a burst.
const BURST: f64 = 0.05;
/// The share below which the burst has ended.
const CALM: f64 = 0.01;

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
    /// The short name of a moment that plots mark; `None` for others.
    pub mark: Option<String>,
}

/// The entries, the oldest first.
#[derive(Debug, Default)]
pub struct Log {
    entries: Vec<Entry>,
    /// The classes of errors that were seen.
    seen: BTreeSet<(FailureKind, Option<u16>, Option<String>)>,
    suspected: Option<Factor>,
    /// Whether errors are a large share of the requests now.
    bursts: bool,
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
        self.entries.push(Entry { t, text: printable(text.as_ref()).into_owned(), tone, mark: None });
    }

    /// Adds an entry whose moment plots mark with a short name.
    pub fn mark(&mut self, t: f64, text: impl AsRef<str>, tone: Tone, name: impl Into<String>) {
        self.add(t, text, tone);
        if let Some(entry) = self.entries.last_mut() {
            entry.mark = Some(name.into());
        }
    }

    /// Returns the marked moments in seconds, each with its short name, the oldest first.
    pub fn marks(&self) -> impl Iterator<Item = (f64, &str)> {
        self.entries.iter().filter_map(|entry| Some((entry.t, entry.mark.as_deref()?)))
    }

    /// Adds that errors began to be a large share of the requests of an interval, and that they ended.
    pub fn burst(&mut self, t: f64, requests: u64, errors: u64) {
        let share = errors as f64 / requests.max(errors).max(1) as f64;
        if !self.bursts && share >= BURST {
            self.bursts = true;
            self.mark(t, format!("errors rose to {} of requests", percent(share)), Tone::Bad, "errors");
        } else if self.bursts && share < CALM {
            self.bursts = false;
            self.mark(t, format!("errors fell to {} of requests", percent(share)), Tone::Plain, "errors end");
        }
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
        let (text, name) = match event.what {
            SteeringKind::Pause => ("paused: Torr sends no requests".to_owned(), "pause".to_owned()),
            SteeringKind::Resume => ("continued".to_owned(), "continue".to_owned()),
            SteeringKind::Rate => match planned {
                Some(planned) => {
                    let rate = rate(planned * value);
                    (format!("rate {rate} {unit}/s"), format!("{rate}/s"))
                }
                None => (format!("rate {:.0}% of the stages", value * 100.0), format!("{:.0}%", value * 100.0)),
            },
            SteeringKind::Connections => (format!("{value} connections"), format!("{value} conn.")),
            SteeringKind::Mark => {
                self.marks += 1;
                (format!("mark {}", self.marks), format!("mark {}", self.marks))
            }
            SteeringKind::End => (ENDED.to_owned(), "end".to_owned()),
        };
        self.mark(event.t, text, Tone::Plain, name);
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
    fn a_burst_of_errors_is_marked_where_it_begins_and_ends() {
        let mut log = Log::default();
        for (t, errors) in [(1.0, 0), (2.0, 4), (3.0, 50), (4.0, 80), (5.0, 2), (6.0, 0), (7.0, 0)] {
            log.burst(t, 100, errors);
        }
        assert_eq!(log.marks().collect::<Vec<_>>(), [(3.0, "errors"), (6.0, "errors end")]);
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
