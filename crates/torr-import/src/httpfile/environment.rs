//! Environments, which give variables their values: in JSON, and as lines of a shell.

use crate::dotenv::{self, Line};
use crate::draft::ImportError;
use crate::node::{Node, check_size};
use crate::variables::Variables;

/// The longest expression that leads to a value, in bytes.
const LONGEST: usize = 200;

/// A file of variables.
#[derive(Debug, Clone)]
pub enum Environment {
    /// Environments by name, such as `http-client.env.json`. `is_secret` tells whether their values are credentials.
    Json {
        /// The file's text.
        text: String,
        /// Whether the values are credentials.
        is_secret: bool,
    },
    /// Lines such as `NAME=value`, whose values are credentials: `.env`, and the files of one environment such as `.env.dev`.
    Lines {
        /// The file's text.
        text: String,
        /// Whether the file is that of the chosen environment.
        is_chosen: bool,
    },
}

/// Learns the variables of an environment, and those that all environments share.
pub(super) fn know(
    environments: &[Environment],
    chosen: Option<&str>,
    variables: &mut Variables,
) -> Result<(), ImportError> {
    let mut known: Vec<String> = Vec::new();
    let mut is_found = chosen.is_none();
    for environment in environments {
        match environment {
            Environment::Json { text, is_secret } => {
                let root = Node::read(text, "file of environments", false)?;
                for (name, values) in root.members() {
                    let is_chosen = chosen == Some(name);
                    is_found |= is_chosen;
                    if is_chosen || name == "$shared" {
                        values.members().iter().for_each(|(name, value)| {
                            member(name.clone(), value, *is_secret, variables);
                        });
                    }
                    known.push(name.clone());
                }
            }
            Environment::Lines { text, is_chosen } => {
                check_size(text, "file of variables")?;
                is_found |= is_chosen;
                for (name, value) in text.lines().filter_map(line) {
                    variables.know(name, &value, true);
                }
            }
        }
    }
    match chosen {
        Some(name) if !is_found => {
            known.retain(|name| name != "$shared");
            known.sort();
            known.dedup();
            let others =
                if known.is_empty() { "no file has one".to_owned() } else { format!("use {}", known.join(", ")) };
            Err(ImportError(format!("unknown environment '{name}': {others}")))
        }
        _ => Ok(()),
    }
}

/// Learns a value, and those within it by the expressions that lead there.
fn member(name: String, value: &Node, is_secret: bool, variables: &mut Variables) {
    if name.len() > LONGEST {
        return;
    }
    value.members().iter().for_each(|(inner, value)| member(format!("{name}.{inner}"), value, is_secret, variables));
    let items = value.items().iter().enumerate();
    items.for_each(|(at, value)| member(format!("{name}[{at}]"), value, is_secret, variables));
    variables.know(&name, &value.plain(), is_secret);
}

/// Returns the name and the value of a line.
fn line(line: &str) -> Option<(&str, String)> {
    let Line { name, value, has_escapes } = dotenv::line(line)?;
    Some((name, if has_escapes { value.replace("\\n", "\n") } else { value.to_owned() }))
}
