//! Pools: places where threads that process a request wait for one of a few slots, by a semaphore or a condition.
//!
//! The kernel shows the same for a worker that waits for work. A wait is one for a slot only if all of these hold: threads are seen
//! past the wait in the same function; how many is the same all the time; and the wait is in the middle of a request. It is if as many
//! threads are in the function as requests are in flight, or if the function is called by one that was seen without it while it waited
//! for a client or an event.

use super::round::{CpuSeries, Round};
use super::types::{Holder, Place};
use crate::stack::{Frame, Stack, StackSample, WaitKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::PlaceKind;

/// The share of the rounds in which threads must wait.
const CONTENDED: f64 = 0.8;
/// The fewest rounds.
const ROUNDS: usize = 10;
/// The share of the largest number of threads in the pool that is in it on average, at least.
const CONSTANT: f64 = 0.7;
/// The share of the busy threads that must be in the function.
const CONCENTRATED: f64 = 0.6;
/// The fewest samples that show a caller of the function between requests.
const BETWEEN: usize = 3;
/// The share of the requests in flight for each of which a thread is in the function, at least.
const OF_REQUESTS: f64 = 0.9;
/// The fewest requests in flight whose number says something.
const REQUESTS: usize = 8;
/// Functions of the C library by which a thread exchanges messages with a client.
const EXCHANGES: [&str; 20] = [
    "read",
    "recv",
    "recvfrom",
    "recvmsg",
    "readv",
    "write",
    "send",
    "sendto",
    "sendmsg",
    "writev",
    "__GI___libc_read",
    "__GI___libc_write",
    "__libc_recv",
    "__libc_send",
    "__GI___recv",
    "__GI___send",
    "__read",
    "__write",
    "__libc_read",
    "__libc_write",
];
/// The share of the samples past the wait that must agree in what they do.
const AGREED: f64 = 0.8;

/// A function: its object and its name.
type Key<'f> = (&'f str, &'f str);

fn key(frame: &Frame) -> Key<'_> {
    (&frame.object, &frame.function)
}

/// The samples of one function of own code in which threads wait for a condition.
#[derive(Default)]
struct Site<'s> {
    waiting: Vec<&'s StackSample>,
    /// The rounds in which threads wait.
    rounds: BTreeSet<usize>,
    /// The threads past the wait by round.
    inside: BTreeMap<usize, Vec<&'s StackSample>>,
}

/// Returns the places of a process's pools, the widest first. The share is that of `all`, the samples of all threads with work to do,
/// and of those that wait for a slot. `in_flight` is the number of requests in flight, where it is known.
pub fn places(rounds: &[Round], cpu: &CpuSeries, all: f64, in_flight: Option<usize>) -> Vec<Place> {
    let sites = sites(rounds);
    let functions: Vec<Key<'_>> = sites.keys().copied().collect();
    let mut places = Vec::new();
    for (function, site) in &sites {
        let others = functions.iter().filter(|other| *other != function);
        if is_pool(*function, site, rounds, cpu, in_flight) && !others.clone().any(|other| waits_inside(site, *other)) {
            places.extend(place(*function, site, rounds.len(), all));
        }
    }
    // Two functions that look like a pool: it is not known which one limits.
    if places.len() > 1 {
        places.iter_mut().for_each(|place: &mut Place| place.share.low = 0.0);
    }
    places
}

fn sites(rounds: &[Round]) -> BTreeMap<Key<'_>, Site<'_>> {
    let mut sites: BTreeMap<Key<'_>, Site<'_>> = BTreeMap::new();
    for (at, round) in rounds.iter().enumerate() {
        for sample in round.samples.iter().filter(|sample| sample.wait == Some(WaitKind::Condition)) {
            let Some(own) = sample.stack.own() else { continue };
            let site = sites.entry(key(own)).or_default();
            site.waiting.push(sample);
            site.rounds.insert(at);
        }
    }
    for (at, round) in rounds.iter().enumerate() {
        for sample in &round.samples {
            for frame in sample.stack.0.iter().filter(|frame| frame.is_own) {
                let is_past = sample.wait != Some(WaitKind::Condition)
                    || sample.stack.own().is_some_and(|own| key(own) != key(frame));
                let Some(site) = sites.get_mut(&key(frame)).filter(|_| is_past) else { continue };
                let inside = site.inside.entry(at).or_default();
                if !inside.last().is_some_and(|last| std::ptr::eq(*last, sample)) {
                    inside.push(sample);
                }
            }
        }
    }
    sites
}

