//! The functions on strings and nodes (XPath 1.0, section 4).

use super::number;
use super::tree::{Kind, Name, Node, Tree};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// `substring`: the characters whose place, from 1, is at least `from` and, with a length, less than `from` plus it; both are
/// rounded. NaN is in no order, so it gives nothing.
pub fn substring(text: &str, from: f64, length: Option<f64>) -> String {
    let from = number::round(from);
    let end = length.map_or(f64::INFINITY, |length| from + number::round(length));
    let is_inside = |place: usize| place as f64 >= from && (place as f64) < end;
    text.chars().zip(1..).filter(|(_, place)| is_inside(*place)).map(|(c, _)| c).collect()
}

/// `normalize-space`
pub fn normalize_space(text: &str) -> String {
    let words: Vec<&str> = text.split(number::is_space).filter(|word| !word.is_empty()).collect();
    words.join(" ")
}

/// `translate`: the first mention of a character counts; one without a counterpart is left out.
pub fn translate(text: &str, from: &str, to: &str) -> String {
    let mut to = to.chars();
    let mut table: HashMap<char, Option<char>> = HashMap::new();
    for c in from.chars() {
        let counterpart = to.next();
        table.entry(c).or_insert(counterpart);
    }
    text.chars().filter_map(|c| table.get(&c).copied().unwrap_or(Some(c))).collect()
}

/// `lang`: whether a node is in a language or a dialect of it, by the nearest `xml:lang`.
pub fn lang(tree: &Tree, node: Node, wanted: &str) -> bool {
    let is_lang = |name: Name<'_>| {
        if tree.is_html() { name.local == "lang" } else { name.local == "lang" && name.namespace == super::tree::XML }
    };
    let nearest = std::iter::successors(Some(node), |node| tree.parent(*node))
        .find_map(|node| tree.attributes(node).find(|attribute| is_lang(tree.name(*attribute))));
    let Some(language) = nearest.map(|attribute| tree.string(attribute)) else { return false };
    let (head, rest) = match language.get(..wanted.len()) {
        Some(head) => (head, &language[wanted.len()..]),
        None => return false,
    };
    head.eq_ignore_ascii_case(wanted) && (rest.is_empty() || rest.starts_with('-'))
}

/// `id`: the elements with one of these identifiers, in document order; of several with the same the first. Attributes `id` of
/// HTML and `xml:id` are identifiers; declarations of others in a DTD are not read.
pub fn with_ids<'t>(tree: &Tree, ids: impl Iterator<Item = Cow<'t, str>>) -> Vec<Node> {
    let texts: Vec<Cow<'t, str>> = ids.collect();
    let mut wanted: HashSet<&str> = texts.iter().flat_map(|text| text.split(number::is_space)).collect();
    wanted.remove("");
    let is_id = |name: Name<'_>| name.local == "id" && (tree.is_html() || name.namespace == super::tree::XML);
    let mut found = Vec::new();
    for node in tree.descendants(tree.root()).filter(|node| tree.kind(*node) == Kind::Element) {
        let id = tree.attributes(node).find(|attribute| is_id(tree.name(*attribute)));
        if id.is_some_and(|id| wanted.remove(tree.string(id))) {
            found.push(node);
        }
    }
    found
}

/// `name`: the qualified name.
pub fn qualified(name: Name<'_>) -> Cow<'_, str> {
    if name.prefix.is_empty() { name.local.into() } else { format!("{}:{}", name.prefix, name.local).into() }
}
