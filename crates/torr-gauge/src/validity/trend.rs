//! Whether a series drifts: the Mann-Kendall test for a trend, and how far the series has gone.
//!
//! Mann-Kendall looks at the order of the values alone, so that neither outliers nor the shape of their distribution
//! matter. Its null distribution is used exactly, which holds for few points as well. Two things make it hold where
//! neighbours are alike by themselves: many points are put together to a few blocks first, and what correlation is left
//! between blocks shrinks the statistic (Hamed and Rao, "A modified Mann-Kendall trend test for autocorrelated data",
//! Journal of Hydrology 204, 1998).
//!
//! A steady drift shows in seven points, but a single step only in some thirty, since the order of the values says nothing of
//! how far apart they are. So a clean step is looked for apart: one between two levels that lie further apart than either
//! wavers, by far. It takes nine points; of independent noise, one series in a thousand has one.

/// The least number of points for a trend. Fewer are often ordered by chance: five are in perfect order once in 60 times.
pub const LEAST_POINTS: usize = 6;
/// More points are put together to at most so many blocks.
const MOST_BLOCKS: usize = 32;
/// The least number of points in which a step is looked for, and on each side of it.
const STEP_POINTS: (usize, usize) = (9, 2);
/// The factor by which the gap between two levels has to exceed the range of the values within either level.
const APART: f64 = 3.0;
/// A correlation beyond this many standard errors is real.
const REAL: f64 = 1.96;

/// The trend of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The relative change from the median of the first third to that of the last.
    pub drift: f64,
    /// The change from the median of the first third to that of the last, in the unit of the series.
    pub change: f64,
    /// The probability of at least this trend by chance.
    pub p: f64,
    /// Whether the change is one clean step between two levels.
    pub step: bool,
}

/// Returns the trend of values at equal intervals of time. `None` with fewer than six values, or if the first third's median
/// is 0.
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < LEAST_POINTS {
        return None;
    }
    let blocks: Vec<f64> = values.chunks_exact(values.len().div_ceil(MOST_BLOCKS)).map(median).collect();
    let third = blocks.len() / 3;
    let (first, last) = (median(&blocks[..third]), median(&blocks[blocks.len() - third..]));
    let statistic = kendall(&blocks) as f64 / inflation(&blocks).sqrt();
    (first > 0.0).then(|| Trend {
        drift: last / first - 1.0,
        change: last - first,
        p: chance(blocks.len(), statistic.abs().floor() as usize),
        step: has_clean_step(&blocks),
    })
}

/// Returns whether the values have one level and then another, with at most one value between both.
fn has_clean_step(values: &[f64]) -> bool {
    let (least, side) = STEP_POINTS;
    let range = |part: &[f64]| {
        let over = |pick: fn(f64, f64) -> f64, from| part.iter().copied().fold(from, pick);
        (over(f64::min, f64::INFINITY), over(f64::max, f64::NEG_INFINITY))
    };
    let is_clean = |end: usize, begin: usize| {
        let ((low, high), (low_after, high_after)) = (range(&values[..end]), range(&values[begin..]));
        let between = (low_after - high).max(low - high_after);
        between > APART * (high - low).max(high_after - low_after)
    };
    let last = values.len().saturating_sub(side);
    values.len() >= least && (side..=last).any(|end| is_clean(end, end) || (end < last && is_clean(end, end + 1)))
}

/// Returns Kendall's S: the number of rising pairs less that of falling ones.
fn kendall(values: &[f64]) -> i64 {
    pairs(values).map(|(earlier, later, _)| i64::from(later > earlier) - i64::from(later < earlier)).sum()
}

/// Returns each value with each later one, and the distance between both.
fn pairs(values: &[f64]) -> impl Iterator<Item = (f64, f64, f64)> {
    values.iter().enumerate().flat_map(move |(at, &earlier)| {
        values[at + 1..].iter().zip(1..).map(move |(&later, distance)| (earlier, later, f64::from(distance)))
    })
}

