//! Nodes written as HTML.

use torr_xpath::{Kind, Node};

use super::document::Document;

/// Elements that have no content and no end tag.
const VOID: [&str; 14] =
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"];
/// Elements whose text is written as it is.
const RAW: [&str; 8] = ["iframe", "noembed", "noframes", "noscript", "plaintext", "script", "style", "xmp"];

/// Returns the content of a node as HTML.
pub(super) fn inner(document: &Document, node: Node) -> String {
    let mut text = String::new();
    if document.tree.kind(node) == Kind::Root && document.has_doctype {
        text.push_str("<!DOCTYPE html>");
    }
    if VOID.contains(&document.tag(node)) {
        return text;
    }
    // Tags that are open, and the children that are still to be written: nesting takes no call stack.
    let mut open: Vec<(&str, Vec<Node>)> = vec![("", reversed_children(document, node))];
    while let Some((tag, waiting)) = open.last_mut() {
        let Some(child) = waiting.pop() else {
            if !tag.is_empty() {
                text.push_str(&format!("</{tag}>"));
            }
            open.pop();
            continue;
        };
        match document.tree.kind(child) {
            Kind::Text if RAW.contains(tag) => text.push_str(document.tree.string(child)),
            Kind::Text => escape(document.tree.string(child), &mut text),
            Kind::Comment => text.push_str(&format!("<!--{}-->", document.tree.string(child))),
            Kind::Element => {
                let tag = document.tag(child);
                text.push('<');
                text.push_str(tag);
                for attribute in document.tree.attributes(child) {
                    text.push_str(&format!(" {}=\"", document.tree.name(attribute).local));
                    escape(document.tree.string(attribute), &mut text);
                    text.push('"');
                }
                if VOID.contains(&tag) {
                    text.push_str("/>");
                } else {
                    text.push('>');
                    open.push((tag, reversed_children(document, child)));
                }
            }
            _ => {}
        }
    }
    text
}

fn reversed_children(document: &Document, node: Node) -> Vec<Node> {
    let mut children: Vec<Node> = document.tree.children(node).collect();
    children.reverse();
    children
}

fn escape(content: &str, text: &mut String) {
    for one in content.chars() {
        match one {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '\'' => text.push_str("&#39;"),
            '"' => text.push_str("&#34;"),
            '\r' => text.push_str("&#13;"),
            _ => text.push(one),
        }
    }
}
