//! The tree that the HTML parser makes: parts of it move while it grows, so it is linked and laid out at the end.

use crate::tree::{Builder, MAX_DEPTH, MAX_NODES, Name, Tree};
use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{Attribute, ExpandedName, LocalName, QualName, ns};
use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A node in the hands of the parser.
#[derive(Debug, Clone)]
pub struct Handle {
    at: usize,
    name: Option<Rc<QualName>>,
}

/// Takes what the parser makes.
#[derive(Debug)]
pub struct Sink {
    nodes: RefCell<Vec<Linked>>,
    /// Nodes and attributes by now.
    count: Cell<usize>,
    beyond: Cell<Option<Limit>>,
    /// The name of the start tag in the parser's hands, if it is one.
    begun: RefCell<Option<LocalName>>,
    /// The last HTML element that this token made.
    made: RefCell<Option<LocalName>>,
    /// Whether the tree has the elements too that no tag of the document is for.
    keeps_implied: bool,
}

#[derive(Debug, Clone, Copy)]
enum Limit {
    Nodes,
    Depth,
}

#[derive(Debug)]
struct Linked {
    data: Data,
    parent: Option<usize>,
    previous: Option<usize>,
    next: Option<usize>,
    first: Option<usize>,
    last: Option<usize>,
    depth: usize,
}

#[derive(Debug)]
enum Data {
    Document,
    Element {
        name: Rc<QualName>,
        attributes: Vec<Attribute>,
        /// Whether no tag of the document is the element's.
        implied: bool,
    },
    Text(StrTendril),
    Comment(StrTendril),
}

impl Sink {
    /// Returns a sink for a new document. `keeps_implied` tells whether its tree has the elements that the parser adds.
    pub fn new(keeps_implied: bool) -> Self {
        let sink = Self {
            keeps_implied,
            nodes: RefCell::default(),
            count: Cell::new(0),
            beyond: Cell::new(None),
            begun: RefCell::default(),
            made: RefCell::default(),
        };
        sink.add(Data::Document);
        sink
    }

    /// Whether a limit was met, so that nothing more needs to be read.
    pub fn is_full(&self) -> bool {
        self.beyond.get().is_some()
    }

    /// Notes the next token: the name of a start tag.
    pub fn begin_token(&self, begun: Option<LocalName>) {
        *self.begun.borrow_mut() = begun;
        *self.made.borrow_mut() = None;
    }

    /// Whether the token has made an HTML element of a name.
    pub fn has_made(&self, name: &LocalName) -> bool {
        self.made.borrow().as_ref() == Some(name)
    }

    /// Lays the tree out.
    ///
    /// # Errors
    /// In words, if a limit was met.
    pub fn into_tree(self) -> Result<Tree, String> {
        match self.beyond.get() {
            None => {}
            Some(Limit::Nodes) => return Err(format!("the content has more than {MAX_NODES} nodes")),
            Some(Limit::Depth) => return Err(format!("the content is nested deeper than {MAX_DEPTH} elements")),
        }
        let keeps_implied = self.keeps_implied;
        let nodes = self.nodes.into_inner();
        let mut builder = Builder::new(true);
        let mut next = nodes[0].first;
        while let Some(at) = next {
            let node = &nodes[at];
            enter(node, keeps_implied, &mut builder);
            next = node.first.or_else(|| {
                let mut last = at;
                loop {
                    if nodes[last].is_element_of_tree(keeps_implied) {
                        builder.close();
                    }
                    match (nodes[last].next, nodes[last].parent) {
                        (Some(next), _) => break Some(next),
                        (None, Some(parent)) if parent != 0 => last = parent,
                        _ => break None,
                    }
                }
            });
        }
        Ok(builder.finish())
    }

    fn add(&self, data: Data) -> usize {
        let attributes = if let Data::Element { attributes, .. } = &data { attributes.len() } else { 0 };
        self.count.set(self.count.get() + 1 + attributes);
        if self.count.get() > MAX_NODES {
            self.beyond.set(Some(Limit::Nodes));
        }
        let mut nodes = self.nodes.borrow_mut();
        let linked = Linked { data, parent: None, previous: None, next: None, first: None, last: None, depth: 0 };
        nodes.push(linked);
        nodes.len() - 1
    }

    fn node(&self, child: NodeOrText<Handle>) -> usize {
        match child {
            NodeOrText::AppendNode(handle) => handle.at,
            NodeOrText::AppendText(text) => self.add(Data::Text(text)),
        }
    }

    /// Puts a node under a parent, before a sibling or last.
    fn insert(&self, at: usize, parent: usize, before: Option<usize>) {
        self.detach(at);
        let mut nodes = self.nodes.borrow_mut();
        let previous = match before {
            Some(sibling) => nodes[sibling].previous.replace(at),
            None => nodes[parent].last.replace(at),
        };
        match previous {
            Some(previous) => nodes[previous].next = Some(at),
            None => nodes[parent].first = Some(at),
        }
        let depth = nodes[parent].depth + 1;
        let node = &mut nodes[at];
        (node.parent, node.previous, node.next, node.depth) = (Some(parent), previous, before, depth);
        if depth > MAX_DEPTH {
            self.beyond.set(Some(Limit::Depth));
        }
    }