/// By how much correlation between neighbours widens the spread of S; at least 1. What is to be found is taken out first,
/// since it would look like correlation: a slope (Sen's, the median of all pairs' slopes), or a step, whichever leaves less.
fn inflation(values: &[f64]) -> f64 {
    let slopes: Vec<f64> = pairs(values).map(|(earlier, later, distance)| (later - earlier) / distance).collect();
    let slope = median(&slopes);
    let without_slope: Vec<f64> = values.iter().zip(0..).map(|(value, at)| value - slope * f64::from(at)).collect();
    widening(&without_slope).min(widening(&without_step(values)))
}

/// The values without their largest step: each side of it less its mean.
fn without_step(values: &[f64]) -> Vec<f64> {
    let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let size = |&at: &usize| {
        let (before, after) = values.split_at(at);
        (mean(before) - mean(after)).powi(2) * (before.len() * after.len()) as f64
    };
    let at = (1..values.len()).max_by(|a, b| size(a).total_cmp(&size(b))).unwrap_or(1);
    let (before, after) = values.split_at(at);
    let (low, high) = (mean(before), mean(after));
    before.iter().map(|value| value - low).chain(after.iter().map(|value| value - high)).collect()
}

/// Hamed and Rao's correction, of the correlations that are real and that widen.
fn widening(values: &[f64]) -> f64 {
    let ranks = ranks(values);
    let n = ranks.len() as f64;
    let mean = ranks.iter().sum::<f64>() / n;
    let variance: f64 = ranks.iter().map(|rank| (rank - mean).powi(2)).sum();
    if variance == 0.0 {
        return 1.0;
    }
    let correlation = |lag: usize| {
        let products = ranks.iter().zip(&ranks[lag..]).map(|(a, b)| (a - mean) * (b - mean));
        products.sum::<f64>() / variance
    };
    let weighted = (1..ranks.len() / 2).map(|lag| {
        let (left, r) = (n - lag as f64, correlation(lag));
        if r > REAL / n.sqrt() { left * (left - 1.0) * (left - 2.0) * r } else { 0.0 }
    });
    1.0 + 2.0 / (n * (n - 1.0) * (n - 2.0)) * weighted.sum::<f64>()
}

/// Returns the ranks of the values, the mean rank for equal ones.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

