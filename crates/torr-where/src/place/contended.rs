//! Locks that threads wait for: groups of waits by the lock.

use super::round::Round;
use crate::stack::{Frame, LockId, StackSample, WaitKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A lock that threads wait for.
#[derive(Debug, Clone, PartialEq)]
pub struct Contended {
    /// The process.
    pub process: i32,
    /// The lock.
    pub id: LockId,
    /// The rounds in which threads wait for it.
    pub rounds: Vec<usize>,
    /// How many threads waited, summed over all rounds.
    pub waits: f64,
    /// The functions of own code that acquire it.
    pub sites: BTreeSet<String>,
    /// A waiting thread's frame of own code, the most frequent one, and the frame that calls it.
    pub frame: Option<Arc<Frame>>,
    /// The frame of own code that calls `frame`.
    pub caller: Option<Arc<Frame>>,
    /// The function of a library by which the lock is acquired.
    pub leaf: Option<Arc<Frame>>,
}

impl Contended {
    /// Returns whether a function acquires the lock, or calls the one that does most often.
    pub fn is_acquired_in(&self, function: &str) -> bool {
        self.sites.contains(function) || self.caller.as_ref().is_some_and(|caller| caller.function == function)
    }
}

/// Samples of waiting threads with the numbers of their rounds.
type Waits<'s> = Vec<(usize, &'s StackSample)>;

/// Returns the locks that threads wait for, the most waited for first.
pub fn contended(rounds: &[Round]) -> Vec<Contended> {
    let mut groups: BTreeMap<(i32, u64, String), Waits<'_>> = BTreeMap::new();
    for (at, round) in rounds.iter().enumerate() {
        for sample in &round.samples {
            let Some(lock) = sample.wait.as_ref().and_then(WaitKind::lock) else { continue };
            // A lock without an address of its own is known by the function that acquires it.
            let site = if lock.address == 0 { sample.stack.own().map(|frame| frame.function.clone()) } else { None };
            groups.entry((sample.process, lock.address, site.unwrap_or_default())).or_default().push((at, sample));
        }
    }
    let mut locks: Vec<Contended> =
        groups.into_iter().filter_map(|((process, ..), waits)| group(process, &waits)).collect();
    locks.sort_by(|a, b| b.waits.total_cmp(&a.waits));
    locks
}

fn group(process: i32, waits: &[(usize, &StackSample)]) -> Option<Contended> {
    let id = waits.first()?.1.wait.as_ref()?.lock()?.clone();
    let rounds: BTreeSet<usize> = waits.iter().map(|(at, _)| *at).collect();
    let mut owns: BTreeMap<&Arc<Frame>, (f64, &StackSample)> = BTreeMap::new();
    for (_, sample) in waits {
        if let Some(own) = sample.stack.own() {
            owns.entry(own).or_insert((0.0, sample)).0 += sample.weight;
        }
    }
    let sites = owns.keys().map(|frame| frame.function.clone()).collect();
    let most = owns.into_iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let (frame, sample) = most.map_or((None, waits[0].1), |(frame, (_, sample))| (Some(Arc::clone(frame)), sample));
    let position = sample.stack.0.iter().position(|frame| frame.is_own);
    let outer = position.and_then(|at| sample.stack.0[at + 1..].iter().find(|frame| frame.is_own)).cloned();
    let leaf = position.and_then(|at| sample.stack.0.get(at.checked_sub(1)?)).cloned();
    let waits = waits.iter().map(|(_, sample)| sample.weight).sum();
    Some(Contended { process, id, rounds: rounds.into_iter().collect(), waits, sites, frame, caller: outer, leaf })
}
