//! What scripts hand to the methods of selections: selectors, other selections, functions.

use std::collections::HashSet;

use rquickjs::{Class, Ctx, Function, Result, Value};
use torr_xpath::Node;

use super::document::Document;
use super::matcher::Matcher;
use super::selector::{self, Selectors};
use super::set::{Selection, Shown};
use crate::host::{Host, go_error};

/// A test of elements that a script hands over.
pub(super) enum Wanted<'js> {
    /// No argument.
    Nothing,
    /// A selector; `None` if it is not valid, which matches nothing.
    Selector(Option<Selectors>),
    /// The nodes of another selection.
    Nodes(HashSet<Node>),
    /// A function of number and selection.
    Function(Function<'js>),
}

impl<'js> Wanted<'js> {
    /// Returns what a value means.
    pub(super) fn of(ctx: &Ctx<'js>, value: Option<Value<'js>>) -> Result<Self> {
        let Some(value) = value.filter(|value| !value.is_undefined() && !value.is_null()) else {
            return Ok(Wanted::Nothing);
        };
        if let Ok(text) = value.get::<String>() {
            return Ok(Wanted::Selector(selector::parse(&text)));
        }
        if let Some(function) = value.as_function() {
            return Ok(Wanted::Function(function.clone()));
        }
        if let Some(other) = value.as_object().and_then(Class::<Host<Shown>>::from_object) {
            return Ok(Wanted::Nodes(other.borrow().0.0.nodes.iter().copied().collect()));
        }
        Err(go_error(ctx, "invalid argument, cannot use such a value as a selector"))
    }

    /// Throws if there is no argument.
    pub(super) fn required(self, ctx: &Ctx<'js>) -> Result<Self> {
        match self {
            Wanted::Nothing => Err(go_error(ctx, "invalid argument, cannot use a '<nil>' as a selector")),
            other => Ok(other),
        }
    }

    /// Returns those of the selection's nodes that pass; all of them without an argument.
    pub(super) fn filter(&self, ctx: &Ctx<'js>, from: &Selection) -> Result<Vec<Node>> {
        let document = &from.document;
        match self {
            Wanted::Function(function) => {
                let mut kept = Vec::new();
                for (at, node) in from.nodes.iter().enumerate() {
                    let one = from.with(vec![*node]).into_object(ctx)?;
                    let verdict: Value<'js> = function.call((at, one))?;
                    if is_true(ctx, verdict)? {
                        kept.push(*node);
                    }
                }
                Ok(kept)
            }
            _ => self.among(ctx, document, &from.nodes),
        }
    }

    /// Returns those of the nodes that pass. A function passes none.
    pub(super) fn among(&self, ctx: &Ctx<'js>, document: &Document, nodes: &[Node]) -> Result<Vec<Node>> {
        let matcher = Matcher::new(document);
        let kept = nodes.iter().copied().filter(|node| self.passes(&matcher, *node)).collect();
        matcher.finish().map_err(|message| go_error(ctx, &message))?;
        Ok(kept)
    }

    /// Returns whether a node passes. Every node does without an argument, none does with a function.
    pub(super) fn passes(&self, matcher: &Matcher<'_>, node: Node) -> bool {
        match self {
            Wanted::Nothing => true,
            Wanted::Selector(Some(selectors)) => matcher.matches(selectors, node),
            Wanted::Selector(None) | Wanted::Function(_) => false,
            Wanted::Nodes(nodes) => nodes.contains(&node),
        }
    }

    /// Returns the nodes inside of others that pass, in the order of the document for each of the others.
    pub(super) fn inside(&self, ctx: &Ctx<'js>, document: &Document, nodes: &[Node]) -> Result<Vec<Node>> {
        let matcher = Matcher::new(document);
        let mut set = super::walk::Set::default();
        for (at, outer) in nodes.iter().enumerate() {
            // What is inside of another node of the set was searched with that one.
            if nodes[..at].iter().rev().take(64).any(|earlier| document.contains(*earlier, *outer)) {
                continue;
            }
            let found = document.tree.descendants(*outer).take_while(|_| !matcher.is_exhausted());
            set.extend(found.filter(|node| document.is_element(*node) && self.passes(&matcher, *node)));
        }
        matcher.finish().map_err(|message| go_error(ctx, &message))?;
        Ok(set.into_nodes())
    }
}

/// Returns whether a value is true for JavaScript.
fn is_true<'js>(ctx: &Ctx<'js>, value: Value<'js>) -> Result<bool> {
    if let Some(verdict) = value.as_bool() {
        return Ok(verdict);
    }
    let convert: Function<'js> = ctx.globals().get("Boolean")?;
    convert.call((value,))
}
