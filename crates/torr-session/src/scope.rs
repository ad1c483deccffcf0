//! Variables: names before the run, numbers during the run.

use crate::value::Value;
use std::collections::HashMap;

/// The names of all variables of a session, each with its number.
#[derive(Debug, Clone, Default)]
pub struct Names {
    numbers: HashMap<String, usize>,
}

impl Names {
    /// Returns the number of a variable, a new one for a new name.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.numbers.len();
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Returns the number of a variable that is known.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
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

    /// Gives a variable a value.
    pub fn set(&mut self, number: usize, value: Value) {
        if self.values.len() <= number {
            self.values.resize(number + 1, None);
        }
        self.values[number] = Some(value);
    }
}
