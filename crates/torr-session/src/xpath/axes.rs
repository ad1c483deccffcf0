//! The nodes along an axis (XPath 1.0, sections 2.2 and 2.3).

use super::ast::{Axis, Step, Test};
use super::tree::{Kind, Node, Tree};

/// Adds the nodes that a step finds from a node, in the axis' order, without regard to predicates; `namespace` is that of the
/// test's prefix. Returns how many were looked at.
pub fn collect(tree: &Tree, step: &Step, namespace: &str, from: Node, found: &mut Vec<Node>) -> usize {
    let mut count = 0;
    let mut take = |node: Node| {
        count += 1;
        if passes(tree, step, namespace, node) {
            found.push(node);
        }
    };
    let kind = tree.kind(from);
    let has_siblings = !matches!(kind, Kind::Root | Kind::Attribute | Kind::Namespace);
    let ancestors = |from: Option<Node>| std::iter::successors(from, |node| tree.parent(*node));
    match step.axis {
        Axis::SelfOnly => take(from),
        Axis::Parent => tree.parent(from).into_iter().for_each(take),
        Axis::Ancestor => ancestors(tree.parent(from)).for_each(take),
        Axis::AncestorOrSelf => ancestors(Some(from)).for_each(take),
        Axis::Child => tree.children(from).for_each(take),
        Axis::Descendant => tree.descendants(from).for_each(take),
        Axis::DescendantOrSelf => {
            take(from);
            tree.descendants(from).for_each(take);
        }
        Axis::Following => tree.following(from).for_each(take),
        Axis::Preceding => tree.preceding(from).for_each(take),
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            let Some(parent) = tree.parent(from).filter(|_| has_siblings) else { return 0 };
            if step.axis == Axis::FollowingSibling {
                tree.siblings_after(from, parent).for_each(take);
            } else {
                let before: Vec<_> = tree.children(parent).take_while(|node| *node < from).collect();
                before.into_iter().rev().for_each(take);
            }
        }
        Axis::Attribute => tree.attributes(from).for_each(take),
        Axis::Namespace => tree.namespaces(from).for_each(take),
    }
    count
}

/// Returns how many nodes there are to look at.
pub fn size(tree: &Tree) -> usize {
    tree.end(tree.root()) as usize
}

fn passes(tree: &Tree, step: &Step, namespace: &str, node: Node) -> bool {
    let principal = match step.axis {
        Axis::Attribute => Kind::Attribute,
        Axis::Namespace => Kind::Namespace,
        _ => Kind::Element,
    };
    let kind = tree.kind(node);
    match &step.test {
        Test::Node => true,
        Test::Text => kind == Kind::Text,
        Test::Comment => kind == Kind::Comment,
        Test::Any => kind == principal,
        Test::Instruction(None) => kind == Kind::Instruction,
        Test::Instruction(Some(target)) => kind == Kind::Instruction && *tree.name(node).local == **target,
        Test::Name(_, local) => {
            kind == principal && {
                let name = tree.name(node);
                local.as_deref().is_none_or(|local| *local == *name.local) && name.namespace == namespace
            }
        }
    }
}
