//! What names of variables mean in a request: Insomnia looks for them in the request's folders, the sub-environment, the base
//! environment and the global environment, in this order.
//!
//! A variable that has one value in the whole collection is a variable of the hurl file. One that has several, or that is made
//! anew for each request, stands in each request as its value.

use super::item::{Item, Level};
use super::template::{Part, is_template, parts};
use crate::javascript;
use crate::node::Node;
use crate::secret::Secrets;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The levels of variables whose values name other variables.
pub(super) const DEEPEST: usize = 16;

/// The names that a text may lead to, with those in their values.
pub(super) const MOST: usize = 10_000;

/// The number of layers outside the folders: globals, their sub-environment, the base environment, the sub-environment.
const OUTER: usize = 4;

/// Where a script puts a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Globals,
    Base,
    Environment,
    /// The variables of the run, which win over all others.
    Run,
}

/// What a name means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Meaning {
    /// A variable that has got its value in the run.
    Assigned,
    /// A value, and the number of its layer.
    Known(String, usize),
    Nothing,
}

/// The variables of a collection.
#[derive(Debug)]
pub(super) struct Scope<'c> {
    outer: [Node; OUTER],
    /// Those of the folders around the request that is read, from outside in.
    folders: Vec<&'c Node>,
    /// Names whose values differ between requests, or are made anew for each.
    varying: BTreeSet<String>,
    /// Names in all environments.
    names: BTreeSet<String>,
    assigned: HashMap<String, Place>,
}

impl<'c> Scope<'c> {
    /// Returns the variables of a collection whose requests stand in these folders.
    pub(super) fn new(outer: [Node; OUTER], items: &[(Vec<&'c Level>, &'c Item)]) -> Self {
        let mut scope = Self {
            outer,
            folders: Vec::new(),
            varying: BTreeSet::new(),
            names: BTreeSet::new(),
            assigned: HashMap::new(),
        };
        scope.find_varying(items);
        scope
    }

