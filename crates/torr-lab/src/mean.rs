//! The mean response time, which stands beside the CPU time: where requests queue, a server takes several at each wake-up, and so needs
//! less CPU time for each.

use crate::block::Block;
use crate::judgement::{Finding, Outcome};
use crate::stats::{bootstrap, median};
use serde::Serialize;

/// The relative difference of the mean below which queueing does not explain a difference in CPU time.
const CHANGES: f64 = 0.1;

/// The mean response times of two versions at the fixed rate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Means {
    /// The mean of A in microseconds: the median of its turns.
    pub a: f64,
    /// The mean of B.
    pub b: f64,
    /// The median of the pairs' ratios of B to A.
    pub ratio: f64,
    /// The 99% interval of the ratio, `None` with too few pairs.
    pub interval: Option<[f64; 2]>,
}

impl Means {
    /// Returns the means of valid turns. `None` if no pair has them.
    pub fn of(blocks: &[Block], rng: &mut fastrand::Rng) -> Option<Self> {
        let pair = |block: &Block| {
            let [a, b] = [block.a.mean_us?, block.b.mean_us?];
            (!block.is_invalid() && a > 0.0 && b > 0.0).then_some([a, b])
        };
        let pairs: Vec<[f64; 2]> = blocks.iter().filter_map(pair).collect();
        if pairs.is_empty() {
            return None;
        }
        let logs: Vec<f64> = pairs.iter().map(|[a, b]| (b / a).ln()).collect();
        let statistic = |drawn: &[Vec<usize>]| median(&drawn[0].iter().map(|&at| logs[at]).collect::<Vec<_>>());
        let interval = bootstrap::interval(&[logs.len()], rng, statistic);
        let side = |at: usize| median(&pairs.iter().map(|pair| pair[at]).collect::<Vec<_>>());
        Some(Self {
            a: side(0),
            b: side(1),
            ratio: median(&logs).exp(),
            interval: interval.map(|ends| ends.map(f64::exp)),
        })
    }

    /// Returns whether queueing can explain a difference in CPU time: the version that uses less of it has the longer response times,
    /// beyond doubt.
    pub fn may_explain(&self, cpu: &Finding) -> bool {
        let Some([low, high]) = self.interval.filter(|_| cpu.outcome == Outcome::Different) else { return false };
        match cpu.ratio {
            Some(ratio) if ratio < 1.0 => low > 1.0 && self.ratio >= 1.0 + CHANGES,
            Some(ratio) if ratio > 1.0 => high < 1.0 && self.ratio <= 1.0 / (1.0 + CHANGES),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{InvalidReason, Side, Turn};
    use crate::metric::Metric;

    fn block(a: f64, b: f64) -> Block {
        let turn = |mean_us| Turn { mean_us: Some(mean_us), ..Turn::default() };
        Block { first: Side::A, a: turn(a), b: turn(b) }
    }

    /// Returns the means of 20 blocks in which B takes so many times as long, give or take some per cent.
    fn means(factor: f64) -> Means {
        let block = |n: u32| block(100.0, 100.0 * factor * (1.0 + 0.01 * f64::from(n % 5)));
        let blocks: Vec<_> = (0..20).map(block).collect();
        Means::of(&blocks, &mut fastrand::Rng::with_seed(3)).expect("each turn has a mean")
    }

    #[test]
    fn queueing_may_explain_less_cpu_but_not_more() {
        let cpu = |ratio| Finding { outcome: Outcome::Different, ratio: Some(ratio), ..Finding::nothing(Metric::Cpu) };
        for (mean, ratio, explains) in
            [(1.5, 0.9, true), (1.5, 1.1, false), (1.0, 0.9, false), (0.5, 1.1, true), (0.5, 0.9, false)]
        {
            assert_eq!(means(mean).may_explain(&cpu(ratio)), explains, "mean x {mean}, cpu x {ratio}");
        }
        let unknown = Finding { outcome: Outcome::CannotTell, ..cpu(0.9) };
        assert!(!means(1.5).may_explain(&unknown), "a difference that is not shown needs no explanation");
    }

    #[test]
    fn invalid_turns_have_no_mean() {
        let mut spoilt = block(1.0, 9.0);
        spoilt.b.invalid.push(InvalidReason::RateMissed);
        let mut rng = fastrand::Rng::with_seed(3);
        assert_eq!(Means::of(std::slice::from_ref(&spoilt), &mut rng), None);
        let means = Means::of(&[spoilt, block(100.0, 110.0)], &mut rng).expect("one block is valid");
        assert_eq!((means.a, means.b, means.interval), (100.0, 110.0, None));
    }
}
