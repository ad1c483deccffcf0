//! E-divisive means with a permutation test (Matteson and James, "A nonparametric approach for multiple change point analysis of
//! multivariate data", Journal of the American Statistical Association 109, 2014), as MongoDB and Apache Otava apply it to
//! results of benchmarks.

use std::ops::Range;

/// The fewest runs between changes: of fewer, one outlier would be a change.
const LEAST: usize = 3;
/// The number of permutations of a test.
const PERMUTATIONS: usize = 999;
/// The probability by chance above which a change is none.
const CHANCE: f64 = 0.01;

/// Returns the positions at which values change, ascending, each with its probability by chance.
pub fn points(values: &[f64], rng: &mut fastrand::Rng) -> Vec<(usize, f64)> {
    let mut points: Vec<(usize, f64)> = Vec::new();
    loop {
        let bounds: Vec<usize> =
            [0].into_iter().chain(points.iter().map(|point| point.0)).chain([values.len()]).collect();
        let segments: Vec<Range<usize>> = bounds.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let best = |values: &[f64]| {
            let found = segments.iter().filter_map(|segment| {
                let (at, score) = split(&values[segment.clone()])?;
                Some((segment.start + at, score))
            });
            found.max_by(|a, b| a.1.total_cmp(&b.1))
        };
        let Some((point, score)) = best(values) else { return points };
        // Values are exchanged within their segments only: the changes before stay.
        let mut shuffled = values.to_vec();
        let as_large = (0..PERMUTATIONS)
            .filter(|_| {
                segments.iter().for_each(|segment| rng.shuffle(&mut shuffled[segment.clone()]));
                best(&shuffled).is_some_and(|(_, other)| other >= score)
            })
            .count();
        let p = (as_large + 1) as f64 / (PERMUTATIONS + 1) as f64;
        if p > CHANCE {
            return points;
        }
        points.push((point, p));
        points.sort_unstable_by_key(|point| point.0);
    }
}

/// Returns where both parts of a row differ the most, and their scaled energy distance. `None` if it is too short.
fn split(values: &[f64]) -> Option<(usize, f64)> {
    let n = values.len();
    if n < 2 * LEAST {
        return None;
    }
    let apart = |value: f64, part: Range<usize>| values[part].iter().map(|other| (value - other).abs()).sum::<f64>();
    let sum = |part: Range<usize>| part.clone().map(|at| apart(values[at], at + 1..part.end)).sum::<f64>();
    // The sums of distances within the left part, within the right one, and between both, as values go from right to left.
    let (mut left, mut right) = (sum(0..LEAST), sum(LEAST..n));
    let mut between: f64 = (0..LEAST).map(|at| apart(values[at], LEAST..n)).sum();
    let mut best = (LEAST, f64::NEG_INFINITY);
    for (at, &value) in values.iter().enumerate().take(n - LEAST + 1).skip(LEAST) {
        let (l, r) = (at as f64, (n - at) as f64);
        let distance = 2.0 * between / (l * r) - 2.0 * left / (l * (l - 1.0)) - 2.0 * right / (r * (r - 1.0));
        let score = l * r / (l + r) * distance;
        if score > best.1 {
            best = (at, score);
        }
        let (to_left, to_right) = (apart(value, 0..at), apart(value, at + 1..n));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(rng: &mut fastrand::Rng, levels: &[f64], each: usize) -> Vec<f64> {
        let mut value = |level: f64| level * (1.0 + 0.02 * ((0..12).map(|_| rng.f64()).sum::<f64>() - 6.0));
        levels.iter().flat_map(|&level| (0..each).map(|_| level).collect::<Vec<_>>()).map(&mut value).collect()
    }

    #[test]
    fn changes_are_found_where_they_are() {
        let mut rng = fastrand::Rng::with_seed(6);
        let values = row(&mut rng, &[100.0, 110.0, 100.0], 20);
        let found: Vec<_> = points(&values, &mut rng).iter().map(|point| point.0).collect();
        assert!(found.len() == 2 && found[0].abs_diff(20) <= 1 && found[1].abs_diff(40) <= 1, "{found:?}");
    }

    #[test]
    fn a_steady_row_has_none() {
        let mut rng = fastrand::Rng::with_seed(11);
        let falsely = (0..40).filter(|_| !points(&row(&mut rng, &[100.0], 30), &mut rng).is_empty()).count();
        assert!(falsely <= 2, "{falsely} of 40 rows had a change");
        assert_eq!(points(&[5.0; 30], &mut rng), []);
    }

    #[test]
    fn one_outlier_is_no_change_and_a_short_row_has_none() {
        let mut rng = fastrand::Rng::with_seed(12);
        let mut values = row(&mut rng, &[100.0], 30);
        values[15] = 300.0;
        assert_eq!(points(&values, &mut rng), []);
        assert_eq!(points(&[1.0, 1.0, 9.0, 9.0], &mut rng), []);
    }

    #[test]
    fn the_distance_is_that_of_all_pairs() {
        // Between 0, 0, 0 and 3, 3, 3: 2 * 3 - 0 - 0, times 3 * 3 / 6.
        assert_eq!(split(&[0.0, 0.0, 0.0, 3.0, 3.0, 3.0]), Some((3, 9.0)));
    }
}
