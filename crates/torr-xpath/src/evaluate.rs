//! Evaluation of an expression on a document.

use super::ast::{Axis, Expr, Function, Operation, Predicate, Start, Step, Test};
use super::found::{Found, compare};
use super::number;
use super::tree::{Kind, Node, Tree};
use super::{axes, functions};
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;

/// How much an expression may cost: nodes that are visited, and pieces of text of 16 bytes. A second or so.
const MAX_COST: usize = 50_000_000;

/// The place at which an expression is evaluated (XPath 1.0, section 1).
#[derive(Debug, Clone, Copy)]
struct Context {
    node: Node,
    position: usize,
    size: usize,
}

/// Evaluates an expression at the root of a document.
///
/// # Errors
/// In words, if a prefix is not declared, or the evaluation costs too much.
pub fn evaluate<'t>(expression: &Expr, tree: &'t Tree) -> Result<Found<'t>, String> {
    let evaluation = Evaluation { tree, left: Cell::new(MAX_COST) };
    evaluation.expression(expression, Context { node: tree.root(), position: 1, size: 1 })
}

struct Evaluation<'t> {
    tree: &'t Tree,
    /// What the evaluation may still cost.
    left: Cell<usize>,
}

impl<'t> Evaluation<'t> {
    fn expression(&self, expression: &Expr, context: Context) -> Result<Found<'t>, String> {
        self.cost(1)?;
        Ok(match expression {
            Expr::Or(parts) => Found::Boolean(self.any(parts, context, true)?),
            Expr::And(parts) => Found::Boolean(!self.any(parts, context, false)?),
            Expr::Compare(comparison, sides) => {
                let [left, right] = &**sides;
                let (left, right) = (self.expression(left, context)?, self.expression(right, context)?);
                self.cost_of(&left)?;
                self.cost_of(&right)?;
                Found::Boolean(compare(self.tree, *comparison, left, right))
            }
            Expr::Calculate(operation, sides) => {
                let [left, right] = &**sides;
                let (left, right) = (self.number(left, context)?, self.number(right, context)?);
                Found::Number(match operation {
                    Operation::Add => left + right,
                    Operation::Subtract => left - right,
                    Operation::Multiply => left * right,
                    Operation::Divide => left / right,
                    Operation::Remainder => left % right,
                })
            }
            Expr::Negate(inner) => Found::Number(-self.number(inner, context)?),
            Expr::Union(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.nodes(part, context)?);
                }
                all.sort_unstable();
                all.dedup();
                Found::Nodes(all)
            }
            Expr::Path(start, steps) => {
                let mut nodes = match start {
                    Start::Root => vec![self.tree.root()],
                    Start::Context => vec![context.node],
                    Start::Nodes(inner) => self.nodes(inner, context)?,
                };
                for step in steps {
                    nodes = self.step(step, nodes)?;
                }
                Found::Nodes(nodes)
            }
            Expr::Filter(inner, predicates) => {
                let mut nodes = self.nodes(inner, context)?;
                for predicate in predicates {
                    nodes = self.keep(predicate, nodes)?;
                }
                Found::Nodes(nodes)
            }
            Expr::Literal(text) => Found::Text(text.to_string().into()),
            Expr::Number(number) => Found::Number(*number),
            Expr::Call(function, arguments) => self.call(*function, arguments, context)?,
        })
    }

    /// Whether any part is, as a truth value, what is sought.
    fn any(&self, parts: &[Expr], context: Context, sought: bool) -> Result<bool, String> {
        for part in parts {
            if self.expression(part, context)?.boolean() == sought {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn number(&self, expression: &Expr, context: Context) -> Result<f64, String> {
        let found = self.expression(expression, context)?;
        self.cost_of(&found)?;
        Ok(found.number(self.tree))
    }

    fn text(&self, expression: &Expr, context: Context) -> Result<Cow<'t, str>, String> {
        let text = self.expression(expression, context)?.text(self.tree);
        self.cost(text.len() / 16)?;
        Ok(text)
    }

    fn nodes(&self, expression: &Expr, context: Context) -> Result<Vec<Node>, String> {
        match self.expression(expression, context)? {
            Found::Nodes(nodes) => Ok(nodes),
            _ => unreachable!("the parser lets only node-sets stand here"),
        }
    }

    /// Finds the nodes of a step, from nodes in document order.
    fn step(&self, step: &Step, from: Vec<Node>) -> Result<Vec<Node>, String> {
        let prefix = if let Test::Name(Some(prefix), _) = &step.test { Some(prefix) } else { None };
        let undeclared = |prefix: &str| format!("undeclared namespace prefix '{prefix}'");
        let namespace = match prefix {
            Some(prefix) => self.tree.namespace_for(prefix).ok_or_else(|| undeclared(prefix))?,
            None => "",
        };
        let is_free = step.predicates.iter().all(|predicate| !predicate.is_positional);
        let from = if is_free { without_repetition(self.tree, step.axis, from) } else { from };
        let mut all = Vec::new();
        for node in from {
            let mut found = Vec::new();
            self.cost(1 + axes::collect(self.tree, step, namespace, node, &mut found))?;
            for predicate in &step.predicates {
                found = self.keep(predicate, found)?;
            }
            if step.axis.is_reverse() {
                found.reverse();
            }
            if all.is_empty() { all = found } else { all.extend(found) }
        }
        if !all.is_sorted_by(|before, after| before < after) {
            all.sort_unstable();
            all.dedup();
        }
        Ok(all)
    }

    /// Keeps the nodes for which a predicate is true; their order gives them their positions.
    fn keep(&self, predicate: &Predicate, mut nodes: Vec<Node>) -> Result<Vec<Node>, String> {
        if let Expr::Number(number) = predicate.condition {
            return Ok(nodes
                .into_iter()
                .zip(1..)
                .filter(|(_, at)| f64::from(*at) == number)
                .map(|(node, _)| node)
                .collect());
        }
        let size = nodes.len();
        let mut kept = 0;
        for index in 0..size {
            let (node, position) = (nodes[index], index + 1);
            let holds = match self.expression(&predicate.condition, Context { node, position, size })? {
                Found::Number(number) => number == position as f64,
                other => other.boolean(),
            };
            if holds {
                nodes[kept] = node;
                kept += 1;
            }
        }
        nodes.truncate(kept);
        Ok(nodes)
    }

    fn call(&self, function: Function, arguments: &[Expr], context: Context) -> Result<Found<'t>, String> {
        use Function as F;
        let tree = self.tree;
        let number = |at: usize| self.number(&arguments[at], context);
        let text = |at: usize| self.text(&arguments[at], context);
        // Functions of one string are of the context node's without an argument.
        let own_text = || if arguments.is_empty() { Ok(tree.string(context.node).into()) } else { text(0) };
        let own_name = || -> Result<_, String> {
            let node = if arguments.is_empty() {
                Some(context.node)
            } else {
                self.nodes(&arguments[0], context)?.first().copied()
            };
            Ok(node.map(|node| tree.name(node)).unwrap_or_default())
        };
        Ok(match function {
            F::Last => Found::Number(context.size as f64),
            F::Position => Found::Number(context.position as f64),
            F::Count => Found::Number(self.nodes(&arguments[0], context)?.len() as f64),
            F::Id => {
                let ids = match self.expression(&arguments[0], context)? {
                    Found::Nodes(nodes) => nodes.iter().map(|node| tree.string(*node).into()).collect(),
                    other => vec![other.text(tree)],
                };
                self.cost(axes::size(tree) + ids.iter().map(|id: &Cow<'_, str>| id.len()).sum::<usize>())?;
                Found::Nodes(functions::with_ids(tree, ids.into_iter()))
            }
            F::LocalName => Found::Text(own_name()?.local.into()),
            F::NamespaceUri => Found::Text(own_name()?.namespace.into()),
            F::Name => Found::Text(functions::qualified(own_name()?)),
            F::Text => Found::Text(own_text()?),
            F::Concat => {
                let mut all = String::new();
                for at in 0..arguments.len() {
                    let piece = text(at)?;
                    self.cost(piece.len() / 4)?;
                    all.push_str(&piece);
                }
                Found::Text(all.into())
            }
            F::StartsWith => Found::Boolean(text(0)?.starts_with(&*text(1)?)),
            F::Contains => Found::Boolean(text(0)?.contains(&*text(1)?)),
            F::SubstringBefore => {
                let (whole, part) = (text(0)?, text(1)?);
                Found::Text(whole.split_once(&*part).map_or("", |(before, _)| before).to_owned().into())
            }
            F::SubstringAfter => {
                let (whole, part) = (text(0)?, text(1)?);
                Found::Text(whole.split_once(&*part).map_or("", |(_, after)| after).to_owned().into())
            }
            F::Substring => {
                let length = if arguments.len() > 2 { Some(number(2)?) } else { None };
                Found::Text(functions::substring(&text(0)?, number(1)?, length).into())
            }
            F::StringLength => Found::Number(own_text()?.chars().count() as f64),
            F::NormalizeSpace => Found::Text(functions::normalize_space(&own_text()?).into()),
            F::Translate => Found::Text(functions::translate(&text(0)?, &text(1)?, &text(2)?).into()),
            F::Boolean => Found::Boolean(self.expression(&arguments[0], context)?.boolean()),
            F::Not => Found::Boolean(!self.expression(&arguments[0], context)?.boolean()),
            F::True => Found::Boolean(true),
            F::False => Found::Boolean(false),
            F::Lang => Found::Boolean(functions::lang(tree, context.node, &text(0)?)),
            F::Number if arguments.is_empty() => Found::Number(number::parse(tree.string(context.node))),
            F::Number => Found::Number(number(0)?),
            F::Sum => {
                let found = Found::Nodes(self.nodes(&arguments[0], context)?);
                self.cost_of(&found)?;
                let Found::Nodes(nodes) = found else { unreachable!("it was made one line above") };
                // The sum of nothing is 0 and not the negative zero that Rust's sum begins with.
                Found::Number(nodes.iter().fold(0.0, |sum, node| sum + number::parse(tree.string(*node))))
            }
            F::Floor => Found::Number(number(0)?.floor()),
            F::Ceiling => Found::Number(number(0)?.ceil()),
            F::Round => Found::Number(number::round(number(0)?)),
        })
    }

    /// Takes the cost of reading a value: the text of all nodes for a node-set.
    fn cost_of(&self, found: &Found<'_>) -> Result<(), String> {
        match found {
            Found::Nodes(nodes) => nodes.iter().try_for_each(|node| self.cost(1 + self.tree.string(*node).len() / 16)),
            Found::Text(text) => self.cost(text.len() / 16),
            Found::Number(_) | Found::Boolean(_) => Ok(()),
        }
    }

    fn cost(&self, cost: usize) -> Result<(), String> {
        let left = self.left.get().checked_sub(cost);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or_else(|| "the XPath expression takes too long on this content".to_owned())
    }
}

/// Leaves out nodes from which an axis finds nothing that it doesn't find from the others as well, where positions don't matter:
/// `//div//a` would look again and again at what several `div` contain.
fn without_repetition(tree: &Tree, axis: Axis, mut nodes: Vec<Node>) -> Vec<Node> {
    match axis {
        Axis::Descendant | Axis::DescendantOrSelf => {
            let mut end = 0;
            nodes.retain(|node| {
                let is_covered =
                    tree.is_before(*node, end) && !matches!(tree.kind(*node), Kind::Attribute | Kind::Namespace);
                end = end.max(tree.end(*node));
                !is_covered
            });
        }
        Axis::Following => nodes = nodes.into_iter().min_by_key(|node| tree.end(*node)).into_iter().collect(),
        Axis::Preceding => nodes = nodes.pop().into_iter().collect(),
        Axis::FollowingSibling | Axis::PrecedingSibling => {
            nodes.retain(|node| !matches!(tree.kind(*node), Kind::Attribute | Kind::Namespace));
            let mut parents = HashSet::new();
            let mut is_first = |node: &Node| parents.insert(tree.parent(*node));
            if axis == Axis::FollowingSibling {
                nodes.retain(is_first);
            } else {
                nodes.reverse();
                nodes.retain(|node| is_first(node));
                nodes.reverse();
            }
        }
        _ => {}
    }
    nodes
}
