//! Numbers as the summary prints them: cut instead of rounded, with a unit that fits.

use super::data::Contains;

/// Returns a number with at most this many decimals, rounded, without zeros at the end.
pub fn rounded(number: f64, decimals: usize) -> String {
    short(format!("{number:.decimals$}"))
}

/// Returns a number cut to at most this many decimals, without zeros at the end.
fn cut(number: f64, decimals: i32) -> String {
    let factor = 10f64.powi(decimals);
    short(format!("{:.*}", decimals.unsigned_abs() as usize, (number * factor).trunc() / factor))
}

/// Returns a number without zeros behind its decimals.
fn short(number: String) -> String {
    if !number.contains('.') {
        return number;
    }
    let number = number.trim_end_matches('0').trim_end_matches('.');
    if number == "-0" { "0".to_owned() } else { number.to_owned() }
}

/// Returns a time of milliseconds in this unit, `s`, `ms` or `us`, or in one that fits.
pub fn time(milliseconds: f64, unit: &str) -> String {
    match unit {
        "s" => format!("{:.2}s", milliseconds / 1000.0),
        "ms" => format!("{milliseconds:.2}ms"),
        "us" => format!("{:.2}µs", milliseconds * 1000.0),
        _ => fitting(milliseconds),
    }
}

fn fitting(milliseconds: f64) -> String {
    match milliseconds {
        0.0 => "0s".to_owned(),
        short if short < 0.001 => format!("{}ns", (short * 1e6).trunc()),
        short if short < 1.0 => format!("{}µs", cut(short * 1e3, 2)),
        short if short < 1e3 => format!("{}ms", cut(short, 2)),
        long => {
            let seconds = cut((long % 6e4) / 1e3, if long > 6e4 { 0 } else { 2 });
            let minutes = (long / 6e4).trunc();
            let hours = (minutes / 60.0).trunc();
            match (hours, minutes) {
                (_, minutes) if minutes < 1.0 => format!("{seconds}s"),
                (hours, minutes) if hours < 1.0 => format!("{minutes}m{seconds}s"),
                (hours, minutes) => format!("{hours}h{}m{seconds}s", minutes % 60.0),
            }
        }
    }
}

/// Returns a number of bytes in a unit of powers of 1,000.
pub fn bytes(count: f64) -> String {
    const UNITS: [&str; 9] = ["B", "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    if count < 10.0 {
        return format!("{} B", rounded(count, 6));
    }
    let (mut scaled, mut unit) = (count, 0);
    while scaled >= 1000.0 && unit + 1 < UNITS.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    let scaled = (scaled * 10.0 + 0.5).floor() / 10.0;
    let decimals = usize::from(scaled < 10.0);
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

/// Returns a share from 0 to 1 as a percentage with two decimals.
pub fn percent(share: f64) -> String {
    // The tiny surplus keeps 0.29 * 10,000 from becoming 2,899.
    let hundredths = (share * 1e4 + 1e-9).trunc();
    format!("{:.2}%", hundredths / 100.0)
}

/// Returns a value of a metric.
pub fn value(number: f64, contains: Contains, unit: &str) -> String {
    match contains {
        Contains::Default => rounded(number, 6),
        Contains::Time => time(number, unit),
        Contains::Data => bytes(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_fits_and_are_cut() {
        for (milliseconds, text) in [
            (0.0, "0s"),
            (0.00045, "450ns"),
            (0.637, "637µs"),
            (0.589079, "589.07µs"),
            (43.8399, "43.83ms"),
            (45.0, "45ms"),
            (2999.999, "2.99s"),
            (40_670.333, "40.67s"),
            (182_513.496, "3m2s"),
            (3_600_000.0, "1h0m0s"),
            (90_061_000.0, "25h1m1s"),
        ] {
            assert_eq!(time(milliseconds, ""), text);
        }
        let fixed = ["s", "ms", "us"].map(|unit| time(1234.5678, unit));
        assert_eq!(fixed, ["1.23s", "1234.57ms", "1234567.80µs"]);
    }

    #[test]
    fn bytes_and_shares_and_plain_numbers() {
        let sizes = [0.0, 9.0, 290.0, 1950.0, 12_345.0, 5e9].map(bytes);
        assert_eq!(sizes, ["0 B", "9 B", "290 B", "2.0 kB", "12 kB", "5.0 GB"]);
        assert_eq!([0.0, 2.0 / 3.0, 0.29, 1.0].map(percent), ["0.00%", "66.66%", "29.00%", "100.00%"]);
        let plain = [14.0, 2.5, 0.1 + 0.2, 37_332.536_906_4].map(|number| value(number, Contains::Default, ""));
        assert_eq!(plain, ["14", "2.5", "0.3", "37332.536906"]);
    }
}
