//! The order of a suite's runs: rounds of all levels, with the subjects of a level in random order, so that what changes
//! on the machine meanwhile changes nothing between subjects.

/// A run that is due: the numbers of the round, of the level and of the subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// The round.
    pub round: usize,
    /// The level.
    pub level: usize,
    /// The subject.
    pub subject: usize,
}

/// Returns all runs. One seed always gives one order, so a suite that goes on keeps to that in which it began.
pub fn order(rounds: usize, levels: usize, subjects: usize, seed: u64) -> Vec<Due> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut all = Vec::with_capacity(rounds * levels * subjects);
    for round in 0..rounds {
        for level in 0..levels {
            let mut turn: Vec<usize> = (0..subjects).collect();
            rng.shuffle(&mut turn);
            all.extend(turn.into_iter().map(|subject| Due { round, level, subject }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_run_is_due_once_and_the_order_is_that_of_the_seed() {
        let all = order(2, 3, 4, 7);
        assert_eq!(all, order(2, 3, 4, 7));
        assert_ne!(all, order(2, 3, 4, 8));
        let mut sorted = all.clone();
        sorted.sort_by_key(|due| (due.round, due.level, due.subject));
        sorted.dedup();
        assert_eq!(sorted.len(), 24);
        assert!(all[..12].iter().all(|due| due.round == 0), "a round ends before the next");
    }
}
