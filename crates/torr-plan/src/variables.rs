//! Variables of sessions, by flags, files and the environment.

use crate::error::PlanError;
use crate::input::Input;
use std::collections::BTreeMap;
use torr_load::VariablePart;

/// The beginning of the names of variables in the environment, as hurl has it.
const PREFIX: &str = "HURL_VARIABLE_";

/// Returns the values that no output shows.
pub fn secrets(part: &VariablePart) -> impl Iterator<Item = String> {
    part.secrets.iter().filter_map(|text| pair(text)).map(|(_, value)| value)
}

/// Returns the variables: those of the environment (`HURL_VARIABLE_NAME`), over them those of files, over them those of flags.
pub fn values(part: &VariablePart, input: &mut Input) -> Result<BTreeMap<String, String>, PlanError> {
    let environment = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str()?.strip_prefix(PREFIX)?.to_owned();
        Some((name, value.to_str()?.to_owned()))
    });
    let mut values: BTreeMap<_, _> = environment.collect();
    for path in &part.variables_file {
        let text = input.read_text(path, "variables")?;
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() || line.trim_start().starts_with('#') {
                continue;
            }
            let pair = pair(line).ok_or_else(|| PlanError::Usage(format!("{path}:{number}: expected NAME=VALUE")))?;
            values.insert(pair.0, pair.1);
        }
    }
    for (flag, given) in [("--variable", &part.variables), ("--secret", &part.secrets)] {
        for text in given {
            // The value may be a secret, so it is not shown.
            let wrong = || PlanError::Usage(format!("{flag} needs NAME=VALUE, such as {flag} host=127.0.0.1:8080"));
            let pair = pair(text).ok_or_else(wrong)?;
            values.insert(pair.0, pair.1);
        }
    }
    Ok(values)
}

fn pair(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let is_name = !name.trim().is_empty() && name.trim().chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    is_name.then(|| (name.trim().to_owned(), value.to_owned()))
}
