//! Elements of a plan: each is followed by a `hashTree` that holds its children, and has properties by name.

use crate::draft::LeftOut;
use roxmltree::Node;

/// An element, with the tree of its children.
#[derive(Debug, Clone, Copy)]
pub(super) struct Element<'d, 'x> {
    node: Node<'d, 'x>,
    tree: Option<Node<'d, 'x>>,
}

/// Returns the elements of a `hashTree`.
pub(super) fn of_tree<'d, 'x>(tree: Node<'d, 'x>) -> Vec<Element<'d, 'x>> {
    let mut elements: Vec<Element<'d, 'x>> = Vec::new();
    for node in tree.children().filter(Node::is_element) {
        match elements.last_mut() {
            Some(last) if node.has_tag_name("hashTree") && last.tree.is_none() => last.tree = Some(node),
            _ if node.has_tag_name("hashTree") => {}
            _ => elements.push(Element { node, tree: None }),
        }
    }
    elements
}

/// Whether elements are nested deeper than a number of levels.
pub(super) fn is_deeper(root: Node<'_, '_>, levels: usize) -> bool {
    let (mut node, mut depth) = (root, 0usize);
    loop {
        if depth > levels {
            return true;
        }
        if let Some(child) = node.first_element_child() {
            (node, depth) = (child, depth + 1);
            continue;
        }
        loop {
            if node == root {
                return false;
            }
            if let Some(sibling) = node.next_sibling_element() {
                node = sibling;
                break;
            }
            let Some(parent) = node.parent_element() else { return false };
            (node, depth) = (parent, depth.saturating_sub(1));
        }
    }
}

impl<'d, 'x> Element<'d, 'x> {
    /// Returns the kind of the element.
    pub(super) fn tag(&self) -> &'d str {
        self.node.tag_name().name()
    }

    pub(super) fn is(&self, tag: &str) -> bool {
        self.tag() == tag
    }

    /// Returns the name that people gave the element.
    pub(super) fn name(&self) -> &'d str {
        self.node.attribute("testname").unwrap_or_default()
    }

    pub(super) fn gui(&self) -> &'d str {
        self.node.attribute("guiclass").unwrap_or_default()
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.node.attribute("enabled") != Some("false")
    }

    /// Returns the elements below.
    pub(super) fn children(&self) -> Vec<Element<'d, 'x>> {
        self.tree.map(of_tree).unwrap_or_default()
    }

    /// Returns a property as text; `None` for one that is empty or not there.
    pub(super) fn value(&self, name: &str) -> Option<String> {
        let property = self.property(name)?;
        let text: String = property.children().filter_map(|child| child.text()).collect();
        Some(text).filter(|text| !text.is_empty())
    }

    /// Returns a property as text, empty where there is none.
    pub(super) fn text(&self, name: &str) -> String {
        self.value(name).unwrap_or_default()
    }

    /// Whether a property is `true`.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.value(name).is_some_and(|value| value == "true")
    }

    /// Returns a property as a number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        self.value(name)?.trim().parse().ok().filter(|number: &f64| number.is_finite())
    }

    /// Returns a property that is an element itself.
    pub(super) fn inner(&self, name: &str) -> Option<Element<'d, 'x>> {
        Some(Element { node: self.property(name)?, tree: None })
    }

    /// Returns the elements of a property that is a list.
    pub(super) fn list(&self, name: &str) -> Vec<Element<'d, 'x>> {
        let items = self.property(name).into_iter().flat_map(|property| property.children().filter(Node::is_element));
        items.map(|node| Element { node, tree: None }).collect()
    }

    /// Returns the texts of a property that is a list of texts.
    pub(super) fn texts(&self, name: &str) -> Vec<String> {
        let texts = self.list(name);
        texts.iter().map(|item| item.node.children().filter_map(|child| child.text()).collect()).collect()
    }

    /// Returns what says that the element was left out.
    pub(super) fn left_out(&self, reason: &str) -> LeftOut {
        LeftOut::new(self.tag(), format!("'{}'", self.name()), reason)
    }

    /// Returns an attribute of the element itself.
    pub(super) fn attribute(&self, name: &str) -> String {
        self.node.attribute(name).unwrap_or_default().to_owned()
    }

    fn property(&self, name: &str) -> Option<Node<'d, 'x>> {
        self.node.children().find(|child| child.is_element() && child.attribute("name") == Some(name))
    }
}

impl<'d, 'x> From<Node<'d, 'x>> for Element<'d, 'x> {
    fn from(node: Node<'d, 'x>) -> Self {
        Self { node, tree: None }
    }
}
