//! Files and standard input that requests are made from.

use crate::exit::CliError;
use std::io::Read;
use std::path::Path;

/// A reader of files, and of standard input once.
#[derive(Debug, Default)]
pub struct Input {
    stdin_is_read: bool,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    pub fn read(&mut self, path: &str, what: &str) -> Result<Vec<u8>, CliError> {
        let read = if path == "-" {
            if std::mem::replace(&mut self.stdin_is_read, true) {
                return Err(CliError::Usage(format!("{what} cannot come from standard input: it was read already")));
            }
            let mut bytes = Vec::new();
            std::io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        } else {
            std::fs::read(path)
        };
        read.map_err(|error| CliError::Usage(format!("cannot read {what} from '{path}': {error}")))
    }

    /// Reads a file, or standard input for `-`, as text.
    pub fn read_text(&mut self, path: &str, what: &str) -> Result<String, CliError> {
        let not_text = |_| CliError::Usage(format!("{what} from '{path}' is not UTF-8 text"));
        String::from_utf8(self.read(path, what)?).map_err(not_text)
    }

    /// Returns a value, or after `@` the contents of a file.
    pub fn value(&mut self, value: &str, what: &str) -> Result<Vec<u8>, CliError> {
        match value.strip_prefix('@') {
            Some(path) => self.read(path, what),
            None => Ok(value.as_bytes().to_vec()),
        }
    }
}

/// Returns the last component of a path.
pub fn file_name(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}
