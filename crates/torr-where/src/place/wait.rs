//! Functions in which threads with work to do wait for something else than a lock: a peer, a file, a pause.

use super::round::Round;
use super::types::Place;
use crate::stack::{Frame, StackSample, WaitKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use torr_gauge::verdict::Estimate;
use torr_gauge::verdict::place::PlaceKind;

/// Returns the places of waits of some kinds, the widest first. `peer` names what a socket leads to.
pub fn places(
    rounds: &[Round],
    counts: impl Fn(&WaitKind) -> bool,
    peer: impl Fn(i32, u64) -> Option<String>,
) -> Vec<Place> {
    let is_busy = |sample: &&StackSample| !sample.wait.as_ref().is_some_and(WaitKind::is_idle);
    let busy = rounds.iter().flat_map(|round| &round.samples).filter(is_busy);
    let all: f64 = busy.clone().map(|sample| sample.weight).sum();
    let mut groups: BTreeMap<(String, Option<String>), Vec<&StackSample>> = BTreeMap::new();
    for sample in busy {
        let Some(wait) = sample.wait.as_ref().filter(|wait| counts(wait)) else { continue };
        let Some(frame) = sample.stack.own() else { continue };
        let peer = match wait {
            WaitKind::Socket { inode, .. } => peer(sample.process, *inode),
            _ => None,
        };
        groups.entry((frame.function.clone(), peer)).or_default().push(sample);
    }
    let mut places: Vec<Place> = groups
        .into_iter()
        .map(|((_, peer), samples)| {
            let waits: f64 = samples.iter().map(|sample| sample.weight).sum();
            let share = Estimate::of_share(waits, all);
            let mut place = Place::of(PlaceKind::Wait, share, samples.len() as u64);
            let most = most_frequent(&samples);
            place.process = most.map_or(0, |sample| sample.process);
            if let Some(at) = most.and_then(|sample| sample.stack.0.iter().position(|frame| frame.is_own)) {
                let frames = most.map_or(&[][..], |sample| &sample.stack.0);
                place.frame = frames.get(at).cloned();
                place.leaf = at.checked_sub(1).and_then(|inner| frames.get(inner)).cloned();
                place.caller = frames[at + 1..].iter().find(|frame| frame.is_own).cloned();
            }
            place.peer = peer;
            place.gain = Some(share.gain());
            place
        })
        .collect();
    places.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    places
}

/// Returns the sample with the most frequent line of own code.
fn most_frequent<'s>(samples: &[&'s StackSample]) -> Option<&'s StackSample> {
    let mut weights: BTreeMap<&Arc<Frame>, (f64, &'s StackSample)> = BTreeMap::new();
    for sample in samples {
        let Some(own) = sample.stack.own() else { continue };
        weights.entry(own).or_insert((0.0, sample)).0 += sample.weight;
    }
    weights.into_values().max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, sample)| sample)
}
