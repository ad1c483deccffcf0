//! The times of errors: the first and the last of each class.

use crate::FailureKind;
use crate::GrpcStatus;
use crate::bounds::{Bounded, LONGEST_NS, OutOfBounds, at_most, within};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The class of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ErrorClass {
    /// A request without a complete response, by the step that failed.
    Kind(FailureKind),
    /// A response with this status of 400 or more; of gRPC, as [`GrpcStatus::counted_as`] has it.
    Status(u16),
}

/// The first time, last time and number of the errors of each class. The size is bounded: a status has three digits.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ErrorTimes(#[serde(with = "crate::pairs")] BTreeMap<ErrorClass, Span>);

/// The errors of one class, with times in nanoseconds since the measurement began.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Span {
    first: u64,
    last: u64,
    count: u64,
}

impl ErrorTimes {
    /// Records an error at a time in nanoseconds since the measurement began.
    pub fn record(&mut self, class: ErrorClass, at: u64) {
        self.record_many(class, at, 1);
    }

    /// Records so many errors of a class at a time in nanoseconds since the measurement began.
    pub fn record_many(&mut self, class: ErrorClass, at: u64, count: u64) {
        self.merge(class, Span { first: at, last: at, count });
    }

    /// Adds the errors of another table.
    pub fn add(&mut self, other: &Self) {
        other.0.iter().for_each(|(&class, &span)| self.merge(class, span));
    }

    fn merge(&mut self, class: ErrorClass, span: Span) {
        let known = self.0.entry(class).or_insert(Span { count: 0, ..span });
        known.first = known.first.min(span.first);
        known.last = known.last.max(span.last);
        known.count = known.count.saturating_add(span.count);
    }

    /// Returns the spans of all classes, in the order of their first errors.
    pub fn spans(&self) -> Vec<ErrorSpan> {
        let mut all: Vec<_> = self.0.iter().collect();
        all.sort_by_key(|(_, span)| span.first);
        let seconds = |nanos: u64| (nanos as f64 / 1e6).round() / 1e3;
        all.into_iter()
            .map(|(&class, span)| ErrorSpan {
                kind: match class {
                    ErrorClass::Kind(kind) => kind,
                    ErrorClass::Status(_) => FailureKind::Status,
                },
                status: match class {
                    ErrorClass::Kind(_) => None,
                    ErrorClass::Status(status) => Some(status).filter(|status| GrpcStatus::of_count(*status).is_none()),
                },
                grpc: match class {
                    ErrorClass::Kind(_) => None,
                    ErrorClass::Status(status) => GrpcStatus::of_count(status).map(|status| status.name().into()),
                },
                count: span.count,
                first_s: seconds(span.first),
                last_s: seconds(span.last),
            })
            .collect()
    }
}

impl Bounded for ErrorTimes {
    fn bound(&mut self, most: u64) -> Result<(), OutOfBounds> {
        at_most("error_times", self.0.values().map(|span| span.count), most)?;
        for (class, &Span { first, last, count: _ }) in &self.0 {
            if let ErrorClass::Status(status) = class {
                within("error_times", *status, 0..=999)?;
            }
            within("error_times", last, first..=LONGEST_NS)?;
        }
        Ok(())
    }
}

/// The time span of the errors of one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorSpan {
    /// The step that failed; `status` for a complete response with a status of 400 or more.
    pub kind: FailureKind,
    /// The status of 400 or more; `None` for other kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The name of the status of gRPC; `None` for other errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grpc: Option<Cow<'static, str>>,
    /// The number of errors.
    pub count: u64,
    /// The time of the first error in seconds since the measurement began.
    pub first_s: f64,
    /// The time of the last error in seconds since the measurement began.
    pub last_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_has_its_first_and_its_last_error_whatever_the_order() {
        let (mut one, mut all) = (ErrorTimes::default(), ErrorTimes::default());
        let ms = |ms: u64| ms * 1_000_000;
        for at in [4000, 2900, 5800] {
            one.record(ErrorClass::Status(503), ms(at));
        }
        one.record(ErrorClass::Kind(FailureKind::Timeout), ms(1200));
        all.record(ErrorClass::Status(503), ms(6100));
        all.record(ErrorClass::Status(404), ms(0));
        all.add(&one);
        let spans = all.spans();
        let spans: Vec<_> =
            spans.iter().map(|span| (span.kind, span.status, span.count, span.first_s, span.last_s)).collect();
        let expected = [
            (FailureKind::Status, Some(404), 1, 0.0, 0.0),
            (FailureKind::Timeout, None, 1, 1.2, 1.2),
            (FailureKind::Status, Some(503), 4, 2.9, 6.1),
        ];
        assert_eq!(spans, expected);
    }
}
