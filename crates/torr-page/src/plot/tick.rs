//! The texts of ticks, which are round numbers and need no more digits than they have.

use torr_report::human::{count, micros, rate};

/// Returns the text of a count or a rate: `0`, `0.5`, `20,000`.
pub fn count_tick(figure: f64) -> String {
    if (figure - figure.round()).abs() < 1e-9 {
        return count(figure.abs().round() as u64);
    }
    without_zeros(&rate(figure)).to_owned()
}

/// Returns the text of a time in microseconds: `0`, `100 us`, `20 ms`.
pub fn time_tick(us: f64) -> String {
    if us <= 0.0 {
        return "0".into();
    }
    let text = micros(us);
    match text.split_once(' ') {
        Some((number, unit)) => format!("{} {unit}", without_zeros(number)),
        None => text,
    }
}

/// Returns a number without the zeros at the end of its fraction.
fn without_zeros(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Returns the text of a share: `0%`, `0.5%`, `20%`.
pub fn percent_tick(share: f64) -> String {
    let hundredths = (share * 1e4).round() / 100.0;
    format!("{hundredths}%")
}

/// Returns the moments of a run that have a tick, by steps that clocks have. At most six.
pub fn moments(seconds: f64) -> Vec<f64> {
    const STEPS: [f64; 14] = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0];
    let longer = (0..).map(|power| 1800.0 * f64::from(2u32.saturating_pow(power)));
    let steps = STEPS.into_iter().chain(longer.take(31));
    let step = steps.into_iter().find(|step| seconds / step <= 5.0).unwrap_or(seconds.max(1.0));
    let count = (seconds / step + 1e-9).floor() as u32;
    (0..=count).map(|tick| f64::from(tick) * step).collect()
}

/// Returns seconds as `12 s`, or from ten minutes on as `12:30`.
pub fn clock(seconds: f64) -> String {
    if seconds < 600.0 {
        let rounded = (seconds * 10.0).round() / 10.0;
        return format!("{rounded} s");
    }
    let whole = seconds.round() as u64;
    format!("{}:{:02}", whole / 60, whole % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_have_no_digits_to_spare() {
        assert_eq!([0.0, 0.5, 20_000.0].map(count_tick), ["0", "0.5", "20,000"]);
        assert_eq!([0.0, 0.005, 0.2].map(percent_tick), ["0%", "0.5%", "20%"]);
        assert_eq!([0.0, 100.0, 10_000.0, 2_500_000.0].map(time_tick), ["0", "100 us", "10 ms", "2.5 s"]);
    }

    #[test]
    fn moments_are_those_of_a_clock() {
        assert_eq!(moments(10.0), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(moments(3600.0), [0.0, 900.0, 1800.0, 2700.0, 3600.0]);
        assert_eq!(moments(0.0), [0.0]);
        assert!(moments(1e12).len() <= 6);
    }
}
