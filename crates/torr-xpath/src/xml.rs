//! XML, read strictly.

mod bounds;
mod entities;

use super::tree::{Builder, MAX_BYTES, MAX_DEPTH, MAX_NODES, Name, Tree};
use roxmltree::{Document, NodeType, ParsingOptions};

/// Reads XML.
///
/// # Errors
/// In words, if the text is no well-formed XML, or is beyond a limit.
pub fn parse(text: &str) -> Result<Tree, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the content is larger than {MAX_BYTES} bytes"));
    }
    // What stands before an XML declaration makes a document ill-formed; servers that run templates often send empty lines.
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let expanded = entities::expand(text)?;
    let text = &*expanded;
    bounds::check(text)?;
    let options = ParsingOptions { nodes_limit: MAX_NODES as u32, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| match error {
        roxmltree::Error::NodesLimitReached => format!("the content has more than {MAX_NODES} nodes"),
        error => format!("cannot parse XML: {error}"),
    })?;
    let mut builder = Builder::new(false);
    let (mut nodes, mut depth) = (0, 0);
    let mut next = document.root().first_child();
    while let Some(node) = next {
        nodes += 1 + node.attributes().len();
        if nodes > MAX_NODES {
            return Err(format!("the content has more than {MAX_NODES} nodes"));
        }
        match node.node_type() {
            NodeType::Element => element(&mut builder, text, node),
            NodeType::Text => builder.text(node.text().unwrap_or_default()),
            NodeType::Comment => builder.comment(node.text().unwrap_or_default()),
            NodeType::PI => {
                let pi = node.pi();
                builder.instruction(pi.map_or("", |pi| pi.target), pi.and_then(|pi| pi.value).unwrap_or_default());
            }
            NodeType::Root => {}
        }
        if node.has_children() {
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(format!("the content is nested deeper than {MAX_DEPTH} elements"));
            }
            next = node.first_child();
            continue;
        }
        if node.is_element() {
            builder.close();
        }
        let mut last = node;
        next = loop {
            if let Some(sibling) = last.next_sibling() {
                break Some(sibling);
            }
            match last.parent() {
                Some(parent) if parent.is_element() => {
                    builder.close();
                    depth -= 1;
                    last = parent;
                }
                _ => break None,
            }
        };
    }
    Ok(builder.finish())
}

fn element(builder: &mut Builder, text: &str, node: roxmltree::Node<'_, '_>) {
    // The library keeps names without prefixes; they stand in the text, behind the `<`.
    let tag = node.tag_name();
    let start = node.range().start + 1;
    let qualified = text.get(start..).unwrap_or_default();
    let end = qualified.find(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')).unwrap_or(qualified.len());
    builder.open(name(&qualified[..end], tag.name(), tag.namespace()));
    declare(builder, node);
    for attribute in node.attributes() {
        let qualified = text.get(attribute.range_qname()).unwrap_or_default();
        builder.attribute(name(qualified, attribute.name(), attribute.namespace()), attribute.value());
    }
}

/// Declares what an element declares: the namespaces that hold at it and did not hold at its parent.
fn declare(builder: &mut Builder, node: roxmltree::Node<'_, '_>) {
    let inherited = node.parent().filter(roxmltree::Node::is_element);
    // Most elements declare nothing, and then hold the very namespaces of their parent.
    if inherited
        .is_some_and(|parent| parent.namespaces().map(std::ptr::from_ref).eq(node.namespaces().map(std::ptr::from_ref)))
    {
        return;
    }
    for namespace in node.namespaces() {
        let of_parent = |parent: roxmltree::Node<'_, '_>| {
            parent.namespaces().find(|known| known.name() == namespace.name()).is_some_and(|known| known == namespace)
        };
        if namespace.name() != Some("xml") && !inherited.is_some_and(of_parent) {
            builder.declare(namespace.name().unwrap_or_default(), namespace.uri());
        }
    }
}

fn name<'n>(qualified: &'n str, local: &'n str, namespace: Option<&'n str>) -> Name<'n> {
    let prefix = qualified.strip_suffix(local).and_then(|prefix| prefix.strip_suffix(':')).unwrap_or_default();
    Name { prefix, local, namespace: namespace.unwrap_or_default() }
}
