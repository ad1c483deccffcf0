//! The time that a call has, as its request says it.

use std::time::Duration;

/// The most digits of an amount.
const MOST_DIGITS: u32 = 8;

/// Returns a time as `grpc-timeout` has it (gRPC over HTTP/2, "Requests"): in the smallest unit in which it fits; what is below that unit
/// is cut.
#[must_use]
pub fn timeout_field(deadline: Duration) -> String {
    let units = [(deadline.as_nanos(), 'n'), (deadline.as_micros(), 'u'), (deadline.as_millis(), 'm')];
    let fits = |amount: u128| amount < 10_u128.pow(MOST_DIGITS);
    match units.into_iter().find(|(amount, _)| fits(*amount)) {
        Some((amount, unit)) => format!("{amount}{unit}"),
        None => format!("{}S", u128::from(deadline.as_secs()).min(10_u128.pow(MOST_DIGITS) - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_eight_digits_at_most() {
        for (deadline, text) in [
            (Duration::from_nanos(1), "1n"),
            (Duration::from_millis(99), "99000000n"),
            (Duration::from_millis(100), "100000u"),
            (Duration::from_secs(10), "10000000u"),
            (Duration::from_secs(3600), "3600000m"),
            (Duration::from_secs(10_000_000), "10000000S"),
            (Duration::from_secs(u64::MAX), "99999999S"),
        ] {
            assert_eq!(timeout_field(deadline), text);
        }
    }
}
