//! The response times of a run as the result carries them, so that percentiles of several runs come from all of their
//! samples together.

use crate::Latency;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Each recorded response time in microseconds, to three digits, with its count, ascending. In JSON it is one string of
/// words `US:COUNT`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Buckets(Vec<(u64, u64)>);

impl Buckets {
    /// Returns the buckets of a histogram.
    pub fn of(latency: &Latency) -> Self {
        Self(latency.counts().collect())
    }

    /// Returns buckets of ten steps a decade, into which response times in microseconds with their counts are rounded down.
    pub fn of_steps(counts: impl Iterator<Item = (u64, u64)>) -> Self {
        let mut steps: Vec<(u64, u64)> = Vec::new();
        for (us, count) in counts {
            let step = step_of(us);
            match steps.last_mut() {
                Some(last) if last.0 == step => last.1 += count,
                _ => steps.push((step, count)),
            }
        }
        Self(steps)
    }

    /// Returns the histogram of these buckets.
    pub fn latency(&self) -> Latency {
        let mut latency = Latency::default();
        self.0.iter().for_each(|&(us, count)| latency.record_many(us, count));
        latency
    }

    /// Whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The steps of a decade, in thousandths (Renard's series of ten, rounded).
const STEPS: [u64; 10] = [1000, 1250, 1600, 2000, 2500, 3200, 4000, 5000, 6300, 8000];

/// Returns the largest step of at most `us` microseconds. Below 10 us steps are whole microseconds.
fn step_of(us: u64) -> u64 {
    let us = us.max(1);
    let decade = 10u64.pow(us.ilog10());
    let steps = STEPS.iter().rev().map(|step| u128::from(*step) * u128::from(decade) / 1000);
    steps.filter_map(|step| u64::try_from(step).ok()).find(|step| *step <= us).unwrap_or(decade)
}

impl Serialize for Buckets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words: Vec<_> = self.0.iter().map(|(us, count)| format!("{us}:{count}")).collect();
        serializer.serialize_str(&words.join(" "))
    }
}

impl<'de> Deserialize<'de> for Buckets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let pair = |word: &str| {
            let (us, count) = word.split_once(':')?;
            Some((us.parse().ok()?, count.parse().ok()?))
        };
        let pairs = text.split_whitespace().map(|word| {
            pair(word).ok_or_else(|| {
                D::Error::custom(format!("expected a response time and a count such as 120:4, found '{word}'"))
            })
        });
        Ok(Self(pairs.collect::<Result<_, _>>()?))
    }
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Buckets::of(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Buckets::deserialize(deserializer).map(|buckets| buckets.latency())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_ten_a_decade_and_never_above_the_time() {
        assert_eq!([0, 1, 7, 9, 10, 12, 19, 124, 125, 99_999].map(step_of), [1, 1, 6, 8, 10, 12, 16, 100, 125, 80_000]);
        assert_eq!(step_of(u64::MAX), 16_000_000_000_000_000_000, "the largest number has a step");
        let Buckets(steps) = Buckets::of_steps((1..=100_000).map(|us| (us, 1)));
        assert_eq!(steps.iter().map(|step| step.1).sum::<u64>(), 100_000);
        assert!(steps.len() <= 51 && steps.is_sorted(), "{steps:?}");
    }

    #[test]
    fn a_histogram_survives_its_text() {
        let mut latency = Latency::default();
        for us in [1, 120, 120, 5_432, 60_000_000] {
            latency.record(us * 1000);
        }
        let buckets = Buckets::of(&latency);
        let text = serde_json::to_string(&buckets).unwrap();
        let again: Buckets = serde_json::from_str(&text).unwrap();
        assert!(text.starts_with("\"1:1 120:2 ") && again == buckets, "{text}");
        assert_eq!(again.latency().counts().collect::<Vec<_>>(), latency.counts().collect::<Vec<_>>());
        assert!(serde_json::from_str::<Buckets>("\"12:x\"").is_err());
        let whole: Latency = serde_json::from_str(&serde_json::to_string(&latency).unwrap()).unwrap();
        assert_eq!(whole, latency, "a histogram that travelled is the one that was sent");
    }
}
