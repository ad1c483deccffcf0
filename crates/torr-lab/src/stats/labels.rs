//! The permutation test of two groups: had the runs been put into the groups at random, how often would the groups differ
//! as much in their ranks?

/// The number of permutations that are drawn.
const DRAWN: usize = 20_000;

/// Returns the two-sided probability that groups differ as much by chance.
pub fn test(a: &[f64], b: &[f64], rng: &mut fastrand::Rng) -> f64 {
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    // The mean position of equal values.
    let rank = |value: &f64| all.partition_point(|other| other < value) + all.partition_point(|other| other <= value);
    let mut ranks: Vec<usize> = a.iter().chain(b).map(rank).collect();
    let expected = ranks.iter().sum::<usize>() as f64 * a.len() as f64 / ranks.len().max(1) as f64;
    let away = |ranks: &[usize]| (ranks[..a.len()].iter().sum::<usize>() as f64 - expected).abs();
    let observed = away(&ranks);
    let as_far = (0..DRAWN)
        .filter(|_| {
            rng.shuffle(&mut ranks);
            away(&ranks) >= observed - 1e-9
        })
        .count();
    // The observed division is one of them, so that no probability is 0 (Phipson and Smyth 2010).
    (as_far + 1) as f64 / (DRAWN + 1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probability_is_that_of_the_rank_sum_test() {
        let mut rng = fastrand::Rng::with_seed(5);
        // Two of the C(8, 4) = 70 divisions are as extreme: 0.02857, as R's wilcox.test has it.
        let p = test(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0], &mut rng);
        assert!((p - 2.0 / 70.0).abs() < 0.005, "{p}");
        assert!(test(&[1.0, 4.0, 5.0], &[2.0, 3.0, 6.0], &mut rng) > 0.5);
        assert_eq!(test(&[1.0, 1.0], &[1.0, 1.0], &mut rng), 1.0);
    }
}
