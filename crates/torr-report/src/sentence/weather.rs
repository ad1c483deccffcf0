//! The words for what disturbs a measurement, and for how closely a number is known.

use crate::human::{mean, percent};

/// The ratio of a range's ends from which the range tells more than the number's digits.
const WORTH_A_RANGE: f64 = 1.02;

/// Returns how much other programs used during the experiments of a diagnosis, as a clause.
pub fn others_changed(least_share: f64, most_share: f64) -> String {
    let (least, most) = (percent(least_share), percent(most_share));
    format!("other programs used between {least} and {most} of the CPU: experiments ran under different conditions")
}

/// Returns a measured number with the range that its measurement allows, if that tells more than its digits.
pub fn measured(number: f64, range: Option<(f64, f64)>) -> String {
    match range {
        Some((low, high)) if high > WORTH_A_RANGE * low => {
            format!("about {} ({} to {})", mean(number), mean(low), mean(high))
        }
        _ => mean(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_its_range_only_where_that_is_wider() {
        assert_eq!(measured(40.2, Some((38.1, 43.0))), "about 40.2 (38.1 to 43.0)");
        assert_eq!(measured(4.0, Some((3.999, 4.001))), "4.0");
        assert_eq!(measured(4.0, None), "4.0");
    }
}
