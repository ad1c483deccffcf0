//! The functions that take the CPU time: the innermost frames of own code, by their shares.

use super::types::Place;
use crate::stack::{Frame, StackSample};
use std::collections::BTreeMap;
use std::sync::Arc;
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::PlaceKind;

/// The share from which a function without lines may be many.
const INLINED: f64 = 0.8;

/// Functions and threads that collect garbage beside the code that makes it.
const COLLECTORS: [&str; 5] =
    ["runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "(garbage collector)", "GC Thread"];

/// Samples of one own function.
#[derive(Debug, Default)]
struct Group<'s> {
    samples: Vec<(&'s StackSample, usize)>,
}

/// A function: its object and its name.
type Key = (String, String);

fn key(frame: &Frame) -> Key {
    (frame.object.clone(), frame.function.clone())
}

impl Group<'_> {
    fn weight(&self) -> f64 {
        self.samples.iter().map(|(sample, _)| sample.weight).sum()
    }

    /// Returns the most frequent of some frames.
    fn most<'f>(frames: impl Iterator<Item = (&'f Arc<Frame>, f64)>) -> Option<(Arc<Frame>, f64)> {
        let mut weights: BTreeMap<&Arc<Frame>, f64> = BTreeMap::new();
        frames.for_each(|(frame, weight)| *weights.entry(frame).or_default() += weight);
        let widest = weights.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some((Arc::clone(widest.0), widest.1))
    }

    /// Returns the frame with its most frequent line.
    fn frame(&self) -> Option<Arc<Frame>> {
        Self::most(self.samples.iter().map(|(sample, at)| (&sample.stack.0[*at], sample.weight)))
            .map(|(frame, _)| frame)
    }

    /// Returns the function that the group's function calls in most of its samples.
    fn called(&self) -> Option<Arc<Frame>> {
        let mut weights: BTreeMap<Key, (f64, &Arc<Frame>)> = BTreeMap::new();
        for (sample, at) in &self.samples {
            let Some(called) = at.checked_sub(1).and_then(|inner| sample.stack.0.get(inner)) else { continue };
            weights.entry(key(called)).or_insert((0.0, called)).0 += sample.weight;
        }
        let (weight, frame) = weights.into_values().max_by(|a, b| a.0.total_cmp(&b.0))?;
        (weight * 2.0 >= self.weight()).then(|| Arc::clone(frame))
    }

    /// Returns the function of own code that calls the group's function in most of its samples.
    fn caller(&self) -> Option<Arc<Frame>> {
        let mut weights: BTreeMap<Key, (f64, &Arc<Frame>)> = BTreeMap::new();
        for (sample, at) in &self.samples {
            let own = &sample.stack.0[*at];
            let outer = sample.stack.0[at + 1..].iter().find(|frame| frame.is_own && key(frame) != key(own));
            let Some(caller) = outer else { continue };
            weights.entry(key(caller)).or_insert((0.0, caller)).0 += sample.weight;
        }
        weights.into_values().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, frame)| Arc::clone(frame))
    }
}

/// Returns the places of computing threads, the widest first. `visible` is the share of the CPU time that the samples show, `counts`
/// tells the stacks that can be a place; the others count as time only. `is_native` tells the processes in machine code: of them functions
/// may be inlined.
pub fn places(
    samples: &[&StackSample],
    visible: f64,
    counts: impl Fn(&StackSample) -> bool,
    is_native: impl Fn(i32) -> bool,
) -> Vec<Place> {
    let all: f64 = samples.iter().map(|sample| sample.weight).sum();
    let collected: f64 = samples.iter().filter(|sample| is_collector(sample)).map(|sample| sample.weight).sum();
    let mut groups: BTreeMap<Key, Group<'_>> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| counts(sample)) {
        // Without own code on the stack the leaf stands for itself.
        let Some(at) =
            sample.stack.0.iter().position(|frame| frame.is_own).or((!sample.stack.0.is_empty()).then_some(0))
        else {
            continue;
        };
        groups.entry(key(&sample.stack.0[at])).or_default().samples.push((sample, at));
    }
    let mut places: Vec<Place> =
        groups.into_values().filter_map(|group| place(&group, all, collected, visible, &is_native)).collect();
    places.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    places
}

/// Returns whether a sample is one of a garbage collector.
fn is_collector(sample: &StackSample) -> bool {
    sample.stack.0.iter().any(|frame| COLLECTORS.iter().any(|name| frame.function.starts_with(name)))
}

fn place(group: &Group<'_>, all: f64, collected: f64, visible: f64, is_native: &impl Fn(i32) -> bool) -> Option<Place> {
    let weight = group.weight();
    let share = Estimate::of_share(weight, all);
    let share = share.times(Estimate { low: visible, value: visible, high: visible });
    let mut place = Place::of(PlaceKind::Cpu, share, group.samples.len() as u64);
    let frame = group.frame()?;
    place.process = group.samples.first().map_or(0, |(sample, _)| sample.process);
    place.leaf = group.called();
    place.caller = group.caller();
    let is_most = place.caller.is_none() || share.value >= INLINED;
    if frame.line.is_none() && frame.is_own && is_native(place.process) && is_most {
        // Without lines inlined functions are not visible: a function with nearly all of the time may have all others in it.
        place.share.low = 0.0;
    }
    if frame.is_own {
        place.frame = Some(frame);
    } else {
        place.leaf = Some(frame);
    }
    // Half of the user's function may leave half of the garbage, and then the collector works half as long too.
    let collected = if place.frame.is_some() { collected } else { 0.0 };
    place.gain = Some(Estimate { high: share.high * all / (all - collected), ..share }.gain());
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    fn sample(functions: &[&str]) -> StackSample {
        let frame = |name: &&str| {
            let is_own = !name.starts_with("runtime.");
            Arc::new(Frame { function: (*name).to_owned(), is_own, is_named: true, ..Frame::default() })
        };
        let stack = Stack(functions.iter().map(frame).collect());
        StackSample { process: 1, thread: 1, on_cpu: true, wait: None, holds: vec![], stack, weight: 1.0 }
    }

    #[test]
    fn the_garbage_of_a_function_may_shrink_with_it() {
        let all: Vec<_> =
            (0..100).map(|at| sample(if at < 60 { &["render"] } else { &["runtime.gcBgMarkWorker"] })).collect();
        let places = places(&all.iter().collect::<Vec<_>>(), 1.0, |_| true, |_| true);
        let gain = places[0].gain.expect("it is known");
        assert!(gain.low > 1.3 && gain.value < 1.45 && gain.high > 1.9, "{gain:?}");
        let all: Vec<_> = (0..100).map(|at| sample(if at < 60 { &["render"] } else { &["respond"] })).collect();
        let places = super::places(&all.iter().collect::<Vec<_>>(), 1.0, |_| true, |_| true);
        assert!(places[0].gain.is_some_and(|gain| gain.high < 1.6), "{places:?}");
    }
}
