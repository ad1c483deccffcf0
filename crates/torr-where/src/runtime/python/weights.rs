//! The weights of samples of Python's threads: those with the GIL and those without it come at different rates.

use crate::stack::StackSample;

/// Settles the weights of samples without the GIL, of a process that took this CPU time, in times between two samples of the GIL's holder.
///
/// The holder's samples have the weight 1. What remains of the process's CPU time is that of the threads without the GIL. A count of such
/// threads would be too high: a thread that a lock has just woken waits for a CPU, and looks like one that has a CPU.
pub fn settle(samples: &mut Vec<StackSample>, computed: f64) {
    let is_without = |sample: &&StackSample| sample.holds.is_empty();
    let without = samples.iter().filter(is_without).count();
    let rest = computed - (samples.len() - without) as f64;
    if without == 0 {
        return;
    }
    let weight = (rest / without as f64).max(0.0);
    samples.retain(|sample| weight > 0.0 || !sample.holds.is_empty());
    for sample in samples.iter_mut().filter(|sample| sample.holds.is_empty()) {
        sample.weight = weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{LockId, Stack};

    fn samples(with: usize, without: usize) -> Vec<StackSample> {
        let sample = |holds| StackSample {
            process: 1,
            thread: 1,
            on_cpu: true,
            wait: None,
            holds,
            stack: Stack::default(),
            weight: 1.0,
        };
        let gil = || vec![LockId { address: 1, name: Some("GIL".into()) }];
        let with = (0..with).map(|_| sample(gil()));
        with.chain((0..without).map(|_| sample(vec![]))).collect()
    }

    #[test]
    fn samples_without_the_gil_have_the_rest_of_the_time() {
        let mut some = samples(80, 5);
        settle(&mut some, 100.0);
        assert_eq!(some.iter().map(|sample| sample.weight).sum::<f64>(), 100.0);
        assert_eq!(some[84].weight, 4.0);
    }

    #[test]
    fn a_process_whose_time_the_holders_took_has_no_others() {
        let mut some = samples(80, 5);
        settle(&mut some, 70.0);
        assert_eq!(some.len(), 80);
        let mut none = samples(0, 0);
        settle(&mut none, 1.0);
        assert!(none.is_empty());
    }
}
