//! Options read from JSON, as scripts, configuration files and command lines hand them over.

use super::error::{OptionError, Warning};
use super::keys;
use super::options_type::Options;
use super::reader;
use serde_json::Value;

impl Options {
    /// Reads the options of one layer. `null` and a missing key mean unset.
    ///
    /// # Errors
    /// If a value has a wrong type or makes no sense. Unknown keys are one warning.
    pub fn from_json(value: &Value) -> Result<(Self, Vec<Warning>), OptionError> {
        let mut options = Self::default();
        let mut unknown = Vec::new();
        for (key, value) in reader::object("options", value)?.into_iter().flatten() {
            if !keys::set(&mut options, key, value)? {
                unknown.push(key.as_str());
            }
        }
        let warning = match unknown.as_slice() {
            [] => None,
            [key] => Some(format!("unknown option '{key}' is ignored")),
            keys => Some(format!("unknown options '{}' are ignored", keys.join("', '"))),
        };
        Ok((options, warning.map(Warning).into_iter().collect()))
    }
}
