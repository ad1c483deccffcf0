//! The places of locks: their shares of the threads' time, and which of several locks limits.

use super::contended::{Contended, contended};
use super::holder::find;
use super::round::{CpuSeries, Round};
use super::types::Place;
use crate::stack::{Frame, StackSample, WaitKind};
use std::collections::BTreeSet;
use std::sync::Arc;
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::PlaceKind;

/// The share of the rounds in which a lock must have a waiting thread to be contended.
const CONTENDED: f64 = 0.5;
/// The fewest rounds in which a lock is waited for.
const ROUNDS: usize = 10;
/// The most locks whose holder is looked for.
const LOCKS: usize = 8;
/// The longest chain of locks whose holders wait for the next one.
const CHAIN: usize = 4;

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
    let is_always_held = |held: usize| held >= ROUNDS && held as f64 >= CONTENDED * rounds.len() as f64;
    // Locks that are held during one function may be nested, though the samples do not show it: it is not known which one limits.
    let is_doubtful = |at: usize| {
        let Some(holder) = &holdings[at].holder else { return false };
        let is_held_by_it = |other: usize| {
            let one = holdings[other].holder.as_ref();
            one.is_some_and(|one| {
                (&one.frame.object, &one.frame.function) == (&holder.frame.object, &holder.frame.function)
            })
        };
        let is_other = |other: usize| other != at && ends[other] == other && locks[other].process == locks[at].process;
        (0..locks.len())
            .any(|other| is_other(other) && is_held_by_it(other) && is_always_held(locks[other].rounds.len()))
    };
    let mut places = Vec::new();
    for (at, lock) in locks.iter().enumerate() {
        let through: Vec<usize> = (0..locks.len()).filter(|&other| ends[other] == at).collect();
        let is_end = ends[at] == at;
        let waits: f64 = if is_end { through.iter().map(|&other| locks[other].waits).sum() } else { lock.waits };
        let mut place = Place::of(PlaceKind::Lock, Estimate::of_share(waits, all), waits as u64);
        let times: BTreeSet<usize> = through.iter().flat_map(|&other| locks[other].rounds.iter().copied()).collect();
        let held = Estimate::of_share(times.len() as f64, rounds.len() as f64);
        if !is_end || !is_always_held(times.len()) || is_doubtful(at) {
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
