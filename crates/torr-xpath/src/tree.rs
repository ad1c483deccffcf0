//! A document as XPath sees it (XPath 1.0, section 5), laid out in document order.

use std::collections::HashMap;

/// The namespace of the prefix `xml`.
pub const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// How many nodes a document may have. A record takes 24 bytes, so the largest document takes some 25 MB beside its text.
/// Tests without optimisation meet a smaller one.
pub const MAX_NODES: usize = if cfg!(test) { 1 << 17 } else { 1 << 20 };
/// How deep elements may be nested. Some axes cost nodes times depth.
pub const MAX_DEPTH: usize = 1_000;
/// How many bytes a document may have. Places in it are numbers of 32 bits.
pub const MAX_BYTES: usize = 64 << 20;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Root,
    Element,
    Attribute,
    Namespace,
    Text,
    Comment,
    Instruction,
}

/// A node of a document. Nodes are ordered as in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// The number of the node's record; for a namespace node, that of its element.
    at: u32,
    /// For a namespace node its number among its element's, from 1; otherwise 0. Elements have these nodes without a record,
    /// because nearly no expression asks for them.
    namespace: u32,
}

/// A name; elements and attributes of HTML have neither prefix nor namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct Name<'t> {
    pub prefix: &'t str,
    pub local: &'t str,
    pub namespace: &'t str,
}

/// A document.
#[derive(Debug)]
pub struct Tree {
    /// All nodes in document order: an element, its attributes, its children.
    records: Vec<Record>,
    names: Vec<[Box<str>; 3]>,
    /// The text nodes' text, one after the other: the string-value of an element is a piece of it.
    text: String,
    /// The values of attributes, comments and processing instructions.
    values: String,
    /// Namespace declarations: element, prefix, namespace, in the order of the elements.
    declarations: Vec<(u32, Box<str>, Box<str>)>,
    /// Whether attributes `id` are unique identifiers; otherwise attributes `xml:id` are.
    is_html: bool,
}

#[derive(Debug)]
struct Record {
    kind: Kind,
    parent: u32,
    /// The number after the last record of the node and its descendants.
    end: u32,
    /// The number of the name; 0 is no name.
    name: u32,
    /// The node's string-value, in the text for the root, elements and text nodes, otherwise in the values.
    from: u32,
    to: u32,
}

impl Tree {
    /// Returns the root.
    pub fn root(&self) -> Node {
        Node { at: 0, namespace: 0 }
    }

    /// Whether the document was read as HTML.
    pub fn is_html(&self) -> bool {
        self.is_html
    }

    /// Returns what a node is.
    pub fn kind(&self, node: Node) -> Kind {
        if node.namespace == 0 { self.record(node).kind } else { Kind::Namespace }
    }

    /// Returns the parent; the element for attributes and namespaces.
    pub fn parent(&self, node: Node) -> Option<Node> {
        let at = match (node.namespace, node.at) {
            (0, 0) => return None,
            (0, _) => self.record(node).parent,
            _ => node.at,
        };
        Some(Node { at, namespace: 0 })
    }

    /// Returns the string-value.
    pub fn string(&self, node: Node) -> &str {
        if node.namespace != 0 {
            return self.namespace_of(node).1;
        }
        let record = self.record(node);
        let range = record.from as usize..record.to as usize;
        match record.kind {
            Kind::Root | Kind::Element | Kind::Text => &self.text[range],
            _ => &self.values[range],
        }
    }

