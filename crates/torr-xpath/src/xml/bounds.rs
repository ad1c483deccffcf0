//! What the tags of a document would cost the parser, which compares each attribute of a tag with the others, and each prefix
//! with all that hold.

use crate::tree::MAX_DEPTH;
use std::collections::HashMap;

/// How many namespaces may hold at one element.
const MAX_NAMESPACES: usize = 256;
/// How many comparisons of names the tags of a document may take together. A second or so.
const MAX_COMPARISONS: usize = 250_000_000;

/// Checks a document without a document type declaration.
///
/// # Errors
/// In words, if its tags would cost too much.
pub fn check(text: &str) -> Result<(), String> {
    let mut scope = Scope::default();
    let mut left = MAX_COMPARISONS;
    let mut rest = text;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        rest = &rest[at..];
        let other = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((start, end)) = other.into_iter().find(|(start, _)| rest.starts_with(start)) {
            rest = rest[start.len()..].split_once(end).map_or("", |(_, after)| after);
            continue;
        }
        if let Some(after) = rest.strip_prefix("</") {
            scope.close();
            rest = after;
            continue;
        }
        let tag = Tag::read(&rest[1..]);
        scope.open(&tag.prefixes);
        if scope.depth() > MAX_DEPTH {
            return Err(format!("the content is nested deeper than {MAX_DEPTH} elements"));
        }
        let namespaces = scope.counts.len();
        if namespaces > MAX_NAMESPACES {
            return Err(format!("the content has more than {MAX_NAMESPACES} namespaces in one scope"));
        }
        // An element that declares namespaces gets a list of its own, which is compared with its parent's.
        let of_declarations = if tag.prefixes.is_empty() { 0 } else { namespaces * namespaces };
        let cost = tag.attributes * tag.attributes + (1 + tag.attributes) * namespaces + of_declarations;
        left = left.checked_sub(cost).ok_or("the content's tags have too many attributes or namespaces")?;
        if tag.is_empty {
            scope.close();
        }
        rest = tag.after;
    }
    Ok(())
}

/// A start tag.
struct Tag<'t> {
    attributes: usize,
    /// The prefixes that the tag declares; that of the default namespace is empty.
    prefixes: Vec<&'t str>,
    /// Whether the tag ends its element as well.
    is_empty: bool,
    /// The text behind the tag.
    after: &'t str,
}

impl<'t> Tag<'t> {
    /// Reads a tag behind its `<`.
    fn read(text: &'t str) -> Self {
        let bytes = text.as_bytes();
        let mut tag = Self { attributes: 0, prefixes: Vec::new(), is_empty: false, after: "" };
        let (mut at, mut word) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'>' => {
                    tag.is_empty = at > 0 && bytes[at - 1] == b'/';
                    tag.after = &text[at + 1..];
                    break;
                }
                quote @ (b'"' | b'\'') => {
                    tag.attributes += 1;
                    let name = text[word..at].trim_end_matches(|c: char| c == '=' || c.is_ascii_whitespace());
                    match name.strip_prefix("xmlns") {
                        Some("") => tag.prefixes.push(""),
                        Some(prefix) => tag.prefixes.extend(prefix.strip_prefix(':')),
                        None => {}
                    }
                    at += 1 + memchr::memchr(*quote, &bytes[at + 1..]).unwrap_or(bytes.len() - at - 1);
                    word = at + 1;
                }
                byte if byte.is_ascii_whitespace() && text[word..at].trim_start().is_empty() => word = at + 1,
                _ => {}
            }
            at += 1;
            // The name of the element ends at its first space.
            if word == 0 && bytes[at - 1].is_ascii_whitespace() {
                word = at;
            }
        }
        tag
    }
}

/// The elements that are open, and the prefixes that hold.
#[derive(Default)]
struct Scope<'t> {
    /// How many prefixes each open element declares.
    open: Vec<usize>,
    declared: Vec<&'t str>,
    /// How many open elements declare each prefix.
    counts: HashMap<&'t str, usize>,
}

impl<'t> Scope<'t> {
    fn depth(&self) -> usize {
        self.open.len()
    }

    fn open(&mut self, prefixes: &[&'t str]) {
        self.open.push(prefixes.len());
        for prefix in prefixes {
            self.declared.push(prefix);
            *self.counts.entry(prefix).or_default() += 1;
        }
    }

    fn close(&mut self) {
        for _ in 0..self.open.pop().unwrap_or(0) {
            let Some(prefix) = self.declared.pop() else { return };
            if let Some(count) = self.counts.get_mut(prefix) {
                *count -= 1;
                if *count == 0 {
                    self.counts.remove(prefix);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_prefixes_are_counted() {
        for (text, attributes, prefixes, is_empty) in [
            ("a>", 0, &[][..], false),
            ("a/>x", 0, &[], true),
            ("a b='>' c = \"'\"/>", 2, &[], true),
            ("p:a xmlns='u'\nxmlns:p = 'v'  xmlnsx='w' y='xmlns'>", 4, &["", "p"], false),
        ] {
            let tag = Tag::read(text);
            assert_eq!((tag.attributes, &*tag.prefixes, tag.is_empty), (attributes, prefixes, is_empty), "{text}");
        }
    }

    #[test]
    fn tags_that_cost_too_much_are_refused() {
        let names = |count: usize| (0..count).map(|name| format!(" a{name}=''")).collect::<String>();
        let spaces = |count: usize| (0..count).map(|name| format!(" xmlns:a{name}='u'")).collect::<String>();
        assert_eq!(check(&format!("<a{}/>", names(10_000))), Ok(()));
        assert!(check(&format!("<a{}/>", names(20_000))).is_err());
        assert!(check(&format!("<a{}/>", spaces(257))).is_err());
        assert_eq!(check(&format!("<a{}><b{}/></a>", spaces(256), spaces(256))), Ok(()));
        let children = "<b xmlns='u'/>".repeat(10_000);
        assert!(check(&format!("<a{}>{children}</a>", spaces(255))).is_err());
        assert_eq!(check(&format!("<a>{children}</a>")), Ok(()));
        assert_eq!(check(&format!("{}<b/>{}", "<a xmlns='u'>".repeat(900), "</a>".repeat(900))), Ok(()));
        assert!(check(&"<a>".repeat(2_000)).is_err());
    }
}
