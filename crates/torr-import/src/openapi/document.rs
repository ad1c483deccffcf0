//! References within a description.

use super::others::Others;
use crate::draft::LeftOut;
use crate::node::Node;
use percent_encoding::percent_decode_str;
use std::cell::RefCell;
use std::collections::BTreeSet;

/// The references that may lead from one to the next.
const LONGEST_CHAIN: usize = 16;

/// Methods of a path, as the format names them.
pub(super) const METHODS: &[&str] = &["get", "put", "post", "delete", "options", "head", "patch", "trace", "query"];

/// What a reference that leads nowhere stands for.
static NOTHING: Node = Node::Null;

/// A description, with the files that it refers to.
#[derive(Debug)]
pub(super) struct Document<'d> {
    pub(super) root: &'d Node,
    others: &'d Others,
    /// References without a target that were met since they were last said.
    missing: RefCell<BTreeSet<String>>,
}

impl<'d> Document<'d> {
    pub(super) fn new(root: &'d Node, others: &'d Others) -> Self {
        Self { root, others, missing: RefCell::default() }
    }

    /// Returns what a node is, its references followed; null for a reference that leads nowhere.
    pub(super) fn resolve(&self, node: &'d Node) -> &'d Node {
        let mut node = node;
        for _ in 0..LONGEST_CHAIN {
            let Some(reference) = node.get("$ref").text() else { return node };
            match self.target(reference) {
                Some(target) => node = target,
                None => {
                    self.missing.borrow_mut().insert(reference.to_owned());
                    return &NOTHING;
                }
            }
        }
        &NOTHING
    }

    /// Returns what says that references had no target, for those that were met since the last call.
    pub(super) fn missing(&self) -> Vec<LeftOut> {
        let missing = self.missing.take();
        let said = |reference: &String| LeftOut::new("reference", reference, self.others.reason(reference));
        missing.iter().map(said).collect()
    }

    /// Returns the node that a reference such as `#/components/schemas/Pet` or `pets.yaml#/Pet` names.
    fn target(&self, reference: &str) -> Option<&'d Node> {
        let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
        let mut node = if file.is_empty() { self.root } else { self.others.get(file)? };
        let pointer = percent_decode_str(pointer).decode_utf8_lossy();
        if !pointer.is_empty() && !pointer.starts_with('/') {
            return None;
        }
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            node = match node {
                Node::Object(members) => &members.iter().find(|(name, _)| *name == step)?.1,
                Node::List(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
        }
        Some(node)
    }
}

/// Returns the last step of a reference.
pub(super) fn last_step(reference: &str) -> &str {
    reference.rsplit('/').next().unwrap_or_default()
}