    /// Enters a request, and returns the folders of the one before.
    pub(super) fn enter(&mut self, levels: &[&'c Level]) -> Vec<&'c Node> {
        let folders = levels.iter().map(|level| &level.environment).filter(|node| !node.is_null()).collect();
        std::mem::replace(&mut self.folders, folders)
    }

    /// Returns to a request whose folders these are.
    pub(super) fn leave(&mut self, folders: Vec<&'c Node>) {
        self.folders = folders;
    }

    /// Notes a name that a script gives a value.
    pub(super) fn assign(&mut self, name: &str, place: Place) {
        let known = self.assigned.entry(name.to_owned()).or_insert(place);
        *known = (*known).max(place);
    }

    /// Whether a name is that of a variable of some environment.
    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// Whether a variable's value stands in each request: its values differ, it is made anew each time, or a script's value is not
    /// the one that counts.
    pub(super) fn is_shown(&self, name: &str, value: &str) -> bool {
        self.varying.contains(name) || self.assigned.contains_key(name) || has_tag(value)
    }

    /// Returns the number of layers.
    pub(super) fn layers(&self) -> usize {
        OUTER + self.folders.len()
    }

    /// Returns what a name means in the layers below a number.
    pub(super) fn meaning(&self, steps: &[String], below: usize) -> Meaning {
        let assigned = match self.assigned.is_empty() {
            true => None,
            false => self.assigned.get(&steps.join(".")).copied(),
        };
        if assigned == Some(Place::Run) {
            return Meaning::Assigned;
        }
        let folders = self.folders.iter().copied();
        let layers: Vec<&Node> = self.outer.iter().chain(folders).take(below).collect();
        let place = |at: usize| match at {
            0 | 1 => Place::Globals,
            2 => Place::Base,
            _ => Place::Environment,
        };
        for (at, layer) in layers.iter().enumerate().rev() {
            if at < OUTER && assigned.is_some_and(|assigned| assigned >= place(at)) {
                return Meaning::Assigned;
            }
            match find(layer, steps) {
                // Insomnia sends nothing with a value that is null.
                Found::Value(Node::Null) => return Meaning::Nothing,
                Found::Value(node) => return Meaning::Known(plain(node), at),
                Found::Other => return Meaning::Nothing,
                Found::Nothing => {}
            }
        }
        if assigned.is_some() { Meaning::Assigned } else { Meaning::Nothing }
    }

    /// Returns the text that a name stands for, if it is known before the run and no secret. `left` is the number of names, and of
    /// 64 KiB of text, that may still be looked up.
    pub(super) fn literal(&self, steps: &[String], left: &mut usize) -> Option<String> {
        self.literal_at(steps, self.layers(), 0, left)
    }

    /// Returns text in which names stand as their values; `None` where one is not known before the run, or is a secret.
    pub(super) fn literal_text(&self, text: &str) -> Option<String> {
        self.text_at(text, &[], self.layers(), 0, &mut MOST.clone())
    }

    fn literal_at(&self, steps: &[String], below: usize, depth: usize, left: &mut usize) -> Option<String> {
        *left = left.checked_sub(1)?;
        let Meaning::Known(value, at) = self.meaning(steps, below) else { return None };
        if depth > DEEPEST || is_secret(steps) {
            return None;
        }
        self.text_at(&value, steps, layers_below(&steps.join("."), &value, at), depth, left)
    }

    fn text_at(&self, text: &str, own: &[String], at: usize, depth: usize, left: &mut usize) -> Option<String> {
        *left = left.checked_sub(text.len() >> 16)?;
        if !is_template(text) {
            return Some(text.to_owned());
        }
        let mut made = String::new();
        for part in parts(text) {
            match part {
                Part::Text(text) => made.push_str(text),
                Part::Name(steps) => {
                    let below = if steps == own { at } else { self.layers() };
                    made.push_str(&self.literal_at(&steps, below, depth + 1, left)?);
                }
                Part::Expression(_) | Part::Tag(..) => return None,
            }
            *left = left.checked_sub(made.len() >> 16)?;
        }
        Some(made)
    }

    fn find_varying(&mut self, items: &[(Vec<&'c Level>, &'c Item)]) {
        let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in &self.outer {
            // Of the outer layers one value counts, the last.
            each(node, &mut |name, value| {
                values.insert(name, BTreeSet::from([value]));
            });
        }
        let mut seen: Vec<*const Level> = Vec::new();
        for levels in items.iter().map(|(levels, _)| levels) {
            // Folders come one after the other, so that the ones before are those of the last request.
            for level in levels.iter().filter(|level| !seen.contains(&std::ptr::from_ref(**level))) {
                each(&level.environment, &mut |name, value| {
                    values.entry(name).or_default().insert(value);
                });
            }
            seen = levels.iter().map(|level| std::ptr::from_ref(*level)).collect();
        }
        let mut varying: Vec<String> = Vec::new();
        let mut named_by: HashMap<String, Vec<String>> = HashMap::new();
        for (name, of_name) in &values {
            if of_name.len() > 1 {
                varying.push(name.clone());
            }
            for part in of_name.iter().flat_map(|value| parts(value)) {
                match part {
                    // A value that names its own variable has the outer one in it.
                    Part::Name(steps) if steps.join(".") == *name => varying.push(name.clone()),
                    Part::Name(steps) => named_by.entry(steps.join(".")).or_default().push(name.clone()),
                    Part::Tag(..) => varying.push(name.clone()),
                    Part::Text(_) | Part::Expression(_) => {}
                }
            }
        }
        self.names = values.into_keys().collect();
        while let Some(name) = varying.pop() {
            if self.varying.insert(name.clone()) {
                varying.extend(named_by.get(&name).into_iter().flatten().cloned());
            }
        }
    }
}

/// Returns the number of the layers in which a value finds the variable that it is the value of: the outer ones, if it names the
/// variable as Insomnia expects it (`{{ path }}/more`, not `{{ _.path }}/more`), otherwise none.
pub(super) fn layers_below(name: &str, value: &str, layer: usize) -> usize {
    let names_itself = |behind: &str| {
        let behind = behind.strip_prefix(' ').unwrap_or(behind);
        behind.strip_prefix(name).is_some_and(|rest| rest.starts_with([' ', '|']))
    };
    if value.split("{{").skip(1).any(names_itself) { layer } else { 0 }
}

/// Whether the value of a variable is a secret, by its name.
pub(super) fn is_secret(steps: &[String]) -> bool {
    let last = steps.last().map_or("", String::as_str);
    Secrets::is_credential(last) || is_of_vault(steps)
}

/// Whether a variable is one of the vault, whose values are in no export.
pub(super) fn is_of_vault(steps: &[String]) -> bool {
    steps.len() > 1 && matches!(steps[0].as_str(), "vault" | "__insomnia_vault")
}

fn has_tag(value: &str) -> bool {
    is_template(value) && parts(value).iter().any(|part| matches!(part, Part::Tag(..)))
}

/// What a layer has under a name.
enum Found<'n> {
    Value(&'n Node),
    /// A value without members, which hides those of outer layers.
    Other,
    Nothing,
}

fn find<'n>(layer: &'n Node, steps: &[String]) -> Found<'n> {
    let mut node = layer;
    for (at, step) in steps.iter().enumerate() {
        node = match node {
            // Of two members of one name the last counts.
            Node::Object(members) => match members[..members.partition_point(|(name, _)| name <= step)].last() {
                Some((name, inner)) if name == step => inner,
                _ => return Found::Nothing,
            },
            Node::List(items) => match step.parse::<usize>().ok().and_then(|at| items.get(at)) {
                Some(inner) => inner,
                None => return Found::Other,
            },
            _ if at == 0 => return Found::Nothing,
            _ => return Found::Other,
        };
    }
    Found::Value(node)
}

/// Calls a function with the names and values of all variables of an environment.
fn each(node: &Node, found: &mut dyn FnMut(String, String)) {
    let mut open: Vec<(String, &Node)> = vec![(String::new(), node)];
    while let Some((name, node)) = open.pop() {
        let inner = |step: &str| if name.is_empty() { step.to_owned() } else { format!("{name}.{step}") };
        match node {
            Node::Object(members) => open.extend(members.iter().map(|(member, value)| (inner(member), value))),
            Node::List(items) => {
                open.extend(items.iter().enumerate().map(|(at, item)| (inner(&at.to_string()), item)));
            }
            Node::Null => {}
            _ if name.is_empty() => {}
            other => found(name, plain(other)),
        }
    }
}

/// Returns a value as a template shows it.
pub(super) fn plain(node: &Node) -> String {
    if node.is_null() { String::new() } else { javascript::string(node) }
}
