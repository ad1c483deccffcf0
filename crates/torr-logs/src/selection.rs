//! What of a log is taken.

use crate::logged::Line;
use crate::time::{DAY, SECOND, Stamp, time_of_day};

/// What of a log is taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The methods that are taken, in upper case.
    pub methods: Vec<String>,
    /// The hosts that are taken where the log names hosts, in lower case; `*` is any.
    pub hosts: Vec<String>,
    /// The time from which on lines are taken.
    pub from: Option<TimeBound>,
    /// The time before which lines are taken.
    pub to: Option<TimeBound>,
}

/// A bound of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeBound {
    /// A time of the day by the log's clock, in seconds.
    OfDay(i64),
    /// Nanoseconds since the Unix epoch.
    At(i64),
}

impl TimeBound {
    /// Parses `10:00`, `10:00:30`, or a time with a date (RFC 3339).
    ///
    /// # Errors
    /// Returns what was expected, if the text is no time.
    pub fn parse(text: &str) -> Result<Self, String> {
        let of_day = || time_of_day(text).map(Self::OfDay);
        let bound = of_day().or_else(|| Stamp::iso(text).map(|stamp| Self::At(stamp.at)));
        bound.ok_or_else(|| "expected a time such as 10:00, or 2026-11-29T10:00:00Z".to_owned())
    }

    /// Returns the first such time at `at` or later, by a clock that is `offset` seconds ahead of UTC.
    fn from(self, at: i64, offset: i32) -> i64 {
        match self {
            Self::At(time) => time,
            Self::OfDay(second) => {
                let now = at.div_euclid(SECOND) + i64::from(offset);
                let midnight = now - now.rem_euclid(DAY);
                let today = (midnight + second - i64::from(offset)) * SECOND;
                if today >= at { today } else { today + DAY * SECOND }
            }
        }
    }
}

/// The range of times of a selection, by the clock of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimeRange {
    pub from: i64,
    /// The end, which is not part of the range.
    pub to: i64,
}

impl TimeRange {
    /// Returns the range of a log whose first line has this time. A time of the day is that of the log's first day, or of the night
    /// after it.
    pub fn of(selection: &Selection, first: Stamp) -> Self {
        let (at, offset) = (first.at, first.offset);
        let day = DAY * SECOND;
        match (selection.from, selection.to) {
            (Some(from @ TimeBound::OfDay(_)), Some(to)) => {
                // A log may begin within the range.
                let to = to.from(at + 1, offset);
                let from = from.from(to - day, offset);
                Self { from, to }
            }
            (from, to) => {
                let from = from.map(|from| match from {
                    TimeBound::OfDay(_) if from.from(at, offset) - day / 2 > at => from.from(at, offset) - day,
                    from => from.from(at, offset),
                });
                let to = to.map_or(i64::MAX, |to| to.from(from.unwrap_or(at).max(at) + 1, offset));
                Self { from: from.unwrap_or(i64::MIN), to }
            }
        }
    }
}

impl Selection {
    /// The methods that are taken unless others are given: those that change nothing.
    pub const SAFE: &str = "GET,HEAD,OPTIONS";

    /// Parses a method.
    ///
    /// # Errors
    /// Returns what was expected, if the text is none.
    pub fn method(text: &str) -> Result<String, String> {
        let text = text.trim();
        let is_one =
            (1..=32).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-');
        if is_one { Ok(text.to_ascii_uppercase()) } else { Err("must be methods with commas between them".to_owned()) }
    }

    /// Parses the name of a host, from a URL as well, without its port.
    ///
    /// # Errors
    /// Returns what was expected, if the text is none.
    pub fn host(text: &str) -> Result<String, String> {
        let host = text.split_once("://").map_or(text, |(_, host)| host).trim_end_matches('/');
        let is_one = !host.is_empty() && !host.contains(|c: char| c.is_whitespace() || c == '/' || c == '@');
        let without_port = match host.rsplit_once(':') {
            Some((front, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => front,
            _ => host,
        };
        if is_one { Ok(without_port.to_ascii_lowercase()) } else { Err("must be the name of a host".to_owned()) }
    }

    /// Returns whether a line's method is taken.
    pub(crate) fn takes_method(&self, line: &Line) -> bool {
        self.methods.contains(&line.method)
    }

    /// Returns whether a line's host is taken, as all lines without one are.
    pub(crate) fn takes_host(&self, line: &Line) -> bool {
        let Some(host) = &line.host else { return true };
        self.hosts.iter().any(|one| one == "*" || one == host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: Option<&str>, to: Option<&str>, first: &str) -> (String, String) {
        let bound = |text: &str| TimeBound::parse(text).expect("it is a time");
        let selection = Selection { from: from.map(bound), to: to.map(bound), ..Selection::default() };
        let range = TimeRange::of(&selection, Stamp::common(first).expect("it is a time"));
        let shown = |at: i64| if at == i64::MIN || at == i64::MAX { "-".to_owned() } else { crate::time::rfc3339(at) };
        (shown(range.from), shown(range.to))
    }

    #[test]
    fn times_of_the_day_are_those_of_the_log() {
        let first = "29/Nov/2026:09:30:00 +0100";
        for (from, to, expected) in [
            (Some("10:00"), Some("10:30"), ("2026-11-29T09:00:00Z", "2026-11-29T09:30:00Z")),
            // The log begins within the range, and behind it.
            (Some("09:00"), Some("10:00:30"), ("2026-11-29T08:00:00Z", "2026-11-29T09:00:30Z")),
            (Some("08:00"), Some("09:00"), ("2026-11-30T07:00:00Z", "2026-11-30T08:00:00Z")),
            (Some("23:00"), Some("01:00"), ("2026-11-29T22:00:00Z", "2026-11-30T00:00:00Z")),
            (Some("09:00"), None, ("2026-11-29T08:00:00Z", "-")),
            (Some("10:00"), None, ("2026-11-29T09:00:00Z", "-")),
            (None, Some("10:00"), ("-", "2026-11-29T09:00:00Z")),
            (Some("2026-11-29T09:10:00Z"), Some("11:00"), ("2026-11-29T09:10:00Z", "2026-11-29T10:00:00Z")),
            (None, None, ("-", "-")),
        ] {
            assert_eq!(range(from, to, first), (expected.0.to_owned(), expected.1.to_owned()), "{from:?} {to:?}");
        }
        assert!(TimeBound::parse("10").is_err() && TimeBound::parse("25:00").is_err());
    }
}
