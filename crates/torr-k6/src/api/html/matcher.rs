//! Whether elements match selectors. The work of one question is bounded: documents and selectors may be hostile.

use std::cell::Cell;

use torr_xpath::{Kind, Node};

use super::document::Document;
use super::selector::{Combinator, Compare, Selectors, Test, Whose};

/// Most tests of elements for one call of a script, which take some tenths of a second.
const MAX_WORK: usize = 20_000_000;

/// Selectors with the work that is left for them.
pub(super) struct Matcher<'d> {
    document: &'d Document,
    work: Cell<usize>,
}

impl<'d> Matcher<'d> {
    pub(super) fn new(document: &'d Document) -> Self {
        Matcher { document, work: Cell::new(0) }
    }

    /// Returns an error if the work was too much, so that what was found is incomplete.
    pub(super) fn finish(&self) -> Result<(), String> {
        if self.is_exhausted() { Err("the selector takes too long for this document".to_owned()) } else { Ok(()) }
    }

    /// Returns whether the work was too much.
    pub(super) fn is_exhausted(&self) -> bool {
        self.work.get() > MAX_WORK
    }

    /// Returns whether an element matches one of the selectors.
    pub(super) fn matches(&self, selectors: &Selectors, node: Node) -> bool {
        self.document.is_element(node) && selectors.iter().any(|selector| self.matches_one(&selector.0, node))
    }

    fn spend(&self, work: usize) -> bool {
        self.work.set(self.work.get().saturating_add(work));
        !self.is_exhausted()
    }

    fn matches_one(&self, compounds: &[(Combinator, Vec<Test>)], node: Node) -> bool {
        let Some(((combinator, tests), before)) = compounds.split_last() else { return true };
        if !self.spend(1) || !tests.iter().all(|test| self.passes(test, node)) {
            return false;
        }
        if before.is_empty() {
            return true;
        }
        let document = self.document;
        let other = |node: Node| self.matches_one(before, node);
        match combinator {
            Combinator::Descendant => document.ancestors(node).any(other),
            Combinator::Child => document.parent_element(node).is_some_and(other),
            Combinator::Next => document.elements_before(node).next().is_some_and(other),
            Combinator::Following => document.elements_before(node).any(other),
        }
    }

    fn passes(&self, test: &Test, node: Node) -> bool {
        let document = self.document;
        match test {
            Test::Tag(tag) => document.tag(node) == tag,
            Test::Attribute(name, compare, wanted) => {
                self.spend(1);
                compared(*compare, document.attribute(node, name), wanted)
            }
            Test::AttributeMatches(name, regex) => {
                document.attribute(node, name).is_some_and(|value| self.spend(value.len()) && regex.is_match(value))
            }
            Test::Not(selectors) => !self.matches(selectors, node),
            Test::Is(selectors) => self.matches(selectors, node),
            Test::Has(selectors) => document
                .tree
                .descendants(node)
                .take_while(|_| self.spend(1))
                .any(|inner| self.matches(selectors, inner)),
            Test::HasChild(selectors) => document.child_elements(node).any(|child| self.matches(selectors, child)),
            Test::Contains(text, whose) => self.with_text(node, *whose, |found| found.to_lowercase().contains(text)),
            Test::Matches(regex, whose) => self.with_text(node, *whose, |found| regex.is_match(found)),
            Test::Nth { a, b, from_end, of_type } => {
                let number = self.number(node, *from_end, *of_type);
                number.is_some_and(|number| is_nth(number, *a, *b))
            }
            Test::OnlyChild { of_type } => {
                self.number(node, false, *of_type) == Some(1) && self.number(node, true, *of_type) == Some(1)
            }
            Test::Empty => document
                .tree
                .children(node)
                .all(|child| !matches!(document.tree.kind(child), Kind::Element | Kind::Text)),
            Test::Root => document.parent_element(node).is_none(),
            Test::Input => matches!(document.tag(node), "input" | "select" | "textarea" | "button"),
            Test::Enabled => has_state(document, node) && document.attribute(node, "disabled").is_none(),
            Test::Disabled => has_state(document, node) && document.attribute(node, "disabled").is_some(),
            Test::Checked => match document.tag(node) {
                "input" => {
                    let kind = document.attribute(node, "type").unwrap_or_default().to_ascii_lowercase();
                    matches!(kind.as_str(), "checkbox" | "radio") && document.attribute(node, "checked").is_some()
                }
                "option" => document.attribute(node, "selected").is_some(),
                _ => false,
            },
            Test::Link => {
                matches!(document.tag(node), "a" | "area" | "link") && document.attribute(node, "href").is_some()
            }
            Test::Lang(wanted) => std::iter::once(node)
                .chain(document.ancestors(node))
                .find_map(|one| document.attribute(one, "lang"))
                .is_some_and(|lang| compared(Compare::Dash, Some(&lang.to_lowercase()), wanted)),
        }
    }

    fn with_text(&self, node: Node, whose: Whose, test: impl Fn(&str) -> bool) -> bool {
        let tree = &self.document.tree;
        match whose {
            Whose::Whole => {
                let text = tree.string(node);
                self.spend(text.len() / 16) && test(text)
            }
            Whose::Own => {
                let texts = tree.children(node).filter(|child| tree.kind(*child) == Kind::Text);
                let text: String = texts.map(|child| tree.string(child)).collect();
                self.spend(text.len() / 16) && test(&text)
            }
        }
    }

    /// Returns the number of an element among its siblings, from 1.
    fn number(&self, node: Node, from_end: bool, of_type: bool) -> Option<i64> {
        let document = self.document;
        let tag = document.tag(node);
        let counted = |sibling: &Node| self.spend(1) && (!of_type || document.tag(*sibling) == tag);
        let before = if from_end {
            document.elements_after(node).take_while(|_| !self.is_exhausted()).filter(counted).count()
        } else {
            document.elements_before(node).take_while(|_| !self.is_exhausted()).filter(counted).count()
        };
        i64::try_from(before + 1).ok()
    }
}

fn has_state(document: &Document, node: Node) -> bool {
    matches!(document.tag(node), "button" | "fieldset" | "input" | "optgroup" | "option" | "select" | "textarea")
}

fn is_nth(number: i64, a: i64, b: i64) -> bool {
    let rest = number - b;
    if a == 0 { rest == 0 } else { rest % a == 0 && rest / a >= 0 }
}

fn compared(compare: Compare, value: Option<&str>, wanted: &str) -> bool {
    let Some(value) = value else { return compare == Compare::Unequal };
    match compare {
        Compare::Present => true,
        Compare::Equal => value == wanted,
        Compare::Unequal => value != wanted,
        Compare::Word => !wanted.is_empty() && value.split_ascii_whitespace().any(|word| word == wanted),
        Compare::Dash => value.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('-')),
        Compare::Prefix => !wanted.is_empty() && value.starts_with(wanted),
        Compare::Suffix => !wanted.is_empty() && value.ends_with(wanted),
        Compare::Substring => !wanted.is_empty() && value.contains(wanted),
    }
}
