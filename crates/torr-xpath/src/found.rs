//! Values of expressions and how they become each other (XPath 1.0, sections 3.4 and 4.2 to 4.4).

use super::ast::Comparison;
use super::number;
use super::tree::{Node, Tree};
use std::borrow::Cow;
use std::collections::HashSet;

/// The value of an expression.
#[derive(Debug, Clone)]
pub enum Found<'t> {
    /// Nodes in document order, each once.
    Nodes(Vec<Node>),
    /// A string.
    Text(Cow<'t, str>),
    /// A number.
    Number(f64),
    /// A truth value.
    Boolean(bool),
}

impl<'t> Found<'t> {
    /// Returns the value as a string; for nodes the string-value of the first.
    pub fn text(self, tree: &'t Tree) -> Cow<'t, str> {
        match self {
            Self::Nodes(nodes) => nodes.first().map_or("", |node| tree.string(*node)).into(),
            Self::Text(text) => text,
            Self::Number(number) => number::format(number).into(),
            Self::Boolean(boolean) => if boolean { "true" } else { "false" }.into(),
        }
    }

    /// Returns the value as a number.
    pub fn number(self, tree: &'t Tree) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Boolean(boolean) => f64::from(u8::from(boolean)),
            other => number::parse(&other.text(tree)),
        }
    }

    /// Returns the value as a truth value.
    pub fn boolean(&self) -> bool {
        match self {
            Self::Nodes(nodes) => !nodes.is_empty(),
            Self::Text(text) => !text.is_empty(),
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Boolean(boolean) => *boolean,
        }
    }
}

/// Compares two values. A node-set compares as any of its nodes does.
pub fn compare<'t>(tree: &'t Tree, comparison: Comparison, left: Found<'t>, right: Found<'t>) -> bool {
    use Found as F;
    match (left, right) {
        (F::Boolean(left), right) if is_equality(comparison) => of_booleans(comparison, left, right.boolean()),
        (left, F::Boolean(right)) if is_equality(comparison) => of_booleans(comparison, left.boolean(), right),
        (F::Boolean(left), F::Nodes(right)) => of_booleans(comparison, left, !right.is_empty()),
        (F::Nodes(left), F::Boolean(right)) => of_booleans(comparison, !left.is_empty(), right),
        (F::Nodes(left), F::Nodes(right)) => of_nodes(tree, comparison, &left, &right),
        (F::Nodes(nodes), other) => nodes.iter().any(|node| of_node(tree, comparison, *node, &other)),
        (other, F::Nodes(nodes)) => nodes.iter().any(|node| of_node(tree, turned(comparison), *node, &other)),
        (F::Text(left), F::Text(right)) if is_equality(comparison) => of_texts(comparison, &left, &right),
        (left, right) => of_numbers(comparison, left.number(tree), right.number(tree)),
    }
}

fn is_equality(comparison: Comparison) -> bool {
    matches!(comparison, Comparison::Equal | Comparison::NotEqual)
}

fn of_booleans(comparison: Comparison, left: bool, right: bool) -> bool {
    of_numbers(comparison, f64::from(u8::from(left)), f64::from(u8::from(right)))
}

fn of_texts(comparison: Comparison, left: &str, right: &str) -> bool {
    (left == right) == (comparison == Comparison::Equal)
}

fn of_numbers(comparison: Comparison, left: f64, right: f64) -> bool {
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        Comparison::Less => left < right,
        Comparison::LessOrEqual => left <= right,
        Comparison::Greater => left > right,
        Comparison::GreaterOrEqual => left >= right,
    }
}

/// Returns the comparison with the sides exchanged.
fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        equality => equality,
    }
}

fn of_node(tree: &Tree, comparison: Comparison, node: Node, other: &Found<'_>) -> bool {
    let text = tree.string(node);
    match other {
        Found::Text(other) if is_equality(comparison) => of_texts(comparison, text, other),
        Found::Text(other) => of_numbers(comparison, number::parse(text), number::parse(other)),
        Found::Number(number) => of_numbers(comparison, number::parse(text), *number),
        Found::Nodes(_) | Found::Boolean(_) => unreachable!("compare() has cases of their own for these"),
    }
}

/// Compares two node-sets: whether any pair of nodes compares so. Every pair would be too many.
fn of_nodes(tree: &Tree, comparison: Comparison, left: &[Node], right: &[Node]) -> bool {
    let texts = |nodes: &[Node]| -> HashSet<&str> { nodes.iter().map(|node| tree.string(*node)).collect() };
    let extremes = |nodes: &[Node]| {
        let numbers = nodes.iter().map(|node| number::parse(tree.string(*node))).filter(|number| !number.is_nan());
        numbers.fold(None, |known: Option<(f64, f64)>, number| {
            Some(known.map_or((number, number), |(least, most)| (least.min(number), most.max(number))))
        })
    };
    match comparison {
        Comparison::Equal => {
            let left = texts(left);
            right.iter().any(|node| left.contains(tree.string(*node)))
        }
        Comparison::NotEqual => {
            let (left, right) = (texts(left), texts(right));
            !left.is_empty() && !right.is_empty() && (left.len() > 1 || right.len() > 1 || left != right)
        }
        order => match (extremes(left), extremes(right)) {
            (Some((least, most)), Some((other_least, other_most))) => match order {
                Comparison::Less | Comparison::LessOrEqual => of_numbers(order, least, other_most),
                _ => of_numbers(order, most, other_least),
            },
            _ => false,
        },
    }
}
