//! Why the modules of a script cannot be loaded, and where.

use std::fmt;

/// An error of a module: what is wrong, and the position in the source where known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModuleError {
    /// What is wrong, in one line.
    pub message: String,
    /// File or URL in which the mistake stands; empty if there is none.
    pub file: String,
    /// Line of the mistake, from 1; 0 if unknown.
    pub line: u32,
    /// Column of the mistake, from 1; 0 if unknown.
    pub column: u32,
}

impl ModuleError {
    /// Returns an error that has no position in a source.
    pub fn new(message: impl Into<String>) -> Self {
        ModuleError { message: message.into(), file: String::new(), line: 0, column: 0 }
    }

    /// Returns the error with its position, unless it has one already.
    pub fn at(mut self, file: &str, line: u32, column: u32) -> Self {
        if self.file.is_empty() {
            self.file = file.to_owned();
            self.line = line;
            self.column = column;
        }
        self
    }
}

impl fmt::Display for ModuleError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.file.is_empty(), self.line) {
            (true, _) => write!(out, "{}", self.message),
            (false, 0) => write!(out, "{}: {}", self.file, self.message),
            (false, line) => write!(out, "{}:{}:{}: {}", self.file, line, self.column, self.message),
        }
    }
}

impl std::error::Error for ModuleError {}
