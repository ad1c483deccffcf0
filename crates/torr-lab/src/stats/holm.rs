//! Several metrics at once (Holm, "A simple sequentially rejective multiple test procedure", 1979): the probability that
//! any of them is falsely shown stays at the level.

/// Returns the probabilities corrected for their number: each may be compared with the level of all.
pub fn corrected(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut least = 0.0_f64;
    for (smaller, &at) in order.iter().enumerate() {
        least = least.max(probabilities[at] * (order.len() - smaller) as f64).min(1.0);
        corrected[at] = least;
    }
    corrected
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corrected_are_those_of_r() {
        // p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
        let corrected = corrected(&[0.01, 0.04, 0.03, 0.005]);
        for (found, expected) in corrected.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!((found - expected).abs() < 1e-12, "{corrected:?}");
        }
        assert_eq!(super::corrected(&[0.9, 0.8]), [1.0, 1.0]);
    }
}
