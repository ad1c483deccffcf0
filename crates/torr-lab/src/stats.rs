//! The statistics of comparisons: intervals, tests, and rules for several metrics and several looks.

pub mod bootstrap;
pub mod holm;
pub mod labels;
mod normal;
pub mod ranks;
pub mod spending;

/// Returns the median; of an even number the mean of the two in the middle. 0 without values.
pub fn median(values: &[f64]) -> f64 {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}
