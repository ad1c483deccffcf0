//! The tree of stacks, from the threads' begins to the leaves, as an icicle plot shows it.

use crate::stack::{FRAMES, Frame, StackSample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Branches below this share are left out.
const SMALLEST: f64 = 0.005;
/// The deepest node, counted from the root. In JSON each takes two levels, and most readers take 128 at most.
const DEPTH: usize = 50;

/// A function below its caller.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct StackNode {
    /// The function. That of the root is empty.
    pub frame: Arc<Frame>,
    /// The weight of the samples in which the function is on the stack at this position.
    pub weight: f64,
    /// The functions that it calls, the heaviest first.
    pub calls: Vec<StackNode>,
}

/// Functions by name and object below a caller.
#[derive(Default)]
struct Branch {
    frame: Arc<Frame>,
    weight: f64,
    calls: BTreeMap<(String, String), Branch>,
}

/// Returns the tree of samples.
pub fn tree<'s>(samples: impl IntoIterator<Item = &'s StackSample>) -> StackNode {
    let mut root = Branch::default();
    for sample in samples.into_iter().filter(|sample| !sample.stack.0.is_empty()) {
        root.weight += sample.weight;
        let mut branch = &mut root;
        for frame in sample.stack.0.iter().rev().take(FRAMES) {
            let key = (frame.function.clone(), frame.object.clone());
            branch =
                branch.calls.entry(key).or_insert_with(|| Branch { frame: Arc::clone(frame), ..Branch::default() });
            branch.weight += sample.weight;
        }
    }
    let smallest = root.weight * SMALLEST;
    root.leave_out(smallest);
    while root.depth() > DEPTH && root.calls.len() == 1 {
        // The begin that all stacks share is that of a runtime or of a worker: what differs is further in.
        root.calls = root.calls.into_values().next().map_or_else(BTreeMap::new, |only| only.calls);
    }
    node(root, DEPTH)
}

impl Branch {
    /// Leaves out branches below a weight.
    fn leave_out(&mut self, smallest: f64) {
        self.calls.retain(|_, call| call.weight >= smallest);
        self.calls.values_mut().for_each(|call| call.leave_out(smallest));
    }

    /// Returns the number of levels below this one.
    fn depth(&self) -> usize {
        self.calls.values().map(|call| call.depth() + 1).max().unwrap_or(0)
    }
}

/// Returns a branch as far as so many levels below it.
fn node(branch: Branch, levels: usize) -> StackNode {
    let kept = branch.calls.into_values().filter(|_| levels > 0);
    let mut calls: Vec<_> = kept.map(|call| node(call, levels.saturating_sub(1))).collect();
    calls.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    StackNode { frame: branch.frame, weight: branch.weight, calls }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stack::Stack;

    /// A sample of a stack whose frames are given from the thread's begin on.
    fn sample(frames: impl DoubleEndedIterator<Item = String>) -> StackSample {
        let frame = |function| Arc::new(Frame { function, ..Frame::default() });
        let stack = Stack(frames.rev().map(frame).collect());
        StackSample { process: 1, thread: 1, on_cpu: true, wait: None, holds: vec![], stack, weight: 1.0 }
    }

    fn leaves(node: &StackNode) -> Vec<&str> {
        match &node.calls[..] {
            [] => vec![&node.frame.function],
            calls => calls.iter().flat_map(leaves).collect(),
        }
    }

    #[test]
    fn deep_stacks_are_shown_from_where_they_differ_and_their_json_is_read_by_all() {
        let shared = || (0..100).map(|n| format!("shared_{n}"));
        let own = |name: &'static str| (0..10).map(move |n| format!("{name}_{n}"));
        let two = tree(&[sample(shared().chain(own("a"))), sample(shared().chain(own("b")))]);
        assert_eq!((leaves(&two), two.weight), (vec!["a_9", "b_9"], 2.0));
        // Where they differ early, what is further in has no room.
        let early = tree(&[sample(own("a").chain(shared())), sample(own("b").chain(shared()))]);
        assert_eq!(leaves(&early), ["shared_39", "shared_39"]);
        for tree in [two, early] {
            let mut text = serde_json::to_string(&tree).expect("it can be written");
            for _ in 0..20 {
                text = format!("[{text}]");
            }
            serde_json::from_str::<serde_json::Value>(&text).expect("its depth is that of readers");
        }
        let shallow = tree(&[sample(own("a"))]);
        assert_eq!(shallow.calls[0].frame.function, "a_0");
    }
}
