//! Durations as k6 writes them: `1d12h`, `1m30s`, `1.5s`, `100ms`, or a number of milliseconds.

use std::fmt::Write as _;
use std::time::Duration;

/// The longest duration that is accepted: 100 years fit into 64-bit nanoseconds five times.
const MAX_NANOS: f64 = 100.0 * 365.0 * 86_400.0 * 1e9;

/// The units with their nanoseconds. A longer name stands before a shorter one that it begins with.
const UNITS: [(&str, f64); 8] =
    [("ns", 1.0), ("us", 1e3), ("\u{b5}s", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3_600e9), ("d", 86_400e9)];

/// Reads a duration whose numbers have units, with a sign in front if it is negative.
///
/// # Errors
/// If the text is no duration, or the duration is negative or too long.
pub fn parse_with_unit(text: &str) -> Result<Duration, String> {
    let invalid = || format!("expected a duration such as '30s' or '1m30s', found '{text}'");
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = unsigned;
    let mut nanos = 0.0;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(invalid)?;
        let number: f64 = rest[..digits].parse().map_err(|_| invalid())?;
        let after = &rest[digits..];
        let (unit, factor) = UNITS.iter().find(|(name, _)| is_unit(after, name)).ok_or_else(invalid)?;
        nanos += number * factor;
        rest = &after[unit.len()..];
    }
    if unsigned.is_empty() {
        return Err(invalid());
    }
    from_nanos(if text.starts_with('-') { -nanos } else { nanos }, text)
}

/// Reads a duration that may be a plain number of milliseconds.
///
/// # Errors
/// As [`parse_with_unit`].
pub fn parse(text: &str) -> Result<Duration, String> {
    match text.trim().parse::<f64>() {
        Ok(millis) if millis.is_finite() => from_nanos(millis * 1e6, text),
        _ => parse_with_unit(text.trim()),
    }
}

/// Returns the duration of a number of milliseconds.
///
/// # Errors
/// If it is negative or too long.
pub fn from_millis(millis: f64) -> Result<Duration, String> {
    from_nanos(millis * 1e6, &format!("{millis}"))
}

/// Returns the duration in the notation of Go: `1m30s`, `1.5s`, `250ms`, `0s`.
#[must_use]
pub fn format(duration: Duration) -> String {
    let nanos = duration.as_nanos();
    if nanos == 0 {
        return "0s".to_owned();
    }
    let (whole, unit, factor) = match nanos {
        0..1_000 => return format!("{nanos}ns"),
        1_000..1_000_000 => (nanos, "\u{b5}s", 1_000),
        1_000_000..1_000_000_000 => (nanos, "ms", 1_000_000),
        _ => {
            let seconds = nanos / 1_000_000_000;
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            let mut text = String::new();
            if hours > 0 {
                let _ = write!(text, "{hours}h");
            }
            if hours > 0 || minutes > 0 {
                let _ = write!(text, "{minutes}m");
            }
            return text + &decimal(nanos % 60_000_000_000, 1_000_000_000) + "s";
        }
    };
    decimal(whole, factor) + unit
}

/// Returns `value / factor` with as many decimals as it has; the factor is a power of ten.
fn decimal(value: u128, factor: u128) -> String {
    let fraction = value % factor;
    if fraction == 0 {
        return (value / factor).to_string();
    }
    let width = factor.ilog10() as usize;
    let digits = format!("{fraction:0width$}");
    format!("{}.{}", value / factor, digits.trim_end_matches('0'))
}

/// Returns whether a text begins with a unit: the letters up to the next digit are the unit's name.
fn is_unit(text: &str, name: &str) -> bool {
    let letters = text.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(text.len());
    &text[..letters] == name || (name == "\u{b5}s" && &text[..letters] == "\u{3bc}s")
}

fn from_nanos(nanos: f64, text: &str) -> Result<Duration, String> {
    if nanos < 0.0 {
        return Err(format!("a duration must not be negative, found '{text}'"));
    }
    if nanos > MAX_NANOS {
        return Err(format!("a duration must be at most 100 years, found '{text}'"));
    }
    Ok(Duration::from_nanos(nanos.round() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_durations() {
        for (text, millis) in [
            ("1h30m", 5_400_000.0),
            ("1.5s", 1_500.0),
            ("100ms", 100.0),
            ("1d12h", 129_600_000.0),
            ("1500", 1_500.0),
            ("0", 0.0),
            ("0s", 0.0),
            ("2us", 0.002),
            ("2\u{b5}s", 0.002),
            ("2\u{3bc}s", 0.002),
            (".5m", 30_000.0),
        ] {
            assert_eq!(parse(text), from_millis(millis), "{text}");
        }
        for text in ["", "s", "1x", "10 s", "1ss", "ten", "-1s", "-5", "1m-2s", "1e300", "NaN", "200000d"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_with_unit("10").is_err());
        assert_eq!(parse_with_unit("10s"), Ok(Duration::from_secs(10)));
    }

    #[test]
    fn notation_of_go() {
        for (millis, text) in [
            (0.0, "0s"),
            (0.000_5, "500ns"),
            (0.5, "500\u{b5}s"),
            (1.5, "1.5ms"),
            (1_500.0, "1.5s"),
            (60_000.0, "1m0s"),
            (90_500.0, "1m30.5s"),
            (600_000.0, "10m0s"),
            (3_600_000.0, "1h0m0s"),
            (129_600_000.0, "36h0m0s"),
        ] {
            let nanos = (millis * 1e6) as u64;
            assert_eq!(format(Duration::from_nanos(nanos)), text);
        }
    }
}
