//! Sets of nodes that stand in some relation to other nodes. A set has each node once, in the order in which it was found.

use std::collections::HashSet;

use torr_xpath::Node;

use super::document::Document;

/// Nodes without repetition, in the order of their first addition.
#[derive(Default)]
pub(super) struct Set {
    nodes: Vec<Node>,
    seen: HashSet<Node>,
}

impl Set {
    pub(super) fn add(&mut self, node: Node) {
        if self.seen.insert(node) {
            self.nodes.push(node);
        }
    }

    pub(super) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }
}

impl Extend<Node> for Set {
    fn extend<I: IntoIterator<Item = Node>>(&mut self, nodes: I) {
        nodes.into_iter().for_each(|node| self.add(node));
    }
}

/// The direction of a walk from a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// To the elements that contain it.
    Up,
    /// To the elements after it under the same parent.
    Forward,
    /// To the elements before it under the same parent.
    Back,
}

/// How far a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// To the next element only.
    One,
    /// To the last one.
    All,
}

/// Returns what a walk from `node` meets, until an element that `stop` holds for.
pub(super) fn walk(document: &Document, node: Node, way: Way, reach: Reach, stop: &dyn Fn(Node) -> bool) -> Vec<Node> {
    let most = if reach == Reach::One { 1 } else { usize::MAX };
    let goes_on = |node: &Node| !stop(*node);
    match way {
        Way::Up => document.ancestors(node).take(most).take_while(goes_on).collect(),
        Way::Forward => document.elements_after(node).take(most).take_while(goes_on).collect(),
        Way::Back => document.elements_before(node).take(most).take_while(goes_on).collect(),
    }
}

/// Returns the other children of the parent of each node.
pub(super) fn siblings(document: &Document, nodes: &[Node]) -> Vec<Node> {
    let mut set = Set::default();
    for node in nodes {
        if let Some(parent) = document.tree.parent(*node) {
            set.extend(document.child_elements(parent).filter(|sibling| sibling != node));
        }
    }
    set.into_nodes()
}
