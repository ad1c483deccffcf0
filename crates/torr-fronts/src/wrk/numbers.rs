//! Numbers with units, as wrk parses them.

/// A series of units, each a multiple of the one before.
#[derive(Debug, Clone, Copy)]
pub struct Units {
    /// The optional suffix of the factor 1.
    base: &'static str,
    scale: u64,
    larger: &'static [&'static str],
}

/// The units k, M, G, T and P.
pub const METRIC: Units = Units { base: "", scale: 1000, larger: &["k", "M", "G", "T", "P"] };
/// The units s, m and h.
pub const TIME: Units = Units { base: "s", scale: 60, larger: &["m", "h"] };

/// Parses a whole number with an optional unit in upper or lower case. Returns `None` for any other text.
pub fn scaled(text: &str, units: Units) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (text[..digits].parse::<u64>().ok()?, &text[digits..]);
    let steps = match unit {
        unit if unit.is_empty() || unit.eq_ignore_ascii_case(units.base) => 0,
        unit => 1 + units.larger.iter().position(|larger| larger.eq_ignore_ascii_case(unit))? as u32,
    };
    number.checked_mul(units.scale.checked_pow(steps)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units() {
        let metric = ["0", "7", "5k", "5K", "2M", "1g"].map(|text| scaled(text, METRIC).unwrap());
        assert_eq!(metric, [0, 7, 5_000, 5_000, 2_000_000, 1_000_000_000]);
        assert_eq!(["10", "10s", "2m", "1h"].map(|text| scaled(text, TIME).unwrap()), [10, 10, 120, 3600]);
        for bad in ["", "k", "1.5k", "-1", "10ms", "5x", "99999999999999999999", "99999999P"] {
            assert_eq!((bad, scaled(bad, METRIC)), (bad, None));
        }
        assert_eq!(scaled("100ms", TIME), None);
    }
}
