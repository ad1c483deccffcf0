//! The nodes along an axis (XPath 1.0, sections 2.2 and 2.3).

use super::ast::{Axis, Expr, Predicate, Step, Test};
use super::tree::{Kind, Node, Tree};
use std::ops::ControlFlow;

/// Adds the nodes that a step finds from a node, in the axis' order, without regard to predicates; `namespace` is that of the
/// test's prefix. Where the first predicate is a position, no node after it is looked for. Returns how many were looked at.
pub fn collect(tree: &Tree, step: &Step, namespace: &str, from: Node, found: &mut Vec<Node>) -> usize {
    let most = match step.predicates.first() {
        Some(Predicate { condition: Expr::Number(position), .. }) => position.ceil().max(1.0) as usize,
        _ => usize::MAX,
    };
    let mut count = 0;
    let mut take = |node: Node| {
        count += 1;
        if passes(tree, step, namespace, node) {
            found.push(node);
        }
        if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let is_child = !matches!(tree.kind(from), Kind::Root | Kind::Attribute | Kind::Namespace);
    let parent = tree.parent(from);
    let family = parent.filter(|_| is_child);
    let ancestors = |from: Option<Node>| std::iter::successors(from, |node| tree.parent(*node));
    // Whether the walk broke off makes no difference here.
    let _ = match step.axis {
        Axis::SelfOnly => take(from),
        Axis::Parent => parent.into_iter().try_for_each(take),
        Axis::Ancestor => ancestors(parent).try_for_each(take),
        Axis::AncestorOrSelf => ancestors(Some(from)).try_for_each(take),
        Axis::Child => tree.children(from).try_for_each(take),
        Axis::Descendant => tree.descendants(from).try_for_each(take),
        Axis::DescendantOrSelf => std::iter::once(from).chain(tree.descendants(from)).try_for_each(take),
        Axis::Following => tree.following(from).try_for_each(take),
        Axis::Preceding => tree.preceding(from).try_for_each(take),
        Axis::FollowingSibling => {
            family.into_iter().flat_map(|parent| tree.siblings_after(from, parent)).try_for_each(take)
        }
        Axis::PrecedingSibling => {
            family.into_iter().flat_map(|parent| tree.siblings_before(from, parent)).try_for_each(take)
        }
        Axis::Attribute => tree.attributes(from).try_for_each(take),
        Axis::Namespace => tree.namespaces(from).try_for_each(take),
    };
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
