//! Variables: names before the run, numbers during the run.

use crate::hurl::Position;
use crate::value::Value;
use std::collections::HashMap;

/// The names of all variables of a session, each with its number. Names are met in the order in which a virtual user meets
/// them, so a use before any value is a mistake that is known before the run.
#[derive(Debug, Clone, Default)]
pub struct Names {
    numbers: HashMap<String, usize>,
    /// Whether a variable has a value by now, by number.
    assigned: Vec<bool>,
    /// Uses of variables before they had a value: names and places.
    unassigned: Vec<(String, Position)>,
    /// Whether JSONPath results of the entry that is being compiled stay lists (its option `no-jsonpath-coercion`).
    pub(crate) keeps_json_lists: bool,
    /// Why the environment means nothing to the session, if it does not.
    pub(crate) refuses_environment: Option<&'static str>,
}

impl Names {
    /// Returns the number of a variable, a new one for a new name.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(name.to_owned(), number);
        self.assigned.push(false);
        number
    }

    /// Returns the number of a variable whose value is used at a place.
    pub fn used(&mut self, name: &str, at: Position) -> usize {
        let number = self.number(name);
        if !self.assigned[number] {
            self.unassigned.push((name.to_owned(), at));
        }
        number
    }

    /// Returns the number of a variable that has a value from here on.
    pub fn assign(&mut self, name: &str) -> usize {
        let number = self.number(name);
        self.assigned[number] = true;
        number
    }

    /// Returns the number of a variable that the session has, by its name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Returns the names, each with its number.
    pub fn iter(&self) -> impl Iterator<Item = (&str, usize)> {
        self.numbers.iter().map(|(name, number)| (name.as_str(), *number))
    }

    /// Returns the uses of variables that had no value: names and places, in the file's order.
    pub fn unassigned(&self) -> &[(String, Position)] {
        &self.unassigned
    }

    /// Returns how many variables there are.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no variables.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }
}

/// The values of one virtual user's variables, by number.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    values: Vec<Option<Value>>,
}

impl Variables {
    /// Returns a variable's value, if it has one.
    pub fn get(&self, number: usize) -> Option<&Value> {
        self.values.get(number)?.as_ref()
    }

    /// Takes a variable's value away.
    pub fn forget(&mut self, number: usize) {
        if let Some(value) = self.values.get_mut(number) {
            *value = None;
        }
    }

    /// Gives a variable a value.
    pub fn set(&mut self, number: usize, value: Value) {
        if self.values.len() <= number {
            self.values.resize(number + 1, None);
        }
        self.values[number] = Some(value);
    }
}