    fn detach(&self, at: usize) {
        let mut nodes = self.nodes.borrow_mut();
        let node = &mut nodes[at];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        let Some(parent) = parent else { return };
        match previous {
            Some(previous) => nodes[previous].next = next,
            None => nodes[parent].first = next,
        }
        match next {
            Some(next) => nodes[next].previous = previous,
            None => nodes[parent].last = previous,
        }
    }
}

impl Linked {
    /// Whether the element is one of the document's: those that the parser added are not, where hurl's library adds none.
    fn is_element_of_tree(&self, keeps_implied: bool) -> bool {
        match &self.data {
            Data::Element { .. } if keeps_implied => true,
            Data::Element { name, implied: true, .. } => match &*name.local {
                "tbody" | "tr" | "colgroup" => false,
                "head" | "body" => self.first.is_some(),
                _ => true,
            },
            Data::Element { .. } => true,
            _ => false,
        }
    }
}

fn enter(node: &Linked, keeps_implied: bool, builder: &mut Builder) {
    match &node.data {
        Data::Document => {}
        Data::Element { name, attributes, .. } => {
            if node.is_element_of_tree(keeps_implied) {
                // Browsers keep the case of names in SVG.
                let cased = |name: String| if keeps_implied { name } else { lower(name) };
                builder.open(Name { local: &cased(name.local.to_string()), ..Name::default() });
                for attribute in attributes {
                    builder.attribute(
                        Name { local: &cased(attribute_name(&attribute.name)), ..Name::default() },
                        &attribute.value,
                    );
                }
            }
        }
        Data::Text(text) => builder.text(text),
        Data::Comment(text) => builder.comment(text),
    }
}

/// Returns an attribute's name as it stands in the document: the parser divides some of SVG's, such as `xlink:href`.
fn attribute_name(name: &QualName) -> String {
    match &name.prefix {
        Some(prefix) if !prefix.is_empty() => format!("{prefix}:{}", name.local),
        _ => name.local.to_string(),
    }
}

fn lower(mut name: String) -> String {
    name.make_ascii_lowercase();
    name
}

impl TreeSink for Sink {
    type Handle = Handle;
    type Output = Self;
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) -> Self {
        self
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Handle {
        Handle { at: 0, name: None }
    }

    fn elem_name<'a>(&'a self, target: &'a Handle) -> ExpandedName<'a> {
        target.name.as_ref().expect("the parser asks for the names of elements only, which have one").expanded()
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Handle {
        let implied = self.begun.borrow().as_ref() != Some(&name.local);
        if name.ns == ns!(html) {
            *self.made.borrow_mut() = Some(name.local.clone());
        }
        let name = Rc::new(name);
        let at = self.add(Data::Element { name: Rc::clone(&name), attributes, implied });
        Handle { at, name: Some(name) }
    }

    fn create_comment(&self, text: StrTendril) -> Handle {
        Handle { at: self.add(Data::Comment(text)), name: None }
    }

    fn create_pi(&self, _: StrTendril, data: StrTendril) -> Handle {
        // HTML has no processing instructions: the parser makes comments of them.
        self.create_comment(data)
    }

    fn append(&self, parent: &Handle, child: NodeOrText<Handle>) {
        // The parser hands on text in many pieces.
        if let NodeOrText::AppendText(piece) = &child {
            let mut nodes = self.nodes.borrow_mut();
            let last = nodes[parent.at].last;
            if let Some(Data::Text(text)) = last.map(|last| &mut nodes[last].data) {
                text.push_tendril(piece);
                return;
            }
        }
        let at = self.node(child);
        self.insert(at, parent.at, None);
    }

    fn append_based_on_parent_node(&self, element: &Handle, previous: &Handle, child: NodeOrText<Handle>) {
        let has_parent = self.nodes.borrow()[element.at].parent.is_some();
        if has_parent { self.append_before_sibling(element, child) } else { self.append(previous, child) }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    fn get_template_contents(&self, target: &Handle) -> Handle {
        target.clone()
    }

    fn same_node(&self, x: &Handle, y: &Handle) -> bool {
        x.at == y.at
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Handle, node: NodeOrText<Handle>) {
        let at = self.node(node);
        let parent = self.nodes.borrow()[sibling.at].parent;
        if let Some(parent) = parent.filter(|_| at != sibling.at) {
            self.insert(at, parent, Some(sibling.at));
        }
    }

    fn add_attrs_if_missing(&self, target: &Handle, attributes: Vec<Attribute>) {
        if let Data::Element { attributes: present, .. } = &mut self.nodes.borrow_mut()[target.at].data {
            for attribute in attributes {
                // Each is compared with all, so there is a bound.
                if present.len() > MAX_DEPTH {
                    self.beyond.set(Some(Limit::Nodes));
                } else if !present.iter().any(|present| present.name == attribute.name) {
                    present.push(attribute);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Handle) {
        self.detach(target.at);
    }

    fn reparent_children(&self, node: &Handle, new_parent: &Handle) {
        let mut next = self.nodes.borrow()[node.at].first;
        while let Some(child) = next {
            next = self.nodes.borrow()[child].next;
            self.insert(child, new_parent.at, None);
        }
    }
}
