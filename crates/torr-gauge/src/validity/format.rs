//! The format of numbers in findings.

use crate::share;

/// Formats the distance of a share from 0 as a percentage with at most two decimals.
pub(super) fn percent(share: f64) -> String {
    share::percent(share.abs(), 2)
}

/// Formats a time given in microseconds.
pub(super) fn micros(us: f64) -> String {
    match us {
        us if us < 1e3 => format!("{us:.0} us"),
        us if us < 1e4 => format!("{:.1} ms", us / 1e3),
        us if us < 1e6 => format!("{:.0} ms", us / 1e3),
        us => format!("{:.1} s", us / 1e6),
    }
}

/// Formats a time given in seconds.
pub(super) fn seconds(seconds: f64) -> String {
    format!("{} s", (seconds * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.0005, -0.031, 0.31, 2.0].map(percent), ["0%", "0.05%", "3.1%", "31%", "200%"]);
        assert_eq!([12.0, 1500.0, 25_000.0, 2.5e6].map(micros), ["12 us", "1.5 ms", "25 ms", "2.5 s"]);
        assert_eq!([4.0, 1.25, 0.0].map(seconds), ["4 s", "1.3 s", "0 s"]);
    }
}