/// Returns the probability that S of `n` values in random order is at least `s` away from 0. The probability is exact without
/// ties, and too large with them.
fn chance(n: usize, s: usize) -> f64 {
    // The number of pairs that fall, value by value: each new one falls behind 0 to all of those before it.
    let mut falling = vec![1.0];
    for values in 2..=n {
        let mut next = vec![0.0; falling.len() + values - 1];
        for (at, probability) in falling.iter().enumerate() {
            next[at..at + values].iter_mut().for_each(|sum| *sum += probability / values as f64);
        }
        falling = next;
    }
    let pairs = falling.len() - 1;
    let tail: f64 = falling.iter().zip(0..).filter(|&(_, fall)| pairs >= 2 * fall + s).map(|(p, _)| p).sum();
    (2.0 * tail).min(1.0)
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[middle],
        _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// The share of series that a test at this level takes for a trend.
    fn called_trends(level: f64, mut series: impl FnMut() -> Vec<f64>) -> f64 {
        const SERIES: usize = 1000;
        let called = (0..SERIES).filter(|_| trend(&series()).is_some_and(|t| t.p < level || t.step)).count();
        called as f64 / SERIES as f64
    }

    fn normal(random: &mut Rng) -> f64 {
        (-2.0 * (1.0 - random.f64()).ln()).sqrt() * (random.f64() * std::f64::consts::TAU).cos()
    }

    #[test]
    fn the_null_distribution_is_that_of_the_tables() {
        // Kendall's tables: n = 4, S >= 6 has 1 of 24 orders; n = 10, S >= 23 has a probability of 0.023.
        assert!((chance(4, 6) - 2.0 / 24.0).abs() < 1e-12);
        assert!((chance(10, 23) - 2.0 * 0.023).abs() < 0.001, "{}", chance(10, 23));
        assert!((chance(32, 0) - 1.0).abs() < 1e-12);
        assert_eq!(kendall(&[1.0, 3.0, 2.0, 2.0]), 1);
        assert_eq!(ranks(&[5.0, 1.0, 5.0]), [2.5, 1.0, 2.5]);
    }

    #[test]
    fn independent_noise_is_called_a_trend_no_more_often_than_promised() {
        let mut random = Rng::with_seed(1);
        for points in [6, 7, 10, 30, 100] {
            let even = called_trends(0.01, || (0..points).map(|_| 100.0 + random.f64()).collect());
            assert!(even <= 0.02, "{even} of {points} evenly spread points");
            let skewed = called_trends(0.01, || (0..points).map(|_| 1.0 - (1.0 - random.f64()).ln()).collect());
            assert!(skewed <= 0.02, "{skewed} of {points} skewed points");
        }
    }

    #[test]
    fn noise_that_lingers_is_seldom_called_a_trend() {
        let mut random = Rng::with_seed(2);
        // What is left after the correction, which cannot know the correlation any better than so few points tell it. Such
        // noise has to be large, too, before a run is called bad for it.
        for (points, most) in [(10, 0.03), (30, 0.07), (100, 0.015), (1000, 0.01)] {
            let lingering = || {
                let mut value = 0.0;
                let mut next = |_| {
                    value = 0.5 * value + normal(&mut random);
                    100.0 + value
                };
                (0..points).map(&mut next).collect()
            };
            let called = called_trends(0.003, lingering);
            assert!(called <= most, "{called} of {points} points");
        }
    }

    #[test]
    fn a_drift_is_found_and_sized() {
        let mut random = Rng::with_seed(3);
        let noise = |random: &mut Rng| 1.0 + 0.03 * normal(random);
        for points in [8, 10, 60, 1000] {
            let falling = |at: usize| 1000.0 * (1.0 - 0.4 * at as f64 / points as f64) * noise(&mut random);
            let found = trend(&(0..points).map(falling).collect::<Vec<_>>()).expect("it has points enough");
            assert!(found.p < 0.005 && (-0.4..-0.2).contains(&found.drift), "{points}: {found:?}");
        }
        for points in [30, 300] {
            let step = |at: usize| if at < points / 2 { 500.0 } else { 800.0 } * noise(&mut random);
            let found = trend(&(0..points).map(step).collect::<Vec<_>>()).expect("it has points enough");
            assert!(found.p < 0.003 && (0.5..0.7).contains(&found.drift), "{points}: {found:?}");
        }
    }

    #[test]
    fn an_uncertain_trend_is_not_reported() {
        assert_eq!(trend(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(trend(&[0.0, 0.0, 1.0, 2.0, 3.0, 4.0]), None, "nothing has no share");
        let same = trend(&[7.0; 50]).expect("it has points enough");
        assert_eq!((same.drift, same.p), (0.0, 1.0));
        // One bad second is none.
        let mut dip = [100.0; 10];
        dip[4] = 1.0;
        assert!(trend(&dip).is_some_and(|t| t.p > 0.5 && t.drift == 0.0 && !t.step));
    }

    #[test]
    fn a_clean_step_is_found_in_few_points() {
        let is_step = |values: &[f64]| trend(values).is_some_and(|t| t.step);
        assert!(
            is_step(&[100.0, 104.0, 98.0, 101.0, 60.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
            "a server that hangs in the middle"
        );
        assert!(is_step(&[50.0, 52.0, 100.0, 104.0, 98.0, 101.0, 99.0, 100.0, 97.0]), "one that is cold at first");
        assert!(!is_step(&[50.0, 100.0, 104.0, 98.0, 101.0, 99.0, 100.0, 97.0, 99.0]), "one point is no level");
        assert!(!is_step(&[100.0, 104.0, 98.0, 60.0, 0.0, 0.0, 0.0, 0.0]), "too few points");
        assert!(!is_step(&[100.0, 140.0, 90.0, 120.0, 80.0, 70.0, 50.0, 60.0, 75.0]), "levels that are not apart");
        assert!(!is_step(&[7.0; 20]));
    }
}
