//! How often a number had which size, such that the largest and the least of a stretch of time can be told afterwards.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers of similar size are counted together: exactly up to 64, within a thirty-second above.
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

    /// The largest number that has come since.
    pub fn largest_since(&self, before: &Self) -> Option<u32> {
        self.since(before).next_back().map(|level| level.largest)
    }

    /// The least number that has come since.
    pub fn least_since(&self, before: &Self) -> Option<u32> {
        self.since(before).next().map(|level| level.least)
    }

    fn since<'a>(&'a self, before: &'a Self) -> impl DoubleEndedIterator<Item = &'a Level> {
        let grown = |(floor, level): &(&u32, &Level)| level.count > before.0.get(floor).map_or(0, |level| level.count);
        self.0.iter().filter(grown).map(|(_, level)| level)
    }
}

/// The least number that is counted with this one.
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
    fn extremes_are_those_of_what_came_since() {
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
