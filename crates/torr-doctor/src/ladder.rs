//! What throughput does as connections double: where it stops to grow, and how much the service does at a time.

use crate::thresholds::SATURATED_FROM;
use serde::Serialize;
use std::time::Duration;

/// Throughput and response time with so many connections.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rung {
    /// Connections.
    pub connections: usize,
    /// Good responses per second.
    pub rps: f64,
    /// The median response time in seconds.
    pub median_s: f64,
}

/// A closed loop with ever more connections.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Ladder(pub Vec<Rung>);

impl Ladder {
    /// The most that was reached.
    pub fn most(&self) -> f64 {
        self.0.iter().map(|rung| rung.rps).fold(0.0, f64::max)
    }

    /// The fewest connections that reach about the most.
    pub fn saturated_from(&self) -> Option<usize> {
        let most = self.most();
        self.0.iter().find(|rung| rung.rps >= SATURATED_FROM * most).map(|rung| rung.connections)
    }

    /// The throughput with so many connections, if there is that rung.
    pub fn at(&self, connections: usize) -> Option<f64> {
        self.0.iter().find(|rung| rung.connections == connections).map(|rung| rung.rps)
    }

    /// How many requests the service works on at a time when it does its most, if one takes so long on its own (Little's
    /// law). Below 1 there is nothing that requests hold: something gives out time.
    pub fn parallelism(&self, alone: Duration) -> f64 {
        self.most() * alone.as_secs_f64()
    }

    /// By what factor throughput grew for each doubling of connections, from the first rung to the last one that still
    /// grew, or from `from` connections on.
    pub fn growth_per_doubling(&self, from: usize, to: usize) -> Option<f64> {
        let (low, high) = (self.at(from)?, self.at(to)?);
        let doublings = (to as f64 / from as f64).log2();
        (low > 0.0 && doublings > 0.0).then(|| (high / low).powf(1.0 / doublings))
    }
}

/// 1, 2, 4, 8 ... below `most`, then `most` itself.
pub fn rungs(most: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(1_usize), |n| n.checked_mul(2)).take_while(|&n| n < most);
    doubling.chain([most]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ladder(rungs: &[(usize, f64)]) -> Ladder {
        Ladder(rungs.iter().map(|&(connections, rps)| Rung { connections, rps, median_s: 0.001 }).collect())
    }

    #[test]
    fn rungs_double_and_end_where_the_user_is() {
        assert_eq!(rungs(1), [1]);
        assert_eq!(rungs(8), [1, 2, 4, 8]);
        assert_eq!(rungs(100), [1, 2, 4, 8, 16, 32, 64, 100]);
    }

    #[test]
    fn what_a_pool_of_four_does() {
        let four = ladder(&[(1, 100.0), (2, 200.0), (4, 390.0), (8, 400.0), (16, 398.0)]);
        assert_eq!(four.saturated_from(), Some(4));
        assert_eq!(four.parallelism(Duration::from_millis(10)), 4.0);
        assert!((four.growth_per_doubling(1, 4).unwrap() - 1.97).abs() < 0.01);
        assert_eq!(four.growth_per_doubling(1, 3), None);
    }
}
