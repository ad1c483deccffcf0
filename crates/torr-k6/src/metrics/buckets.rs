//! A histogram of any numbers, in memory that depends on their range and not on their count.
//!
//! A bucket is a range of floating-point numbers that share sign, exponent and the upper bits of the fraction, which makes
//! the relative error the same for microseconds and hours, for fractions and negative numbers. An HdrHistogram holds
//! integers of one scale, which a script's metric does not have.

use std::collections::BTreeMap;

/// The bits of the fraction that tell buckets apart: a value is at most 1/8192 (0.012%) away from its bucket's middle.
const FRACTION_BITS: u32 = 12;
/// The buckets of one exponent.
const PAGE: usize = 1 << FRACTION_BITS;
/// The bits of a 64-bit floating-point number that a bucket does not tell apart.
const SHIFT: u32 = 52 - FRACTION_BITS;

/// A histogram whose buckets have a constant relative width.
#[derive(Debug, Clone, Default)]
pub(super) struct Buckets {
    /// The counts by sign and exponent, in the order of the values.
    pages: BTreeMap<i32, Box<[u64]>>,
    count: u64,
}

impl Buckets {
    /// Adds a value, which is a number.
    pub(super) fn add(&mut self, value: f64) {
        let (page, slot) = position(value);
        self.pages.entry(page).or_insert_with(|| vec![0; PAGE].into_boxed_slice())[slot] += 1;
        self.count += 1;
    }

    /// Adds all values of another histogram.
    pub(super) fn merge(&mut self, other: &Self) {
        for (page, counts) in &other.pages {
            let own = self.pages.entry(*page).or_insert_with(|| vec![0; PAGE].into_boxed_slice());
            own.iter_mut().zip(counts.iter()).for_each(|(own, other)| *own += other);
        }
        self.count += other.count;
    }

    /// Returns the value of a rank, from 0: the middle of its bucket.
    pub(super) fn at_rank(&self, rank: u64) -> f64 {
        let mut before = 0;
        for (page, counts) in &self.pages {
            let total: u64 = counts.iter().sum();
            if rank >= before + total {
                before += total;
                continue;
            }
            for (slot, count) in counts.iter().enumerate() {
                before += count;
                if rank < before {
                    return middle(*page, slot);
                }
            }
        }
        0.0
    }
}

/// Returns the page and the slot of a value. Pages and slots are in the order of the values.
fn position(value: f64) -> (i32, usize) {
    let bits = value.abs().to_bits();
    let (page, slot) = ((bits >> 52) as i32, (bits >> SHIFT) as usize & (PAGE - 1));
    if value < 0.0 { (-page - 1, PAGE - 1 - slot) } else { (page, slot) }
}

/// Returns the middle of a bucket.
fn middle(page: i32, slot: usize) -> f64 {
    let magnitude = |page: i32, slot: usize| {
        let bits = (page as u64) << 52 | (slot as u64) << SHIFT;
        // The lowest bucket of all has the zero, which is far more frequent than numbers next to it.
        f64::from_bits(if bits == 0 { 0 } else { bits | 1 << (SHIFT - 1) })
    };
    if page < 0 { -magnitude(-page - 1, PAGE - 1 - slot) } else { magnitude(page, slot) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_close_to_their_bucket_in_order() {
        let values = [-1e9, -3.25, -1e-3, 0.0, 1e-300, 0.000_1, 0.9, 1.0, 1.000_3, 12.345_678, 1e7, 1e300];
        let mut buckets = Buckets::default();
        values.iter().rev().for_each(|value| buckets.add(*value));
        for (rank, value) in values.iter().enumerate() {
            let found = buckets.at_rank(rank as u64);
            assert!((found - value).abs() <= value.abs() / 8_000.0, "{value}: {found}");
        }
    }

    #[test]
    fn merged_histograms_have_all_values() {
        let (mut a, mut b) = (Buckets::default(), Buckets::default());
        (0..1_000).for_each(|number| a.add(f64::from(number)));
        (1_000..2_000).for_each(|number| b.add(f64::from(number)));
        a.merge(&b);
        assert_eq!(a.count, 2_000);
        assert!((a.at_rank(1_500) - 1_500.0).abs() < 0.2);
    }
}
