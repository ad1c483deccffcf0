//! Figures as they stand in sentences.

use torr_gauge::share;

/// Formats a share as a percentage without decimals.
pub fn percent(share: f64) -> String {
    share::percent(share, 0)
}

/// A rate per second.
pub fn rate(per_second: f64) -> String {
    match per_second {
        rate if rate >= 10_000.0 => format!("{:.1}k/s", rate / 1000.0),
        rate if rate >= 100.0 => format!("{rate:.0}/s"),
        rate => format!("{rate:.1}/s"),
    }
}

/// A time given in seconds.
pub fn time(seconds: f64) -> String {
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.01 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.001 => format!("{:.1} ms", s * 1e3),
        s => format!("{:.0} us", s * 1e6),
    }
}

/// A count with its noun, which takes an `s` if there are several.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_the_digits_that_mean_something() {
        assert_eq!([rate(123_456.0), rate(1234.4), rate(12.34)], ["123.5k/s", "1234/s", "12.3/s"]);
        assert_eq!([time(1.234), time(0.0404), time(0.00123), time(0.000_055)], ["1.23 s", "40 ms", "1.2 ms", "55 us"]);
        assert_eq!((counted(1, "worker"), counted(2, "worker")), ("1 worker".into(), "2 workers".into()));
        assert_eq!(percent(0.294), "29%");
    }
}
