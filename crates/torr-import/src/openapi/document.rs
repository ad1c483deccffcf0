//! References within a description.

use crate::node::Node;
use percent_encoding::percent_decode_str;

/// The references that may lead from one to the next.
const LONGEST_CHAIN: usize = 16;

/// What a reference that leads nowhere stands for.
static NOTHING: Node = Node::Null;

/// A description.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'d> {
    pub(super) root: &'d Node,
}

impl<'d> Document<'d> {
    pub(super) fn new(root: &'d Node) -> Self {
        Self { root }
    }

    /// Returns what a node is, its references followed; null for a reference to another file or to nothing.
    pub(super) fn resolve(&self, node: &'d Node) -> &'d Node {
        let mut node = node;
        for _ in 0..LONGEST_CHAIN {
            match node.get("$ref").text() {
                None => return node,
                Some(reference) => node = self.target(reference).unwrap_or(&NOTHING),
            }
        }
        &NOTHING
    }

    /// Returns the node that a reference such as `#/components/schemas/Pet` names.
    fn target(&self, reference: &str) -> Option<&'d Node> {
        let pointer = reference.strip_prefix('#')?;
        let pointer = percent_decode_str(pointer).decode_utf8_lossy();
        let mut node = self.root;
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
