//! What only sessions have.

use std::path::PathBuf;

/// What only sessions have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SessionPart {
    pub variables: VariablePart,
    pub setup: Option<PathBuf>,
    pub teardown: Option<PathBuf>,
}

/// Variables of sessions and scripts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VariablePart {
    pub variables: Vec<String>,
    pub variables_file: Vec<String>,
    pub secrets: Vec<String>,
}
