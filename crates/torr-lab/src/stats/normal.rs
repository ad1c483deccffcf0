//! The standard normal distribution.

/// Returns the share of a standard normal distribution below `z`, within 1.2e-7 (the rational Chebyshev approximation of
/// the complementary error function in Press et al., Numerical Recipes, section 6.2).
pub fn below(z: f64) -> f64 {
    const C: [f64; 10] = [
        -1.265_512_23,
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let exponent = C.iter().rev().fold(0.0, |sum, c| sum * t + c) - x * x;
    let tail = 0.5 * t * exponent.exp();
    if z > 0.0 { 1.0 - tail } else { tail }
}

/// Returns the value below which a share of a standard normal distribution lies, by bisection of [`below`]; within 10.
pub fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_has_the_values_of_tables() {
        for (z, share) in [(0.0, 0.5), (1.0, 0.841_344_7), (1.959_964, 0.975), (2.575_829, 0.995), (-3.0, 0.001_349_9)]
        {
            assert!((below(z) - share).abs() < 2e-7, "{z}: {}", below(z));
            assert!((quantile(share) - z).abs() < 1e-4, "{share}: {}", quantile(share));
        }
    }
}
