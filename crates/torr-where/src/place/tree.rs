//! The tree of stacks, from the threads' begins to the leaves, as an icicle plot shows it.

use crate::stack::{Frame, StackSample};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Branches below this share are left out.
const SMALLEST: f64 = 0.005;
/// The deepest node, counted from the root.
const DEPTH: usize = 100;

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
        for frame in sample.stack.0.iter().rev().take(DEPTH) {
            let key = (frame.function.clone(), frame.object.clone());
            branch =
                branch.calls.entry(key).or_insert_with(|| Branch { frame: Arc::clone(frame), ..Branch::default() });
            branch.weight += sample.weight;
        }
    }
    let smallest = root.weight * SMALLEST;
    node(root, smallest)
}

fn node(branch: Branch, smallest: f64) -> StackNode {
    let kept = branch.calls.into_values().filter(|call| call.weight >= smallest);
    let mut calls: Vec<_> = kept.map(|call| node(call, smallest)).collect();
    calls.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    StackNode { frame: branch.frame, weight: branch.weight, calls }
}
