//! Who holds a contended lock, and what the holder does meanwhile.

use super::contended::Contended;
use super::round::{CpuSeries, Round};
use super::types::Holder;
use crate::stack::{Frame, LockId, Stack, StackSample, WaitKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use torr_gauge::verdict::Estimate;

/// The share of the samples of holders that must agree.
const AGREED: f64 = 0.8;
/// The share of the samples of holders at which these wait for another lock or hold it too, from which on it is in doubt which of
/// the two limits.
const DOUBTED: f64 = 0.4;
/// The fewest samples of holders.
const FEWEST: usize = 8;

/// What a holder did at one time.
struct Held<'s> {
    stack: &'s Stack,
    wait: Option<&'s WaitKind>,
    /// The locks that it holds, as far as they say so.
    holds: &'s [LockId],
}

/// What the holder of a lock does, and the lock that it waits for in turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Holding {
    /// What the holder does, where its stacks agree.
    pub holder: Option<Holder>,
    /// The lock that the holder itself waits for, or has acquired since.
    pub waits_for: Option<LockId>,
    /// Whether the holder waits for another lock, or has it too, so often that this one may not be what limits.
    pub is_in_doubt: bool,
}

/// Finds the holder of one of the contended locks.
pub fn find(
    lock: &Contended,
    locks: &[Contended],
    rounds: &[Round],
    cpu: &CpuSeries,
    acquires: &impl Fn(&[Arc<Frame>]) -> bool,
) -> Holding {
    let contended: Vec<&Round> = lock.rounds.iter().filter_map(|&at| rounds.get(at)).collect();
    let is_enough = |held: &[Held<'_>]| held.len() >= FEWEST && held.len() * 4 >= contended.len();
    let of_sites = |sites: &BTreeSet<String>| -> Vec<Held<'_>> {
        let mut all = Vec::new();
        for &round in &contended {
            all.extend(owner(lock, round, cpu, acquires).or_else(|| by_stacks(lock, sites, round, cpu, acquires)));
        }
        all
    };
    let mut held = of_sites(&lock.sites);
    if !is_enough(&held) {
        // A function that only acquires the lock has returned while the lock is held: its caller holds it.
        held = of_sites(&lock.caller.iter().map(|frame| frame.function.clone()).collect());
    }
    if !is_enough(&held) {
        return Holding { holder: None, waits_for: None, is_in_doubt: false };
    }
    // While the holder waits for another lock or has acquired it since, who waits for this one waits for the other.
    let mut others: BTreeMap<&LockId, usize> = BTreeMap::new();
    let mut depending = 0;
    for one in &held {
        let since = one.holds.iter().filter(|other| is_later(lock, other, locks, one.stack));
        let too: BTreeSet<&LockId> =
            one.wait.and_then(WaitKind::lock).into_iter().chain(since).filter(|other| **other != lock.id).collect();
        depending += usize::from(!too.is_empty());
        too.into_iter().for_each(|other| *others.entry(other).or_default() += 1);
    }
    let next = others.into_iter().max_by_key(|(_, count)| *count);
    let waits_for = next.filter(|(_, count)| *count as f64 >= AGREED * held.len() as f64).map(|(lock, _)| lock.clone());
    let is_in_doubt = waits_for.is_none() && depending as f64 >= DOUBTED * held.len() as f64;
    Holding { holder: agreed(&held), waits_for, is_in_doubt }
}

/// Returns whether a thread with a stack acquired another lock after this one, as far as the stack tells: in a function further in.
fn is_later(lock: &Contended, other: &LockId, locks: &[Contended], stack: &Stack) -> bool {
    let acquired_in = |lock: &Contended| stack.0.iter().position(|frame| lock.is_acquired_in(&frame.function));
    let other = locks.iter().find(|known| known.process == lock.process && known.id == *other);
    match (acquired_in(lock), other.and_then(acquired_in)) {
        (Some(this), Some(other)) => other <= this,
        _ => true,
    }
}

