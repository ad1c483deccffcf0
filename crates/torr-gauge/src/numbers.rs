//! Numbers with units, formatted for people: the one format of each figure in every output.

/// Formats a whole number with commas: `1,234,567`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a rate with three digits, or from 100 on as a whole number: `0.012`, `1.25`, `98,765`.
pub fn rate(per_s: f64) -> String {
    match per_s {
        r if r >= 99.95 => count(r.round() as u64),
        r if r >= 0.9995 || r == 0.0 => three_digits(r),
        r => format!("{r:.3}"),
    }
}

/// Formats a rate with its unit: `98,765/s`.
pub fn per_second(rps: f64) -> String {
    format!("{}/s", rate(rps))
}

/// Formats a time given in microseconds: `412 us`, `4.12 ms`, `41.2 s`.
pub fn micros(us: f64) -> String {
    match us {
        us if us < 999.5 => format!("{us:.0} us"),
        us if us < 999_500.0 => format!("{} ms", three_digits(us / 1e3)),
        us => format!("{} s", three_digits(us / 1e6)),
    }
}

/// Formats a time given in seconds: `412 us`, `4.12 ms`, `41.2 s`.
pub fn seconds(s: f64) -> String {
    micros(s * 1e6)
}

/// Formats a factor with three digits: `1.98x`, `12.3x`, `0.050x`.
pub fn times(factor: f64) -> String {
    if factor < 0.0995 { format!("{factor:.3}x") } else { format!("{}x", three_digits(factor)) }
}

/// Formats a mean of counts with the digits that keep it from looking like none: `12.3`, `0.040`.
pub fn mean(count: f64) -> String {
    if count < 0.0995 { format!("{count:.3}") } else { format!("{count:.1}") }
}

/// Formats bytes in decimal units: `999 B`, `1.23 MB`.
pub fn bytes(n: f64) -> String {
    in_unit(n, &["B", "kB", "MB", "GB", "TB"])
}

/// Formats bytes per second as bits per second: `19.2 Mbit/s`.
pub fn bits(bytes_per_second: f64) -> String {
    in_unit(bytes_per_second * 8.0, &["bit/s", "kbit/s", "Mbit/s", "Gbit/s"])
}

/// Formats a number in the first unit in which it has three digits at most, or in the last one. Each is 1,000 of the one before.
fn in_unit(n: f64, units: &[&str]) -> String {
    let (mut n, mut at) = (n, 0);
    while n >= 999.5 && at + 1 < units.len() {
        n /= 1e3;
        at += 1;
    }
    if at == 0 { format!("{n:.0} {}", units[at]) } else { format!("{} {}", three_digits(n), units[at]) }
}

/// Formats a share of 0 to 1 as a percentage with two digits: `48%`, `0.4%`, `0.05%`.
pub fn percent(share: f64) -> String {
    let decimals = match share.abs() * 100.0 {
        0.0 => return "0%".into(),
        percent if percent < 0.095 => 2,
        percent if percent < 9.95 => 1,
        _ => 0,
    };
    format!("{:.*}%", decimals, share * 100.0)
}

/// Formats a relative difference to a tenth of a percent, from 100% on to a whole one: `2%`, `12.4%`.
pub fn difference(share: f64) -> String {
    let percent = share * 100.0;
    let decimals = usize::from(percent.abs() < 99.95);
    let text = format!("{percent:.decimals$}");
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

/// Returns a count with a noun, in the plural unless the count is 1.
pub fn plural(n: u64, what: &str) -> String {
    let ending = match (n, what.ends_with('s')) {
        (1, _) => "",
        (_, true) => "es",
        (_, false) => "s",
    };
    format!("{} {what}{ending}", count(n))
}

fn three_digits(n: f64) -> String {
    match n {
        n if n < 9.995 => format!("{n:.2}"),
        n if n < 99.95 => format!("{n:.1}"),
        n => format!("{n:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_at_a_glance() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0.0, 0.0123, 1.25, 12.34, 98_765.4].map(rate), ["0.00", "0.012", "1.25", "12.3", "98,765"]);
        assert_eq!(
            [1.0, 999.4, 999.6, 41_234.0, 999_600.0, 3.6e9].map(micros),
            ["1 us", "999 us", "1.00 ms", "41.2 ms", "1.00 s", "3600 s"]
        );
        assert_eq!([0.0, 999.0, 1000.0, 1.5e6, 2e15].map(bytes), ["0 B", "999 B", "1.00 kB", "1.50 MB", "2000 TB"]);
        assert_eq!([0.05, 1.976, 12.34].map(times), ["0.050x", "1.98x", "12.3x"]);
        assert_eq!([2.4e6, 4000.0, 12.0].map(bits), ["19.2 Mbit/s", "32.0 kbit/s", "96 bit/s"]);
        assert_eq!([12.34, 0.1, 0.04].map(mean), ["12.3", "0.1", "0.040"]);
        assert_eq!((per_second(98_765.4), seconds(0.0404)), ("98,765/s".into(), "40.4 ms".into()));
        let shares = [0.0, 0.0005, 0.004, -0.031, 0.0994, 0.0996, 0.48, 2.0];
        assert_eq!(shares.map(percent), ["0%", "0.05%", "0.4%", "-3.1%", "9.9%", "10%", "48%", "200%"]);
        assert_eq!([0.9996, 9.996, 99.97, 999.6].map(rate), ["1.00", "10.0", "100", "1,000"]);
        assert_eq!([0.02, 0.1239, 0.9997, 1.234].map(difference), ["2%", "12.4%", "100%", "123%"]);
        assert_eq!([0.0996, 0.0994].map(mean), ["0.1", "0.099"]);
    }

    /// Returns the number that a text shows.
    fn shown(text: &str) -> f64 {
        let end = text.find(|c: char| !c.is_ascii_digit() && !".,-".contains(c)).unwrap_or(text.len());
        let number: f64 = text[..end].replace(',', "").parse().expect("the text begins with a number");
        number
            * match text[end..].trim() {
                "%" => 0.01,
                "ms" | "kB" => 1e3,
                "s" | "MB" => 1e6,
                "GB" => 1e9,
                "TB" => 1e12,
                _ => 1.0,
            }
    }

    proptest::proptest! {
        /// A number that is rounded up to a limit of its format has the form of the numbers beyond that limit.
        #[test]
        fn a_shown_number_is_shown_the_same_way_again(power in -3.0..13.0_f64, below in 0.0..0.01_f64, near: bool) {
            let exact = 10_f64.powf(if near { power.round() } else { power }) * (1.0 - below);
            for format in [rate, times, mean, percent, difference, micros, bytes] {
                let text = format(exact);
                assert_eq!(format(shown(&text)), text, "{exact}");
            }
        }
    }
}
