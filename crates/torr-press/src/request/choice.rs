//! Which URL comes next, by weight.

use super::draw::Order;
use super::numbers::Block;
use fastrand::Rng;

/// The sum of all weights up to each.
#[derive(Debug)]
pub(super) struct Choice {
    sums: Vec<u64>,
    order: Order,
}

impl Choice {
    pub fn new(weights: impl Iterator<Item = u32>, order: Order) -> Self {
        let add = |sum: &mut u64, weight| {
            *sum += u64::from(weight);
            Some(*sum)
        };
        Self { sums: weights.scan(0, add).collect(), order }
    }

    /// The next one's number. In sequence each comes as often as its weight says, then the next.
    #[inline]
    pub fn next(&self, rng: &mut Rng, turns: &mut Block<'_>) -> usize {
        let total = self.sums.last().copied().unwrap_or(1);
        let at = match self.order {
            Order::Random => rng.u64(..total),
            Order::Sequence => turns.take() % total,
        };
        self.sums.partition_point(|&sum| sum <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::super::numbers::Numbers;
    use super::*;

    #[test]
    fn a_sequence_keeps_order_and_weights() {
        let numbers = Numbers::default();
        let (mut rng, mut turns) = (Rng::with_seed(1), numbers.block(1));
        let choice = Choice::new([2, 1, 3].into_iter(), Order::Sequence);
        let got: Vec<_> = (0..8).map(|_| choice.next(&mut rng, &mut turns)).collect();
        assert_eq!(got, [0, 0, 1, 2, 2, 2, 0, 0]);
    }

    #[test]
    fn chance_follows_the_weights() {
        let numbers = Numbers::default();
        let (mut rng, mut turns) = (Rng::with_seed(1), numbers.block(1));
        let choice = Choice::new([1, 0, 9].into_iter(), Order::Random);
        let mut counts = [0; 3];
        (0..100_000).for_each(|_| counts[choice.next(&mut rng, &mut turns)] += 1);
        // Five standard deviations.
        assert!((9_525..=10_475).contains(&counts[0]) && counts[1] == 0, "{counts:?}");
    }
}
