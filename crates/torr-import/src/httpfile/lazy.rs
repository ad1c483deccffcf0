//! Variables whose values are read again for each request.

use super::block::Definition;
use super::files::Files;
use super::text;
use std::collections::HashMap;

/// The bytes for which a definition counts beside its text.
const OPTION: usize = 256;

/// The definitions that hold at a request.
#[derive(Debug, Default)]
pub(super) struct Lazy {
    /// The values by name, each with its place among all definitions.
    values: HashMap<String, (usize, String)>,
    next: usize,
}

impl Lazy {
    /// Adds a definition, instead of another one of its name.
    pub(super) fn define(&mut self, definition: &Definition) {
        self.next += 1;
        self.values.insert(definition.name.clone(), (self.next, definition.value.clone()));
    }

    /// Removes the definition of a variable.
    pub(super) fn forget(&mut self, name: &str) {
        self.values.remove(name);
    }

    /// Returns the definitions behind a place that texts need, in order; none beyond the room that there is for them.
    pub(super) fn needed<'t>(
        &self,
        behind: usize,
        texts: impl Iterator<Item = &'t str>,
        files: &Files<'_>,
    ) -> Vec<(String, String)> {
        if self.next == behind {
            return Vec::new();
        }
        let mut needed: HashMap<&str, (usize, &str)> = HashMap::new();
        let mut names: Vec<String> = texts.flat_map(text::expressions).map(name).collect();
        while let Some(of) = names.pop() {
            let Some((of, (place, value))) = self.values.get_key_value(&of) else { continue };
            if *place > behind && !needed.contains_key(of.as_str()) && files.take(of.len() + value.len() + OPTION) {
                needed.insert(of, (*place, value));
                names.extend(text::expressions(value).map(name));
            }
        }
        let mut sorted: Vec<_> = needed.into_iter().map(|(name, (place, value))| (place, name, value)).collect();
        sorted.sort_unstable();
        sorted.into_iter().map(|(_, name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// Returns the place behind which later definitions are.
    pub(super) fn place(&self) -> usize {
        self.next
    }
}

/// Returns the variable with which an expression begins.
fn name(expression: &str) -> String {
    expression.split(['.', '[']).next().unwrap_or_default().to_owned()
}