fn is_pool(function: Key<'_>, site: &Site<'_>, rounds: &[Round], cpu: &CpuSeries, in_flight: Option<usize>) -> bool {
    if site.rounds.len() < ROUNDS || (site.rounds.len() as f64) < CONTENDED * rounds.len() as f64 {
        return false;
    }
    // A thread that computes has no stack in a round: it may be one of those past the wait.
    let computing =
        |at: usize| rounds.get(at).map_or(0, |round| round.samples.iter().filter(|one| one.stack.0.is_empty()).count());
    let inside = |at: usize| site.inside.get(&at).map_or(0, Vec::len);
    let most = site.rounds.iter().map(|&at| inside(at)).max().unwrap_or(0);
    let mean = site.rounds.iter().map(|&at| (inside(at) + computing(at)).min(most)).sum::<usize>() as f64
        / site.rounds.len() as f64;
    if most == 0 || mean < CONSTANT * most as f64 {
        return false;
    }
    let is_in = |stack: &Stack| stack.0.iter().any(|frame| key(frame) == function);
    let busy = rounds.iter().flat_map(|round| &round.samples).filter(|sample| {
        let is_idle = sample.wait.as_ref().is_some_and(WaitKind::is_idle);
        !is_idle && !sample.stack.0.is_empty()
    });
    let (busy, inside) =
        busy.fold((0, 0), |(busy, inside), sample| (busy + 1, inside + usize::from(is_in(&sample.stack))));
    let computing = cpu.0.iter().filter(|(_, sample)| !is_in(&sample.stack)).count();
    if (inside as f64) < CONCENTRATED * busy as f64 || computing > busy * 10 {
        return false;
    }
    if in_flight.is_some_and(|requests| has_all(site, requests)) {
        return true;
    }
    // The callers of the function, as far as all waiting threads have them.
    let Some(first) = site.waiting.first() else { return false };
    let position = first.stack.0.iter().position(|frame| key(frame) == function);
    let callers: BTreeSet<Key<'_>> =
        first.stack.0.iter().skip(position.map_or(usize::MAX, |at| at + 1)).map(|frame| key(frame)).collect();
    let shared: Vec<Key<'_>> = callers
        .into_iter()
        .filter(|caller| !is_entry(caller.1))
        .filter(|caller| site.waiting.iter().all(|sample| sample.stack.0.iter().any(|frame| key(frame) == *caller)))
        .collect();
    let between = rounds.iter().flat_map(|round| &round.samples).filter(|sample| {
        let has_caller = sample.stack.0.iter().any(|frame| shared.contains(&key(frame)));
        sample.wait == Some(WaitKind::Idle) && has_caller && !is_in(&sample.stack)
    });
    // A thread that reads a request or writes a response does so between two requests too.
    let exchanging = cpu.0.iter().map(|(_, sample)| sample).filter(|sample| {
        let has_caller = sample.stack.0.iter().any(|frame| shared.contains(&key(frame)));
        has_caller
            && !is_in(&sample.stack)
            && sample.stack.leaf().is_some_and(|leaf| EXCHANGES.contains(&leaf.function.as_str()))
    });
    between.chain(exchanging).take(BETWEEN).count() == BETWEEN
}

