//! A parsed document, and questions about single nodes.

use torr_xpath::{Kind, Node, Tree};
use url::Url;

/// A parsed document.
pub(super) struct Document {
    pub(super) tree: Tree,
    /// Whether the text begins with a document type.
    pub(super) has_doctype: bool,
    /// The address of the page that the document is, if it is known.
    pub(super) page: Option<Url>,
}

impl Document {
    /// Reads a document as browsers do.
    pub(super) fn read(text: &str, page: Option<Url>) -> Result<Self, String> {
        let begin = text.trim_start().get(..9);
        let has_doctype = begin.is_some_and(|begin| begin.eq_ignore_ascii_case("<!doctype"));
        Ok(Document { tree: torr_xpath::html_as_browsers(text)?, has_doctype, page })
    }

    pub(super) fn is_element(&self, node: Node) -> bool {
        self.tree.kind(node) == Kind::Element
    }

    /// Returns the tag's name in lower case; an empty name for what is no element.
    pub(super) fn tag(&self, node: Node) -> &str {
        if self.is_element(node) { self.tree.name(node).local } else { "" }
    }

    /// Returns the value of an attribute.
    pub(super) fn attribute(&self, node: Node, name: &str) -> Option<&str> {
        let found = self.tree.attributes(node).find(|attribute| self.tree.name(*attribute).local == name)?;
        Some(self.tree.string(found))
    }

    /// Returns the parent if it is an element.
    pub(super) fn parent_element(&self, node: Node) -> Option<Node> {
        self.tree.parent(node).filter(|parent| self.is_element(*parent))
    }

    /// Returns the children that are elements.
    pub(super) fn child_elements(&self, node: Node) -> impl Iterator<Item = Node> {
        self.tree.children(node).filter(|child| self.is_element(*child))
    }

    /// Returns the elements after a node, under the same parent.
    pub(super) fn elements_after(&self, node: Node) -> impl Iterator<Item = Node> {
        let parent = self.tree.parent(node);
        let siblings = parent.map(|parent| self.tree.siblings_after(node, parent));
        siblings.into_iter().flatten().filter(|sibling| self.is_element(*sibling))
    }

    /// Returns the elements before a node, under the same parent, the nearest first.
    pub(super) fn elements_before(&self, node: Node) -> impl Iterator<Item = Node> {
        let parent = self.tree.parent(node);
        let siblings = parent.map(|parent| self.tree.siblings_before(node, parent));
        siblings.into_iter().flatten().filter(|sibling| self.is_element(*sibling))
    }

    /// Returns the elements that contain a node, the nearest first.
    pub(super) fn ancestors(&self, node: Node) -> impl Iterator<Item = Node> {
        std::iter::successors(self.parent_element(node), |parent| self.parent_element(*parent))
    }

    /// Returns whether `outer` contains `inner`, or is the same node.
    pub(super) fn contains(&self, outer: Node, inner: Node) -> bool {
        outer <= inner && self.tree.is_before(inner, self.tree.end(outer))
    }

    /// Returns the first descendant element with one of these names.
    pub(super) fn first_descendant(&self, node: Node, tags: &[&str]) -> Option<Node> {
        self.tree.descendants(node).find(|inner| tags.contains(&self.tag(*inner)))
    }

    /// Returns the descendant elements with one of these names.
    pub(super) fn descendants(&self, node: Node, tags: &[&str]) -> Vec<Node> {
        self.tree.descendants(node).filter(|inner| tags.contains(&self.tag(*inner))).collect()
    }
}