/// Returns what the thread did that the lock itself names as its holder.
fn owner<'s>(
    lock: &Contended,
    round: &'s Round,
    cpu: &'s CpuSeries,
    acquires: &impl Fn(&[Arc<Frame>]) -> bool,
) -> Option<Held<'s>> {
    let owner =
        round.samples.iter().find(|sample| sample.process == lock.process && sample.holds.contains(&lock.id))?;
    if !owner.on_cpu || !owner.stack.0.is_empty() {
        return Some(Held { stack: &owner.stack, wait: owner.wait.as_ref(), holds: &owner.holds });
    }
    // The thread may have released the lock since: it holds the lock only where its stack has a function that acquires it.
    let near = cpu.around(round.time).iter().filter(|(_, sample)| {
        let is_it = sample.process == owner.process && sample.thread == owner.thread;
        let holds = |frame: &Arc<Frame>| lock.is_acquired_in(&frame.function);
        is_it && !acquires(&sample.stack.0) && sample.stack.0.iter().any(holds)
    });
    let nearest = near.min_by_key(|(at, _)| at.abs_diff(round.time))?;
    Some(Held { stack: &nearest.1.stack, wait: None, holds: &owner.holds })
}

/// Returns what the only thread did that is in a function which acquires the lock, and does not wait for it.
fn by_stacks<'s>(
    lock: &Contended,
    sites: &BTreeSet<String>,
    round: &'s Round,
    cpu: &'s CpuSeries,
    acquires: &impl Fn(&[Arc<Frame>]) -> bool,
) -> Option<Held<'s>> {
    let is_in = |stack: &Stack| stack.0.iter().any(|frame| frame.is_own && sites.contains(&frame.function));
    let mut found: Vec<Held<'s>> = Vec::new();
    let with_stack = |sample: &&StackSample| !sample.on_cpu || !acquires(&sample.stack.0);
    for sample in round.samples.iter().filter(|sample| sample.process == lock.process).filter(with_stack) {
        let waits_for_it = sample.wait.as_ref().and_then(WaitKind::lock) == Some(&lock.id);
        let is_idle = sample.wait.as_ref().is_some_and(WaitKind::is_idle);
        if !waits_for_it && !is_idle && is_in(&sample.stack) {
            found.push(Held { stack: &sample.stack, wait: sample.wait.as_ref(), holds: &sample.holds });
        }
    }
    let mut computing: BTreeSet<u64> = BTreeSet::new();
    for (_, sample) in cpu.around(round.time).iter().filter(|(_, sample)| sample.process == lock.process) {
        // A thread that waits in this round computed before or after it.
        let waits = round.samples.iter().any(|other| other.thread == sample.thread && !other.on_cpu);
        if !waits && is_in(&sample.stack) && !acquires(&sample.stack.0) && computing.insert(sample.thread) {
            found.push(Held { stack: &sample.stack, wait: None, holds: &[] });
        }
    }
    // One alone is the holder: of several it is not known which.
    (found.len() == 1).then(|| found.pop()).flatten()
}

/// Returns the innermost own function in which most of the holders' stacks are.
fn agreed(held: &[Held<'_>]) -> Option<Holder> {
    let mut counts: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    for one in held {
        let mut seen = BTreeSet::new();
        for (depth, frame) in one.stack.0.iter().rev().enumerate().filter(|(_, frame)| frame.is_own && frame.is_named) {
            if seen.insert((frame.object.as_str(), frame.function.as_str())) {
                let count = counts.entry((&frame.object, &frame.function)).or_default();
                *count = (count.0 + 1, count.1 + depth);
            }
        }
    }
    let enough = counts.into_iter().filter(|(_, (count, _))| *count as f64 >= AGREED * held.len() as f64);
    let (name, (count, _)) = enough.max_by(|(_, a), (_, b)| (a.1 * b.0).cmp(&(b.1 * a.0)))?;
    let is_it = |frame: &Arc<Frame>| (frame.object.as_str(), frame.function.as_str()) == name;
    let within: Vec<&Held<'_>> = held.iter().filter(|one| one.stack.0.iter().any(is_it)).collect();
    let most = |frames: Vec<&Arc<Frame>>| {
        let mut weights: BTreeMap<&Arc<Frame>, usize> = BTreeMap::new();
        frames.into_iter().for_each(|frame| *weights.entry(frame).or_default() += 1);
        weights.into_iter().max_by_key(|(_, count)| *count).map(|(frame, _)| Arc::clone(frame))
    };
    let frame = most(within.iter().filter_map(|one| one.stack.0.iter().find(|frame| is_it(frame))).collect())?;
    let leaf = most(within.iter().filter_map(|one| one.stack.leaf()).collect())?;
    let mut waits: BTreeMap<Option<&WaitKind>, usize> = BTreeMap::new();
    within.iter().for_each(|one| *waits.entry(one.wait).or_default() += 1);
    let wait = waits.into_iter().max_by_key(|(_, count)| *count).and_then(|(wait, _)| wait.cloned());
    Some(Holder { frame, leaf, wait, share: Estimate::of_share(count as f64, held.len() as f64) })
}
