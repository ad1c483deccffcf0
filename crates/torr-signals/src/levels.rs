//! Counts of numbers by magnitude, whose differences have the extremes of an interval of time.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A histogram whose buckets are exact up to 64 and a thirty-second wide above.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Levels(BTreeMap<u32, Level>);

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Level {
    count: u64,
    least: u32,
    largest: u32,
}

impl Levels {
    /// Counts a number.
    pub fn add(&mut self, number: u32) {
        let level = self.0.entry(floor(number)).or_insert(Level { count: 0, least: number, largest: number });
        level.count += 1;
        level.least = level.least.min(number);
        level.largest = level.largest.max(number);
    }

    /// Returns the largest number counted since `before`.
    pub fn largest_since(&self, before: &Self) -> Option<u32> {
        self.since(before).next_back().map(|level| level.largest)
    }

    /// Returns the least number counted since `before`.
    pub fn least_since(&self, before: &Self) -> Option<u32> {
        self.since(before).next().map(|level| level.least)
    }

    fn since<'a>(&'a self, before: &'a Self) -> impl DoubleEndedIterator<Item = &'a Level> {
        let grown = |(floor, level): &(&u32, &Level)| level.count > before.0.get(floor).map_or(0, |level| level.count);
        self.0.iter().filter(grown).map(|(_, level)| level)
    }
}

/// Returns the lower bound of the number's bucket.
fn floor(number: u32) -> u32 {
    let spare = number.checked_ilog2().unwrap_or_default().saturating_sub(5);
    number >> spare << spare
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[u32]) -> Levels {
        let mut levels = Levels::default();
        numbers.iter().for_each(|&number| levels.add(number));
        levels
    }

    #[test]
    fn extremes_are_those_of_the_numbers_since() {
        let before = of(&[0, 3, 4097]);
        let mut after = before.clone();
        assert_eq!(after.largest_since(&before), None);
        [7, 512, 61].into_iter().for_each(|number| after.add(number));
        assert_eq!((after.least_since(&before), after.largest_since(&before)), (Some(7), Some(512)));
        assert_eq!(after.largest_since(&Levels::default()), Some(4097));
    }

    #[test]
    fn numbers_are_exact_up_to_64_and_within_a_thirty_second_above() {
        assert!((0..=64).all(|number| floor(number) == number));
        assert!((65..100_000).all(|number| floor(number) <= number && number - floor(number) <= number / 32));
        assert_eq!(floor(u32::MAX), 63 << 26);
    }
}