/// Returns whether nearly each request in flight has its thread at a site, waiting or past the wait, and no more threads are there.
fn has_all(site: &Site<'_>, requests: usize) -> bool {
    let inside: usize = site.rounds.iter().map(|at| site.inside.get(at).map_or(0, Vec::len)).sum();
    let threads = (site.waiting.len() + inside) as f64 / site.rounds.len().max(1) as f64;
    requests >= REQUESTS && (OF_REQUESTS * requests as f64..=requests as f64 + 0.5).contains(&threads)
}

/// Returns whether a function is a thread's begin, which all threads have in common.
fn is_entry(function: &str) -> bool {
    const ENTRIES: [&str; 12] = [
        "start_thread",
        "clone",
        "_start",
        "__libc_start",
        "main",
        "std::rt::",
        "std::thread",
        "std::sys::",
        "core::",
        "alloc::",
        "runtime.goexit",
        "runtime.main",
    ];
    ENTRIES.iter().any(|entry| function.starts_with(entry)) && function != "main.main"
}

/// Returns whether most of the threads past a site's wait wait for another site's condition.
fn waits_inside(site: &Site<'_>, other: Key<'_>) -> bool {
    let inside = site.inside.values().flatten();
    let (all, waiting) = inside.fold((0, 0), |(all, waiting), sample| {
        let waits = sample.wait == Some(WaitKind::Condition) && sample.stack.own().is_some_and(|own| key(own) == other);
        (all + 1, waiting + usize::from(waits))
    });
    waiting * 2 > all
}

fn place(function: Key<'_>, site: &Site<'_>, rounds: usize, all: f64) -> Option<Place> {
    let waits: f64 = site.waiting.iter().map(|sample| sample.weight).sum();
    let mut place = Place::of(PlaceKind::Lock, Estimate::of_share(waits, all + waits), waits as u64);
    let first = most(site.waiting.iter().map(|sample| sample.stack.own()))?;
    let sample = site.waiting.iter().find(|sample| sample.stack.own() == Some(&first))?;
    let at = sample.stack.0.iter().position(|frame| key(frame) == function)?;
    place.process = sample.process;
    place.leaf = at.checked_sub(1).and_then(|inner| sample.stack.0.get(inner)).cloned();
    place.caller = sample.stack.0[at + 1..].iter().find(|frame| frame.is_own && key(frame) != function).cloned();
    place.frame = Some(first);
    place.gain = Some(Estimate::of_share(site.rounds.len() as f64, rounds as f64).gain());
    place.holder = holder(function, site);
    Some(place)
}

/// Returns what the threads past the wait do, where they agree.
fn holder(function: Key<'_>, site: &Site<'_>) -> Option<Holder> {
    let inside: Vec<&StackSample> = site.inside.values().flatten().copied().collect();
    let own = |sample: &StackSample| sample.stack.own().map(|frame| (frame.object.clone(), frame.function.clone()));
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    inside.iter().filter_map(|sample| own(sample)).for_each(|name| *counts.entry(name).or_default() += 1);
    let (name, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let agrees = count as f64 >= AGREED * inside.len() as f64;
    let name = if agrees { name } else { (function.0.to_owned(), function.1.to_owned()) };
    let is_it = |frame: &&Arc<Frame>| (&frame.object, &frame.function) == (&name.0, &name.1);
    let frame = most(inside.iter().map(|sample| sample.stack.0.iter().find(is_it)))?;
    let sample = inside.iter().find(|sample| sample.stack.0.contains(&frame))?;
    let share = Estimate::of_share(if agrees { count } else { inside.len() } as f64, inside.len() as f64);
    Some(Holder { frame, leaf: Arc::clone(sample.stack.leaf()?), wait: sample.wait.clone(), share })
}

/// Returns the most frequent frame.
fn most<'f>(frames: impl Iterator<Item = Option<&'f Arc<Frame>>>) -> Option<Arc<Frame>> {
    let mut counts: BTreeMap<&Arc<Frame>, usize> = BTreeMap::new();
    frames.flatten().for_each(|frame| *counts.entry(frame).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(frame, _)| Arc::clone(frame))
}
