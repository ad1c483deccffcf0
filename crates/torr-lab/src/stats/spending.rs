//! Several looks at growing data (Lan and DeMets, "Discrete sequential boundaries for clinical trials", 1983, with the
//! power family of Kim and DeMets, 1987): each look may spend a part of the level, and all of them together spend no more
//! than the level. The parts are simply added up (Bonferroni), which holds however the looks depend on each other.

/// The probability that a comparison of a build with itself says "different", over all its metrics and looks: of 200 such
/// comparisons more than two do with a probability of less than 1%.
pub const LEVEL: f64 = 0.002;
/// The exponent of the spending function: little is spent on early looks.
const EXPONENT: i32 = 3;

/// A level that looks spend.
#[derive(Debug, Default)]
pub struct Spending {
    spent: f64,
}

impl Spending {
    /// Returns the level of a look at a share of all data that can come, 1 for the last look.
    pub fn look(&mut self, share: f64) -> f64 {
        let until_now = LEVEL * share.clamp(0.0, 1.0).powi(EXPONENT);
        let level = (until_now - self.spent).max(0.0);
        self.spent += level;
        level
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_level_is_spent() {
        let mut spending = Spending::default();
        let levels = [0.25, 0.5, 0.5, 0.75, 1.0, 1.0].map(|share| spending.look(share));
        assert!((levels.iter().sum::<f64>() - LEVEL).abs() < 1e-12, "{levels:?}");
        assert_eq!((levels[2], levels[5]), (0.0, 0.0));
        assert!((levels[1] - LEVEL * (0.125 - 0.015_625)).abs() < 1e-12);
    }
}
