//! The functions that take the CPU time: the innermost frames of own code, by their shares.

use super::types::Place;
use crate::stack::{Frame, StackSample};
use std::collections::BTreeMap;
use std::sync::Arc;
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::PlaceKind;

/// The share from which a function without lines may be many.
const INLINED: f64 = 0.8;

/// Functions and threads that collect garbage, or get memory, beside the code that makes it. Go's assists run on a stack of their own.
const COLLECTORS: [&str; 13] = [
    "runtime.gcBgMarkWorker",
    "runtime.gcAssistAlloc",
    "runtime.gcDrain",
    "runtime.gcStart",
    "runtime.gcMarkTermination",
    "runtime.gcMarkDone",
    "runtime.(*mheap).",
    "runtime.(*pageAlloc).",
    "runtime.wbBufFlush",
    "runtime.bgsweep",
    "runtime.bgscavenge",
    "(garbage collector)",
    "garbage collection",
];
/// The sources of code whose stacks a virtual machine shows at safepoints only.
const AT_SAFEPOINTS: [&str; 3] = [".java", ".kt", ".scala"];

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
    let sum = |is: fn(&StackSample) -> bool| samples.iter().filter(|one| is(one)).map(|one| one.weight).sum::<f64>();
    let elsewhere = Elsewhere { all, collected: sum(is_collector), transitions: sum(is_transition) };
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
        groups.into_values().filter_map(|group| place(&group, &elsewhere, visible, &is_native)).collect();
    places.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    places
}

/// The weights of samples that a function may have a part in although it is not on their stacks.
struct Elsewhere {
    /// All samples.
    all: f64,
    /// Those of the garbage collector.
    collected: f64,
    /// Those at the entry of a native method.
    transitions: f64,
}

impl Elsewhere {
    /// Returns the share that the function of a group has at most, if it has a share of at most `high` of all samples.
    fn upper(&self, group: &Group<'_>, high: f64) -> f64 {
        let own: f64 =
            group.samples.iter().filter(|(one, _)| is_transition(one)).map(|(sample, _)| sample.weight).sum();
        let elsewhere = self.collected + self.transitions - own;
        (high * self.all / (self.all - elsewhere)).min(1.0)
    }
}

/// Returns whether a sample is one of a garbage collector that runs beside the code that makes the garbage.
fn is_collector(sample: &StackSample) -> bool {
    let frames = &sample.stack.0;
    let collects = |frame: &Frame| COLLECTORS.iter().any(|name| frame.function.starts_with(name));
    frames.iter().any(|frame| collects(frame)) && !frames.iter().any(|frame| frame.is_own)
}

/// Returns whether a sample shows a thread of a virtual machine at the entry of a native method. A thread that computes is shown
/// where it comes next to a safepoint, and such an entry is one: it has more samples than time.
fn is_transition(sample: &StackSample) -> bool {
    let is_of_machine = |file: &String| AT_SAFEPOINTS.iter().any(|end| file.ends_with(end));
    match &sample.stack.0[..] {
        [leaf, caller, ..] => leaf.file.is_none() && caller.file.as_ref().is_some_and(is_of_machine),
        _ => false,
    }
}

fn place(group: &Group<'_>, elsewhere: &Elsewhere, visible: f64, is_native: &impl Fn(i32) -> bool) -> Option<Place> {
    let share = Estimate::of_share(group.weight(), elsewhere.all);
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
    let high = if place.frame.is_some() { elsewhere.upper(group, share.high) } else { share.high };
    place.gain = Some(Estimate { high, ..share }.gain());
    Some(place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    fn sample(functions: &[&str]) -> StackSample {
        let frame = |name: &&str| {
            let is_own = !["runtime.", "garbage collection"].iter().any(|other| name.starts_with(other));
            Arc::new(Frame { function: (*name).to_owned(), is_own, is_named: true, ..Frame::default() })
        };
        let stack = Stack(functions.iter().map(frame).collect());
        StackSample { process: 1, thread: 1, on_cpu: true, wait: None, holds: vec![], stack, weight: 1.0 }
    }

    fn widest(samples: &[StackSample]) -> Place {
        let places = places(&samples.iter().collect::<Vec<_>>(), 1.0, |_| true, |_| true);
        places.into_iter().next().expect("there are samples")
    }

    #[test]
    fn the_garbage_of_a_function_may_shrink_with_it() {
        let all: Vec<_> =
            (0..100).map(|at| sample(if at < 60 { &["render"] } else { &["runtime.gcBgMarkWorker"] })).collect();
        let gain = widest(&all).gain.expect("it is known");
        assert!(gain.low > 1.3 && gain.value < 1.45 && gain.high > 1.9, "{gain:?}");
        let stacks: [&[&str]; 4] = [
            &["render"],
            &["runtime.scanSpan", "runtime.gcAssistAlloc1", "runtime.systemstack"],
            &["runtime.wbBufFlush1", "runtime.systemstack"],
            &["garbage collection"],
        ];
        let all: Vec<_> = (0..100).map(|at| sample(if at < 60 { stacks[0] } else { stacks[at % 3 + 1] })).collect();
        let gain = widest(&all).gain.expect("it is known");
        assert!(gain.value < 1.45 && gain.high > 1.9, "{gain:?}");
        // What the function collects itself is counted as its own already.
        let all: Vec<_> = (0..100)
            .map(|at| sample(if at < 60 { &["runtime.gcDrain", "runtime.gcStart", "render"] } else { &["respond"] }))
            .collect();
        assert!(widest(&all).gain.is_some_and(|gain| gain.high < 1.6));
        let all: Vec<_> = (0..100).map(|at| sample(if at < 60 { &["render"] } else { &["respond"] })).collect();
        assert!(widest(&all).gain.is_some_and(|gain| gain.high < 1.6));
    }

    #[test]
    fn entries_of_native_methods_have_more_samples_than_time() {
        let frame = |function: &str, file: Option<&str>, is_own| {
            let (function, file) = (function.to_owned(), file.map(str::to_owned));
            Arc::new(Frame { function, file, is_own, is_named: true, ..Frame::default() })
        };
        let row = || [frame("String.format", Some("String.java"), false), frame("Shop.row", Some("Shop.java"), true)];
        let enters = |file| [frame("NativeThread.current", None, false), frame("SocketChannelImpl.write", file, false)];
        let of = |file| -> Vec<StackSample> {
            (0..100)
                .map(|at| StackSample {
                    stack: Stack(if at < 60 { row() } else { enters(file) }.to_vec()),
                    ..sample(&[])
                })
                .collect()
        };
        let gain = widest(&of(Some("SocketChannelImpl.java"))).gain.expect("it is known");
        assert!(gain.low > 1.3 && gain.value < 1.45 && gain.high > 1.9, "{gain:?}");
        // Machine code without debug information has its time where its samples are.
        assert!(widest(&of(None)).gain.is_some_and(|gain| gain.high < 1.6));
    }
}
