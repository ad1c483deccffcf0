//! Parsing of numbers with underscores, multipliers and exponents: `100000`, `100_000`, `100k`, `1.5M`, `1e5`.

/// Parses a whole number exactly: `1.5k` is 1500, and `1.5` is `None`.
pub fn count(text: &str) -> Option<u64> {
    let Decimal { digits, power } = Decimal::parse(text)?;
    let scale = 10_u128.checked_pow(power.unsigned_abs())?;
    let whole = if power < 0 { (digits % scale == 0).then(|| digits / scale) } else { digits.checked_mul(scale) };
    whole?.try_into().ok()
}

/// Parses a number of 0 or more.
pub fn number(text: &str) -> Option<f64> {
    let Decimal { digits, power } = Decimal::parse(text)?;
    // The standard library rounds to the nearest number.
    format!("{digits}e{power}").parse().ok()
}

/// A number as `digits * 10^power`.
struct Decimal {
    digits: u128,
    power: i32,
}

impl Decimal {
    /// The limit of the power, above any sensible number.
    const MAX_POWER: i32 = 30;

    fn parse(text: &str) -> Option<Self> {
        let (mantissa, mut power) = match text.char_indices().last()? {
            (at, 'k' | 'K') => (&text[..at], 3),
            (at, 'm' | 'M') => (&text[..at], 6),
            (at, 'g' | 'G') => (&text[..at], 9),
            _ => match text.split_once(['e', 'E']) {
                Some((mantissa, power)) => (mantissa, power.parse().ok()?),
                None => (text, 0),
            },
        };
        if !(-Self::MAX_POWER..=Self::MAX_POWER).contains(&power) {
            return None;
        }
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        power -= i32::try_from(fraction.len()).ok()?;
        let all = format!("{}{fraction}", grouped(whole)?);
        let is_number = !all.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
        Some(Self { digits: all.parse().ok().filter(|_| is_number)?, power })
    }
}

/// Returns the digits without the underscores between them, `None` if an underscore is at an end or doubled.
fn grouped(text: &str) -> Option<String> {
    let misplaced = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    (!misplaced).then(|| text.replace('_', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_in_every_form() {
        for (text, value) in [
            ("0", 0),
            ("1", 1),
            ("100_000", 100_000),
            ("1_0", 10),
            ("5k", 5_000),
            ("5K", 5_000),
            ("1.5k", 1_500),
            ("0.001M", 1_000),
            (".5k", 500),
            ("2M", 2_000_000),
            ("1G", 1_000_000_000),
            ("1e5", 100_000),
            ("1.5E3", 1_500),
            ("1e+2", 100),
            ("500e-2", 5),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(count(text), Some(value), "{text}");
            assert_eq!(number(text), Some(value as f64), "{text}");
        }
    }

    #[test]
    fn what_is_no_count() {
        for text in ["1.5", "1.0001k", "1e-1", "99999999999G", "18446744073709551616"] {
            assert_eq!(count(text), None, "{text}");
        }
        for text in [
            "", "k", "-1", "+1", "_1", "1_", "1__0", "1_k", "1.2.3", "1,000", "1 k", "5x", "1e", "1e999", "e5", ".",
            "1ke3", "inf", "NaN", "0x10", "1.5_5", "١",
        ] {
            assert_eq!((count(text), number(text)), (None, None), "{text:?}");
        }
    }

    #[test]
    fn numbers_are_the_nearest_ones() {
        assert_eq!(["0.5", "0.1", "1.1k", "2.5e-3"].map(number), [0.5, 0.1, 1100.0, 0.0025].map(Some));
    }
}
