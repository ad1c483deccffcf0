//! Estimates of shares, and of what halving a share's cost brings.

use serde::{Deserialize, Serialize};

/// The quantile of the normal distribution that leaves 2.5% on each side.
const Z: f64 = 1.959_964;

/// A share or a factor with its interval, which holds the true value with 95% confidence.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// The lower end.
    pub low: f64,
    /// The estimate.
    pub value: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// Returns the interval of a share of independent samples (Wilson's).
    pub fn of_share(of: f64, all: f64) -> Self {
        if all <= 0.0 {
            return Self { low: 0.0, value: 0.0, high: 1.0 };
        }
        let share = (of / all).clamp(0.0, 1.0);
        let shrunk = 1.0 + Z * Z / all;
        let middle = (share + Z * Z / (2.0 * all)) / shrunk;
        let half = Z / shrunk * (share * (1.0 - share) / all + Z * Z / (4.0 * all * all)).sqrt();
        Self { low: (middle - half).clamp(0.0, share), value: share, high: (middle + half).clamp(share, 1.0) }
    }

    /// Returns the interval of a product with another share.
    pub fn times(self, other: Self) -> Self {
        Self { low: self.low * other.low, value: self.value * other.value, high: self.high * other.high }
    }

    /// Returns the factor by which throughput rises when the cost of this share of the resource is halved and nothing else limits.
    pub fn gain(self) -> Self {
        let of = |share: f64| 1.0 / (1.0 - share.clamp(0.0, 1.0) / 2.0);
        Self { low: of(self.low), value: of(self.value), high: of(self.high) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_few_samples_is_wide() {
        let few = Estimate::of_share(5.0, 10.0);
        let many = Estimate::of_share(500.0, 1000.0);
        assert!(few.low < 0.25 && few.high > 0.75, "{few:?}");
        assert!(many.low > 0.46 && many.high < 0.54, "{many:?}");
        assert_eq!(Estimate::of_share(0.0, 0.0), Estimate { low: 0.0, value: 0.0, high: 1.0 });
        let all = Estimate::of_share(10.0, 10.0);
        assert!(all.low > 0.7 && all.high == 1.0, "{all:?}");
    }

    #[test]
    fn half_of_everything_is_twice_the_throughput() {
        assert_eq!(
            Estimate { low: 0.0, value: 0.5, high: 1.0 }.gain(),
            Estimate { low: 1.0, value: 4.0 / 3.0, high: 2.0 }
        );
    }
}
