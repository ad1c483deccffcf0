//! A distribution of values: exact as long as they are few, in buckets of a constant relative width beyond that.

use super::buckets::Buckets;

/// The number of values that are kept exactly. Beyond that, memory must not depend on the length of the run.
const MAX_EXACT: usize = 100_000;

/// The values of a Trend.
#[derive(Debug, Clone, Default)]
pub struct TrendSink {
    values: Values,
    count: u64,
    sum: f64,
    min: f64,
    max: f64,
}

#[derive(Debug, Clone)]
enum Values {
    Exact { values: Vec<f64>, is_sorted: bool },
    Bucketed(Buckets),
}

impl Default for Values {
    fn default() -> Self {
        Self::Exact { values: Vec::new(), is_sorted: true }
    }
}

impl TrendSink {
    /// Adds a value. What is not a number is left out.
    #[inline]
    pub fn add(&mut self, value: f64) {
        if value.is_nan() {
            return;
        }
        self.count(1, value, value, value);
        match &mut self.values {
            Values::Exact { values, is_sorted } if values.len() < MAX_EXACT => {
                values.push(value);
                *is_sorted = false;
            }
            _ => self.buckets().add(value),
        }
    }

    /// Adds all values of another distribution.
    pub fn merge(&mut self, other: Self) {
        if other.count == 0 {
            return;
        }
        self.count(other.count, other.sum, other.min, other.max);
        match (other.values, &mut self.values) {
            (Values::Exact { values: further, .. }, Values::Exact { values, is_sorted })
                if values.len() + further.len() <= MAX_EXACT =>
            {
                values.extend(further);
                *is_sorted = false;
            }
            (Values::Exact { values, .. }, _) => {
                let buckets = self.buckets();
                values.into_iter().for_each(|value| buckets.add(value));
            }
            (Values::Bucketed(further), _) => self.buckets().merge(&further),
        }
    }

    /// Returns the number of values.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// Returns whether there is no value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the smallest value, 0 without values.
    #[must_use]
    pub fn min(&self) -> f64 {
        self.min
    }

    /// Returns the largest value, 0 without values.
    #[must_use]
    pub fn max(&self) -> f64 {
        self.max
    }

    /// Returns the mean, 0 without values.
    #[must_use]
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum / self.count as f64 }
    }

    /// Returns a percentile, from 0 to 100, by linear interpolation between ranks; 0 without values.
    pub fn percentile(&mut self, percent: f64) -> f64 {
        if self.count == 0 {
            return 0.0;
        }
        let rank = (percent / 100.0).clamp(0.0, 1.0) * (self.count - 1) as f64;
        let (below, share) = (rank.floor(), rank.fract());
        let low = self.at_rank(below as u64);
        if share == 0.0 {
            return low;
        }
        low + (self.at_rank(below as u64 + 1) - low) * share
    }

    /// Returns a statistic by its name in summaries: `avg`, `min`, `med`, `max`, `count`, `p(N)`; `None` for another name.
    pub fn stat(&mut self, name: &str) -> Option<f64> {
        Some(match name {
            "avg" => self.mean(),
            "min" => self.min,
            "med" => self.percentile(50.0),
            "max" => self.max,
            "count" => self.count as f64,
            _ => {
                let number = name.strip_prefix("p(")?.strip_suffix(')')?;
                self.percentile(number.trim().parse().ok()?)
            }
        })
    }

    fn count(&mut self, count: u64, sum: f64, min: f64, max: f64) {
        let is_first = self.count == 0;
        self.min = if is_first { min } else { self.min.min(min) };
        self.max = if is_first { max } else { self.max.max(max) };
        self.count += count;
        self.sum += sum;
    }

    fn at_rank(&mut self, rank: u64) -> f64 {
        match &mut self.values {
            Values::Exact { values, is_sorted } => {
                if !*is_sorted {
                    values.sort_unstable_by(f64::total_cmp);
                    *is_sorted = true;
                }
                values.get(rank as usize).copied().unwrap_or(self.max)
            }
            Values::Bucketed(_) if rank == 0 => self.min,
            Values::Bucketed(_) if rank + 1 >= self.count => self.max,
            Values::Bucketed(buckets) => buckets.at_rank(rank).clamp(self.min, self.max),
        }
    }

    fn buckets(&mut self) -> &mut Buckets {
        if let Values::Exact { values, .. } = &mut self.values {
            let mut buckets = Buckets::default();
            std::mem::take(values).into_iter().for_each(|value| buckets.add(value));
            self.values = Values::Bucketed(buckets);
        }
        match &mut self.values {
            Values::Bucketed(buckets) => buckets,
            Values::Exact { .. } => unreachable!("exact values were put into buckets above"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_interpolated_between_ranks() {
        let mut trend = TrendSink::default();
        [3.0, 1.0, 2.0, 4.0].iter().for_each(|value| trend.add(*value));
        trend.add(f64::NAN);
        for (name, expected) in [("avg", 2.5), ("min", 1.0), ("med", 2.5), ("max", 4.0), ("count", 4.0), ("p(90)", 3.7)]
        {
            let found = trend.stat(name).expect("the statistic has a name");
            assert!((found - expected).abs() < 1e-9, "{name}: {found}");
        }
        assert_eq!((trend.stat("p(0)"), trend.stat("p(100)"), trend.stat("p95")), (Some(1.0), Some(4.0), None));
        assert_eq!(TrendSink::default().percentile(95.0), 0.0);
    }

    #[test]
    fn many_values_are_kept_in_bounded_memory_with_a_small_error() {
        let (mut one, mut merged) = (TrendSink::default(), TrendSink::default());
        for part in 0..4 {
            let mut thread = TrendSink::default();
            for number in 0..MAX_EXACT {
                let value = (number * 4 + part) as f64 / 1_000.0;
                one.add(value);
                thread.add(value);
            }
            merged.merge(thread);
        }
        let most = (MAX_EXACT * 4) as f64 / 1_000.0;
        for trend in [&mut one, &mut merged] {
            assert!(matches!(trend.values, Values::Bucketed(_)));
            assert_eq!((trend.len(), trend.min()), (4 * MAX_EXACT as u64, 0.0));
            for percent in [1.0, 50.0, 95.0, 99.9] {
                let (found, expected) = (trend.percentile(percent), most * percent / 100.0);
                assert!((found - expected).abs() <= expected / 4_000.0, "{percent}: {found} {expected}");
            }
            assert_eq!(trend.percentile(100.0), trend.max());
        }
    }
}
