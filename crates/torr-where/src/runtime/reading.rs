//! Readings: what a reader of a runtime returns.

use crate::stack::StackSample;
use crate::unseen::Unseen;
use std::collections::BTreeMap;
use std::time::Duration;

/// What a reader may do to a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Read its memory and its files in `/proc`.
    Reading,
    /// Send it requests by its own diagnostic interface too (`--ask`).
    Asking,
}

/// The samples of one process of a runtime.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reading {
    /// Samples of threads that computed. Their weights are in proportion to CPU time, and their sum is the number of samples of equal
    /// weight that would be as precise.
    pub cpu: Vec<StackSample>,
    /// All threads at one time, again and again: those that wait and those that compute. All weights are 1.
    pub rounds: Vec<Vec<StackSample>>,
    /// The CPU time of each thread while it was sampled.
    pub used: BTreeMap<u64, Duration>,
    /// Whether computing threads were seen at safepoints only, so that stacks may be those of other functions than those that compute.
    pub at_safepoints: bool,
    /// What of the process was not visible.
    pub unseen: Option<Unseen>,
}

impl Reading {
    /// Scales the weights of the samples of CPU time, so that their sum is the number of samples that they are as precise as: with few
    /// samples of large weight an interval is wide, however many small ones there are beside (Kish's effective size).
    pub(super) fn scale(&mut self) {
        let sum: f64 = self.cpu.iter().map(|sample| sample.weight).sum();
        let squares: f64 = self.cpu.iter().map(|sample| sample.weight * sample.weight).sum();
        if squares > 0.0 {
            self.cpu.iter_mut().for_each(|sample| sample.weight *= sum / squares);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    #[test]
    fn samples_of_unequal_weight_are_less_precise() {
        let sample = |weight| StackSample {
            process: 1,
            thread: 1,
            on_cpu: true,
            wait: None,
            holds: vec![],
            stack: Stack::default(),
            weight,
        };
        let sum = |weights: &[f64]| {
            let cpu = weights.iter().map(|weight| sample(*weight)).collect();
            let mut reading = Reading { cpu, ..Reading::default() };
            reading.scale();
            reading.cpu.iter().map(|sample| sample.weight).sum::<f64>()
        };
        assert_eq!((sum(&[3.0; 5]).round(), sum(&[])), (5.0, 0.0));
        // Two of ten samples have nearly all of the weight.
        let unequal = sum(&[50.0, 50.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]);
        assert!((2.0..2.1).contains(&unequal), "{unequal}");
    }
}