    /// Returns the name; an empty one for what has none.
    pub fn name(&self, node: Node) -> Name<'_> {
        if node.namespace != 0 {
            return Name { local: self.namespace_of(node).0, ..Name::default() };
        }
        let [prefix, local, namespace] = &self.names[self.record(node).name as usize];
        Name { prefix, local, namespace }
    }

    /// Returns the children in document order.
    pub fn children(&self, node: Node) -> impl Iterator<Item = Node> {
        let end = if node.namespace == 0 { self.record(node).end } else { 0 };
        self.side_by_side(self.after_attributes(node), end)
    }

    /// Returns the siblings after a child of a parent, in document order.
    pub fn siblings_after(&self, node: Node, parent: Node) -> impl Iterator<Item = Node> {
        self.side_by_side(self.end(node), self.end(parent))
    }

    /// Returns the siblings before a child of a parent, in reverse document order.
    pub fn siblings_before(&self, node: Node, parent: Node) -> impl Iterator<Item = Node> {
        let mut next = node.at;
        std::iter::from_fn(move || {
            // What stands directly before is the end of the sibling, the last of the parent's attributes, or the parent.
            let mut at = next - 1;
            while at != parent.at && self.records[at as usize].parent != parent.at {
                at = self.records[at as usize].parent;
            }
            next = at;
            let is_sibling = at != parent.at && self.records[at as usize].kind != Kind::Attribute;
            is_sibling.then_some(Node { at, namespace: 0 })
        })
        .fuse()
    }

    /// Returns the attributes of an element.
    pub fn attributes(&self, node: Node) -> impl Iterator<Item = Node> {
        let end = if self.kind(node) == Kind::Element { self.after_attributes(node) } else { 0 };
        (node.at + 1..end).map(|at| Node { at, namespace: 0 })
    }

    /// Returns the namespace nodes of an element.
    pub fn namespaces(&self, node: Node) -> impl Iterator<Item = Node> {
        let count = if self.kind(node) == Kind::Element { self.in_scope(node).len() } else { 0 };
        (1..=count as u32).map(move |namespace| Node { at: node.at, namespace })
    }

    /// Returns the descendants in document order.
    pub fn descendants(&self, node: Node) -> impl Iterator<Item = Node> {
        self.plain(node.at + 1..self.end(node))
    }

    /// Returns what comes after a node and its descendants, in document order.
    pub fn following(&self, node: Node) -> impl Iterator<Item = Node> {
        self.plain(self.end(node)..self.records.len() as u32)
    }

    /// Returns what comes before a node and does not contain it, in reverse document order.
    pub fn preceding(&self, node: Node) -> impl Iterator<Item = Node> {
        self.plain(1..node.at).rev().filter(move |before| self.record(*before).end <= node.at)
    }

    /// Returns the number of the record after a node and its descendants.
    pub fn end(&self, node: Node) -> u32 {
        if node.namespace == 0 { self.record(node).end } else { node.at + 1 }
    }

    /// Whether a node is before the record of a number.
    pub fn is_before(&self, node: Node, end: u32) -> bool {
        node.at < end
    }

    /// Returns what a prefix stands for in an expression: the document's last declaration of it, and for `_` the first default
    /// namespace. Expressions have no declarations of their own.
    pub fn namespace_for(&self, prefix: &str) -> Option<&str> {
        let mut declared = self.declarations.iter().filter(|(_, _, namespace)| !namespace.is_empty());
        let found = declared.rfind(|(_, name, _)| !prefix.is_empty() && **name == *prefix);
        let default = || self.declarations.iter().find(|(_, name, namespace)| name.is_empty() && !namespace.is_empty());
        let found = if prefix == "_" { found.or_else(default) } else { found };
        match found {
            Some((_, _, namespace)) => Some(namespace),
            None => (prefix == "xml").then_some(XML),
        }
    }

    /// Returns the node of a number and those at its side, up to a number.
    fn side_by_side(&self, mut at: u32, end: u32) -> impl Iterator<Item = Node> {
        std::iter::from_fn(move || {
            let node = Node { at, namespace: 0 };
            (at < end).then(|| {
                at = self.end(node);
                node
            })
        })
    }

    fn record(&self, node: Node) -> &Record {
        &self.records[node.at as usize]
    }

    fn plain(&self, range: std::ops::Range<u32>) -> impl DoubleEndedIterator<Item = Node> {
        let nodes = range.map(|at| Node { at, namespace: 0 });
        nodes.filter(|node| self.record(*node).kind != Kind::Attribute)
    }

    fn after_attributes(&self, node: Node) -> u32 {
        let after = &self.records[node.at as usize + 1..];
        node.at
            + 1
            + after.iter().take_while(|record| record.kind == Kind::Attribute && record.parent == node.at).count()
                as u32
    }

    /// Returns the prefixes and namespaces that hold at an element.
    fn in_scope(&self, element: Node) -> Vec<(&str, &str)> {
        let mut found: Vec<(&str, &str)> = vec![("xml", XML)];
        let mut next = Some(element);
        while let Some(node) = next {
            let first = self.declarations.partition_point(|(at, ..)| *at < node.at);
            for (_, prefix, namespace) in self.declarations[first..].iter().take_while(|(at, ..)| *at == node.at) {
                if !found.iter().any(|(known, _)| **known == **prefix) {
                    found.push((prefix, namespace));
                }
            }
            next = self.parent(node);
        }
        found.retain(|(_, namespace)| !namespace.is_empty());
        found
    }

    fn namespace_of(&self, node: Node) -> (&str, &str) {
        self.in_scope(Node { namespace: 0, ..node })[node.namespace as usize - 1]
    }
}

