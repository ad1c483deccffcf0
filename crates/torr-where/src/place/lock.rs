//! Locks that threads wait for: groups of waits by the lock, with the lock's holder.

use super::holder::{CpuSeries, Round, find};
use super::interval::Interval;
use super::types::{Place, PlaceKind};
use crate::stack::{Frame, LockId, StackSample, WaitKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The share of the rounds in which a lock must have a waiting thread to be contended.
const CONTENDED: f64 = 0.5;
/// The fewest rounds in which a lock is waited for.
const ROUNDS: usize = 10;
/// The most locks whose holder is looked for.
const LOCKS: usize = 8;
/// The longest chain of locks whose holders wait for the next one.
const CHAIN: usize = 4;

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

/// Returns the weight of samples of threads with work to do.
pub fn busy(rounds: &[Round]) -> f64 {
    let is_busy = |sample: &&StackSample| !sample.wait.as_ref().is_some_and(WaitKind::is_idle);
    rounds.iter().flat_map(|round| &round.samples).filter(is_busy).map(|sample| sample.weight).sum()
}

/// Returns the places of a process's locks, the widest first. The share is that of `all`, the samples of all threads with work to do.
pub fn places(rounds: &[Round], cpu: &CpuSeries, all: f64, acquires: impl Fn(&[Arc<Frame>]) -> bool) -> Vec<Place> {
    let mut locks = contended(rounds);
    locks.truncate(LOCKS);
    let holdings: Vec<_> = locks.iter().map(|lock| find(lock, rounds, cpu, &acquires)).collect();
    // Who waits for a lock whose holder waits for another lock waits for that one: the end of the chain is what limits.
    let ends: Vec<usize> = (0..locks.len())
        .map(|mut at| {
            for _ in 0..CHAIN {
                let Some(next) = &holdings[at].waits_for else { break };
                let is_next = |lock: &Contended| lock.process == locks[at].process && lock.id == *next;
                match locks.iter().position(is_next) {
                    Some(next) if next != at => at = next,
                    _ => break,
                }
            }
            at
        })
        .collect();
    let mut places = Vec::new();
    for (at, lock) in locks.iter().enumerate() {
        let through: Vec<usize> = (0..locks.len()).filter(|&other| ends[other] == at).collect();
        let is_end = ends[at] == at;
        let waits: f64 = if is_end { through.iter().map(|&other| locks[other].waits).sum() } else { lock.waits };
        let mut place = Place::of(PlaceKind::Lock, Interval::of_share(waits, all), waits as u64);
        let times: BTreeSet<usize> = through.iter().flat_map(|&other| locks[other].rounds.iter().copied()).collect();
        let held = Interval::of_share(times.len() as f64, rounds.len() as f64);
        let is_contended = times.len() >= ROUNDS && held.value >= CONTENDED;
        if !is_end || !is_contended {
            // A lock that is not always held limits nothing, and neither does one whose holder waits for another lock.
            place.share.low = 0.0;
        }
        place.process = lock.process;
        place.frame.clone_from(&lock.frame);
        place.caller.clone_from(&lock.caller);
        place.leaf.clone_from(&lock.leaf);
        place.lock = Some(lock.id.clone());
        place.holder.clone_from(&holdings[at].holder);
        place.gain = Some(held.gain());
        places.push(place);
    }
    places.sort_by(|a, b| b.share.low.total_cmp(&a.share.low).then(b.share.value.total_cmp(&a.share.value)));
    places
}
