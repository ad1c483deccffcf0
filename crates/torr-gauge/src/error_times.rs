//! When errors happened: the first and the last of each sort.

use crate::FailureKind;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What errors are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ErrorClass {
    /// A request without a whole response, by the step that failed.
    Kind(FailureKind),
    /// A response with this status, 400 or more.
    Status(u16),
}

/// First, last and number of the errors of each sort. Its size does not depend on how many there are: a status has three
/// digits.
#[derive(Debug, Default)]
pub struct ErrorTimes(BTreeMap<ErrorClass, Span>);

/// Errors of one sort: times in nanoseconds since the measurement began.
#[derive(Debug, Clone, Copy)]
struct Span {
    first: u64,
    last: u64,
    count: u64,
}

impl ErrorTimes {
    /// Records an error that happened so many nanoseconds after the measurement had begun.
    pub fn record(&mut self, sort: ErrorClass, at: u64) {
        self.merge(sort, Span { first: at, last: at, count: 1 });
    }

    /// Adds the errors of another.
    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(&sort, &span)| self.merge(sort, span));
    }

    fn merge(&mut self, sort: ErrorClass, span: Span) {
        let known = self.0.entry(sort).or_insert(Span { count: 0, ..span });
        known.first = known.first.min(span.first);
        known.last = known.last.max(span.last);
        known.count += span.count;
    }

    /// Returns all of them, in the order of the first of each sort.
    pub fn spans(&self) -> Vec<ErrorSpan> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(_, span)| span.first);
        let seconds = |nanos: u64| (nanos as f64 / 1e6).round() / 1e3;
        all.into_iter()
            .map(|(&sort, span)| ErrorSpan {
                kind: match sort {
                    ErrorClass::Kind(kind) => kind,
                    ErrorClass::Status(_) => FailureKind::Status,
                },
                status: match sort {
                    ErrorClass::Kind(_) => None,
                    ErrorClass::Status(status) => Some(status),
                },
                count: span.count,
                first_s: seconds(span.first),
                last_s: seconds(span.last),
            })
            .collect()
    }
}

/// When errors of one kind, or responses of one failing status, happened.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorSpan {
    /// The step that failed; `status` for a whole response with a status of 400 or more.
    pub kind: FailureKind,
    /// That status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// How many there were.
    pub count: u64,
    /// When the first happened, in seconds since the measurement began.
    pub first_s: f64,
    /// When the last happened.
    pub last_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sort_has_its_first_and_its_last_whatever_the_order() {
        let (mut one, mut all) = (ErrorTimes::default(), ErrorTimes::default());
        let ms = |ms: u64| ms * 1_000_000;
        for at in [4000, 2900, 5800] {
            one.record(ErrorClass::Status(503), ms(at));
        }
        one.record(ErrorClass::Kind(FailureKind::Timeout), ms(1200));
        all.record(ErrorClass::Status(503), ms(6100));
        all.record(ErrorClass::Status(404), ms(0));
        all.add(&one);
        let told = all.spans();
        let told: Vec<_> =
            told.iter().map(|span| (span.kind, span.status, span.count, span.first_s, span.last_s)).collect();
        let expected = [
            (FailureKind::Status, Some(404), 1, 0.0, 0.0),
            (FailureKind::Timeout, None, 1, 1.2, 1.2),
            (FailureKind::Status, Some(503), 4, 2.9, 6.1),
        ];
        assert_eq!(told, expected);
    }
}
