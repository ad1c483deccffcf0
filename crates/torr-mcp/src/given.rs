//! The arguments of a call, checked.

use crate::property::find;
use serde_json::{Map, Value};

/// The arguments of a call: each is known to its tool and has its type.
#[derive(Debug)]
pub(crate) struct Given<'a>(&'a Map<String, Value>);

impl<'a> Given<'a> {
    /// Checks the arguments of a call of a tool that has these, the first of which are required.
    ///
    /// # Errors
    /// One line for the first argument that is missing, not known or of another type.
    pub fn of(arguments: &'a Map<String, Value>, names: &[&'static str], required: usize) -> Result<Self, String> {
        if let Some(missing) = names[..required].iter().find(|name| !arguments.contains_key(**name)) {
            return Err(format!("missing argument '{missing}'"));
        }
        for (name, value) in arguments {
            let property = find(name).filter(|property| names.contains(&property.name));
            let property = property.ok_or_else(|| format!("unknown argument '{name}': use {}", names.join(", ")))?;
            if !property.accepts(value) {
                return Err(format!("'{name}' must be {}", property.expected()));
            }
        }
        Ok(Self(arguments))
    }

    pub fn text(&self, name: &str) -> Option<&'a str> {
        self.0.get(name)?.as_str()
    }

    pub fn texts(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.0.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    pub fn number(&self, name: &str) -> Option<f64> {
        self.0.get(name)?.as_f64()
    }

    pub fn whole(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    pub fn is_set(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }
}