/// Builds a tree in document order.
#[derive(Debug)]
pub struct Builder {
    tree: Tree,
    open: Vec<u32>,
    /// The numbers of the names, by prefix, local name and namespace in one string.
    numbers: HashMap<String, u32>,
    key: String,
}

impl Builder {
    /// Begins a document.
    pub fn new(is_html: bool) -> Self {
        let root = Record { kind: Kind::Root, parent: 0, end: 1, name: 0, from: 0, to: 0 };
        let tree = Tree {
            records: vec![root],
            names: vec![Default::default()],
            text: String::new(),
            values: String::new(),
            declarations: Vec::new(),
            is_html,
        };
        Self { tree, open: vec![0], numbers: HashMap::new(), key: String::new() }
    }

    /// Begins an element.
    pub fn open(&mut self, name: Name<'_>) {
        let at = self.push(Kind::Element, name);
        self.open.push(at);
    }

    /// Declares a namespace on the element that has just begun; an empty prefix is the default, an empty namespace takes one back.
    pub fn declare(&mut self, prefix: &str, namespace: &str) {
        let element = self.parent();
        self.tree.declarations.push((element, prefix.into(), namespace.into()));
    }

    /// Gives the element that has just begun an attribute.
    pub fn attribute(&mut self, name: Name<'_>, value: &str) {
        self.value(Kind::Attribute, name, value);
    }

    /// Adds text; texts side by side are one node.
    pub fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let parent = self.parent();
        if !self.tree.records.last().is_some_and(|last| last.kind == Kind::Text && last.parent == parent) {
            self.push(Kind::Text, Name::default());
        }
        self.tree.text.push_str(text);
        let to = self.tree.text.len() as u32;
        if let Some(last) = self.tree.records.last_mut() {
            last.to = to;
        }
    }

    /// Adds a comment.
    pub fn comment(&mut self, text: &str) {
        self.value(Kind::Comment, Name::default(), text);
    }

    /// Adds a processing instruction.
    pub fn instruction(&mut self, target: &str, data: &str) {
        self.value(Kind::Instruction, Name { local: target, ..Name::default() }, data);
    }

    /// Ends the element.
    pub fn close(&mut self) {
        if let Some(at) = self.open.pop() {
            self.end(at);
        }
    }

    /// Ends the document.
    pub fn finish(mut self) -> Tree {
        while let Some(at) = self.open.pop() {
            self.end(at);
        }
        self.tree
    }

    fn parent(&self) -> u32 {
        self.open.last().copied().unwrap_or_default()
    }

    fn end(&mut self, at: u32) {
        let (end, to) = (self.tree.records.len() as u32, self.tree.text.len() as u32);
        let record = &mut self.tree.records[at as usize];
        (record.end, record.to) = (end, to);
    }

    fn value(&mut self, kind: Kind, name: Name<'_>, value: &str) {
        let at = self.push(kind, name) as usize;
        self.tree.records[at].from = self.tree.values.len() as u32;
        self.tree.values.push_str(value);
        self.tree.records[at].to = self.tree.values.len() as u32;
    }

    fn push(&mut self, kind: Kind, name: Name<'_>) -> u32 {
        let (at, place) = (self.tree.records.len() as u32, self.tree.text.len() as u32);
        let (parent, name) = (self.parent(), self.number(name));
        self.tree.records.push(Record { kind, parent, end: at + 1, name, from: place, to: place });
        at
    }

    fn number(&mut self, name: Name<'_>) -> u32 {
        if name == Name::default() {
            return 0;
        }
        self.key.clear();
        for part in [name.prefix, "\0", name.local, "\0", name.namespace] {
            self.key.push_str(part);
        }
        if let Some(number) = self.numbers.get(&self.key) {
            return *number;
        }
        let number = self.tree.names.len() as u32;
        self.tree.names.push([name.prefix.into(), name.local.into(), name.namespace.into()]);
        self.numbers.insert(self.key.clone(), number);
        number
    }
}
