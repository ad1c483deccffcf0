//! The places of locks: their shares of the threads' time, and which of several locks limits.

use super::contended::contended;
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
    let holdings: Vec<_> = locks.iter().map(|lock| find(lock, &locks, rounds, cpu, &acquires)).collect();
    // Who waits for a lock whose holder waits for another lock waits for that one: the end of the chain is what limits.
    let next = |at: usize| {
        let next = holdings[at].waits_for.as_ref()?;
        locks.iter().position(|lock| lock.process == locks[at].process && lock.id == *next)
    };
    let chain = |at: usize| std::iter::successors(next(at), |&at| next(at)).take(CHAIN);
    let ends: Vec<usize> = (0..locks.len()).map(|at| chain(at).last().unwrap_or(at)).collect();
    // Of locks that are held together, acquired in the same function, it is not known which one limits.
    let is_in_circle = |at: usize| chain(at).any(|other| other == at);
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
        if !is_end || !is_always_held(times.len()) || holdings[at].is_in_doubt || is_doubtful(at) || is_in_circle(at) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::{LockId, Stack};

    fn lock(address: u64) -> LockId {
        LockId { address, name: None }
    }

    fn sample(thread: u64, wait: WaitKind, functions: &[&str]) -> StackSample {
        let frame = |name: &&str| {
            Arc::new(Frame { function: (*name).to_owned(), is_own: true, is_named: true, ..Frame::default() })
        };
        let stack = Stack(functions.iter().map(frame).collect());
        StackSample { process: 1, thread, on_cpu: false, wait: Some(wait), holds: vec![], stack, weight: 1.0 }
    }

    /// Returns the places of two locks of 100 rounds, in which the holder of the first one does this.
    fn places_of(holder: impl Fn(usize) -> StackSample) -> Vec<Place> {
        let round = |at: usize| {
            let mut samples = vec![holder(at)];
            if !samples[0].holds.contains(&lock(2)) {
                samples.push(sample(9, WaitKind::Sleep, &["append", "post"]));
            }
            samples.extend((2..6).map(|thread| sample(thread, WaitKind::Lock(lock(1)), &["transfer"])));
            samples.extend((6..8).map(|thread| sample(thread, WaitKind::Lock(lock(2)), &["post"])));
            Round { time: at as u64, samples }
        };
        let rounds: Vec<_> = (0..100).map(round).collect();
        places(&rounds, &CpuSeries::default(), busy(&rounds), |_| false)
    }

    /// Returns the places of two locks in an order, where the holder of the outer one waits for the inner one in so many rounds.
    fn nested(waiting: usize) -> Vec<Place> {
        places_of(|at| match at < waiting {
            true => sample(1, WaitKind::Lock(lock(2)), &["post", "transfer"]),
            false => sample(1, WaitKind::Sleep, &["write", "transfer"]),
        })
    }

    /// Returns the places of two locks, where the holder of the first one holds the second one too in so many rounds.
    fn held_together(together: usize, stack: &[&str]) -> Vec<Place> {
        places_of(|at| match at < together {
            true => StackSample { holds: vec![lock(1), lock(2)], ..sample(1, WaitKind::Sleep, stack) },
            false => StackSample { holds: vec![lock(1)], ..sample(1, WaitKind::Sleep, &["write", "transfer"]) },
        })
    }

    fn certain(places: &[Place]) -> Vec<u64> {
        places
            .iter()
            .filter(|place| place.share.low > 0.0)
            .filter_map(|place| Some(place.lock.as_ref()?.address))
            .collect()
    }

    #[test]
    fn a_lock_whose_holder_often_waits_for_another_one_is_in_doubt() {
        assert_eq!(certain(&nested(10)), [1, 2], "the holder hardly waits: both are held all the time");
        for waiting in [45, 60, 75] {
            assert_eq!(certain(&nested(waiting)), [2], "{waiting}");
        }
        assert_eq!(certain(&nested(95)), [2], "who waits for the outer one waits for the inner one");
    }

    #[test]
    fn of_two_locks_that_one_thread_holds_the_one_acquired_first_does_not_limit() {
        for together in [45, 75, 85, 100] {
            assert_eq!(certain(&held_together(together, &["append", "post", "transfer"])), [2], "{together}");
        }
        assert_eq!(certain(&held_together(10, &["append", "post", "transfer"])), [1, 2]);
    }

    #[test]
    fn of_two_locks_that_are_held_together_in_one_function_none_is_known_to_limit() {
        assert_eq!(certain(&held_together(100, &["append"])), [] as [u64; 0]);
    }
}
