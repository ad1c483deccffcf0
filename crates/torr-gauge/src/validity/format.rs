//! The format of numbers in findings.

/// Formats a share of 0 to 1 as a percentage with at most two decimals.
pub(super) fn percent(share: f64) -> String {
    match share.abs() * 100.0 {
        0.0 => "0%".into(),
        p if p < 0.095 => format!("{p:.2}%"),
        p if p < 9.95 => format!("{p:.1}%"),
        p => format!("{p:.0}%"),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.0005, -0.031, 0.31, 2.0].map(percent), ["0%", "0.05%", "3.1%", "31%", "200%"]);
        assert_eq!([12.0, 1500.0, 25_000.0, 2.5e6].map(micros), ["12 us", "1.5 ms", "25 ms", "2.5 s"]);
    }
}
