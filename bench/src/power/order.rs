//! The order of comparisons: rounds of all differences, so that what an interrupted run has is balanced.

use super::planted::Kind;

/// The seed of the order and of all that comparisons draw. One for all runs, so that a resumed run goes on with the same tasks.
const SEED: u64 = 22;

/// A comparison to make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Task {
    /// The number of the round, from 0.
    pub round: usize,
    /// The planted difference in percent.
    pub difference: u32,
    /// What is planted.
    pub kind: Kind,
    /// Whether B is the version that does more.
    pub b_does_more: bool,
    /// The seed of the comparison.
    pub seed: u64,
}

/// Returns the comparisons in their order: in each round each difference once, shuffled, with the kinds in turns. What is drawn for a
/// difference in a round does not depend on the number of rounds.
pub fn order(differences: &[u32], rounds: usize) -> Vec<Task> {
    let mut tasks = Vec::new();
    for round in 0..rounds {
        let mut rng = fastrand::Rng::with_seed(SEED + round as u64);
        let mut of_round: Vec<_> = (0..differences.len()).map(|at| task(differences[at], round, at)).collect();
        rng.shuffle(&mut of_round);
        tasks.extend(of_round);
    }
    tasks
}

fn task(difference: u32, round: usize, at: usize) -> Task {
    let mut rng = fastrand::Rng::with_seed(SEED ^ (round as u64) << 32 ^ u64::from(difference) << 8);
    let kind = Kind::ALL[(round + at) % Kind::ALL.len()];
    Task { round, difference, kind, b_does_more: rng.bool(), seed: rng.u64(1..1_000_000) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_round_has_each_difference_once_and_kinds_take_turns() {
        let tasks = order(&[0, 2, 5], 6);
        assert_eq!(tasks.len(), 18);
        for round in tasks.chunks(3) {
            let differences: BTreeSet<_> = round.iter().map(|task| task.difference).collect();
            assert_eq!(differences, BTreeSet::from([0, 2, 5]));
        }
        for kind in Kind::ALL {
            assert_eq!(tasks.iter().filter(|task| task.kind == kind && task.difference == 2).count(), 2);
        }
        assert!(tasks.iter().any(|task| task.b_does_more) && tasks.iter().any(|task| !task.b_does_more));
    }

    #[test]
    fn more_rounds_begin_with_the_same_tasks() {
        assert_eq!(order(&[0, 1, 10], 9)[..6], order(&[0, 1, 10], 2));
    }
}
